//! Keeping what cannot be read.
//!
//! Owns the `quarantine/` directory beside a file: a copy under a name that no reader takes for
//! live data, with the reason beside it. The original stays where it is, since its writer may
//! still be writing. The copy's name holds the content's hash, so the same broken content is
//! reported once and a second, different one is kept too.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::{Error, Fs, Result, make_dirs, publish, replace, stat, sync_parent};

/// Whether this content was known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// It is new: report it.
    Now,
    /// It was kept and reported before.
    Before,
}

/// Copies the content of the malformed file `path` aside with the reason.
pub fn quarantine(fs: &dyn Fs, path: &Path, content: &[u8], reason: &str) -> Result<Kept> {
    let dir = path.with_file_name("quarantine");
    make_dirs(fs, &dir)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let hash = Sha256::digest(content);
    let short: String = hash
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let copy = dir.join(format!("{name}.{short}"));
    if stat(fs, &copy)?.is_some() {
        sync_parent(fs, &copy)?;
        return Ok(Kept::Before);
    }
    // The reason comes first: the copy's appearance says that the case is complete.
    let reason_path = dir.join(format!("{name}.{short}.reason.txt"));
    replace(fs, &reason_path, format!("{reason}\n").as_bytes())?;
    match publish(fs, &copy, content) {
        Ok(()) => Ok(Kept::Now),
        Err(Error::Conflict { .. }) => Ok(Kept::Before),
        Err(error) => Err(error),
    }
}
