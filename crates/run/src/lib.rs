//! The orchestrator: a pure scheduler and the driver that does what it says.

pub mod scheduler;
pub mod worktree;
