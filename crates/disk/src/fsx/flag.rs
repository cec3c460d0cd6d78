//! Raising a flag: a zero-byte file whose existence is the message.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use super::{Error, Fs, Result, sync_parent};

/// Who raised the flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Raised {
    /// This call.
    Now,
    /// Somebody before: an answer, not a failure.
    Before,
}

/// Raises a flag; durable on return either way, since the earlier raiser may have crashed before
/// its sync.
pub fn flag(fs: &dyn Fs, path: &Path) -> Result<Raised> {
    let raised = match fs.create(path) {
        Ok(_) => Raised::Now,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Raised::Before,
        Err(error) => return Err(Error::io("raise", path)(error)),
    };
    sync_parent(fs, path)?;
    Ok(raised)
}

/// Raises several flags, whoever raised some of them before; durable on return.
pub fn flags(fs: &dyn Fs, paths: &[PathBuf]) -> Result<()> {
    let mut dirs = BTreeSet::new();
    for path in paths {
        match fs.create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(Error::io("raise", path)(error));
            }
            _ => dirs.extend(path.parent()),
        }
    }
    for dir in dirs {
        fs.sync_dir(dir).map_err(Error::io("sync", dir))?;
    }
    Ok(())
}
