//! Owns the names in a coordination directory and the translation between its files and the model.
//! Invariant: a change touches only the rows and keys that it means to. It must never touch the file
//! system, and decides nothing.
//!
#![doc = include_str!("../../../../../docs/formats/coordination.md")]

mod layout;
mod prose;
mod read;
#[cfg(test)]
mod tests;
mod time;
mod write;

pub use layout::{
    AGENTS, AGENTS_LOCK, CONTEXT, DEFAULT_DIR, DISCOVERIES, LATE, LOCK, LOGS, PLAN, RESULTS,
    SUMMARY, TASKS, late, log, number, numbered, result,
};
pub use prose::{
    Discovery, discovery, late_entry, log_line, objective, plan, read_discoveries, with_objective,
};
pub use read::{read_agents, read_drafts, read_last_updated, read_row, read_tasks};
pub use time::to_text as time_to_text;
pub use write::{new_table, put_rows, to_bytes, write_agents, write_row, write_tasks};

use flagpost_model::coordination::{CoordAgent, CoordTask};
use jiff::civil::DateTime;
use serde_json::{Map, Value};

/// A row of a table: what we understand of it beside the whole of it, or why we do not.
#[derive(Debug, Clone, PartialEq)]
struct CoordRow<T> {
    raw: Value,
    content: Result<T, String>,
}

/// A table with all that it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct CoordTable<T> {
    raw: Map<String, Value>,
    rows: Vec<CoordRow<T>>,
    /// When it was last changed, as it says.
    pub last_updated: Option<DateTime>,
}

/// `tasks.json`.
pub type TasksFile = CoordTable<CoordTask>;
/// `agents.json`.
pub type AgentsFile = CoordTable<CoordAgent>;

impl<T> CoordTable<T> {
    /// The rows that can be understood, in their order.
    pub fn contents(&self) -> impl Iterator<Item = &T> {
        self.rows.iter().filter_map(|row| row.content.as_ref().ok())
    }

    /// The same, each with its row as it stands.
    pub fn rows(&self) -> impl Iterator<Item = (&T, &Map<String, Value>)> {
        let rows = self.rows.iter();
        rows.filter_map(|row| Some((row.content.as_ref().ok()?, row.raw.as_object()?)))
    }

    /// When it was made, word for word: a name for it that goes with it wherever it is moved.
    pub fn made(&self) -> Option<&str> {
        self.raw.get("created_at")?.as_str()
    }

    /// What the rows call themselves, those that cannot be understood as well.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rows
            .iter()
            .filter_map(|row| row.raw.get("id")?.as_str())
    }

    /// The others: which, as it calls itself or by its place, and why.
    pub fn faults(&self) -> impl Iterator<Item = (String, &str)> {
        self.rows.iter().enumerate().filter_map(|(at, row)| {
            let reason = row.content.as_ref().err()?;
            let id = row.raw.get("id").and_then(Value::as_str);
            let name = id.map_or_else(|| format!("row {}", at + 1), str::to_owned);
            Some((name, reason.as_str()))
        })
    }
}
