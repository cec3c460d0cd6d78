//! The orchestrator: a pure scheduler and the driver that does what it says.
//!
//! Owns the run of a list: which agent process is started for which task, what its end means, and
//! the session that records it. Time, processes and signals are the driver's; decisions are the
//! scheduler's and `model`'s. It must never print.

pub mod agent;
pub mod driver;
mod error;
pub mod events;
pub mod outcome;
mod process;
mod prompt;
pub mod scheduler;
pub mod worktree;

pub use driver::{Input, Options, Report, Stage, run};
pub use error::{Error, Result};
