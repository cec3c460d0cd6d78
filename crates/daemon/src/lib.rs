//! The daemon: what happens in a home, told to those who listen, and its interface for programs.
//!
//! Owns one process for each home, its socket, its loopback port, and who may come in. It adds push,
//! screens and schedules, never correctness: every operation is one of `core`, under the same locks
//! as a command's, so starting, stopping or killing the daemon changes no result of any command.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests arrange files by hand")
)]

mod answers;
mod bridge;
mod client;
mod config;
mod connections;
mod duties;
mod error;
mod events;
mod http;
mod instance;
mod launch;
mod notify;
mod serve;
mod strangers;

pub use answers::schemas;
pub use client::{link, link_page, sign_out};
pub use config::DaemonConfig;
pub use error::{Error, Result};
pub use events::WatchMode;
pub use http::openapi;
pub use instance::{DaemonStatus, Instance, Paths, VERSION, status};
pub use launch::{Started, start, stop};
pub use serve::{run, signals};
