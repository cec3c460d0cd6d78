//! Messages: what is said between an orchestrator and its workers, over the relay's mail.
//!
//! Owns who is at which side, and the line of the history that each transition gets besides the
//! relay's own. A message is a brief or a report and nothing else: there is no second store. To
//! receive is no acknowledgement; to acknowledge is the recipient's alone.

mod answer;
mod filter;
mod foreign;
mod import;
mod in_flight;
mod processes;
mod questions;
mod receive;
mod scan;
mod send;
mod withdraw;

use std::path::PathBuf;

use flagpost_model::{
    WorkerId,
    envelope::Direction,
    message::{Message, MessageAddress, ORCHESTRATOR, Role, Speaker, may_ack},
};
use serde_json::Value;

pub use answer::{Reply, answer};
pub use filter::Filter;
pub use foreign::{ForeignMessages, read};
pub use import::{ImportedMessages, RowOutcome, import};
pub use in_flight::{
    InFlightTask, Kept, SettledTask, apply_done, in_flight, put_away, reconcile, unprocessed,
};
pub use processes::{ProcessWord, assign, report_for};
pub use questions::{question, questions, reply};
pub use receive::{Ask, Received, is_waiting, receive};
pub use scan::{MessageScan, MessageView, OpenMessage, all, find, show, thread, unacked};
pub(in crate::relay) use scan::{in_hand, is_answered};
pub use send::{NewMessage, Sent, send};
pub use withdraw::withdraw;

use super::{Fleet, Mail, deliver, reports, workers};
use crate::{
    error::{Error, Result},
    history::{Entry, Kind},
};

/// One side of the mail: who, in which fleet.
#[derive(Debug, Clone, Copy)]
pub struct Party<'p> {
    /// The fleet.
    pub fleet: &'p Fleet<'p>,
    /// Who speaks.
    pub speaker: &'p Speaker,
}

/// A message that its recipient has.
///
/// After 'flagpost msg ack'.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct Acked {
    /// The message.
    pub message: Message,
    /// The recipient had said so before.
    pub already: bool,
}

impl<'p> Party<'p> {
    /// The name that is spoken in.
    fn name(&self) -> &'p WorkerId {
        &self.speaker.name
    }

    /// Where a change may mean that there is a message.
    pub fn dirs(&self) -> Result<Vec<PathBuf>> {
        if let Some(mail) = self.own()? {
            return Ok(vec![mail.dir(Direction::Inbox)]);
        }
        let mails = self.fleet.mails()?;
        let outboxes = mails.iter().map(|mail| mail.dir(Direction::Outbox));
        // A worker may join meanwhile.
        Ok(outboxes.chain([self.fleet.dir()]).collect())
    }

    /// The mail of whoever speaks, where that is a worker.
    fn own(&self) -> Result<Option<Mail<'p>>> {
        match self.fleet.mail(self.name()) {
            Ok(mail) => {
                workers::must_belong(&mail)?;
                Ok(Some(mail))
            }
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// On which side a name is.
fn role(own: Option<&Mail<'_>>) -> Role {
    own.map_or(Role::Controller, |_| Role::Worker)
}

/// The recipient has a message; it is not offered again.
pub fn ack(party: &Party<'_>, place: &MessageAddress) -> Result<Acked> {
    party.fleet.home.transact(|| {
        let message = scan::at(party.fleet, place)?;
        may_ack(&message, party.name())?;
        let mail = party.fleet.mail(&place.worker)?;
        let (name, by) = (party.name(), party.speaker.by.as_ref());
        let already = match place.direction {
            Direction::Inbox => deliver::acknowledge(&mail, name, by, place.seq)?,
            Direction::Outbox => {
                deliver::answered(&mail, name, &message)?;
                reports::acknowledge(&mail, name, by, place.seq)?.read
            }
        };
        Ok(Acked { message, already })
    })
}

/// The line of the history about a message that has a subject; the relay's own lines tell of the
/// others.
pub(super) fn event_for(kind: Kind, message: &Message) -> Option<Entry> {
    event_on_behalf(kind, message, message.by.as_deref())
}

/// The same, where somebody else may have spoken in the actor's name.
pub(super) fn event_on_behalf(kind: Kind, message: &Message, by: Option<&str>) -> Option<Entry> {
    message.subject.map(|_| line(kind, message, by))
}

/// The line about any message.
fn line(kind: Kind, message: &Message, by: Option<&str>) -> Entry {
    let MessageAddress {
        worker,
        direction,
        seq,
    } = &message.place;
    let entry = Entry::new(kind)
        .mail(worker, Some(*seq))
        .detail("direction", direction.as_str())
        .detail("subject", message.title())
        .detail("from", message.from.as_str())
        .detail("to", message.to.as_str());
    let rest = [
        ("thread", message.thread.as_deref()),
        ("id", message.id.as_deref()),
        ("by", by),
    ];
    let there = rest
        .into_iter()
        .filter_map(|(key, text)| Some((key, text?)));
    there.fold(entry, |entry, (key, text)| {
        entry.detail(key, Value::from(text))
    })
}

/// Who speaks to workers for a run that somebody started.
pub fn in_charge(of: &WorkerId) -> Result<Speaker> {
    let name: WorkerId = ORCHESTRATOR.parse()?;
    let by = Some(of.clone()).filter(|actor| *actor != name);
    Ok(Speaker { name, by })
}

/// For whom a worker's word is that names nobody.
fn orchestrator() -> String {
    ORCHESTRATOR.to_owned()
}
