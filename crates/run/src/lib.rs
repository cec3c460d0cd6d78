//! The orchestrator: a pure scheduler and the driver that does what it says.
//!
//! Owns the run of a list: which agent process is started for which task, what its end means, and
//! the session that records it. Time, processes and signals are the driver's; decisions are the
//! scheduler's and `model`'s. It must never print.

pub mod agent;
mod driver;
mod error;
pub mod events;
mod leftovers;
pub mod outcome;
mod process;
mod prompt;
mod refusal;
mod rehearsal;
pub mod scheduler;
mod scope;
mod unstarted;
pub mod worktree;

pub use driver::{Input, Options, Report, Stage, run};
pub use error::{Error, Result};
pub use leftovers::end_agents;
pub use rehearsal::{Rehearsal, rehearse};
pub use scope::{Wanted, plan, scope};
