//! Owns the names in a worker's directory and the translation between its files and the model.
//! Invariant: `write(read(x)) = x` in every value it does not mean to change. It must never touch
//! the file system, and decides nothing.
//!
#![doc = include_str!("../../../../../docs/formats/relay.md")]

mod canonical;
mod layout;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use layout::{
    ALIVE, ARCHIVE, COUNTER, EnvelopePart, LOCK, WORKER, archived, body, decision, flag, foreign,
    is_temporary, month, offered, parse, read_flag, report, sidecar, withdrawn, words,
};
pub use read::{read_brief, read_lease, read_report, read_verdict, read_words, read_worker};
pub use write::{
    new_brief, write_brief, write_lease, write_report, write_verdict, write_words, write_worker,
};

use flagpost_model::{
    decision::Prints,
    envelope::{Brief, Hash, Report},
    worker::Worker,
};
use serde_json::{Map, Value};

/// The typed view of a file beside the whole of it.
#[derive(Debug, Clone)]
pub struct File<T> {
    /// What we understand.
    pub content: T,
    /// Everything, keys that we do not know included.
    raw: Map<String, Value>,
}

/// A sidecar.
pub type BriefFile = File<Brief>;
/// A report.
pub type ReportFile = File<Report>;
/// A worker's own file.
pub type WorkerFile = File<Worker>;

/// A brief as it once was, and the line of the history that tells of it.
#[derive(Debug, Clone)]
pub struct BriefSnapshot {
    /// The line's number.
    pub line: u64,
    /// Its sidecar.
    pub sidecar: BriefFile,
    /// Its body.
    pub body: String,
}

impl BriefFile {
    /// What the brief of this sidecar is recognised by.
    pub fn prints(&self, body: &str) -> Prints {
        Prints {
            sha256: Hash::of(body.as_bytes()),
            envelope: canonical::hash(&self.raw, body),
        }
    }

    /// What the sidecar says, by key.
    pub fn keys(&self) -> &Map<String, Value> {
        &self.raw
    }
}

/// As bytes: two spaces deep, with a newline at the end.
fn to_bytes(raw: Map<String, Value>) -> Vec<u8> {
    format!("{:#}\n", Value::Object(raw)).into_bytes()
}
