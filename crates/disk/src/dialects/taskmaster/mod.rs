//! Owns the translation of task-master's tasks and subtasks into tasks. It only reads; it touches
//! no file and no list.
//!
#![doc = include_str!("../../../../../docs/formats/taskmaster.md")]

mod read;

#[cfg(test)]
mod tests;

pub use read::{is_document, read};
