//! What became of a task's work on its way to the target branch.
//!
//! Owns the outcome of landing as the task keeps it, and when work that did not land is no longer done
//! again but asked about. Which work is to land, git and the states of the tasks say.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Act, Ending, State, Task, TaskResult};
use crate::{id::WorkerId, names::names, view};

names! {
    /// How a branch is brought onto the target.
    LandingMethod {
        /// By a merge commit.
        Merge = "merge",
        /// By its commits, put on top of the target.
        Rebase = "rebase",
        /// By one commit.
        Squash = "squash",
    }
}

names! {
    /// What becomes of files that the agent of a task that passed left uncommitted.
    Uncommitted {
        /// They are committed in its name.
        Commit = "commit",
        /// A person is asked.
        Ask = "ask",
        /// The task is done again.
        Fail = "fail",
    }
}

names! {
    /// When the tasks of a run get worktrees of their own.
    WorktreeUse {
        /// Where several agents may work side by side, in a repository with a commit.
        Auto = "auto",
        /// In every run that starts its agents itself.
        Always = "always",
        /// Only where an option says so.
        Never = "never",
    }
}

names! {
    /// Which worktrees stay when a run is over.
    KeptWorktrees {
        /// Each of them.
        All = "all",
        /// Those whose work is on no other branch.
        Unlanded = "unlanded",
        /// Those with files that are in no commit: a branch keeps the rest.
        Files = "files",
    }
}

/// What a person is told of a task that passed without a commit.
pub const NO_COMMIT: &str = "passed, no commit: nothing of it lands";

/// The last outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Landing {
    /// Its work is on the target.
    Landed(Landed),
    /// Its work came back, from a landing or from a person, and is not on the target.
    Refused(NotLanded),
    /// A person looked at its work, which may land.
    Approved(Approval),
    /// It passed in a worktree of its own and brought no commit, so nothing of it can land.
    NoCommit(Timestamp),
}

/// Work that is on the target branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Landed {
    /// The commit of the target that brought it.
    pub commit: String,
    /// The target branch.
    pub onto: String,
    /// The commit of the task's own branch that landed.
    pub tip: String,
    /// When.
    pub at: Timestamp,
}

/// A person's approval of work that is to land: of this commit, and of no later one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// The commit of the task's own branch that the person saw.
    pub commit: String,
    /// Who.
    pub by: WorkerId,
    /// When.
    pub at: Timestamp,
}

/// Work that did not land.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotLanded {
    /// How often it was refused since it landed last, or since a person answered.
    pub times: u32,
    /// Why, the last time: files in conflict, the end of what the check printed, or the words of who returned it.
    pub why: String,
    /// The target branch.
    pub onto: String,
    /// When, the last time.
    pub at: Timestamp,
    /// The person who returned it; null where a landing refused it.
    pub by: Option<WorkerId>,
}

/// The word on work that does not land.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LandingVerdict {
    /// Why not.
    pub why: String,
    /// The target branch.
    pub onto: String,
    /// How often it is done again before a person is asked.
    pub retries: u32,
}

view! {
    /// What became of a task's work on its way to the target branch; null where nothing did.
    struct ShownLanding<'a> for it: Landing {
        /// The landed work; null where that is not the last word.
        landed: Option<&'a Landed> = it.landed(),
        /// The refusal; null likewise.
        refused: Option<&'a NotLanded> = it.refused(),
        /// The approval of its work, which has not landed yet; null likewise.
        approved: Option<&'a Approval> = it.approved(),
        /// When it passed without a commit, so that nothing of it lands; null where it had one.
        no_commit: Option<Timestamp> = it.no_commit(),
    }
}

impl Landing {
    /// The landed work.
    pub fn landed(&self) -> Option<&Landed> {
        match self {
            Self::Landed(landed) => Some(landed),
            Self::Refused(_) | Self::Approved(_) | Self::NoCommit(_) => None,
        }
    }

    /// The refusal.
    pub fn refused(&self) -> Option<&NotLanded> {
        match self {
            Self::Refused(refused) => Some(refused),
            Self::Landed(_) | Self::Approved(_) | Self::NoCommit(_) => None,
        }
    }

    /// The approval.
    pub fn approved(&self) -> Option<&Approval> {
        match self {
            Self::Approved(approval) => Some(approval),
            Self::Landed(_) | Self::Refused(_) | Self::NoCommit(_) => None,
        }
    }

    /// When it passed without a commit.
    pub fn no_commit(&self) -> Option<Timestamp> {
        match self {
            Self::NoCommit(at) => Some(*at),
            Self::Landed(_) | Self::Refused(_) | Self::Approved(_) => None,
        }
    }
}

impl Task {
    /// Why its work did not land, where that was the last word about it.
    pub fn not_landed(&self) -> Option<&NotLanded> {
        self.landing.as_ref().and_then(Landing::refused)
    }

    /// The completed task whose work was refused: pending again, or stuck with a question where it was
    /// done again `retries` times already.
    pub(super) fn refused(mut self, refusal: LandingVerdict, by: WorkerId, at: Timestamp) -> Self {
        let LandingVerdict { why, onto, retries } = refusal;
        let times = self.not_landed().map_or(0, |it| it.times).saturating_add(1);
        if times > retries {
            let times = match times {
                1 => "once".to_owned(),
                times => format!("{times} times"),
            };
            let asks = format!(
                "Its work was done {times} and was not taken. How is it to go on?\n\n{why}"
            );
            self.state = State::Stuck;
            self.result = Some(TaskResult {
                ending: Ending::Stuck,
                text: asks,
                by,
                at,
                token: None,
            });
        } else {
            self.owner = None;
            self.state = State::Pending;
        }
        self.landing = Some(Landing::Refused(NotLanded {
            times,
            why,
            onto,
            at,
            by: None,
        }));
        self
    }

    /// The completed task whose work a person returned with these words: pending again. Landings may refuse its
    /// work as often as at first.
    pub(super) fn returned(mut self, why: String, onto: String, act: &Act) -> Self {
        self.owner = None;
        self.state = State::Pending;
        self.landing = Some(Landing::Refused(NotLanded {
            times: 0,
            why,
            onto,
            at: act.at,
            by: Some(act.actor.clone()),
        }));
        self
    }

    /// The task that a person answered: its work may be refused as often as at first.
    pub(super) fn refusals_forgotten(mut self) -> Self {
        if let Some(Landing::Refused(refused)) = &mut self.landing {
            refused.times = 0;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{TaskEvent, transition};

    fn act() -> Act {
        Act {
            actor: "ann".parse().unwrap(),
            token: None,
            at: "2026-05-13T14:25:00Z".parse().unwrap(),
        }
    }

    fn completed() -> Task {
        let mut task = Task::new("5".parse().unwrap(), "Write it down");
        task.state = State::Completed;
        task
    }

    fn refuse(task: &Task, why: &str) -> Task {
        let event = TaskEvent::Refuse(LandingVerdict {
            why: why.to_owned(),
            onto: "main".to_owned(),
            retries: 2,
        });
        let mut after = transition(task, &act(), event).unwrap();
        if after.state == State::Pending {
            // Somebody did it again.
            after.state = State::Completed;
        }
        after
    }

    #[test]
    fn refused_work_is_done_again_twice_and_then_asked_about() {
        let once = refuse(&completed(), "a conflict");
        let twice = refuse(&once, "a conflict");
        assert_eq!(twice.not_landed().map(|it| it.times), Some(2));
        let asked = refuse(&twice, "the check failed");
        assert_eq!(asked.state, State::Stuck);
        let question = asked.question().unwrap();
        assert!(question.text.contains("the check failed"), "{question:?}");
    }

    #[test]
    fn an_answer_gives_it_as_many_tries_as_at_first() {
        let mut task = completed();
        for _ in 0..3 {
            task = refuse(&task, "a conflict");
        }
        let event = TaskEvent::Answer {
            text: "take theirs".to_owned(),
            again: false,
        };
        let answered = transition(&task, &act(), event).unwrap();
        assert_eq!(answered.state, State::Pending);
        assert_eq!(answered.not_landed().map(|it| it.times), Some(0));
    }

    #[test]
    fn who_does_a_task_again_may_bring_a_commit() {
        let bare = transition(&completed(), &act(), TaskEvent::NoCommit).unwrap();
        assert_eq!(bare.landing, Some(Landing::NoCommit(act().at)));
        let open = transition(&bare, &act(), TaskEvent::Reopen).unwrap();
        assert_eq!(open.landing, None);
    }

    #[test]
    fn a_person_approves_or_returns_what_is_completed_and_has_not_landed() {
        let approve = || TaskEvent::Approve("c".to_owned());
        let back = || TaskEvent::Return {
            why: "Name it".to_owned(),
            onto: "main".to_owned(),
        };
        let returned = transition(&refuse(&completed(), "a conflict"), &act(), back()).unwrap();
        let refused = returned.not_landed().unwrap();
        assert_eq!((returned.state.clone(), refused.times), (State::Pending, 0));
        assert_eq!(refused.by, Some(act().actor));

        let approved = transition(&completed(), &act(), approve()).unwrap();
        let approval = |it: &Task| it.landing.as_ref()?.approved().cloned();
        assert_eq!(
            approval(&approved).map(|it| it.commit).as_deref(),
            Some("c")
        );
        let open = transition(&approved, &act(), TaskEvent::Reopen).unwrap();
        assert_eq!(approval(&open), None, "it is done anew");

        let landed = TaskEvent::Land(Landed {
            commit: "c".to_owned(),
            onto: "main".to_owned(),
            tip: "t".to_owned(),
            at: act().at,
        });
        let landed = transition(&approved, &act(), landed).unwrap();
        for (task, event) in [
            (&landed, approve()),
            (&landed, back()),
            (&open, approve()),
            (&open, back()),
        ] {
            let refused = transition(task, &act(), event.clone());
            assert!(refused.is_err(), "{event:?} of {:?}", task.state);
        }
    }

    #[test]
    fn work_that_landed_was_refused_never() {
        let landed = Landed {
            commit: "c".to_owned(),
            onto: "main".to_owned(),
            tip: "t".to_owned(),
            at: act().at,
        };
        let refused = refuse(&completed(), "a conflict");
        let after = transition(&refused, &act(), TaskEvent::Land(landed)).unwrap();
        assert_eq!(
            (after.state.clone(), after.not_landed()),
            (State::Completed, None)
        );
        assert_eq!(refuse(&after, "x").not_landed().map(|it| it.times), Some(1));
    }
}
