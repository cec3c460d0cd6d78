//! Owns the one record that a task is when it leaves a list and comes back, in three spellings.
//! Invariant: what was exported and is imported into an empty list is the same tasks, except for
//! their ids, revisions and claims. It touches no file and no list.
//!
#![doc = include_str!("../../../../../docs/formats/exchange.md")]

mod csv;
mod json;
mod read;
mod write;

#[cfg(test)]
mod tests;

pub use csv::{from_csv, to_csv};
pub use json::{from_json, from_jsonl, is_ours, to_json, to_jsonl};
pub use write::{Exported, ListDocument};
