//! What Flagpost can do, once: one file per subject, one function per operation.
//!
//! An operation resolves its things, takes the lock, reads, applies one rule of `model`, and
//! writes files and history through `disk`. It must hold no rule of its own, print nothing, and
//! know no face.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests arrange files by hand")
)]

mod access;
pub mod accounts;
pub mod answers;
pub mod bridge;
mod change;
pub mod claims;
mod clock;
pub mod config;
pub mod coordination;
pub mod doctor;
pub mod drawings;
pub mod error;
pub mod files;
pub mod git;
pub mod history;
mod home;
pub mod hooks;
pub mod index;
pub mod instructions;
pub mod kanban;
pub mod landing;
mod list;
pub mod mirror;
pub mod needs;
pub mod notifications;
pub mod operations;
pub mod order;
pub mod permissions;
pub mod plans;
pub mod policy;
pub mod questions;
mod readable;
pub mod registry;
pub mod relay;
mod repository;
pub mod reservations;
pub mod roots;
mod sequencer;
pub mod sessions;
pub mod shell;
mod skipped;
pub mod slash;
pub mod status;
pub mod tasks;
pub mod upkeep;
pub mod waiting;
pub mod watch;

pub use clock::{Clock, SystemClock};
pub use config::Config;
pub use error::{Error, FailureKind, Result, describe};
pub use home::{Environment, Home, Settings};
pub use list::{List, ListReader, Loaded};
pub use relay::messages;
pub use repository::Repository;
pub use skipped::Skipped;
