//! A task's outline: what planning needs, without the prose.
//!
//! Owns the small form in which whole lists are held and cached. It is derived from a [`Task`]
//! and never written back to one.

use serde::{Deserialize, Serialize};

use super::{Priority, State, Task};
use crate::id::TaskId;

/// The part of a task that ordering, readiness, and tables need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// The task's id.
    pub id: TaskId,
    /// Its one line.
    pub subject: String,
    /// Where it stands.
    pub state: State,
    /// Who holds it or did it.
    pub owner: Option<String>,
    /// Tasks that wait for it, as its file says.
    pub blocks: Vec<TaskId>,
    /// Tasks it waits for, as its file says.
    pub blocked_by: Vec<TaskId>,
    /// How urgent it is.
    pub priority: Option<Priority>,
    /// The feature it belongs to.
    pub group: Option<String>,
    /// The planner's name for it.
    pub uid: Option<String>,
    /// How often it was claimed.
    pub attempts: u32,
}

impl From<&Task> for Outline {
    fn from(task: &Task) -> Self {
        Self {
            id: task.id.clone(),
            subject: task.subject.clone(),
            state: task.state.clone(),
            owner: task.owner.clone(),
            blocks: task.blocks.clone(),
            blocked_by: task.blocked_by.clone(),
            priority: task.priority,
            group: task.group.clone(),
            uid: task.uid.clone(),
            attempts: task.attempts,
        }
    }
}
