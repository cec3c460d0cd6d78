//! Owns the translation between a task file's bytes and [`Task`].
//! Invariant: `write(read(x)) = x` in every value it does not mean to change. It must never touch
//! the file system.
//!
#![doc = include_str!("../../../../../docs/formats/claude-tasks.md")]

mod intake;
mod layout;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use intake::draft;
pub use layout::{
    CACHE, COUNTER, LOCK, POINTER, QUEUE, REPOSITORY, file_name, id_of, is_task_name, stem,
};
pub use read::{is_field, is_too_deep, read};
pub use write::{restore, to_bytes, write};

use flagpost_model::task::{StateName, Task};
use serde_json::{Map, Value, json};

use crate::task_file;
pub use crate::task_file::TaskFile;

/// How deep the keys of a file are told apart.
const NESTED: &[&str] = &["metadata", "flagpost"];

/// A short name for what a file says.
pub fn fingerprint(raw: &Map<String, Value>) -> String {
    task_file::fingerprint(raw, NESTED)
}

impl TaskFile {
    /// The state that the file gives the task and its status contradicts, if there is one.
    pub fn overruled(&self) -> Option<StateName> {
        let ours = self.raw.get("metadata")?.get("flagpost")?.get("state")?;
        let state: StateName = ours.as_str()?.parse().ok()?;
        (state != self.task.state.name()).then_some(state)
    }

    /// The file as other readers of the format normalise it: what is ours to interpret they see in
    /// the metadata.
    pub fn normalised(&self) -> Map<String, Value> {
        let task = &self.task;
        let mut raw = self.raw.clone();
        let status = match raw.get("status").and_then(Value::as_str) {
            Some(known @ ("pending" | "in_progress" | "completed")) => known.to_owned(),
            _ => "pending".to_owned(),
        };
        raw.insert("id".to_owned(), json!(task.id));
        raw.insert("subject".to_owned(), json!(task.subject));
        raw.insert("description".to_owned(), json!(task.description));
        raw.insert("status".to_owned(), status.into());
        raw.insert("blocks".to_owned(), json!(task.blocks));
        raw.insert("blockedBy".to_owned(), json!(task.blocked_by));
        if raw.get("activeForm").is_some_and(|it| !it.is_string()) {
            raw.shift_remove("activeForm");
        }
        raw
    }

    /// The file of `task`, which is this one's under another id, with everything foreign kept.
    pub fn copied(&self, task: &Task) -> Map<String, Value> {
        let mut raw = write(Some(self), task);
        raw.insert("id".to_owned(), task.id.as_str().into());
        raw
    }

    /// The task after a change, with everything foreign of this file kept.
    pub fn with(&self, task: &Task) -> Vec<u8> {
        to_bytes(write(Some(self), task))
    }
}
