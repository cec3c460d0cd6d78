//! The one binary, tried from outside.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests arrange the machine by hand"
)]

mod markdown_commands;
mod run_endings;
mod run_garbage;
mod run_hell;
mod run_outcomes;
mod run_output;
mod run_stage;
