//! Which errors only say "no".
//!
//! Owns what costs a task its attempt and what ends the run. A disk that fails ends it; a rule that
//! refuses, or a file that cannot be read, does not.

use flagpost_core as core;
use flagpost_disk as disk;

use crate::error::{Error, Result};

/// How a core error that only says "no" is told from one that ends the run. A file that cannot be
/// read costs its task and no other.
pub(crate) fn refusal(error: core::Error) -> Result<String> {
    match error {
        core::Error::Refused(_)
        | core::Error::Coordination(_)
        | core::Error::CoordinationLate { .. }
        | core::Error::KeptLate(_)
        | core::Error::Invalid { .. }
        | core::Error::NotFound { .. }
        | core::Error::Disk(disk::Error::Malformed { .. }) => Ok(error.to_string()),
        core::Error::Disk(error) => unreadable(error),
        other => Err(Error::Core(other)),
    }
}

/// What there is to say of a file that cannot be read.
fn unreadable(error: disk::Error) -> Result<String> {
    match &error {
        disk::Error::Io {
            doing: "read",
            source,
            ..
        } => Ok(format!("{error}: {source}")),
        _ => Err(error.into()),
    }
}
