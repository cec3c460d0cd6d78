//! Appending lines.
//!
//! Owns that each call is one write at the end of the file, so that lines of several writers never
//! interleave, and that a line which a crash or a foreign writer left unfinished is ended first.
//! Two writers may both end it: readers skip empty lines.

use std::{borrow::Cow, path::Path};

use super::{Error, Fs, READ_LIMIT, Result, stat, sync_parent};

/// What the caller is about to promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The lines survive a power cut.
    Synced,
    /// The lines survive the process; the system writes them out in its own time.
    Lazy,
}

/// Appends whole lines, creating the file. Its name is durable before its first line is written, so
/// that a file which has lines never needs to make it so again.
pub fn append(fs: &dyn Fs, path: &Path, lines: &[u8], durability: Durability) -> Result<()> {
    let mut file = fs.open_append(path).map_err(Error::io("open", path))?;
    let bytes = match last_byte(fs, path)? {
        None => {
            sync_parent(fs, path)?;
            Cow::Borrowed(lines)
        }
        Some(b'\n') => Cow::Borrowed(lines),
        Some(_) => Cow::Owned([b"\n", lines].concat()),
    };
    file.write(&bytes).map_err(Error::io("append to", path))?;
    match durability {
        Durability::Lazy => Ok(()),
        Durability::Synced => file.sync().map_err(Error::io("sync", path)),
    }
}

/// Appends the rest of lines that a crash cut off, of which the file ends with the part that stays after
/// `len` bytes; durable on return, also where nothing is left.
pub fn complete(fs: &dyn Fs, path: &Path, len: u64, rest: &[u8]) -> Result<()> {
    if stat(fs, path)?.is_some_and(|stat| stat.len > len) {
        fs.cut(path, len).map_err(Error::io("cut off", path))?;
    }
    let mut file = fs.open_append(path).map_err(Error::io("open", path))?;
    if !rest.is_empty() {
        file.write(rest).map_err(Error::io("append to", path))?;
    }
    file.sync().map_err(Error::io("sync", path))
}

fn last_byte(fs: &dyn Fs, path: &Path) -> Result<Option<u8>> {
    let len = stat(fs, path)?.map_or(0, |stat| stat.len);
    let Some(last) = len.checked_sub(1) else {
        return Ok(None);
    };
    let tail = fs
        .read(path, last, READ_LIMIT)
        .map_err(Error::io("read", path))?;
    Ok(tail.last().copied())
}
