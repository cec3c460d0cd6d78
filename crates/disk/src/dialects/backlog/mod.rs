//! Owns the translation of a Backlog.md task file into a task. It only reads; it touches no file
//! and no list.
//!
#![doc = include_str!("../../../../../docs/formats/backlog.md")]

mod front;
mod read;

#[cfg(test)]
mod tests;

pub use read::{FOLDERS, Folder, is_task_name, read};
