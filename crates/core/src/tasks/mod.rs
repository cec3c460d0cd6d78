//! Operations on tasks.
//!
//! Owns adding, editing, linking, removing, answering and moving tasks through their states: one file
//! each.
//! Invariant: `blocks` and `blockedBy` are kept mirrored, no change closes a circle, and a change
//! of several tasks happens to all of them or to none.

mod adding;
mod answers;
mod fields;
mod links;
mod moves;
pub mod observe;
mod relocate;
mod removal;
mod selection;
mod timers;
mod undo;

use flagpost_model::{
    TaskId,
    plan::{Graph, Node},
    task::Task,
};
use jiff::Timestamp;

pub(crate) use adding::{ITEM, add_all, renew_own};
pub use adding::{add, add_once, edit, edit_all, note, preview_edit};
pub(crate) use answers::must_say_something;
pub use answers::{AnsweredTask, answer};
pub use fields::{Fields, Labels};
pub use links::{blocker, blockers, link, unlink};
pub(crate) use links::{link_in, mirror, named_by_others, open_blockers, unblock};
pub use moves::{Move, Parts, act, act_all, preview_moves};
pub(crate) use moves::{asked, is_late, knowing};
pub use relocate::{Relocated, Ties, preview_relocation, relocate};
pub use removal::{preview_removal, remove, remove_all};
pub(crate) use removal::{preview_whole, remove_whole};
pub use selection::{Agreed, Fitting, Selected, TaskSelector, select};
pub use timers::{Started, start_timer, stop_timer};
pub use undo::{UndoMode, Undone, undo};

use crate::{
    change::{Change, Written},
    error::{Error, Result},
};

/// The tasks of the list that can be claimed now, in the order in which they would be.
pub fn ready<N: Node>(tasks: &[N], now: Timestamp) -> Vec<&N> {
    flagpost_model::plan::ready(&Graph::new(tasks), now)
}

/// What an operation would do to one task.
#[derive(Debug)]
pub struct Preview {
    /// The task as it is.
    pub task: Task,
    /// Why the rules would refuse it: the list's, or those of its table. As all go or none, one refusal
    /// is enough.
    pub refusal: Option<Error>,
}

/// Carries the change out and answers with the task as it is now on disk.
pub(crate) fn finish(mut change: Change<'_>, id: &TaskId) -> Result<Task> {
    let unchanged = change.task(id)?.clone();
    Ok(change.commit()?.remove(id).unwrap_or(unchanged))
}

/// Carries the change out and answers with these tasks as they are now on disk.
fn finish_all(mut change: Change<'_>, ids: &[TaskId]) -> Result<Vec<Task>> {
    let unchanged = ids.iter().map(|id| change.task(id).cloned());
    let unchanged = unchanged.collect::<Result<Vec<_>>>()?;
    let mut written: Written = change.commit()?;
    let now = |task: Task| written.remove(&task.id).unwrap_or(task);
    Ok(unchanged.into_iter().map(now).collect())
}

/// The one answer of an operation on one task.
fn only(mut answers: Vec<Task>, id: &TaskId) -> Result<Task> {
    answers.pop().ok_or_else(|| Error::NotFound {
        what: "task",
        id: id.to_string(),
        list: None,
    })
}
