//! Files that are not ours alone: those that people keep in their repository.
//!
//! Owns the difference to a replacement: a new file is for all to read, and a change that somebody made
//! since the file was read is never written over.

use std::{io, path::Path};

use super::{Error, Fs, Result, publish::rename_new, read, sync_parent, temporary};

/// Gives `target` this content if it still holds what was `read` of it, where `None` is no file.
/// Durable on return, and never seen half written; [`Error::Changed`] or [`Error::Conflict`] where
/// somebody was faster.
pub fn rewrite(fs: &dyn Fs, target: &Path, was: Option<&[u8]>, bytes: &[u8]) -> Result<()> {
    let temporary = temporary::temporary_path(fs, target);
    let written = write(fs, &temporary, target, bytes)
        .map_err(Error::io("write", target))
        .and_then(|()| put_in_place(fs, &temporary, target, was));
    if written.is_err() {
        let _: io::Result<()> = fs.remove(&temporary);
    }
    written?;
    sync_parent(fs, target)
}

fn write(fs: &dyn Fs, path: &Path, like: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs.create_like(path, like, 0o644)?;
    file.write(bytes)?;
    file.sync()
}

fn put_in_place(fs: &dyn Fs, from: &Path, to: &Path, was: Option<&[u8]>) -> Result<()> {
    let Some(was) = was else {
        return rename_new(fs, from, to);
    };
    if read(fs, to)?.as_deref() != Some(was) {
        return Err(Error::Changed {
            path: to.to_owned(),
        });
    }
    fs.rename(from, to).map_err(Error::io("replace", to))
}

/// Makes sure that a directory is there, in one that is.
pub fn make_shared_dir(fs: &dyn Fs, dir: &Path) -> Result<()> {
    match fs.make_shared_dir(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(Error::io("create", dir)(error))
        }
        _ => sync_parent(fs, dir),
    }
}
