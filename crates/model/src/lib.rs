//! Nouns and rules of Flagpost.
//!
//! Owns what a task, a claim, a plan and a session *are* and what may happen to them. Everything
//! here is a pure function of plain data: no I/O, no clock, no async; time is an argument. It must
//! never look at the machine.

pub mod drawing;
pub mod finding;
pub mod id;
pub mod intake;
pub mod marked_block;
pub mod names;
pub mod plan;
pub mod query;
pub mod refusal;
pub mod search;
pub mod session;
pub mod tally;
pub mod task;

pub use id::{InvalidId, ListId, RepoId, SessionId, TaskId, Token, WorkerId};
pub use refusal::Refusal;
