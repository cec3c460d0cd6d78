//! A simulated disk whose power can be cut after every step.
//!
//! Owns [`PowerFs`], a file system in memory that keeps what is durable apart from what merely is,
//! and the searches made with it: [`every_crash`], [`every_kill`] and [`every_fault`]. It must be no
//! kinder than a real disk: whatever was not synced may be lost, in any combination.

mod calls;
mod crash;
mod every;
mod fs;
mod step;
mod tree;

pub use crash::CrashOutcome;
pub use every::{every_crash, every_fault, every_kill};
pub use fs::{Fault, PowerFs};
pub use step::{DiskStep, assert_synced_before_rename};
