//! Which tasks of a list a run is about.
//!
//! Owns that a run may be narrowed to a group, and that it takes up again what failed earlier. Pure.

use flagpost_model::{
    TaskId,
    plan::{Graph, is_open, waves},
    task::{Outline, State},
};

/// The tasks that a run works on, as the scheduler sees them: those of the group, and tasks that
/// failed earlier as pending again.
pub fn scope(outlines: &[Outline], group: Option<&str>, skip_failed: bool) -> Vec<Outline> {
    let ours = |task: &&Outline| {
        !is_open(&task.state) && task.state != State::Failed
            || group.is_none_or(|group| task.group.as_deref() == Some(group))
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
pub fn plan(outlines: &[Outline], group: Option<&str>, skip_failed: bool) -> Vec<Vec<TaskId>> {
    waves(&Graph::new(&scope(outlines, group, skip_failed)))
}
