//! The orchestrator: a pure scheduler and the driver that does what it says.
//!
//! Owns the run of a list: which agent process is started for which task, what its end means, and
//! the session that records it. Time, processes and signals are the driver's; decisions are the
//! scheduler's and `model`'s. It must never print.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests arrange files by hand")
)]

pub mod agent;
mod ask;
pub mod client;
mod command;
mod driver;
mod error;
pub mod events;
pub mod landing;
mod leftovers;
pub mod outcome;
mod process;
mod prompt;
mod refusal;
mod rehearsal;
mod run_context;
pub mod scheduler;
mod scope;
mod terms;
mod unstarted;
mod variables;
pub mod worktree;

pub use driver::{Input, Limits, Options, RunReport, run};
pub use error::{Error, Result};
pub use leftovers::end_agents;
pub use rehearsal::{Rehearsal, rehearse};
pub use run_context::RunContext;
pub use scope::{RunScope, plan, scope};
pub use terms::Terms;
pub use variables::OF_AGENTS;
