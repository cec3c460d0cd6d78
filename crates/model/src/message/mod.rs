//! Messages: what an orchestrator and its workers say to each other.
//!
//! Owns the one view in which a brief and a report are both messages: who says what to whom, in
//! which thread, in answer to what. It is a view: the envelope is what is stored. Bodies, order,
//! leases, who may speak and what a restart has to do are a file each.

mod body;
mod fields;
pub mod foreign;
mod lease;
mod order;
mod recovery;
mod speaker;

use std::{fmt, str::FromStr};

use jiff::Timestamp;

pub use crate::id::ORCHESTRATOR;
pub use body::{Body, DoneBody, InvalidBody, Needs, ProgressBody, StuckBody, TaskBody};
pub use lease::{LEASE, Lease};
pub use order::in_order;
pub use recovery::{
    Facts, Left, Leftover, MessageMarks, MessageStatus, NextStep, TaskReply, answer, asks,
    concerns, leftover, question, repeats, step, wants_answer,
};
pub use speaker::{MessageRefusal, Role, Speaker, may_ack, may_send, speaker};

use crate::{
    envelope::{Brief, BriefKind, Direction, Extras, Report, ReportKind},
    id::{Seq, WorkerId},
    names::names,
    view,
};

names! {
    /// What a message is.
    Subject {
        /// Work for a worker.
        Task = "TASK",
        /// A task is finished.
        Done = "DONE",
        /// A worker cannot go on.
        Stuck = "STUCK",
        /// How far the work is. Nobody has to acknowledge it.
        Progress = "PROGRESS",
        /// A question.
        Query = "QUERY",
        /// An answer.
        Reply = "REPLY",
    }
}

impl Subject {
    /// The subject of an envelope; none where it is the relay's own.
    pub fn of(extras: &Extras) -> Option<Self> {
        Self::named(extras.subject.as_deref()?)
    }

    /// The subject of this name, in whatever case: other programs take `done` for `DONE`.
    pub fn named(name: &str) -> Option<Self> {
        let all = Self::ALL.iter().copied();
        all.into_iter()
            .find(|it| it.as_str().eq_ignore_ascii_case(name.trim()))
    }

    /// The kind of brief that carries it to a worker.
    pub fn brief_kind(self) -> BriefKind {
        match self {
            Self::Task => BriefKind::Dispatch,
            Self::Done | Self::Stuck | Self::Progress | Self::Query | Self::Reply => {
                BriefKind::Freeform
            }
        }
    }

    /// The kind of report that carries it from a worker.
    pub fn report_kind(self) -> ReportKind {
        match self {
            Self::Done | Self::Progress => ReportKind::Cycle,
            Self::Stuck => ReportKind::Blocked,
            Self::Task | Self::Query | Self::Reply => ReportKind::Freeform,
        }
    }
}

/// Where a message lies: `W1/outbox/3`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageAddress {
    /// Whose mail.
    pub worker: WorkerId,
    /// Which way it goes.
    pub direction: Direction,
    /// Its number.
    pub seq: Seq,
}

impl fmt::Display for MessageAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.worker, self.direction, self.seq.get())
    }
}

/// What names no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} names no message: use its id, or its place as in W1/outbox/3")]
pub struct InvalidPlace(String);

impl FromStr for MessageAddress {
    type Err = InvalidPlace;
    fn from_str(text: &str) -> Result<Self, InvalidPlace> {
        let invalid = || InvalidPlace(text.chars().take(80).collect());
        let parts: Vec<&str> = text.split('/').collect();
        let [worker, direction, seq] = parts[..] else {
            return Err(invalid());
        };
        Ok(Self {
            worker: worker.parse().map_err(|_| invalid())?,
            direction: direction.parse().map_err(|_| invalid())?,
            seq: seq.parse().map_err(|_| invalid())?,
        })
    }
}

/// A brief or a report, seen as a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Where it lies.
    pub place: MessageAddress,
    /// Its id, which stays with it wherever it is copied.
    pub id: Option<String>,
    /// What it is; none where it is a brief or report of the relay's own, or has another word.
    pub subject: Option<Subject>,
    /// The word that another program has for what it is, where that is no subject of ours.
    pub word: Option<String>,
    /// The kind of its envelope.
    pub kind: &'static str,
    /// Who says it.
    pub from: String,
    /// To whom.
    pub to: String,
    /// Who spoke in that name, where that was somebody else.
    pub by: Option<String>,
    /// The conversation it belongs to.
    pub thread: Option<String>,
    /// The place of what it answers.
    pub answers: Option<MessageAddress>,
    /// When it was said.
    pub at: Timestamp,
    /// What it says, as stored.
    pub body: String,
}

view! {
    /// A brief or a report, seen as a message.
    struct ShownMessage<'a> for it: Message {
        /// Where it lies: worker/direction/number.
        place: String = it.place.to_string(),
        /// Stays with the message wherever it goes; null where another program wrote it.
        id: Option<&'a str> = it.id.as_deref(),
        /// Its subject; null where it is a brief or report of the relay's own, or another program's word.
        subject: Option<Subject> = it.subject,
        /// Its subject, another program's word for it, or else the kind of its envelope.
        title: &'a str = it.title(),
        /// The kind of its envelope.
        kind: &'static str = it.kind,
        from: &'a str = &it.from,
        to: &'a str = &it.to,
        /// Who spoke in the sender's name, where that was somebody else.
        by: Option<&'a str> = it.by.as_deref(),
        /// The conversation it belongs to.
        thread: Option<&'a str> = it.thread.as_deref(),
        /// The place of the message that it answers.
        answers: Option<String> = it.answers.as_ref().map(ToString::to_string),
        at: Timestamp = it.at,
        /// Its words, as stored.
        body: &'a str = &it.body,
        /// The body of a TASK, DONE, STUCK or PROGRESS with its fields; null where it has none, or not
        /// those that its subject asks for.
        #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
        data: Option<Body> = it.typed().filter(|it| !matches!(it, Body::Text(_))),
    }
}

impl Message {
    /// A brief as a message to its worker.
    pub fn of_brief(brief: &Brief, body: &str) -> Self {
        let place = MessageAddress {
            worker: brief.target_worker.clone(),
            direction: Direction::Inbox,
            seq: brief.seq,
        };
        let extras = &brief.extras;
        let from = extras
            .party
            .as_ref()
            .unwrap_or(&brief.controller_session_id);
        Self {
            answers: place.answered(brief.in_reply_to),
            id: extras.id.clone(),
            subject: Subject::of(extras),
            word: other_word(extras),
            kind: brief.kind.as_str(),
            from: from.clone(),
            to: brief.target_worker.to_string(),
            by: extras.by.clone(),
            thread: extras.thread_id.clone(),
            at: brief.submitted_at,
            body: body.to_owned(),
            place,
        }
    }

    /// A report as a message from its worker.
    pub fn of_report(report: &Report) -> Self {
        let place = MessageAddress {
            worker: report.worker_id.clone(),
            direction: Direction::Outbox,
            seq: report.seq,
        };
        let extras = &report.extras;
        let to = extras.party.as_deref().unwrap_or(ORCHESTRATOR);
        Self {
            answers: place.answered(report.in_reply_to),
            id: extras.id.clone(),
            subject: Subject::of(extras),
            word: other_word(extras),
            kind: report.kind.as_str(),
            from: report.worker_id.to_string(),
            to: to.to_owned(),
            by: extras.by.clone(),
            thread: extras.thread_id.clone(),
            at: report.produced_at,
            body: report.body.clone(),
            place,
        }
    }

    /// What it is in a word: its subject, ours or another program's, or else the kind of its
    /// envelope.
    pub fn title(&self) -> &str {
        let subject = self.subject.map(Subject::as_str);
        subject.or(self.word.as_deref()).unwrap_or(self.kind)
    }

    /// What it says, typed; none where it has no subject of ours, or not the body that its subject
    /// asks for.
    pub fn typed(&self) -> Option<Body> {
        Body::parse(self.subject?, &self.body).ok()
    }

    /// The task that it is about.
    pub fn task(&self) -> Option<String> {
        self.typed()?.task().map(str::to_owned)
    }

    /// Whether its recipient has to acknowledge it. How far the work is, nobody has to.
    pub fn needs_ack(&self) -> bool {
        self.subject != Some(Subject::Progress)
    }

    /// What the summary of its envelope says, unless somebody wrote another.
    pub fn summary(&self) -> String {
        match self.typed() {
            Some(body) => body.title(),
            None => crate::envelope::summary_of(&self.body),
        }
    }

    /// What it says to a person: the reason of a STUCK, else the body as it is.
    pub fn words(&self) -> String {
        match self.typed() {
            Some(Body::Stuck(body)) => body.reason,
            Some(_) | None => self.body.clone(),
        }
    }

    /// All that it says, in words.
    pub fn in_full(&self) -> String {
        self.typed()
            .map_or_else(|| self.body.clone(), |body| body.words())
    }

    /// What it says, in a line.
    pub fn line(&self) -> String {
        match self.typed() {
            Some(body) => body.line(),
            None => crate::envelope::summary_of(&self.body),
        }
    }
}

/// A subject that is none of ours.
fn other_word(extras: &Extras) -> Option<String> {
    let word = extras.subject.as_ref().filter(|it| !it.is_empty());
    word.filter(|_| Subject::of(extras).is_none()).cloned()
}

impl MessageAddress {
    /// A number that a message here answers is one of the other direction.
    fn answered(&self, seq: Option<Seq>) -> Option<Self> {
        let direction = match self.direction {
            Direction::Inbox => Direction::Outbox,
            Direction::Outbox => Direction::Inbox,
        };
        seq.map(|seq| Self {
            worker: self.worker.clone(),
            direction,
            seq,
        })
    }
}

#[cfg(test)]
mod tests;
