//! One line of a session's log.
//!
//! Owns what is kept of every task that ended. The log has no rows for tasks that still run, so
//! it can never tell what a crash left behind (see `recovery`).

use jiff::SignedDuration;

use super::Outcome;
use crate::id::TaskId;

/// A task that ended or ran out of attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogRow {
    /// The task.
    pub id: TaskId,
    /// Its one line.
    pub subject: String,
    /// The verdict.
    pub outcome: Outcome,
    /// Which attempt it was, from 1.
    pub attempt: u32,
    /// How many there could have been.
    pub of: u32,
    /// How long it took, if anybody measured.
    pub duration: Option<SignedDuration>,
    /// How many tokens it cost, if the agent said.
    pub tokens: Option<u64>,
}
