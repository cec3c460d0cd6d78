//! Replacing and removing files and raising flags, one or many, as one step of work.
//!
//! Owns the order: every new content is written under a temporary name and synced ([`Batch::stage`]),
//! then the names change and are synced, and flags are raised at last ([`StagedBatch::publish`]). Between
//! the two a caller may record what is about to appear. What replaces a file has that file's mode and
//! group. What was not revealed is cleaned away and leaves no trace.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use super::{Error, Fs, Result, flag::flags, publish::rename_new, temporary};
use crate::error::found;

/// From this many files on, the file system is synced as a whole, with whatever others wrote.
const SYNC_ALL_FROM: usize = 33;

/// Files to be replaced and removed together, and flags to be raised then.
#[derive(Debug, Default)]
pub struct Batch {
    ahead: Vec<(PathBuf, Vec<u8>)>,
    creations: Vec<(PathBuf, Vec<u8>)>,
    puts: Vec<(PathBuf, Vec<u8>)>,
    removals: Vec<PathBuf>,
    flags: Vec<PathBuf>,
}

impl Batch {
    /// An empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replace `target`, or create it, before anything else appears: durable once the batch is staged.
    pub fn put_first(&mut self, target: PathBuf, bytes: Vec<u8>) {
        self.ahead.push((target, bytes));
    }

    /// Replace `target`, or create it.
    pub fn put(&mut self, target: PathBuf, bytes: Vec<u8>) {
        self.puts.push((target, bytes));
    }

    /// Create `target`, whose name must be free: should a foreign writer have taken it, nothing of
    /// the batch replaces or removes anything.
    pub fn create(&mut self, target: PathBuf, bytes: Vec<u8>) {
        self.creations.push((target, bytes));
    }

    /// Remove `target`.
    pub fn remove(&mut self, target: PathBuf) {
        self.removals.push(target);
    }

    /// Raise a flag once everything else is durable, whoever raised it before.
    pub fn flag(&mut self, target: PathBuf) {
        self.flags.push(target);
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        let files = [&self.ahead, &self.creations, &self.puts];
        let others = [&self.removals, &self.flags];
        files.iter().all(|it| it.is_empty()) && others.iter().all(|it| it.is_empty())
    }

    /// Makes all new content durable under temporary names, and what goes ahead under its own. On
    /// failure nothing else is left.
    pub fn stage(self, fs: &dyn Fs) -> Result<StagedBatch<'_>> {
        let mut sealed = StagedBatch {
            fs,
            staged: Vec::new(),
            removals: self.removals,
            flags: self.flags,
        };
        let ahead = self.ahead.len();
        let one_by_one = ahead + self.creations.len() + self.puts.len() < SYNC_ALL_FROM;
        let mut files = Vec::new();
        let creations = self.creations.into_iter().map(|put| (true, put));
        let puts = self.puts.into_iter().map(|put| (false, put));
        let first = self.ahead.into_iter().map(|put| (false, put));
        for (is_new, (target, bytes)) in first.chain(creations).chain(puts) {
            let temporary = temporary::temporary_path(&target);
            let created = match is_new {
                true => fs.create(&temporary),
                false => fs.create_like(&temporary, &target, 0o600),
            };
            let mut file = created.map_err(Error::io("create", &target))?;
            sealed.staged.push(Staged {
                temporary,
                target,
                is_new,
            });
            let Some(Staged { target, .. }) = sealed.staged.last() else {
                continue;
            };
            file.write(&bytes).map_err(Error::io("write", target))?;
            if one_by_one {
                files.push(file);
            }
        }
        for (synced, file) in fs.sync_each(&mut files).into_iter().zip(&sealed.staged) {
            synced.map_err(Error::io("sync", &file.target))?;
        }
        if let Some(first) = sealed.staged.first().filter(|_| !one_by_one) {
            fs.sync_all(&first.temporary)
                .map_err(Error::io("sync", &first.target))?;
        }
        sealed.publish_first(ahead)?;
        Ok(sealed)
    }
}

/// A batch whose content is durable and whose names have not changed yet.
#[derive(Debug)]
pub struct StagedBatch<'f> {
    fs: &'f dyn Fs,
    staged: Vec<Staged>,
    removals: Vec<PathBuf>,
    flags: Vec<PathBuf>,
}

#[derive(Debug)]
struct Staged {
    temporary: PathBuf,
    target: PathBuf,
    is_new: bool,
}

impl Staged {
    fn publish(&self, fs: &dyn Fs) -> Result<()> {
        if self.is_new {
            return rename_new(fs, &self.temporary, &self.target);
        }
        fs.rename(&self.temporary, &self.target)
            .map_err(Error::io("replace", &self.target))
    }
}

impl StagedBatch<'_> {
    /// Changes the names, new ones first, in the order they were put, and makes them durable; then
    /// raises the flags. New names are durable before any other changes: what replaces a file may speak
    /// of them.
    pub fn publish(mut self) -> Result<()> {
        let mut put_in = BTreeSet::new();
        let mut is_new = false;
        let mut staged = std::mem::take(&mut self.staged).into_iter();
        while let Some(file) = staged.next() {
            let settled = match is_new && !file.is_new {
                true => self.sync(&put_in),
                false => Ok(()),
            };
            if let Err(failure) = settled.and_then(|()| file.publish(self.fs)) {
                self.staged.push(file);
                self.staged.extend(staged);
                return Err(failure);
            }
            is_new = file.is_new;
            put_in.extend(file.target.parent().map(Path::to_owned));
        }
        // Before anything goes: what is removed may be replaced by what was just put.
        self.sync(&put_in)?;
        let mut removed_from = BTreeSet::new();
        for path in &self.removals {
            found(self.fs.remove(path)).map_err(Error::io("remove", path))?;
            removed_from.extend(path.parent().map(Path::to_owned));
        }
        for dir in removed_from {
            // A directory that is not there holds nothing either.
            found(self.fs.sync_dir(&dir)).map_err(Error::io("sync", &dir))?;
        }
        flags(self.fs, &self.flags)
    }

    fn publish_first(&mut self, count: usize) -> Result<()> {
        let mut put_in = BTreeSet::new();
        for _ in 0..count {
            self.staged[0].publish(self.fs)?;
            put_in.extend(self.staged.remove(0).target.parent().map(Path::to_owned));
        }
        self.sync(&put_in)
    }

    fn sync(&self, dirs: &BTreeSet<PathBuf>) -> Result<()> {
        let mut each = dirs.iter();
        each.try_for_each(|dir| self.fs.sync_dir(dir).map_err(Error::io("sync", dir)))
    }
}

impl Drop for StagedBatch<'_> {
    fn drop(&mut self) {
        for file in &self.staged {
            // Best effort: what stays behind is a dead writer's temporary, which a sweep removes.
            let _: io::Result<()> = self.fs.remove(&file.temporary);
        }
    }
}

/// Replaces one file, or creates it: durable on return, and never seen half written.
pub fn replace(fs: &dyn Fs, target: &Path, bytes: &[u8]) -> Result<()> {
    let mut batch = Batch::new();
    batch.put(target.to_owned(), bytes.to_owned());
    batch.stage(fs)?.publish()
}
