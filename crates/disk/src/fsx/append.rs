//! Appending lines.
//!
//! Owns that each call is one write at the end of the file, so that lines of several writers never
//! interleave.

use std::path::Path;

use super::{Error, Fs, Result, stat, sync_parent};

/// What the caller is about to promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The lines survive a power cut.
    Synced,
    /// The lines survive the process; the system writes them out in its own time.
    Lazy,
}

/// Appends whole lines, creating the file.
pub fn append(fs: &dyn Fs, path: &Path, lines: &[u8], durability: Durability) -> Result<()> {
    let is_new = stat(fs, path)?.is_none();
    let mut file = fs.open_append(path).map_err(Error::io("open", path))?;
    file.write(lines).map_err(Error::io("append to", path))?;
    match durability {
        Durability::Lazy => Ok(()),
        Durability::Synced => {
            file.sync().map_err(Error::io("sync", path))?;
            if is_new {
                sync_parent(fs, path)
            } else {
                Ok(())
            }
        }
    }
}
