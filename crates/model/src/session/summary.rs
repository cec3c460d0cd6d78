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
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// What was planned and never began.
    pub not_started: Vec<NotStarted>,
}

/// A task that never began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotStarted {
    /// The task.
    pub id: TaskId,
    /// Its one line.
    pub subject: String,
    /// Why not, in words.
    pub why: String,
}

impl SessionSummary {
    /// How many tasks ended so.
    pub fn total(&self, outcome: Outcome) -> usize {
        self.rows.iter().filter(|r| r.outcome == outcome).count()
    }
}
