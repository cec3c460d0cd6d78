//! Every byte on disk.
//!
//! Owns how Flagpost writes (`fsx`, the only code that creates, renames or removes) and the exact
//! formats it reads and writes (`dialects`). Synchronous. It must hold no rule: what may happen to
//! a task is `model`'s, and when to write it is `core`'s.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests arrange files by hand")
)]

pub mod dialects;
pub mod fsx;
pub mod json;
pub mod notices;
pub mod process;
pub mod record;
pub mod task_file;

mod error;
mod fields;
mod file_number;
mod holder;
mod yaml;

pub use error::{Error, Result};
pub use task_file::TaskFile;
