//! The orchestrator, tried on real programs.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests arrange the machine by hand"
)]

mod leases;
mod worktrees;
