//! The gate: who decides on a brief, and what may be delivered.
//!
//! Owns the two rules of the relay. A brief is decided once: whoever comes second is refused,
//! whatever both wanted. And only the body that was decided on is delivered: a flag says yes, the
//! hash says to what. Expiry takes the decision away; it never makes one.

use jiff::Timestamp;

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What was decided.
    pub decision: Decision,
    /// By whom.
    pub by: WorkerId,
    /// When.
    pub at: Timestamp,
    /// On which body.
    pub sha256: Hash,
    /// Which way it came in.
    pub via: Via,
    /// Why, in the decider's words.
    pub reason: Option<String>,
    /// The policy's rule that decided, or the run's session.
    pub rule: Option<String>,
}

/// How a brief stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Nobody decided.
    Pending,
    /// There is a decision on record.
    Decided(Verdict),
    /// Only a flag says so: somebody touched it by hand.
    Flagged(Decision),
}

/// A decision that is not to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
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
    /// The body is not the one that was shown, or decided on.
    #[error("brief {seq} of {worker} was changed since")]
    Changed {
        /// For whom the brief is.
        worker: WorkerId,
        /// Which one.
        seq: Seq,
    },
}

/// What a rule has to know about the brief that it is asked about.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'b> {
    /// For whom it is.
    pub worker: &'b WorkerId,
    /// Its number.
    pub seq: Seq,
    /// From when on nobody may decide on it.
    pub expires_at: Option<Timestamp>,
}

/// What the worker gets to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// The brief.
    Brief,
    /// A notice that it was rejected.
    Rejection,
}

impl Standing {
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
            Self::Pending | Self::Flagged(_) => None,
        }
    }

    /// What was decided.
    pub fn decision(&self) -> Option<Decision> {
        match self {
            Self::Pending => None,
            Self::Decided(verdict) => Some(verdict.decision),
            Self::Flagged(decision) => Some(*decision),
        }
    }
}

/// Whether a decision may be made now.
pub fn decide(standing: &Standing, on: Subject<'_>, now: Timestamp) -> Result<(), Refusal> {
    let (worker, seq) = (on.worker.clone(), on.seq);
    if let Some(decision) = standing.decision() {
        let by = match standing {
            Standing::Decided(verdict) => Some(verdict.by.clone()),
            Standing::Pending | Standing::Flagged(_) => None,
        };
        return Err(Refusal::Decided {
            worker,
            seq,
            decision,
            by,
        });
    }
    match on.expires_at.filter(|at| *at <= now) {
        Some(at) => Err(Refusal::Expired { worker, seq, at }),
        None => Ok(()),
    }
}

/// What of a brief may reach its worker, given the hash of the body as it is now.
pub fn deliverable(standing: &Standing, on: Subject<'_>, body: &Hash) -> Result<Delivery, Refusal> {
    let (worker, seq) = (on.worker.clone(), on.seq);
    match standing {
        Standing::Pending => Err(Refusal::Undecided { worker, seq }),
        Standing::Decided(verdict) => match verdict.decision {
            Decision::Rejected => Ok(Delivery::Rejection),
            Decision::Ratified | Decision::Edited if verdict.sha256 == *body => Ok(Delivery::Brief),
            Decision::Ratified | Decision::Edited => Err(Refusal::Changed { worker, seq }),
        },
        Standing::Flagged(Decision::Rejected) => Ok(Delivery::Rejection),
        Standing::Flagged(Decision::Ratified | Decision::Edited) => Ok(Delivery::Brief),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(decision: Decision) -> Standing {
        Standing::Decided(Verdict {
            decision,
            by: "ann".parse().unwrap(),
            at: Timestamp::UNIX_EPOCH,
            sha256: Hash::of(b"body"),
            via: Via::Cli,
            reason: None,
            rule: None,
        })
    }

    fn every_standing() -> Vec<Standing> {
        let flagged = Decision::ALL.iter().map(|it| Standing::Flagged(*it));
        let decided = Decision::ALL.iter().map(|it| verdict(*it));
        flagged.chain(decided).collect()
    }

    #[test]
    fn what_is_decided_is_never_decided_again() {
        let worker: WorkerId = "W1".parse().unwrap();
        let seq: Seq = "7".parse().unwrap();
        let at = |text: &str| -> Timestamp { text.parse().unwrap() };
        let (now, later) = (at("2026-05-13T14:25:00Z"), at("2026-05-13T14:26:00Z"));
        let on = |expires_at| Subject {
            worker: &worker,
            seq,
            expires_at,
        };
        for standing in every_standing() {
            let refused = decide(&standing, on(None), now).unwrap_err();
            let told = refused.to_string();
            let word = standing.decision().unwrap();
            assert!(
                told.starts_with(&format!("brief 0007 of W1 is {word} already")),
                "{told}"
            );
        }
        assert_eq!(decide(&Standing::Pending, on(None), now), Ok(()));
        assert_eq!(decide(&Standing::Pending, on(Some(later)), now), Ok(()));
        for at in [now, later] {
            let refused = decide(&Standing::Pending, on(Some(at)), later);
            assert!(matches!(refused, Err(Refusal::Expired { .. })), "{at}");
        }
    }

    #[test]
    fn trap_36_only_the_body_that_was_decided_on_is_delivered() {
        let worker: WorkerId = "W1".parse().unwrap();
        let on = Subject {
            worker: &worker,
            seq: "7".parse().unwrap(),
            expires_at: None,
        };
        let [same, other] = [b"body", b"evil"].map(|body| Hash::of(body));
        let look = |standing: &Standing, body| deliverable(standing, on, body).ok();
        for decision in [Decision::Ratified, Decision::Edited] {
            assert_eq!(look(&verdict(decision), &same), Some(Delivery::Brief));
            assert_eq!(look(&verdict(decision), &other), None);
            assert_eq!(
                look(&Standing::Flagged(decision), &other),
                Some(Delivery::Brief)
            );
        }
        let rejected = verdict(Decision::Rejected);
        assert_eq!(look(&rejected, &other), Some(Delivery::Rejection));
        assert_eq!(look(&Standing::Pending, &same), None);
    }

    #[test]
    fn of_two_flags_the_one_that_delivers_less_counts() {
        use Decision::{Edited, Ratified, Rejected};
        for (flags, expected) in [
            (&[][..], Standing::Pending),
            (&[Ratified], Standing::Flagged(Ratified)),
            (&[Ratified, Rejected], Standing::Flagged(Rejected)),
            (&[Ratified, Edited], Standing::Flagged(Edited)),
        ] {
            assert_eq!(Standing::of_flags(flags), expected);
        }
    }
}
