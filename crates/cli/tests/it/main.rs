//! The one binary, tried from outside.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests arrange the machine by hand"
)]

mod markdown_commands;
mod run_demo;
mod run_endings;
mod run_environment;
mod run_full_disk;
mod run_garbage;
mod run_hell;
mod run_meddling;
mod run_outcomes;
mod run_output;
mod run_refusals;
mod run_schedule;
mod run_stage;
mod run_stream;
mod run_worktrees;
