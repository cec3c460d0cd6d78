//! Nouns and rules of Flagpost.
//!
//! Owns what a task, a claim, a plan, a session, an envelope, a message and a decision *are* and what
//! may happen to them. Everything here is a pure function of plain data: no I/O, no clock, no async;
//! time is an argument. It must never look at the machine.

pub mod bridge;
pub mod client;
pub mod coordination;
pub mod decision;
pub mod drawing;
pub mod envelope;
pub mod finding;
pub mod glob;
pub mod hook;
pub mod id;
pub mod intake;
mod lease;
pub mod list_ref;
pub mod machines;
pub mod marked_block;
pub mod message;
pub mod names;
pub mod notification;
pub mod permission;
pub mod plain;
pub mod plan;
pub mod policy;
pub mod query;
pub mod reservation;
pub mod search;
pub mod session;
pub mod slash;
pub mod tally;
pub mod task;
mod view;
pub mod worker;

pub use id::{InvalidId, ListId, MachineId, RepoId, Seq, SessionId, TaskId, Token, WorkerId};
pub use list_ref::{ListRef, MirrorForm};
pub use task::Refusal;
