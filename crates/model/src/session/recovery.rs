//! Which tasks a dead session leaves behind.
//!
//! Owns the rule of `tree.md` §3 "Recovery". It looks at the claims, never at the session's log:
//! the log has rows only for tasks that ended, which are just the ones that need no recovery.

use std::collections::BTreeSet;

use crate::{
    id::{SessionId, TaskId},
    task::{Outline, State},
};

/// The tasks that go back to pending, in the order given.
///
/// `dead` are sessions that are known to be over. `dead_foreign` says that a session whose lock
/// another program wrote died on this list: such programs set the status and claim nothing, so
/// what is in progress without a claim is theirs.
pub fn orphaned(
    outlines: &[Outline],
    dead: &BTreeSet<SessionId>,
    dead_foreign: bool,
) -> Vec<TaskId> {
    outlines
        .iter()
        .filter(|outline| match &outline.state {
            State::Claimed(claim) | State::InProgress(Some(claim)) => {
                claim.session.as_ref().is_some_and(|s| dead.contains(s))
            }
            State::InProgress(None) => dead_foreign,
            State::Pending | State::Completed | State::Failed | State::Stuck | State::Cancelled => {
                false
            }
        })
        .map(|outline| outline.id.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{
        id::Token,
        task::{Claim, Task},
    };

    fn outline(id: u64, state: State) -> Outline {
        let mut task = Task::new(id.into(), "Add input validation");
        task.state = state;
        Outline::from(&task)
    }

    fn claim(session: Option<&str>) -> Claim {
        Claim {
            by: "W1".parse().unwrap(),
            token: Token(1),
            at: Timestamp::UNIX_EPOCH,
            expires_at: Timestamp::UNIX_EPOCH,
            lease: crate::task::DEFAULT_LEASE,
            session: session.map(|s| s.parse().unwrap()),
        }
    }

    fn list() -> Vec<Outline> {
        vec![
            outline(1, State::InProgress(Some(claim(Some("dead-1"))))),
            outline(2, State::Claimed(claim(Some("dead-1")))),
            outline(3, State::InProgress(Some(claim(Some("alive-2"))))),
            outline(4, State::InProgress(Some(claim(None)))),
            outline(5, State::InProgress(None)),
            outline(6, State::Completed),
            outline(7, State::Failed),
            outline(8, State::Pending),
        ]
    }

    fn ids(dead: &[&str], dead_foreign: bool) -> Vec<String> {
        let dead = dead.iter().map(|s| s.parse().unwrap()).collect();
        orphaned(&list(), &dead, dead_foreign)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn trap_04_what_ran_at_the_crash_goes_back_and_no_other_session_loses_a_task() {
        assert_eq!(ids(&["dead-1"], false), ["1", "2"]);
        assert_eq!(ids(&["dead-1"], true), ["1", "2", "5"]);
        assert_eq!(ids(&[], true), ["5"]);
        assert!(ids(&["unknown"], false).is_empty());
    }
}
