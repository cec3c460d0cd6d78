//! Outlines of a whole list, fast.
//!
//! Owns `.cache`: the outlines of a list with the stamp of the file each was read from. It is a
//! projection: every load looks at every file's stamp, reads again what differs, and believes the
//! directory. Deleting it costs one slow load.

use std::{collections::HashMap, os::unix::ffi::OsStrExt, path::Path};

use flagpost_disk::{
    self as disk,
    dialects::claude_tasks::{self, CACHE},
    fsx::{self, Fs, Kind, Stat},
};
use flagpost_model::{TaskId, task::Outline};
use serde::{Deserialize, Serialize};

use super::{Loaded, Skipped};
use crate::{error::Result, home::Home};

/// Grows with every change of the cached form; another version is no cache.
const VERSION: u32 = 1;

/// A file that changed less than this before it was read, in nanoseconds, may change again within
/// the same tick of the file system's clock: its stamp proves nothing yet.
pub(super) const SETTLED: i128 = 100_000_000;

/// Rewriting the cache pays from this many files that were read anew.
const WORTHWHILE: usize = 64;

#[derive(Debug, Serialize, Deserialize)]
struct Cached {
    stamp: Stamp,
    outline: Outline,
}

/// What changes whenever a file's content does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    len: u64,
    inode: u64,
    modified: i64,
    changed: i64,
}

impl From<Stat> for Stamp {
    fn from(stat: Stat) -> Self {
        Self {
            len: stat.len,
            inode: stat.inode,
            modified: stat.modified,
            changed: stat.changed,
        }
    }
}

pub(super) fn load(home: &Home, dir: &Path) -> Result<Loaded> {
    let fs = home.fs();
    let looked_at = home.now().as_nanosecond();
    let files = fs
        .survey(dir, &claude_tasks::is_task_name)
        .map_err(disk::Error::io("list", dir))?;
    let mut known = read_cache(fs, dir);
    let cached = known.len();
    let mut kept = Vec::with_capacity(files.len());
    let mut skipped = Vec::new();
    let mut unsettled = Vec::new();
    let mut fresh = 0;
    for (name, stat) in files {
        let stamp = Stamp::from(stat);
        let id = name.to_str().and_then(claude_tasks::id_of);
        let hit = id
            .as_ref()
            .and_then(|id| known.remove(id))
            .filter(|hit| hit.stamp == stamp);
        if let Some(hit) = hit {
            kept.push(hit);
            continue;
        }
        match read_outline(fs, dir, name.as_bytes(), id, stat) {
            Ok(Some(outline)) if looked_at - i128::from(stat.changed) > SETTLED => {
                fresh += 1;
                kept.push(Cached { stamp, outline });
            }
            Ok(Some(outline)) => unsettled.push(outline),
            Ok(None) => {}
            Err(reason) => {
                skipped.push(Skipped {
                    name: name.to_string_lossy().into_owned(),
                    file: name,
                    reason,
                });
            }
        }
    }
    let gone = known.len();
    if fresh >= WORTHWHILE.max(kept.len() / 32) || gone > WORTHWHILE.max(cached / 2) {
        // Not being able to cache is no reason not to answer.
        let _: Result<(), disk::Error> = write_cache(fs, dir, &kept);
    }
    let mut outlines: Vec<Outline> = kept.into_iter().map(|cached| cached.outline).collect();
    outlines.extend(unsettled);
    outlines.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    skipped.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Loaded { outlines, skipped })
}

/// `Ok(None)` for a file that is gone since the directory was read; the error says why the file
/// is no task.
fn read_outline(
    fs: &dyn Fs,
    dir: &Path,
    name: &[u8],
    id: Option<TaskId>,
    stat: Stat,
) -> Result<Option<Outline>, String> {
    let id = id.ok_or("its name is no task id")?;
    if stat.kind != Kind::File {
        return Err("it is not a regular file".to_owned());
    }
    let path = dir.join(std::ffi::OsStr::from_bytes(name));
    let bytes = match fs.read(&path, 0, fsx::READ_LIMIT) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    claude_tasks::read(&id, &bytes).map(|file| Some(Outline::from(&file.task)))
}

fn read_cache(fs: &dyn Fs, dir: &Path) -> HashMap<TaskId, Cached> {
    let read = || -> Option<Vec<Cached>> {
        let bytes = fs.read(&dir.join(CACHE), 0, u64::MAX).ok()?;
        let (version, rest) = postcard::take_from_bytes::<u32>(&bytes).ok()?;
        (version == VERSION)
            .then(|| postcard::from_bytes(rest).ok())
            .flatten()
    };
    let cached = read().unwrap_or_default();
    cached
        .into_iter()
        .map(|cached| (cached.outline.id.clone(), cached))
        .collect()
}

fn write_cache(fs: &dyn Fs, dir: &Path, kept: &[Cached]) -> Result<(), disk::Error> {
    let encode = || postcard::to_extend(kept, postcard::to_allocvec(&VERSION)?);
    match encode() {
        Ok(bytes) => fsx::replace(fs, &dir.join(CACHE), &bytes),
        Err(_) => Ok(()),
    }
}
