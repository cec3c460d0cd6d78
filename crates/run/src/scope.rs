//! Which tasks of a list a run is about.
//!
//! Owns that a run may be narrowed to a group, that it takes up again what failed earlier, and that
//! it leaves alone what is for later. Pure.

use flagpost_model::{
    TaskId,
    plan::{Graph, is_open, waves},
    task::{Outline, State},
};
use jiff::Timestamp;

/// Which tasks a run is asked for.
#[derive(Debug, Clone, Copy)]
pub struct RunScope<'g> {
    /// Only those of this group.
    pub group: Option<&'g str>,
    /// Leave those that failed earlier as they are.
    pub skip_failed: bool,
    /// Leave alone what is not to begin before a later time.
    pub now: Timestamp,
}

/// The tasks that a run works on, as the scheduler sees them: those of the group whose time has
/// come, and tasks that failed earlier as pending again.
pub fn scope(outlines: &[Outline], wanted: RunScope<'_>) -> Vec<Outline> {
    let RunScope {
        group,
        skip_failed,
        now,
    } = wanted;
    let ours = |task: &&Outline| {
        let asked_for = group.is_none_or(|group| task.group.as_deref() == Some(group));
        let begun = task.not_before.is_none_or(|morning| morning <= now);
        !is_open(&task.state) && task.state != State::Failed || asked_for && begun
    };
    let again = |task: &Outline| {
        let failed = task.state == State::Failed && !skip_failed;
        Outline {
            state: if failed {
                State::Pending
            } else {
                task.state.clone()
            },
            ..task.clone()
        }
    };
    outlines.iter().filter(ours).map(again).collect()
}

/// The waves of a run.
pub fn plan(outlines: &[Outline], wanted: RunScope<'_>) -> Vec<Vec<TaskId>> {
    waves(&Graph::new(&scope(outlines, wanted)))
}
