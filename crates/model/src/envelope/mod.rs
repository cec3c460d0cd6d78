//! Envelopes: a brief for a worker, a report from one.
//!
//! Owns what each of them has to say (the seed's fields and our optional ones), the closed sets of
//! kinds, and when a new one replays an earlier one. Where they lie is the dialect's; who may read
//! them is `decision`'s.

mod key;
mod post;
mod ticket;

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

pub use key::{Hash, InvalidPrint, Key};
pub use post::Post;
pub use ticket::{InvalidTicket, Ticket};

use crate::{
    id::{Seq, WorkerId},
    names::names,
};

/// The version of the envelopes we write.
pub const VERSION: u64 = 1;

/// An envelope that says the same as one this young is a retry of it.
const REPLAY_WINDOW: SignedDuration = SignedDuration::from_mins(5);

names! {
    /// Which way an envelope goes.
    Direction {
        /// Controller to worker.
        Inbox = "inbox",
        /// Worker to controller.
        Outbox = "outbox",
    }
}

names! {
    /// What a brief is about.
    BriefKind {
        /// Work, in full.
        Dispatch = "dispatch_brief",
        /// Leave to merge a pull request.
        MergeGo = "merge_go",
        /// A change of course in the middle of the work.
        Redirect = "redirect",
        /// Anything else.
        Freeform = "freeform",
    }
}

names! {
    /// What a report is about.
    ReportKind {
        /// How far the work is.
        Cycle = "cycle_report",
        /// The worker asks for leave to merge.
        MergeGoRequest = "merge_go_request",
        /// The worker cannot go on.
        Blocked = "blocked",
        /// Anything else.
        Freeform = "freeform",
    }
}

/// What our own programs add to an envelope; all of it may be absent. An answer has only the id.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Extras {
    /// Stays with the message wherever it goes; null where another program wrote it.
    pub id: Option<String>,
    /// A title.
    #[serde(skip)]
    pub subject: Option<String>,
    /// The conversation it belongs to.
    #[serde(skip)]
    pub thread_id: Option<String>,
    /// Who sent a brief, or whom a report is for.
    #[serde(skip)]
    pub party: Option<String>,
    /// Who spoke in the sender's name, where that was somebody else.
    #[serde(skip)]
    pub by: Option<String>,
    /// Anything else, for programs.
    #[serde(skip)]
    pub data: Option<Value>,
}

/// A message to a worker, without its body: the sidecar of a brief.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Brief {
    /// For whom it is.
    #[serde(rename = "worker")]
    pub target_worker: WorkerId,
    /// Its number in this direction of the worker's mail.
    pub seq: Seq,
    /// The version of its format.
    #[serde(skip)]
    pub version: u64,
    /// Its subject matter.
    pub kind: BriefKind,
    /// The ticket's number; null where it is about none.
    #[serde(rename = "ticket")]
    pub target_ticket: Option<String>,
    /// Its words, in a line.
    pub summary: String,
    /// The session that wrote it.
    #[serde(rename = "controller")]
    pub controller_session_id: String,
    /// When it was proposed.
    pub submitted_at: Timestamp,
    /// From then on nobody can decide on it; null for never.
    pub expires_at: Option<Timestamp>,
    /// The number of the message that it answers.
    pub in_reply_to: Option<Seq>,
    /// What recognises a replay.
    #[serde(skip)]
    pub idempotency_key: Key,
    /// Our additions.
    #[serde(flatten)]
    pub extras: Extras,
}

/// A message from a worker: a report with its body.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// Who made it.
    #[serde(rename = "worker")]
    pub worker_id: WorkerId,
    /// Its number in this direction of the worker's mail.
    pub seq: Seq,
    /// The version of its format.
    #[serde(skip)]
    pub version: u64,
    /// Its subject matter.
    pub kind: ReportKind,
    /// The ticket's number; null where it is about none.
    #[serde(rename = "ticket")]
    pub ticket_id: Option<String>,
    /// Markdown.
    pub body: String,
    /// The pull request it is about.
    #[serde(rename = "pr")]
    pub pr_number: Option<u64>,
    /// What the worker thinks should happen next.
    pub next_action: Option<String>,
    /// The number of the message that it answers.
    pub in_reply_to: Option<Seq>,
    /// The session that wrote it.
    #[serde(rename = "session")]
    pub claude_session_id: String,
    /// When it was made.
    pub produced_at: Timestamp,
    /// What recognises a replay.
    #[serde(skip)]
    pub idempotency_key: Key,
    /// Our additions.
    #[serde(flatten)]
    pub extras: Extras,
}

impl Extras {
    /// Whether the same words may be the same message: not where they are about something else, or
    /// where the sender gave each an id of its own.
    fn may_replay(&self, earlier: &Self) -> bool {
        let is_another = self.id.is_some() && self.id != earlier.id;
        !is_another
            && self.subject == earlier.subject
            && self.thread_id == earlier.thread_id
            && self.party == earlier.party
    }
}

impl Brief {
    /// Whether this new brief says again, within the window, what `earlier` said. The key alone
    /// would lose "looks good" on a second ticket.
    pub fn replays(&self, earlier: &Self) -> bool {
        self.idempotency_key == earlier.idempotency_key
            && self.kind == earlier.kind
            && self.target_ticket == earlier.target_ticket
            && self.in_reply_to == earlier.in_reply_to
            && self.extras.may_replay(&earlier.extras)
            && is_within(earlier.submitted_at, self.submitted_at)
    }
}

impl Report {
    /// Whether this new report says again, within the window, what `earlier` said.
    pub fn replays(&self, earlier: &Self) -> bool {
        self.idempotency_key == earlier.idempotency_key
            && self.kind == earlier.kind
            && self.ticket_id == earlier.ticket_id
            && self.pr_number == earlier.pr_number
            && self.next_action == earlier.next_action
            && self.in_reply_to == earlier.in_reply_to
            && self.extras.may_replay(&earlier.extras)
            && is_within(earlier.produced_at, self.produced_at)
    }
}

/// Whether what was sent at `earlier` can be replayed at `now`.
fn is_within(earlier: Timestamp, now: Timestamp) -> bool {
    now.duration_since(earlier) <= REPLAY_WINDOW
}

/// The first line of a body that says something, cut to a line's length: a summary where none was
/// given.
pub fn summary_of(body: &str) -> String {
    let words = |line: &str| line.trim_start_matches(['#', ' ', '\t']).trim().to_owned();
    let first = body.lines().map(words).find(|line| !line.is_empty());
    first.unwrap_or_default().chars().take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brief(at: &str) -> Brief {
        Brief {
            seq: "7".parse().unwrap(),
            version: VERSION,
            kind: BriefKind::Dispatch,
            submitted_at: at.parse().unwrap(),
            controller_session_id: "ann".to_owned(),
            target_worker: "W1".parse().unwrap(),
            target_ticket: Some("1192".to_owned()),
            expires_at: None,
            summary: "Do it".to_owned(),
            in_reply_to: None,
            idempotency_key: Key::of("Do it"),
            extras: Extras::default(),
        }
    }

    #[test]
    fn the_same_words_are_a_replay_for_five_minutes() {
        let earlier = brief("2026-05-13T14:25:00Z");
        for (at, replays) in [
            ("2026-05-13T14:25:00Z", true),
            ("2026-05-13T14:30:00Z", true),
            ("2026-05-13T14:30:00.001Z", false),
            // A clock that was set back.
            ("2026-05-13T14:20:00Z", true),
        ] {
            assert_eq!(brief(at).replays(&earlier), replays, "{at}");
        }
        let mut other = brief("2026-05-13T14:26:00Z");
        other.target_ticket = Some("1193".to_owned());
        assert!(!other.replays(&earlier));
        let extras = |thread: &str, id: Option<&str>| Extras {
            id: id.map(str::to_owned),
            thread_id: Some(thread.to_owned()),
            ..Extras::default()
        };
        let mut earlier = brief("2026-05-13T14:25:00Z");
        earlier.extras = extras("epic-1", Some("a"));
        for (thread, id, replays) in [
            ("epic-1", None, true),
            ("epic-1", Some("a"), true),
            ("epic-1", Some("b"), false),
            ("epic-2", None, false),
        ] {
            let mut new = brief("2026-05-13T14:26:00Z");
            new.extras = extras(thread, id);
            assert_eq!(new.replays(&earlier), replays, "{thread} {id:?}");
        }
    }

    #[test]
    fn a_summary_is_the_first_line_with_words() {
        for (body, summary) in [
            ("# Do it\n\nnow", "Do it"),
            ("\n \n  ## a b \r\n", "a b"),
            ("", ""),
            ("###", ""),
        ] {
            assert_eq!(summary_of(body), summary, "{body:?}");
        }
        assert_eq!(summary_of(&"é".repeat(500)).chars().count(), 120);
    }
}
