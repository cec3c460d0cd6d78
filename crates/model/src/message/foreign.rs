//! Messages of somebody else's database, and where each belongs here.
//!
//! Owns telling workers from orchestrators by what they say: whoever is given a TASK is a worker, and
//! whoever reports. Every row has its place or a reason why it has none.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{ORCHESTRATOR, Subject};
use crate::{envelope::Direction, id::WorkerId};

/// A row of a `messages` table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRow {
    /// Its number there.
    pub id: i64,
    /// What it is, in whatever word.
    pub subject: String,
    /// Who says it.
    pub from: String,
    /// To whom.
    pub to: String,
    /// What it says.
    pub body: String,
    /// Its conversation.
    pub thread: Option<String>,
    /// When it was said.
    pub at: Timestamp,
    /// When its recipient had it.
    pub acked: Option<Timestamp>,
}

impl MessageRow {
    /// Its subject, where it is one of ours.
    pub fn known_subject(&self) -> Option<Subject> {
        Subject::named(&self.subject)
    }
}

/// Everybody of these rows who is a worker; those who are known as workers are.
pub fn workers(rows: &[MessageRow], known: &[WorkerId]) -> BTreeSet<String> {
    let told = rows.iter().filter_map(|row| match row.known_subject()? {
        Subject::Task => Some(&row.to),
        Subject::Done | Subject::Stuck | Subject::Progress => Some(&row.from),
        Subject::Query | Subject::Reply => None,
    });
    let known = known.iter().map(ToString::to_string);
    let all = told.cloned().chain(known);
    all.filter(|it| it != ORCHESTRATOR).collect()
}

/// In whose mail a row belongs, and in which direction; or why in none.
pub fn place(
    row: &MessageRow,
    workers: &BTreeSet<String>,
) -> Result<(WorkerId, Direction), String> {
    let (is_to, is_from) = (workers.contains(&row.to), workers.contains(&row.from));
    let (worker, direction) = match (row.known_subject(), is_to, is_from) {
        (Some(Subject::Done | Subject::Stuck | Subject::Progress), _, true) => {
            (&row.from, Direction::Outbox)
        }
        (_, true, _) => (&row.to, Direction::Inbox),
        (_, false, true) => (&row.from, Direction::Outbox),
        // Nobody ever gave them work or heard of any: who is not the orchestrator is a worker.
        (_, false, false) if row.to != ORCHESTRATOR => (&row.to, Direction::Inbox),
        (_, false, false) if row.from != ORCHESTRATOR => (&row.from, Direction::Outbox),
        (_, false, false) => return Err("the orchestrator says it to itself".to_owned()),
    };
    let id = worker.parse();
    id.map(|id| (id, direction))
        .map_err(|error| format!("{error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(subject: &str, from: &str, to: &str) -> MessageRow {
        MessageRow {
            id: 1,
            subject: subject.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
            body: String::new(),
            thread: None,
            at: Timestamp::UNIX_EPOCH,
            acked: None,
        }
    }

    #[test]
    fn each_row_lies_with_its_worker() {
        let known = ["W9".parse().unwrap()];
        let rows = [row("TASK", "hub", "W1"), row("DONE", "W2", "hub")];
        let workers = workers(&rows, &known);
        for (subject, from, to, expected) in [
            ("TASK", "hub", "W1", "W1/inbox"),
            ("DONE", "W1", "hub", "W1/outbox"),
            ("PROGRESS", "W2", "orchestrator", "W2/outbox"),
            ("QUERY", "hub", "W2", "W2/inbox"),
            ("REPLY", "W2", "hub", "W2/outbox"),
            ("NOTE", "W2", "W1", "W1/inbox"),
            ("STUCK", "W2", "W1", "W2/outbox"),
            ("NOTE", "hub", "W9", "W9/inbox"),
            ("HELLO", "orchestrator", "new-one", "new-one/inbox"),
            ("HELLO", "new-one", "orchestrator", "new-one/outbox"),
        ] {
            let (worker, direction) = place(&row(subject, from, to), &workers).unwrap();
            assert_eq!(
                format!("{worker}/{direction}"),
                expected,
                "{subject} {from} {to}"
            );
        }
        assert!(place(&row("NOTE", "orchestrator", "orchestrator"), &workers).is_err());
        assert!(place(&row("TASK", "hub", "../etc"), &workers).is_err());
    }
}
