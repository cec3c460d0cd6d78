//! Owns the translation of a beads issue into a task. It only reads; it touches no file and no
//! list.
//!
#![doc = include_str!("../../../../../docs/formats/beads.md")]

mod read;

#[cfg(test)]
mod tests;

pub use read::{is_issue, read};
