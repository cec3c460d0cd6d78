//! Carrying out here what the order of a shared repository has.
//!
//! Owns the follower's step: under the locks of what a change touches, its files are staged, its lines
//! stand in the history, its names appear. Order of truth: the order, then the line, then the names. A
//! change that a crash cut short is finished by the same step, as often as it takes; one that does not
//! fit what is here changes nothing. What a foreign hand wrote meanwhile is copied aside.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use flagpost_disk::{
    dialects::claude_tasks,
    fsx::{self, Batch, Lock, Rank},
};
use flagpost_model::{RepoId, envelope::Hash};

use super::{
    ChangeOrigin, OrderRefusal, SharedChange,
    shared_change::{FileChange, FileFate},
    shared_dir::SharedDir,
};
use crate::{
    error::Result,
    history::{History, SharedEnd},
    home::Home,
    relay::{Fleet, Mail},
};

/// Where the change was made that is carried out here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MadeOn {
    Here,
    Elsewhere,
}

impl SharedChange {
    /// Carries it out on this machine, where it is not known yet. The caller holds no lock.
    pub fn follow(&self, home: &Home, by: ChangeOrigin) -> Result<()> {
        if self.needs() == ChangeOrigin::Gate && by != ChangeOrigin::Gate {
            return Err(self.frozen("a machine that may not decide decided on a brief".to_owned()));
        }
        let repo = self.repo();
        let _held = lock_all(home, repo, self.dirs())?;
        let history = History::of(home, repo);
        let follower = history.follower(home.now())?;
        let end = follower.end(self.first())?;
        match self.step(&end) {
            Step::Known => Ok(()),
            Step::CarryOut => {
                self.must_be_new(home, &end)?;
                let (batch, there) = self.batch(home, MadeOn::Elsewhere)?;
                let mut batch = batch.stage(home.fs())?;
                batch.publish_first()?;
                follower.complete(&end, self.lines())?;
                batch.publish()?;
                sync(home, &there)?;
                follower.settle(self.last(), self.lines());
                Ok(())
            }
            Step::Never(reason) => Err(self.frozen(reason)),
        }
    }

    /// Refuses a brief to a run's process that is let through and was there before.
    fn must_be_new(&self, home: &Home, end: &SharedEnd) -> Result<()> {
        if end.last >= self.first() {
            return Ok(());
        }
        let fleet = Fleet::of(home, self.repo());
        for (worker, seq) in self.handed() {
            if Mail::highest_brief(&fleet, worker)? >= seq.get() {
                let reason = format!("brief {seq} of {worker} is approved, and is no new one");
                return Err(self.frozen(reason));
            }
        }
        Ok(())
    }

    /// Finishes the change whose lines stand in the history, under the locks of whoever made it.
    pub(super) fn finish(&self, home: &Home) -> Result<()> {
        let (batch, there) = self.batch(home, MadeOn::Here)?;
        batch.stage(home.fs())?.publish()?;
        sync(home, &there)
    }

    fn frozen(&self, reason: String) -> crate::Error {
        let repo = self.repo().clone();
        OrderRefusal::Frozen { repo, reason }.into()
    }

    /// What is to be done, by how the history here goes on after the line before the first one.
    fn step(&self, end: &SharedEnd) -> Step {
        let first = self.first();
        if self.last() < end.last {
            return Step::Known;
        }
        if end.last + 1 < first {
            let last = end.last;
            return Step::Never(format!(
                "line {last} is the last here, and the fleet goes on with line {first}"
            ));
        }
        if self.prev() != end.before.as_deref() {
            let n = first.saturating_sub(1);
            return Step::Never(format!("line {n} is another one here than in the fleet"));
        }
        if end.is(self.lines()) && self.last() <= end.settled {
            return Step::Known;
        }
        match end.admits(self.lines()) {
            true => Step::CarryOut,
            false => Step::Never(format!(
                "line {first} is another one here than in the fleet"
            )),
        }
    }

    /// What is still to be done with the files, and where some are that are as they should be.
    fn batch(&self, home: &Home, made: MadeOn) -> Result<(Batch, BTreeSet<PathBuf>)> {
        let (fs, repo) = (home.fs(), self.repo());
        let (mut batch, mut done) = (Batch::new(), BTreeSet::new());
        for FileChange { file, fate } in &self.files {
            let path = file.path(home, repo)?;
            let there = fsx::read(fs, &path)?;
            let todo = fate.todo(there.as_deref());
            // Signs of life are each machine's own.
            let is_worker = matches!(file.dir, SharedDir::Worker(_));
            let bytes = |text: &String| match made {
                MadeOn::Here => text.clone().into_bytes(),
                MadeOn::Elsewhere => file.dir.as_here(text, there.as_deref()),
            };
            let why = match (todo, &file.dir, fate) {
                (Todo::Kept, _, _) => {
                    Some("it was changed by hand while another machine changed it")
                }
                // Nobody can say any more what was proposed here before.
                (Todo::Done, SharedDir::Mail(..), FileFate::Found { .. }) => {
                    Some("a hand changed it on another machine")
                }
                (Todo::Done | Todo::Nothing, _, _) => None,
            };
            if let (Some(why), Some(there)) = (why, &there)
                && !is_worker
            {
                fsx::store(fs, &path, there, why)?;
            }
            if todo == Todo::Nothing {
                done.extend(path.parent().map(Path::to_owned));
                continue;
            }
            match fate {
                FileFate::Ahead { text, .. } => batch.put_first(path, bytes(text)),
                FileFate::Create { text } if there.is_none() => {
                    batch.create(path, bytes(text));
                }
                FileFate::Create { text }
                | FileFate::Replace { text, .. }
                | FileFate::Found { text } => {
                    batch.put(path, bytes(text));
                }
                FileFate::Remove { .. } | FileFate::Gone => {
                    self.retire(home, &file.dir, &file.name)?;
                    batch.remove(path);
                }
                FileFate::Flag => batch.flag(path),
            }
        }
        Ok((batch, done))
    }

    /// Sees to it that the id of a removed task is given to no other one here.
    fn retire(&self, home: &Home, dir: &SharedDir, name: &str) -> Result<()> {
        let id = claude_tasks::id_of(name).and_then(|id| id.counted());
        let (SharedDir::List(_), Some(id)) = (dir, id) else {
            return Ok(());
        };
        let counter = dir.path(home, self.repo())?.join(claude_tasks::COUNTER);
        if fsx::peek(home.fs(), &counter)? < id {
            fsx::allocate(home.fs(), &counter, id, 0)?;
        }
        Ok(())
    }
}

/// Takes the locks under which files of these directories are changed, and makes those that are not there.
pub(super) fn lock_all<'d>(
    home: &Home,
    repo: &RepoId,
    dirs: impl Iterator<Item = &'d SharedDir>,
) -> Result<Vec<Lock>> {
    let mut locks: BTreeMap<Rank, BTreeSet<PathBuf>> = BTreeMap::new();
    for dir in dirs {
        dir.made(home, repo)?;
        let (rank, path) = dir.lock(home, repo)?;
        if let Some(parent) = path.parent() {
            home.make_dirs(parent)?;
        }
        locks.entry(rank).or_default().insert(path);
    }
    let mut held = Vec::new();
    for (rank, paths) in locks {
        let wait = fsx::DEFAULT_WAIT;
        held.extend(fsx::lock_all(home.fs(), &paths, rank, wait, home.now())?);
    }
    Ok(held)
}

/// Makes names durable that somebody revealed who was cut short.
fn sync(home: &Home, dirs: &BTreeSet<PathBuf>) -> Result<()> {
    for dir in dirs {
        let synced = home.fs().sync_dir(dir);
        synced.map_err(flagpost_disk::Error::io("sync", dir))?;
    }
    Ok(())
}

/// What a change is to a machine.
#[derive(Debug, PartialEq)]
enum Step {
    /// It is here.
    Known,
    /// It comes next, or is the last and was cut short.
    CarryOut,
    /// It does not fit, for this reason.
    Never(String),
}

/// What is to be done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Todo {
    /// It is as it should be.
    Nothing,
    /// It is as it was.
    Done,
    /// It is neither: a copy is kept first.
    Kept,
}

impl FileFate {
    /// What is to be done, by what is there.
    fn todo(&self, there: Option<&[u8]>) -> Todo {
        let by = |before: Option<&Hash>| match there {
            Some(bytes) if before != Some(&Hash::of(bytes)) => Todo::Kept,
            Some(_) | None => Todo::Done,
        };
        match self {
            Self::Ahead { text, .. }
            | Self::Create { text }
            | Self::Replace { text, .. }
            | Self::Found { text }
                if there == Some(text.as_bytes()) =>
            {
                Todo::Nothing
            }
            Self::Create { .. } => by(None),
            Self::Ahead { was, .. } | Self::Replace { was, .. } => by(was.as_ref()),
            Self::Remove { .. } | Self::Gone if there.is_none() => Todo::Nothing,
            Self::Remove { was } => by(was.as_ref()),
            Self::Flag if there.is_some() => Todo::Nothing,
            Self::Flag | Self::Found { .. } | Self::Gone => Todo::Done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_left_alone_changed_or_kept_by_what_is_there() {
        let was = Some(Hash::of(b"before"));
        let text = "after".to_owned();
        let replace = FileFate::Replace {
            was: was.clone(),
            text: text.clone(),
        };
        let create = FileFate::Create { text: text.clone() };
        let found = FileFate::Found { text: text.clone() };
        let ahead = FileFate::Ahead { was: None, text };
        let remove = FileFate::Remove { was };
        // What is there: nothing, as before, as after, something else.
        let there: [Option<&[u8]>; 4] = [None, Some(b"before"), Some(b"after"), Some(b"mine")];
        use Todo::{Done, Kept, Nothing};
        for (fate, expected) in [
            (&replace, [Done, Done, Nothing, Kept]),
            (&create, [Done, Kept, Nothing, Kept]),
            (&ahead, [Done, Kept, Nothing, Kept]),
            (&remove, [Nothing, Done, Kept, Kept]),
            (&FileFate::Flag, [Done, Nothing, Nothing, Nothing]),
            (&found, [Done, Done, Nothing, Done]),
            (&FileFate::Gone, [Nothing, Done, Done, Done]),
        ] {
            assert_eq!(there.map(|it| fate.todo(it)), expected, "{fate:?}");
        }
    }
}
