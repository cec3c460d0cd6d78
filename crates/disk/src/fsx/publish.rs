//! Creating a file whose name must be free.
//!
//! Owns the difference to a replacement: an existing target is a conflict and is left untouched,
//! however many writers race for the name.

use std::{io, path::Path};

use super::{Error, Fs, Result, sync_parent, temporary};

/// Creates `target` with this content, durable on return; [`Error::Conflict`] where it exists.
pub fn publish(fs: &dyn Fs, target: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = temporary::temporary_path(fs, target);
    let written = write(fs, &temporary, bytes)
        .map_err(Error::io("write", target))
        .and_then(|()| rename_new(fs, &temporary, target));
    if written.is_err() {
        let _: io::Result<()> = fs.remove(&temporary);
    }
    written?;
    sync_parent(fs, target)
}

fn write(fs: &dyn Fs, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs.create(path)?;
    file.write(bytes)?;
    file.sync()
}

pub(super) fn rename_new(fs: &dyn Fs, from: &Path, to: &Path) -> Result<()> {
    fs.rename_new(from, to).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => Error::Conflict {
            path: to.to_owned(),
        },
        _ => Error::io("publish", to)(error),
    })
}
