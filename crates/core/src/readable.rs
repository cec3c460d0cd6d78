//! Acknowledged means that it can be read again.
//!
//! Owns the refusal of what would be too long for that. JSON may be six times as long as its text.

use flagpost_disk::fsx::READ_LIMIT;

use crate::error::{Error, Result};

/// These bytes, unless nobody could read them again.
pub(crate) fn readable(what: &str, bytes: Vec<u8>) -> Result<Vec<u8>> {
    let len = bytes.len();
    if len as u64 <= READ_LIMIT {
        return Ok(bytes);
    }
    Err(Error::Invalid {
        what: what.to_owned(),
        reason: format!(
            "its file would have {len} bytes, more than the {READ_LIMIT} that are read"
        ),
    })
}
