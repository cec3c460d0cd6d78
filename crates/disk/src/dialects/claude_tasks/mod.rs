//! Owns the translation between a task file's bytes and [`Task`].
//! Invariant: `write(read(x)) = x` in every value it does not mean to change. It must never touch
//! the file system.
//!
#![doc = include_str!("../../../../../docs/formats/claude-tasks.md")]

mod layout;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use layout::{
    CACHE, COUNTER, LOCK, POINTER, REPOSITORY, SHORTLIST, file_name, id_of, is_task_name,
};
pub use read::read;
pub use write::write;

use flagpost_model::task::Task;
use serde_json::{Map, Value};

/// A task with the file it came from: the typed view beside the original.
#[derive(Debug, Clone)]
pub struct TaskFile {
    /// What we understand.
    pub task: Task,
    /// The whole file as parsed, unknown keys included.
    raw: Map<String, Value>,
}

impl TaskFile {
    /// The task after a change, with everything foreign of this file kept.
    pub fn with(&self, task: &Task) -> Vec<u8> {
        write(Some(self), task)
    }
}
