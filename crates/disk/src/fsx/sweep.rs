//! Removing temporaries whose writer died.
//!
//! Owns the rule of `tree.md` §0: only names of our own form, older than 60 seconds, whose pid is
//! dead. An active writer's temporary is never touched.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{Error, Fs, Result, stat, temporary};
use crate::{error::found, process};

/// Younger temporaries are left alone: pids are reused and clocks differ between file systems.
const MIN_AGE_SECONDS: i64 = 60;

/// The orphan temporaries of a directory.
pub fn orphans(fs: &dyn Fs, dir: &Path, now: Timestamp) -> Result<Vec<PathBuf>> {
    let Some(names) = found(fs.names(dir)).map_err(Error::io("list", dir))? else {
        return Ok(Vec::new());
    };
    let mut orphans = Vec::new();
    for name in names {
        let Some(pid) = name.to_str().and_then(temporary::writer) else {
            continue;
        };
        let path = dir.join(&name);
        let Some(stat) = stat(fs, &path)? else {
            continue;
        };
        let age = now.as_second() - stat.modified / 1_000_000_000;
        if age > MIN_AGE_SECONDS && !process::is_alive(pid) {
            orphans.push(path);
        }
    }
    Ok(orphans)
}

/// Removes them; returns how many.
pub fn remove_orphans(fs: &dyn Fs, dir: &Path, now: Timestamp) -> Result<usize> {
    let orphans = orphans(fs, dir, now)?;
    for path in &orphans {
        super::remove(fs, path)?;
    }
    Ok(orphans.len())
}
