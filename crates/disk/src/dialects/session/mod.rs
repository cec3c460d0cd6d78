//! Owns the translation between the texts of these files and the nouns of a session. It opens no
//! file. Invariants: a subject never breaks a line format, whatever is in it; readers accept any
//! text and return what they understood; `write(read(x)) = x` for the shared context in our own
//! form.
//!
#![doc = include_str!("../../../../../docs/formats/session.md")]

pub mod context;
mod duration;
pub mod layout;
mod line;
pub mod lock;
mod markdown;
pub mod plan;
pub mod progress;
pub mod result;
pub mod summary;
pub mod task_log;

pub use duration::render as render_duration;
