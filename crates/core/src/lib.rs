//! What Flagpost can do, once: one file per subject, one function per operation.
//!
//! An operation resolves its things, takes the lock, reads, applies one rule of `model`, and
//! writes files and history through `disk`. It must hold no rule of its own, print nothing, and
//! know no face.

mod change;
pub mod claims;
mod clock;
mod error;
pub mod history;
mod home;
mod list;
pub mod plans;
mod repository;
mod search;
pub mod sessions;
pub mod tasks;

pub use clock::{Clock, SystemClock};
pub use error::{Error, Result};
pub use home::{Home, Settings};
pub use list::{List, Loaded, Skipped};
pub use repository::Repository;
pub use search::{Found, search};
