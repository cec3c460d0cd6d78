//! A session's plan as it is kept beside its results.
//!
//! Owns the record of what was meant to run. The schedule itself belongs to [`crate::plan`];
//! nothing is ever scheduled from this record.

use crate::{
    id::{SessionId, TaskId},
    list_ref::ListRef,
};

/// What a session set out to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPlan {
    /// The session.
    pub session: SessionId,
    /// The list it runs.
    pub list: ListRef,
    /// How many tasks may run side by side.
    pub max_parallel: u32,
    /// How often a task is tried.
    pub attempts: u32,
    /// The waves, each in starting order.
    pub waves: Vec<Vec<PlannedTask>>,
}

/// A task in its wave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedTask {
    /// The task.
    pub id: TaskId,
    /// Its one line.
    pub subject: String,
    /// The tasks it waits for.
    pub after: Vec<TaskId>,
}
