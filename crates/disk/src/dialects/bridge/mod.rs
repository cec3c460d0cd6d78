//! Owns the names of the bridge's files and the translation between their bytes and the model.
//! It must never touch the file system, and decides nothing.
//!
#![doc = include_str!("../../../../../docs/formats/bridge.md")]

mod layout;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use layout::{
    INBOX, INBOX_LOCK, LEDGER, OUTBOX, OUTBOX_LOCK, RUNNER, STOP, processing, processing_number,
    rejected,
};
pub use read::{KnownAnswer, LedgerEntry, inbox, is_idle, ledger, outbox};
pub use write::{command, entry, inbox_bytes, notes, outbox_bytes, reply, stats, summary, task};
