//! What comes in from elsewhere: tasks of another tool, of a file, of another list.
//!
//! Owns the plain form that every dialect translates its tasks into, and the two rules of an
//! import: how references become tasks ([`assemble()`]), and what an import may change
//! ([`Incoming::merge`]). It knows no list, and of the formats their names.

mod assemble;
mod format;
mod merge;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use jiff::Timestamp;

pub use assemble::{SourceCycle, assemble};
pub use format::{Format, Spelling};
pub use merge::{Blocker, ImportContext, Links, Merged, is_from};

use schemars::JsonSchema;
use serde::Serialize;

use crate::{id::WorkerId, task::Task};

/// What an import brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intake {
    /// What it is read from.
    pub format: Format,
    /// What a plan is called, so that tasks which leave it can be named.
    pub source: Option<String>,
    /// The tasks, in the order of the source; they wait for each other without circles.
    pub tasks: Vec<Incoming>,
    /// What could not be understood.
    pub broken: Vec<Broken>,
    /// What looks like an instruction and was taken for none.
    pub warnings: Vec<String>,
    /// How many of the tasks somebody held there. A claim is not imported: they are pending.
    pub held: usize,
}

/// A task that is yet to be added to a list, or found there by its uid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incoming {
    /// Its name for good; unique within the intake.
    pub uid: String,
    /// Where it stands in the source: `line 3`, a file's name.
    pub place: String,
    /// Everything that the source says of it. Its id, links, parent, uid and claim mean nothing.
    pub task: Task,
    /// What comes first, by position.
    pub after: Vec<usize>,
    /// What it is part of, by position.
    pub parent: Option<usize>,
    /// The fields that it says are empty, by the names under which what was said is remembered.
    /// Of the others it says nothing.
    pub emptied: BTreeSet<&'static str>,
    /// The list that it was exported from, where it says so.
    pub exported_from: Option<String>,
    /// The keys that nobody here knows; their values are metadata.
    pub unknown: Vec<String>,
    /// When it was made, where the source says so and does not say by whom.
    pub created: Option<Timestamp>,
    /// How it was completed, where that is no result of a worker of ours.
    pub closing: Option<Closing>,
}

/// How another tool's task was completed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Closing {
    /// The words.
    pub text: String,
    /// By whom, where that is known.
    pub by: Option<WorkerId>,
    /// When, where that is known.
    pub at: Option<Timestamp>,
}

/// A part of the source that could not be understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Broken {
    /// Where it stands.
    pub place: String,
    /// What is wrong.
    pub reason: String,
    /// What an import of the rest goes without.
    #[serde(skip)]
    pub lost: Lost,
}

/// What a fault costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// The task.
    Task,
    /// A link or a key; the task is imported without it.
    Detail,
}

/// A task as a dialect reads it: what it waits for is still a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The name by which others of the source refer to it; empty where nobody can.
    pub key: String,
    /// The task.
    pub incoming: Incoming,
    /// What comes first, by key.
    pub after: Vec<String>,
    /// What it is part of, by key.
    pub parent: Option<String>,
    /// Whether somebody held it.
    pub held: bool,
}

/// What a dialect read of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drafts {
    /// The tasks, in the order of the source.
    pub drafts: Vec<Draft>,
    /// What could not be understood.
    pub broken: Vec<Broken>,
    /// What looks like an instruction and was taken for none.
    pub warnings: Vec<String>,
}

impl Drafts {
    /// Adds a task, or what is wrong with it.
    pub fn take(&mut self, place: &str, read: Result<Draft, String>) {
        match read {
            Ok(draft) => self.drafts.push(draft),
            Err(reason) => self.broken.push(Broken {
                place: place.to_owned(),
                reason,
                lost: Lost::Task,
            }),
        }
    }
}

impl Draft {
    /// A task that waits for nothing.
    pub fn new(place: impl Into<String>, uid: impl Into<String>, task: Task) -> Self {
        Self {
            key: String::new(),
            incoming: Incoming {
                uid: uid.into(),
                place: place.into(),
                task,
                after: Vec::new(),
                parent: None,
                emptied: BTreeSet::new(),
                exported_from: None,
                unknown: Vec::new(),
                created: None,
                closing: None,
            },
            after: Vec::new(),
            parent: None,
            held: false,
        }
    }
}
