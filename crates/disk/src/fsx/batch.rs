//! Replacing and removing files and raising flags, one or many, as one step of work.
//!
//! Owns the order: every new content is written under a temporary name and synced ([`Batch::stage`]),
//! then the names change and are synced, and flags are raised at last ([`StagedBatch::publish`]). Between
//! the two a caller may record what is about to appear, and tell others ([`StagedBatch::effects`]). What
//! goes ahead appears before the record ([`StagedBatch::publish_first`]). What replaces a file has that
//! file's mode and group. What was not revealed is cleaned away and leaves no trace.

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

    /// Replace `target`, or create it, before anything else appears, and before it is recorded.
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

    /// Makes all new content durable under temporary names. On failure nothing is left.
    pub fn stage(self, fs: &dyn Fs) -> Result<StagedBatch<'_>> {
        let mut sealed = StagedBatch {
            fs,
            staged: Vec::new(),
            removals: self.removals,
            flags: self.flags,
        };
        let one_by_one = self.ahead.len() + self.creations.len() + self.puts.len() < SYNC_ALL_FROM;
        let mut files = Vec::new();
        let of = |turn, puts: Vec<_>| puts.into_iter().map(move |put| (turn, put));
        let all = of(Turn::Ahead, self.ahead)
            .chain(of(Turn::New, self.creations))
            .chain(of(Turn::Last, self.puts));
        for (turn, (target, bytes)) in all {
            let temporary = temporary::temporary_path(fs, &target);
            let created = match turn {
                Turn::New => fs.create(&temporary),
                Turn::Ahead | Turn::Last => fs.create_like(&temporary, &target, 0o600),
            };
            let mut file = created.map_err(Error::io("create", &target))?;
            let written = file.write(&bytes).map_err(Error::io("write", &target));
            sealed.staged.push(Staged {
                temporary,
                target,
                bytes,
                turn,
            });
            written?;
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

/// What a batch does to one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect<'b> {
    /// It is replaced, or created, before the change is recorded.
    Ahead(&'b Path, &'b [u8]),
    /// It is created; nothing has its name.
    Create(&'b Path, &'b [u8]),
    /// It is replaced, or created.
    Replace(&'b Path, &'b [u8]),
    /// It is removed.
    Remove(&'b Path),
    /// It is raised as a flag.
    Flag(&'b Path),
}

#[derive(Debug)]
struct Staged {
    temporary: PathBuf,
    target: PathBuf,
    bytes: Vec<u8>,
    turn: Turn,
}

/// When a content takes its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Before the change is recorded.
    Ahead,
    /// Then, where the name is free.
    New,
    /// At last.
    Last,
}

impl Staged {
    fn publish(&self, fs: &dyn Fs) -> Result<()> {
        match self.turn {
            Turn::New => rename_new(fs, &self.temporary, &self.target),
            Turn::Ahead | Turn::Last => fs
                .rename(&self.temporary, &self.target)
                .map_err(Error::io("replace", &self.target)),
        }
    }

    fn effect(&self) -> Effect<'_> {
        match self.turn {
            Turn::Ahead => Effect::Ahead(&self.target, &self.bytes),
            Turn::New => Effect::Create(&self.target, &self.bytes),
            Turn::Last => Effect::Replace(&self.target, &self.bytes),
        }
    }
}

impl StagedBatch<'_> {
    /// What it does to which file, in its order.
    pub fn effects(&self) -> impl Iterator<Item = Effect<'_>> {
        let removals = self.removals.iter().map(|it| Effect::Remove(it));
        let flags = self.flags.iter().map(|it| Effect::Flag(it));
        let staged = self.staged.iter().map(Staged::effect);
        staged.chain(removals).chain(flags)
    }

    /// Lets what goes ahead appear, durable on return.
    pub fn publish_first(&mut self) -> Result<()> {
        let mut put_in = BTreeSet::new();
        while let Some(Turn::Ahead) = self.staged.first().map(|it| it.turn) {
            self.staged[0].publish(self.fs)?;
            put_in.extend(self.staged.remove(0).target.parent().map(Path::to_owned));
        }
        self.sync(&put_in)
    }

    /// Changes the names, those that go ahead first, then new ones, in the order they were put, and makes
    /// them durable; then raises the flags. New names are durable before any other changes: what replaces
    /// a file may speak of them.
    pub fn publish(mut self) -> Result<()> {
        self.publish_first()?;
        let mut put_in = BTreeSet::new();
        let mut is_new = false;
        let mut staged = std::mem::take(&mut self.staged).into_iter();
        while let Some(file) = staged.next() {
            let settled = match is_new && file.turn == Turn::Last {
                true => self.sync(&put_in),
                false => Ok(()),
            };
            if let Err(failure) = settled.and_then(|()| file.publish(self.fs)) {
                self.staged.push(file);
                self.staged.extend(staged);
                return Err(failure);
            }
            is_new = file.turn == Turn::New;
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
