//! Appending lines.
//!
//! Owns that each call is one write at the end of the file, so that lines of several writers never
//! interleave. A line that a crash tore is ended first, so that it spoils no other.

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
    let before = stat(fs, path)?;
    let is_new = before.is_none();
    let torn = match before.map_or(0, |stat| stat.len) {
        0 => false,
        len => {
            fs.read(path, len - 1, 1 << 20)
                .map_err(Error::io("read", path))?
                .last()
                != Some(&b'\n')
        }
    };
    let mut file = fs.open_append(path).map_err(Error::io("open", path))?;
    let written = if torn {
        file.write(&[b"\n", lines].concat())
    } else {
        file.write(lines)
    };
    written.map_err(Error::io("append to", path))?;
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
