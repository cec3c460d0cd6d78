//! The history of a session's tasks, as later tasks read it.
//!
//! Owns an entry's title and its condensed form. Invariant: condensing is a function of the entry
//! alone, so an entry that was condensed can still be recognised when it comes again.

use std::fmt;

use super::{KnowledgeNote, Outcome};
use crate::id::TaskId;

/// How many entries stay in full; older ones become one line each.
pub(super) const FULL_ENTRIES: usize = 10;

/// Longest condensed line, in characters, beyond its title.
const CONDENSED: usize = 200;

/// What one task left for those after it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ContextEntry {
    /// Which task, and how it ended.
    pub title: EntryTitle,
    /// What was learned.
    pub notes: Vec<KnowledgeNote>,
}

/// The heading of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum EntryTitle {
    /// In our own form.
    Task {
        /// The task.
        id: TaskId,
        /// Its one line.
        subject: String,
        /// How it ended.
        outcome: Outcome,
    },
    /// Somebody else's heading, word for word.
    Other(String),
}

impl EntryTitle {
    /// The title of a task's entry; the subject becomes one line.
    pub fn task(id: TaskId, subject: &str, outcome: Outcome) -> Self {
        Self::Task {
            id,
            subject: one_line(subject),
            outcome,
        }
    }
}

impl fmt::Display for EntryTitle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task {
                id,
                subject,
                outcome,
            } => write!(f, "Task [{id}]: {subject} - {outcome}"),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl ContextEntry {
    /// The entry as one line: its title and the beginning of its notes.
    pub fn condensed(&self) -> KnowledgeNote {
        let notes: Vec<String> = self.notes.iter().map(|n| one_line(n.text())).collect();
        let notes = notes.join("; ");
        let title = one_line(&self.title.to_string());
        KnowledgeNote::Bullet(if notes.is_empty() {
            title
        } else if notes.chars().count() > CONDENSED {
            let beginning: String = notes.chars().take(CONDENSED).collect();
            format!("{title}: {}…", beginning.trim_end())
        } else {
            format!("{title}: {notes}")
        })
    }
}

fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
