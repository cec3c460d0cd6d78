//! Outlines of a whole list, fast.
//!
//! Owns `.cache`: the outlines of a list, by id, with the stamp of the file each was read from. It is a
//! projection: every load looks at every file's stamp, reads again what differs, and believes the
//! directory. Deleting it costs one slow load.

use std::{io, path::Path, thread};

use flagpost_disk::{
    self as disk,
    dialects::claude_tasks::{self, CACHE, TaskFile},
    fsx::{self, Fs, Kind, Stat},
};
use flagpost_model::{TaskId, plan::Index, task::Outline};

use super::{Loaded, Skipped};
use crate::{error::Result, home::Home};

/// Grows with every change of the cached form; another version is no cache.
const VERSION: u32 = 6;

/// A file that changed less than this before it was read, in nanoseconds, may change again within
/// the same tick of the file system's clock: its stamp proves nothing yet.
pub(super) const SETTLED: i128 = 100_000_000;

/// Rewriting the cache pays from this many files that were read anew.
const WORTHWHILE: usize = 64;

/// A cache this large is decoded while the directory is looked at.
const ASIDE_FROM: usize = 64 << 10;

/// No list's outlines come near it, 1 GiB: a larger file is no cache.
const LIMIT: u64 = 1 << 30;

/// What changes whenever a file's content does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

impl Stamp {
    /// No file has it: what it stands for is read again.
    const NONE: Self = Self {
        len: 0,
        inode: 0,
        modified: 0,
        changed: 0,
    };
    const BYTES: usize = 32;

    fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.len.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.inode.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.modified.to_le_bytes());
        bytes[24..].copy_from_slice(&self.changed.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let word = |n: usize| std::array::from_fn(|at| bytes[8 * n + at]);
        Self {
            len: u64::from_le_bytes(word(0)),
            inode: u64::from_le_bytes(word(1)),
            modified: i64::from_le_bytes(word(2)),
            changed: i64::from_le_bytes(word(3)),
        }
    }
}

/// Outlines by id, and at the same place the stamp of each one's file.
#[derive(Debug, Default)]
struct Cache {
    stamps: Vec<Stamp>,
    outlines: Vec<Outline>,
}

/// What a look at the directory found to differ from the cache.
#[derive(Debug, Default)]
struct Found {
    /// By place in the cache: whether its file is still as it was.
    current: Vec<bool>,
    /// What was read anew, with its place in the cache if it has one.
    read: Vec<(Option<usize>, Stamp, Outline)>,
    skipped: Vec<Skipped>,
    /// How many of `read` may be cached.
    settled: usize,
    /// How many of the cache have no file any more.
    gone: usize,
}

/// Whether a load leaves the cache as it should be next time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leave {
    /// Up to date, where that pays.
    Fresh,
    /// As it was found.
    Untouched,
}

pub(super) fn load(home: &Home, dir: &Path, leave: Leave) -> Result<Loaded> {
    let fs = home.fs();
    let looked_at = home.now().as_nanosecond();
    let bytes = fs.read(&dir.join(CACHE), 0, LIMIT).unwrap_or_default();
    let survey = || {
        fs.survey(dir, &claude_tasks::is_task_name)
            .map_err(disk::Error::io("list", dir))
    };
    let (files, mut cache) = if bytes.len() < ASIDE_FROM {
        (survey()?, Cache::decode(&bytes).unwrap_or_default())
    } else {
        thread::scope(|scope| {
            let files = scope.spawn(survey);
            let cache = Cache::decode(&bytes).unwrap_or_default();
            let gone = || io::Error::other("a reader thread panicked");
            let files = files
                .join()
                .unwrap_or_else(|_| Err(disk::Error::io("list", dir)(gone())))?;
            Ok::<_, disk::Error>((files, cache))
        })?
    };
    let mut found = cache.compare(fs, dir, files, looked_at);
    found.skipped.sort_by(|a, b| a.name.cmp(&b.name));
    let cached = cache.outlines.len();
    cache.update(found.current, found.read);
    let pays =
        found.settled >= WORTHWHILE.max(cached / 512) || found.gone > WORTHWHILE.max(cached / 2);
    if pays && leave == Leave::Fresh {
        // Not being able to cache is no reason not to answer.
        let _: Result<(), disk::Error> = cache.write(fs, dir);
    }
    Ok(Loaded {
        outlines: cache.outlines,
        skipped: found.skipped,
    })
}

impl Cache {
    /// Looks at every file, and reads those that the cache does not know as they are.
    fn compare(
        &self,
        fs: &dyn Fs,
        dir: &Path,
        files: Vec<(std::ffi::OsString, Stat)>,
        looked_at: i128,
    ) -> Found {
        let index = Index::new(&self.outlines);
        let mut found = Found {
            current: vec![false; self.outlines.len()],
            gone: self.outlines.len(),
            ..Found::default()
        };
        for (name, stat) in files {
            let stamp = Stamp::from(stat);
            let id = name.to_str().and_then(claude_tasks::id_of);
            let place = id.as_ref().and_then(|id| index.get(id));
            if let Some(at) = place {
                found.gone -= 1;
                if self.stamps[at] == stamp {
                    found.current[at] = true;
                    continue;
                }
            }
            let read = read_file(fs, &dir.join(&name), id, stat);
            match read.map(|file| file.map(|file| Outline::from(&file.task))) {
                Ok(Some(outline)) if looked_at - i128::from(stat.changed) > SETTLED => {
                    found.settled += 1;
                    found.read.push((place, stamp, outline));
                }
                Ok(Some(outline)) => found.read.push((place, Stamp::NONE, outline)),
                Ok(None) => {}
                Err(reason) => found.skipped.push(Skipped {
                    name: name.to_string_lossy().into_owned(),
                    file: name,
                    reason,
                }),
            }
        }
        found
    }

    /// Takes in what was read, and out what is not current.
    fn update(&mut self, mut current: Vec<bool>, read: Vec<(Option<usize>, Stamp, Outline)>) {
        let mut new = Vec::new();
        for (place, stamp, outline) in read {
            match place {
                Some(at) => {
                    (self.stamps[at], self.outlines[at]) = (stamp, outline);
                    current[at] = true;
                }
                None => new.push((stamp, outline)),
            }
        }
        if current.contains(&false) {
            let mut keep = current.iter();
            self.stamps.retain(|_| keep.next() == Some(&true));
            let mut keep = current.iter();
            self.outlines.retain(|_| keep.next() == Some(&true));
        }
        new.sort_by(|(_, a), (_, b)| a.id.cmp(&b.id));
        // New tasks have the highest ids, unless somebody else named them.
        if let (Some(last), Some((_, first))) = (self.outlines.last(), new.first())
            && last.id > first.id
        {
            let stamps = std::mem::take(&mut self.stamps).into_iter();
            let outlines = std::mem::take(&mut self.outlines).into_iter();
            new.extend(stamps.zip(outlines));
            new.sort_by(|(_, a), (_, b)| a.id.cmp(&b.id));
        }
        for (stamp, outline) in new {
            self.stamps.push(stamp);
            self.outlines.push(outline);
        }
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (version, rest) = postcard::take_from_bytes::<u32>(bytes).ok()?;
        if version != VERSION {
            return None;
        }
        let (count, rest) = postcard::take_from_bytes::<usize>(rest).ok()?;
        let (stamps, rest) = rest.split_at_checked(count.checked_mul(Stamp::BYTES)?)?;
        let (stamps, _) = stamps.as_chunks();
        let outlines: Vec<Outline> = postcard::from_bytes(rest).ok()?;
        let stamps = stamps.iter().map(Stamp::from_bytes).collect();
        (outlines.len() == count).then_some(Self { stamps, outlines })
    }

    fn encode(&self) -> postcard::Result<Vec<u8>> {
        let bytes = postcard::to_extend(&VERSION, Vec::new())?;
        let mut bytes = postcard::to_extend(&self.stamps.len(), bytes)?;
        bytes.extend(self.stamps.iter().flat_map(|stamp| stamp.to_bytes()));
        postcard::to_extend(&self.outlines, bytes)
    }

    fn write(&self, fs: &dyn Fs, dir: &Path) -> Result<(), disk::Error> {
        match self.encode() {
            Ok(bytes) => fsx::replace(fs, &dir.join(CACHE), &bytes),
            Err(_) => Ok(()),
        }
    }
}

/// `Ok(None)` for a file that is gone since the directory was read; the error says why the file
/// is no task.
pub(super) fn read_file(
    fs: &dyn Fs,
    path: &Path,
    id: Option<TaskId>,
    stat: Stat,
) -> Result<Option<TaskFile>, String> {
    let id = id.ok_or("its name is no task id")?;
    if stat.kind != Kind::File {
        return Err("it is not a regular file".to_owned());
    }
    let bytes = match fs.read(path, 0, fsx::READ_LIMIT) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    claude_tasks::read(&id, &bytes).map(Some)
}
