//! What an agent reports of its task.
//!
//! Owns the parts of a report that the session acts on. A report without an outcome is not a
//! verdict: the session then asks the other witnesses (`tree.md` §3).

use super::Outcome;

/// An agent's own account of a task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskReport {
    /// The verdict; none where the report has no readable one.
    pub outcome: Option<Outcome>,
    /// Why it has none though it meant to say something; an exit code must not speak over that.
    pub unclear: Option<String>,
    /// What was done, Markdown.
    pub summary: String,
    /// Paths that were changed.
    pub files: Vec<String>,
    /// What went wrong or stays open, Markdown; empty where nothing did.
    pub issues: String,
    /// How many bytes at its end nobody looked at.
    pub left_out: u64,
}

impl TaskReport {
    /// One that is there and says nothing that anybody could read, for this reason.
    pub fn unreadable(why: String) -> Self {
        Self {
            unclear: Some(why.clone()),
            issues: why,
            ..Self::default()
        }
    }
}
