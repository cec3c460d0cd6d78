//! The gate: who decides on a brief, and what may be delivered.
//!
//! Owns the rules of the relay. A brief is decided once: whoever comes second is refused, whatever
//! both wanted. Only the envelope that was decided on is delivered: a flag says yes, the hash says
//! to what. What a foreign hand changed or decided is withheld until a person has named what lies
//! there now. Expiry takes the decision away; it never makes one.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    envelope::Hash,
    id::{Seq, WorkerId},
    names::names,
};

names! {
    /// What can be decided on a brief; the name is that of the flag.
    Decision {
        /// Deliver it.
        Ratified = "ratified",
        /// Do not, and tell the worker so.
        Rejected = "rejected",
        /// Deliver it as the operator rewrote it.
        Edited = "edited",
    }
}

impl Decision {
    /// The verb that says the same of a brief as it lies there.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Rejected => "reject",
            Self::Ratified | Self::Edited => "ratify",
        }
    }
}

names! {
    /// Which way a decision came in.
    Via {
        /// A command.
        Cli = "cli",
        /// A slash command.
        Slash = "slash",
        /// The daemon's interface.
        Api = "api",
        /// The terminal screen.
        Cockpit = "cockpit",
        /// The web screen.
        Board = "board",
        /// An agent's tool.
        Mcp = "mcp",
        /// A rule of the policy.
        Policy = "policy",
        /// A run gave a task to a worker: who started the run had decided.
        Run = "run",
        /// A flag that somebody touched by hand.
        External = "external",
    }
}

/// A decision on record: the content of the decision file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DecisionRecord {
    /// What was decided.
    pub decision: Decision,
    /// Who decided.
    pub by: WorkerId,
    /// When.
    pub at: Timestamp,
    /// Of the body that was decided on, in hexadecimal.
    pub sha256: Hash,
    /// Of the whole envelope that was decided on, sidecar and body; null where it was decided before
    /// envelopes were bound.
    pub envelope: Option<Hash>,
    /// Which way it came in.
    pub via: Via,
    /// The decider's words.
    pub reason: Option<String>,
    /// The rule of the policy that decided, or the session of the run.
    pub rule: Option<String>,
    /// The hash of the policy's file that the rule was read from.
    pub policy: Option<Hash>,
    /// The process that the decision came through; null where nobody can know.
    pub hand: Option<ProcessIdentity>,
    /// The number of the history's line that tells of it.
    #[schemars(range(min = 1))]
    pub line: Option<u64>,
}

/// The process that a decision came through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessIdentity {
    /// Its user's number.
    pub uid: u32,
    /// Its own number.
    pub pid: u32,
    /// The terminal it was typed at; null where there was none.
    pub tty: Option<String>,
    /// The command of the process that started it, where that is known.
    pub parent: Option<String>,
}

/// How a brief stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecisionState {
    /// Nobody decided.
    Pending,
    /// There is a decision on record.
    Decided(Box<DecisionRecord>),
    /// A hand that nobody knows says so, and the policy accepts that.
    Flagged(Decision),
    /// A hand that nobody knows says so, and a person is to be asked.
    Foreign(Decision),
}

names! {
    /// Why a brief is withheld.
    WithheldReason {
        /// It is not what was proposed.
        Proposed = "changed_since_proposed",
        /// It is not what was decided on.
        Decided = "changed_since_decided",
        /// Its decision is nobody's that is on record.
        Foreign = "foreign_decision",
        /// It has a mark that only follows a decision, or a withdrawal, and there was none.
        Marked = "foreign_mark",
    }
}

/// What an envelope is recognised by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prints {
    /// Its body's hash.
    pub sha256: Hash,
    /// The hash over sidecar and body.
    pub envelope: Hash,
}

impl Prints {
    /// Whether these are of what somebody saw: of all of it, or of its body.
    pub fn are_of(&self, seen: &Hash) -> bool {
        [&self.envelope, &self.sha256].contains(&seen)
    }

    /// Whether these are of what is on record; where that knows no envelope, of its body.
    pub fn are_on_record(&self, sha256: &Hash, envelope: Option<&Hash>) -> bool {
        match envelope {
            Some(envelope) => self.envelope == *envelope,
            None => self.sha256 == *sha256,
        }
    }
}

impl DecisionRecord {
    /// Whether another one says the same of the same words.
    pub fn says(&self, other: &Self) -> bool {
        self.decision == other.decision
            && self.sha256 == other.sha256
            && self.envelope == other.envelope
    }
}

impl WithheldReason {
    /// The same in words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Proposed => "changed since it was proposed",
            Self::Decided => "changed since it was decided on",
            Self::Foreign => "decided by an unknown hand",
            Self::Marked => "marked as decided, read or taken back by an unknown hand",
        }
    }
}

/// A decision that is not to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecisionRefusal {
    /// Somebody was first.
    #[error("brief {seq} of {worker} is {decision} already{}", by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default())]
    Decided {
        /// For whom the brief is.
        worker: WorkerId,
        /// Which one.
        seq: Seq,
        /// What was decided.
        decision: Decision,
        /// By whom, where that is known.
        by: Option<WorkerId>,
    },
    /// It is too late.
    #[error("brief {seq} of {worker} expired at {at}: nobody can decide on it any more")]
    Expired {
        /// For whom the brief is.
        worker: WorkerId,
        /// Which one.
        seq: Seq,
        /// Since when.
        at: Timestamp,
    },
    /// Nobody decided yet.
    #[error("brief {seq} of {worker} is not decided yet")]
    Undecided {
        /// For whom the brief is.
        worker: WorkerId,
        /// Which one.
        seq: Seq,
    },
    /// Whoever wrote it took it back.
    #[error("brief {seq} of {worker} was taken back")]
    Withdrawn {
        /// For whom the brief is.
        worker: WorkerId,
        /// Which one.
        seq: Seq,
    },
    /// It is over, and lies in the archive.
    #[error(
        "brief {seq} of {worker} is over and in the archive: nothing is decided on it any more"
    )]
    Archived {
        /// For whom the brief is.
        worker: WorkerId,
        /// Which one.
        seq: Seq,
    },
    /// Nobody says which one is meant: neither its number, nor what of it was seen.
    #[error(
        "brief {seq} of {worker} is the newest that waits: say its number, or the hash that was seen"
    )]
    Unnamed {
        /// For whom the brief is.
        worker: WorkerId,
        /// Which one.
        seq: Seq,
    },
    /// It is not the one that was shown, or decided on.
    #[error("brief {seq} of {worker} {}", unlike(seen.as_ref()))]
    Changed {
        /// For whom the brief is.
        worker: WorkerId,
        /// Which one.
        seq: Seq,
        /// The hash that was shown, where somebody names it.
        seen: Option<Hash>,
    },
    /// It is not the one that was proposed or decided on, and whoever decides has not said that this
    /// one is meant.
    #[error("brief {seq} of {worker} is withheld: {}{}", held.describe(), seen.as_ref().map(|it| format!("; it {}", without(it))).unwrap_or_default())]
    Withheld {
        /// For whom the brief is.
        worker: WorkerId,
        /// Which one.
        seq: Seq,
        /// Why.
        held: WithheldReason,
        /// The hash of another one, where somebody names it.
        seen: Option<Hash>,
    },
    /// What lies there is not what was let through, so nobody can have read that.
    #[error("brief {seq} of {worker} cannot be acknowledged: {}", held.describe())]
    Unacknowledged {
        /// For whom the brief is.
        worker: WorkerId,
        /// Which one.
        seq: Seq,
        /// Why it is withheld.
        held: WithheldReason,
    },
    /// Only a hand that nobody knows decided.
    #[error("brief {seq} of {worker} was decided by an unknown hand")]
    Foreign {
        /// For whom the brief is.
        worker: WorkerId,
        /// Which one.
        seq: Seq,
    },
}

/// How a brief is another than the one that is meant.
fn unlike(seen: Option<&Hash>) -> String {
    match seen {
        None => "was changed since".to_owned(),
        Some(seen) => {
            let without = without(seen);
            format!("{without}: it was changed since, or another one is meant")
        }
    }
}

fn without(seen: &Hash) -> String {
    let begins: String = seen.as_str().chars().take(12).collect();
    format!("does not have the hash {begins}…")
}

/// What a rule has to know about the brief that it is asked about.
#[derive(Debug, Clone, Copy)]
pub struct BriefSubject<'b> {
    /// For whom it is.
    pub worker: &'b WorkerId,
    /// Its number.
    pub seq: Seq,
    /// From when on nobody may decide on it.
    pub expires_at: Option<Timestamp>,
}

names! {
    /// What the worker gets to see.
    Delivery {
        /// The brief.
        Brief = "brief",
        /// A notice that it was rejected.
        Rejection = "rejection",
    }
}

impl DecisionState {
    /// How a brief stands by its flags alone. Of several, the one that delivers least counts.
    pub fn of_flags(flags: &[Decision]) -> Self {
        let strictest = [Decision::Rejected, Decision::Edited, Decision::Ratified];
        let found = strictest.into_iter().find(|it| flags.contains(it));
        found.map_or(Self::Pending, Self::Flagged)
    }

    /// Why it was decided so, in the decider's words.
    pub fn into_reason(self) -> Option<String> {
        match self {
            Self::Decided(verdict) => verdict.reason,
            Self::Pending | Self::Flagged(_) | Self::Foreign(_) => None,
        }
    }

    /// What was decided.
    pub fn decision(&self) -> Option<Decision> {
        match self {
            Self::Pending => None,
            Self::Decided(verdict) => Some(verdict.decision),
            Self::Flagged(decision) | Self::Foreign(decision) => Some(*decision),
        }
    }
}

/// Whether this decision may be made now. What is withheld is open to one: the decision of an unknown
/// hand stands in nobody's way, nor does one on what lies there no more. Past its time it can only be
/// kept back.
pub fn decide(
    wish: Decision,
    standing: &DecisionState,
    held: Option<WithheldReason>,
    on: BriefSubject<'_>,
    now: Timestamp,
) -> Result<(), DecisionRefusal> {
    let (worker, seq) = (on.worker.clone(), on.seq);
    if let Some(decision) = standing.decision().filter(|_| held.is_none()) {
        let by = match standing {
            DecisionState::Decided(verdict) => Some(verdict.by.clone()),
            DecisionState::Pending | DecisionState::Flagged(_) | DecisionState::Foreign(_) => None,
        };
        return Err(DecisionRefusal::Decided {
            worker,
            seq,
            decision,
            by,
        });
    }
    let keeps_back = wish == Decision::Rejected && held.is_some();
    match on.expires_at.filter(|at| *at <= now && !keeps_back) {
        Some(at) => Err(DecisionRefusal::Expired { worker, seq, at }),
        None => Ok(()),
    }
}

/// Why a brief is withheld, if it is: `proposed` is what the history says of its proposal. Whoever
/// accepts a flag by hand accepts it on what was proposed, or on what that hand says it rewrote.
pub fn held(
    standing: &DecisionState,
    now: &Prints,
    proposed: Option<(&Hash, Option<&Hash>)>,
) -> Option<WithheldReason> {
    let is_another =
        || proposed.is_some_and(|(sha256, envelope)| !now.are_on_record(sha256, envelope));
    match standing {
        DecisionState::Decided(verdict) => {
            let is_changed = !now.are_on_record(&verdict.sha256, verdict.envelope.as_ref());
            let delivers = verdict.decision != Decision::Rejected;
            (delivers && is_changed).then_some(WithheldReason::Decided)
        }
        DecisionState::Flagged(Decision::Rejected | Decision::Edited) => None,
        DecisionState::Pending | DecisionState::Flagged(Decision::Ratified) => {
            is_another().then_some(WithheldReason::Proposed)
        }
        DecisionState::Foreign(_) if is_another() => Some(WithheldReason::Proposed),
        DecisionState::Foreign(_) => Some(WithheldReason::Foreign),
    }
}

/// Whether what lies there now may be decided on by somebody who saw this, or did not say what.
pub fn is_seen(
    held: Option<WithheldReason>,
    on: BriefSubject<'_>,
    now: &Prints,
    seen: Option<&Hash>,
) -> Result<(), DecisionRefusal> {
    let (worker, seq) = (on.worker.clone(), on.seq);
    let seen = seen.cloned();
    match (held, &seen) {
        (Some(held @ (WithheldReason::Proposed | WithheldReason::Decided)), _)
            if seen.as_ref() != Some(&now.envelope) =>
        {
            Err(DecisionRefusal::Withheld {
                worker,
                seq,
                held,
                seen,
            })
        }
        (_, Some(hash)) if !now.are_of(hash) => Err(DecisionRefusal::Changed { worker, seq, seen }),
        _ => Ok(()),
    }
}

/// What of a brief may reach its worker.
pub fn deliverable(
    standing: &DecisionState,
    held: Option<WithheldReason>,
    on: BriefSubject<'_>,
) -> Result<Delivery, DecisionRefusal> {
    let (worker, seq) = (on.worker.clone(), on.seq);
    let decision = match standing {
        DecisionState::Pending => return Err(DecisionRefusal::Undecided { worker, seq }),
        DecisionState::Foreign(_) => return Err(DecisionRefusal::Foreign { worker, seq }),
        DecisionState::Decided(verdict) => verdict.decision,
        DecisionState::Flagged(decision) => *decision,
    };
    match (held, decision) {
        (Some(_), _) => Err(DecisionRefusal::Changed {
            worker,
            seq,
            seen: None,
        }),
        (None, Decision::Rejected) => Ok(Delivery::Rejection),
        (None, Decision::Ratified | Decision::Edited) => Ok(Delivery::Brief),
    }
}

#[cfg(test)]
mod tests;
