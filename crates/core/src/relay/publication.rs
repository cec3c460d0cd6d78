//! The publication of a brief.
//!
//! Owns its order: its number first, the sidecar before the body, both under names that must be free.
//! What is let through by whoever writes it has its decision before its body: whoever is killed in
//! between has said nothing.

use flagpost_disk::{self as disk, dialects::relay as layout, fsx::Batch};
use flagpost_model::{
    WorkerId,
    decision::{DecisionRecord, Prints},
    envelope::Brief,
    message::Message,
};

use super::{Locked, Mail, Transition, messages};
use crate::{
    error::{Error, Result},
    history::{Entry, Kind},
    readable::readable,
};

/// How far a brief is the moment it appears.
#[derive(Debug, Clone, Copy)]
pub(super) enum Appears<'v> {
    /// It waits for a decision.
    Proposed,
    /// It is let through.
    Decided(&'v DecisionRecord),
    /// It is let through, and in its worker's hands.
    Taken(&'v DecisionRecord),
}

impl<'v> Appears<'v> {
    pub(super) fn verdict(self) -> Option<&'v DecisionRecord> {
        match self {
            Self::Proposed => None,
            Self::Decided(verdict) | Self::Taken(verdict) => Some(verdict),
        }
    }
}

/// The line that tells of a brief as it is.
pub(super) fn proposed_entry(mail: &Mail<'_>, brief: &Brief, prints: &Prints) -> Entry {
    mail.entry(Kind::BriefProposed, Some(brief.seq))
        .detail("kind", brief.kind.as_str())
        .detail("ticket", brief.target_ticket.clone())
        .detail("summary", brief.summary.clone())
        .detail("sha256", prints.sha256.as_str())
        .detail("envelope", prints.envelope.as_str())
}

impl Locked<'_> {
    /// Puts sidecar and body in place: the decision that is made before the body, its worker's mark
    /// after it. Where a foreign writer took the number meanwhile, what it wrote stays, and the history
    /// says so.
    pub(super) fn publish(
        &self,
        actor: &WorkerId,
        brief: &Brief,
        (body, appears): (&str, Appears<'_>),
        mut batch: Batch,
    ) -> Result<()> {
        let seq = brief.seq;
        let file = layout::new_brief(brief);
        let meta = readable("summary", layout::write_brief(None, brief))?;
        let text = readable("brief", body.as_bytes().to_owned())?;
        let sidecar = self.path(&layout::sidecar(seq));
        batch.create(sidecar.clone(), meta);
        let mut ahead = vec![sidecar];
        let message = Message::of_brief(brief, body);
        let mut entries = vec![proposed_entry(self.mail, brief, &file.prints(body))];
        entries.extend(messages::event_for(Kind::MessageSent, &message));
        let published = match appears.verdict() {
            None => {
                batch.create(self.path(&layout::body(seq)), text);
                self.carry_out(actor, Transition { entries, batch })
            }
            Some(verdict) => {
                ahead.push(self.path(&layout::decision(seq)));
                batch.flag(self.path(&layout::flag(seq, verdict.decision)));
                if let Appears::Taken(_) = appears {
                    batch.flag(self.path(&layout::read_flag(seq)));
                }
                self.commit_numbered(actor, |first| {
                    let verdict = DecisionRecord {
                        line: Some(first + entries.len() as u64),
                        ..verdict.clone()
                    };
                    let bytes = layout::write_verdict(&verdict);
                    batch.create(self.path(&layout::decision(seq)), bytes);
                    batch.create(self.path(&layout::body(seq)), text);
                    entries.push(self.verdict_entry(seq, &verdict));
                    if let Appears::Taken(_) = appears {
                        let acked = messages::event_on_behalf(
                            Kind::MessageAcked,
                            &message,
                            Some(actor.as_str()),
                        );
                        entries.push(self.mail.entry(Kind::BriefRead, Some(seq)));
                        entries.extend(acked);
                    }
                    Ok(Transition { entries, batch })
                })
            }
        };
        match (published, appears) {
            (Err(Error::Disk(disk::Error::Conflict { path })), _) => {
                self.yield_number(actor, seq, &path, &ahead)?;
                Err(disk::Error::Conflict { path }.into())
            }
            (Err(error), _) => Err(error),
            // Nobody decides on it any more.
            (Ok(_), Appears::Taken(_)) => Ok(()),
            (Ok(line), Appears::Proposed | Appears::Decided(_)) => {
                self.keep_words(seq, line, (file, body));
                Ok(())
            }
        }
    }
}
