//! A session's account of itself when it is over.
//!
//! Owns the totals that the summary file shows. Everything here can be had again from the log
//! and the tasks.

use jiff::Timestamp;

use super::{LogRow, Outcome};
use crate::{
    id::{SessionId, TaskId},
    list_ref::ListRef,
};

/// A session that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSummary {
    /// The session.
    pub session: SessionId,
    /// The list it ran.
    pub list: ListRef,
    /// When it began.
    pub started: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// The last row of every task that ended.
    pub rows: Vec<LogRow>,
    /// What was planned and was not done, with the reason.
    pub not_started: Vec<TaskRemark>,
    /// The tasks that wait for an answer, with the question.
    pub asking: Vec<TaskRemark>,
    /// The tasks that passed though their client refused some of their actions, with these.
    pub refused: Vec<TaskRemark>,
    /// What all attempts cost in US dollars, where a client told.
    pub cost_usd: Option<f64>,
}

/// Something to say about a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRemark {
    /// The task.
    pub id: TaskId,
    /// Its one line.
    pub subject: String,
    /// The words.
    pub words: String,
}

impl SessionSummary {
    /// How many tasks ended so.
    pub fn total(&self, outcome: Outcome) -> usize {
        self.rows.iter().filter(|r| r.outcome == outcome).count()
    }
}
