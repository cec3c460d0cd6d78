//! Where a task stands in the queue.
//!
//! Owns the small part of a task that decides whether and when it is handed out, so that who only
//! claims need not hold the outlines of a whole list. It is derived, and never written back.

use jiff::{Timestamp, fmt::serde::timestamp::millisecond};
use serde::{Deserialize, Serialize};

use super::{Outline, Priority, State, Task};
use crate::id::TaskId;

/// What of a task decides when it is handed out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSummary {
    /// The task's id.
    pub id: TaskId,
    /// Where it stands.
    pub state: State,
    /// How urgent it is.
    pub priority: Option<Priority>,
    /// It is not handed out before.
    #[serde(with = "millisecond::optional")]
    pub not_before: Option<Timestamp>,
    /// Tasks that wait for it, as its file says.
    pub blocks: Vec<TaskId>,
    /// Tasks it waits for, as its file says.
    pub blocked_by: Vec<TaskId>,
}

impl From<&Task> for TaskSummary {
    fn from(task: &Task) -> Self {
        Self {
            id: task.id.clone(),
            state: task.state.clone(),
            priority: task.priority,
            not_before: task.not_before,
            blocks: task.blocks.clone(),
            blocked_by: task.blocked_by.clone(),
        }
    }
}

impl From<&Outline> for TaskSummary {
    fn from(outline: &Outline) -> Self {
        Self {
            id: outline.id.clone(),
            state: outline.state.clone(),
            priority: outline.priority,
            not_before: outline.not_before,
            blocks: outline.blocks.clone(),
            blocked_by: outline.blocked_by.clone(),
        }
    }
}
