//! What the history tells of a report that was kept while the fleet was away.
//!
//! Owns the mark on the lines that tell of one, and finding them.

use std::ops::ControlFlow;

use serde_json::Value;

use super::{Entry, History, Kind};
use crate::{access::Operation, error::Result, sequencer::KeptReport};

/// The detail of a history line that names the report it tells of.
const KEPT: &str = "kept";

impl KeptReport {
    /// Whether the history has a line that says that it has happened. What is said of mail needs none: it
    /// shows in the mail itself.
    pub(crate) fn is_told(&self, history: &History<'_>) -> Result<bool> {
        let mut told = false;
        history.backward(u64::MAX, &mut |line| {
            let kept = line.entry.detail.get(KEPT).and_then(Value::as_str);
            told = kept == Some(&self.id) && tells(&self.operation, &line.entry.kind);
            match told || line.n <= self.after {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        Ok(told)
    }

    /// The entry as one that tells of it, and of when it was said.
    pub(crate) fn sign(&self, entry: Entry) -> Entry {
        entry
            .detail(KEPT, self.id.as_str())
            .detail("said_at", self.said_at.to_string())
    }
}

/// Whether a line of this kind says that an operation has happened, which does not show by itself.
fn tells(operation: &str, kind: &Kind) -> bool {
    match kind {
        Kind::TaskCompleted | Kind::TaskFailed | Kind::TaskStuck | Kind::TaskLate => [
            Operation::TaskDone,
            Operation::TaskFail,
            Operation::TaskStuck,
        ]
        .iter()
        .any(|it| it.name() == operation),
        Kind::Reported => operation == Operation::ReportSend.name(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_of_an_operation_that_does_not_show_by_itself() {
        for (operation, kind, expected) in [
            ("task.done", Kind::TaskCompleted, true),
            ("task.done", Kind::TaskLate, true),
            ("task.fail", Kind::TaskFailed, true),
            ("task.stuck", Kind::TaskStuck, true),
            ("report.send", Kind::Reported, true),
            // Kept aside on the way.
            ("task.done", Kind::TaskQuarantined, false),
            ("report.send", Kind::EnvelopeQuarantined, false),
            // Its own id says so.
            ("message.send", Kind::Reported, false),
            ("brief.ack", Kind::BriefRead, false),
        ] {
            assert_eq!(tells(operation, &kind), expected, "{operation} {kind:?}");
        }
    }
}
