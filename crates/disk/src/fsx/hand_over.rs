//! Writing a file that is the user's from then on.
//!
//! Owns its mode, which is not ours to narrow: a new file has what the umask leaves, one that is
//! replaced keeps what it had. It is never seen half written, and durable on return.

#![expect(
    clippy::disallowed_methods,
    reason = "a part of the one room that creates, renames and removes"
)]

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
};

use super::{Error, Fs, RealFs, Result, publish::rename_new, sync_parent, temporary};

/// What becomes of a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and the new one is refused with [`Error::Conflict`].
    Keep,
    /// It is replaced; a link stays a link to it.
    Replace,
}

/// Writes `bytes` as the file `target`.
pub fn hand_over(target: &Path, bytes: &[u8], existing: Existing) -> Result<()> {
    let real = match (existing, target.canonicalize()) {
        (Existing::Replace, Ok(real)) => real,
        (Existing::Keep, _) | (_, Err(_)) => std::path::absolute(target)
            .map_err(Error::io("resolve", target))?,
    };
    let old = match (existing, std::fs::metadata(&real)) {
        (Existing::Replace, Ok(old)) if !old.is_file() => {
            let error = io::Error::new(io::ErrorKind::InvalidData, "not a regular file");
            return Err(Error::io("replace", target)(error));
        }
        (Existing::Replace, Ok(old)) => Some(old),
        (Existing::Keep, Ok(_)) => {
            let path = target.to_owned();
            return Err(Error::Conflict { path });
        }
        (_, Err(_)) => None,
    };
    let temporary = temporary::beside(&real);
    let written = write(&temporary, bytes, old.as_ref())
        .map_err(Error::io("write", target))
        .and_then(|()| match existing {
            Existing::Keep => rename_new(&RealFs, &temporary, &real),
            Existing::Replace => RealFs
                .rename(&temporary, &real)
                .map_err(Error::io("replace", target)),
        });
    if written.is_err() {
        let _: io::Result<()> = RealFs.remove(&temporary);
    }
    written?;
    sync_parent(&RealFs, &real)
}

fn write(path: &Path, bytes: &[u8], old: Option<&std::fs::Metadata>) -> io::Result<()> {
    let mut file: File = OpenOptions::new().write(true).create_new(true).open(path)?;
    if let Some(old) = old {
        file.set_permissions(old.permissions())?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_keeps_its_mode_and_a_link_its_target() {
        let dir = tempfile::tempdir().unwrap();
        let plain = dir.path().join("plain");
        std::fs::write(&plain, "x").unwrap();
        let usual = mode(&plain);
        let file = dir.path().join("tasks.json");
        hand_over(&file, b"one", Existing::Keep).unwrap();
        assert_eq!(mode(&file), usual, "what the umask leaves");

        let refused = hand_over(&file, b"two", Existing::Keep);
        assert!(matches!(refused, Err(Error::Conflict { .. })));
        assert_eq!(std::fs::read(&file).unwrap(), b"one");

        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        hand_over(&link, b"three", Existing::Replace).unwrap();
        assert_eq!((std::fs::read(&file).unwrap(), mode(&file)), (b"three".to_vec(), 0o640));
        assert!(link.is_symlink());

        assert!(hand_over(dir.path(), b"x", Existing::Replace).is_err());
        assert!(hand_over(&dir.path().join("no/file"), b"x", Existing::Keep).is_err());
        let names = std::fs::read_dir(dir.path()).unwrap();
        assert_eq!(names.count(), 3, "nothing is left behind");
    }
}
