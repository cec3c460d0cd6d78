//! One change of a list: locked, recorded, atomic per file.
//!
//! Owns the order in which every change happens: read under the list's lock → rule → new content
//! durable under temporary names → history line durable → names change → answer. Invariants: no
//! change without its line; nothing is answered before it is durable; a task's `rev` grows by one
//! per change.

use std::collections::BTreeMap;

use flagpost_disk::{
    dialects::claude_tasks::{self, COUNTER, TaskFile},
    fsx::{self, Batch, Lock, Rank},
};
use flagpost_model::{
    RepoId, TaskId, Token, WorkerId,
    task::{StateName, Task},
};
use jiff::Timestamp;

use crate::{
    error::{Error, Result},
    history::{Entry, History, Kind},
    home::Home,
    list::{List, Loaded},
};

/// A list, locked for one change. Dropping it changes nothing.
#[derive(Debug)]
pub struct Change<'l> {
    list: &'l List<'l>,
    repository: RepoId,
    _lock: Lock,
    actor: WorkerId,
    at: Timestamp,
    drafts: BTreeMap<TaskId, Draft>,
    removed: Vec<TaskId>,
    entries: Vec<Entry>,
}

/// The tasks of a change as they are on disk now.
pub(crate) type Written = BTreeMap<TaskId, Task>;

#[derive(Debug)]
struct Draft {
    before: Option<TaskFile>,
    after: Task,
}

impl<'l> Change<'l> {
    pub(crate) fn begin(list: &'l List<'l>, actor: &WorkerId) -> Result<Self> {
        let home = list.home;
        let repository = list.repository()?;
        let path = list.path(claude_tasks::LOCK);
        let lock = fsx::lock(home.fs(), &path, Rank::List, fsx::DEFAULT_WAIT, home.now())?;
        Ok(Self {
            list,
            repository,
            _lock: lock,
            actor: actor.clone(),
            at: home.now(),
            drafts: BTreeMap::new(),
            removed: Vec::new(),
            entries: Vec::new(),
        })
    }

    /// When the change happens.
    pub(crate) fn at(&self) -> Timestamp {
        self.at
    }

    /// The list.
    pub(crate) fn list(&self) -> &'l List<'l> {
        self.list
    }

    /// Everything that can be read, as it is under the lock.
    pub(crate) fn load(&self) -> Result<Loaded> {
        self.list.load()
    }

    /// A task to be changed.
    pub(crate) fn task(&mut self, id: &TaskId) -> Result<&mut Task> {
        if !self.drafts.contains_key(id) {
            let before = self.list.task(id)?;
            let after = before.task.clone();
            self.drafts.insert(
                id.clone(),
                Draft {
                    before: Some(before),
                    after,
                },
            );
        }
        match self.drafts.get_mut(id) {
            Some(draft) => Ok(&mut draft.after),
            None => Err(Error::NotFound {
                what: "task",
                id: id.to_string(),
                list: None,
            }),
        }
    }

    /// Adds a task under an id from [`Change::new_ids`].
    pub(crate) fn create(&mut self, task: Task) {
        self.drafts.insert(
            task.id.clone(),
            Draft {
                before: None,
                after: task,
            },
        );
    }

    /// Removes a task. Its id is not given out again, even where a foreign writer chose it.
    pub(crate) fn remove(&mut self, id: &TaskId) -> Result<()> {
        let number = id.counted().unwrap_or_default();
        if number > self.last_id()? {
            let counter = self.list.path(COUNTER);
            fsx::allocate(self.list.home.fs(), &counter, number, 0)?;
        }
        self.drafts.remove(id);
        self.removed.push(id.clone());
        Ok(())
    }

    /// Ids that were never given out, durable before they are.
    pub(crate) fn new_ids(&self, count: u64) -> Result<impl Iterator<Item = TaskId> + use<>> {
        let highest = self
            .list
            .ids()?
            .iter()
            .filter_map(TaskId::counted)
            .max()
            .unwrap_or_default();
        let counter = self.list.path(COUNTER);
        let first = fsx::allocate(self.list.home.fs(), &counter, highest, count)?;
        Ok((first..first.saturating_add(count)).map(TaskId::from))
    }

    /// The highest id given out so far, as the counter says.
    pub(crate) fn last_id(&self) -> Result<u64> {
        Ok(fsx::peek(self.list.home.fs(), &self.list.path(COUNTER))?)
    }

    /// Finds the highest id ever given out anew, among the files and in the history, where
    /// `is_wrong` says so of the counter under the list's lock. What the counter said is kept in
    /// quarantine.
    pub(crate) fn recount(self, is_wrong: &dyn Fn(&List<'_>) -> Result<bool>) -> Result<bool> {
        let list = self.list;
        if !is_wrong(list)? {
            return Ok(false);
        }
        let fs = list.home.fs();
        let history = History::of(list.home, &self.repository);
        let told = history.since(0)?.into_iter().filter_map(|line| {
            let ours = line.entry.list.as_ref() == Some(list.id());
            line.entry.task.filter(|_| ours)
        });
        let ids = list.ids()?.into_iter().chain(told);
        let highest = ids.filter_map(|id| id.counted()).max().unwrap_or_default();
        let counter = list.path(COUNTER);
        if let Some(content) = fsx::read(fs, &counter)? {
            fsx::keep(fs, &counter, &content, "it was not the highest id")?;
        }
        let mut entry = Entry::new(Kind::ListRecounted).detail("highest", highest);
        entry.list = Some(list.id().clone());
        history.record(&self.actor, self.at, vec![entry])?;
        fsx::replace(fs, &counter, format!("{highest}\n").as_bytes())?;
        Ok(true)
    }

    /// Says what the change was, for the history.
    pub(crate) fn note(&mut self, kind: Kind, task: &TaskId) -> &mut Entry {
        let mut entry = Entry::new(kind);
        entry.list = Some(self.list.id().clone());
        entry.task = Some(task.clone());
        self.entries.push(entry);
        let last = self.entries.len() - 1;
        &mut self.entries[last]
    }

    /// Says something about the whole list, for the history.
    pub(crate) fn note_list(&mut self, kind: Kind) -> &mut Entry {
        let mut entry = Entry::new(kind);
        entry.list = Some(self.list.id().clone());
        self.entries.push(entry);
        let last = self.entries.len() - 1;
        &mut self.entries[last]
    }

    /// Carries the change out, durable on return, and answers with the tasks as written.
    pub(crate) fn commit(self) -> Result<Written> {
        Ok(self.commit_with(|_, _| Ok(()))?.1)
    }

    /// Carries the change out after `rule` has been given the claim token that it may use: the
    /// number of the change's first history line, which only grows (`tree.md` §2).
    pub(crate) fn commit_with<T>(
        mut self,
        rule: impl FnOnce(&mut Self, Token) -> Result<T>,
    ) -> Result<(T, Written)> {
        let fs = self.list.home.fs();
        let list = self.list;
        let history = History::of(list.home, &self.repository);
        let mut writer =
            history.writer(self.at, &|entry| appeared(list.home, Some(list), entry))?;
        let answer = rule(&mut self, Token(writer.next()))?;

        let mut batch = Batch::new();
        let mut from: BTreeMap<TaskId, StateName> = BTreeMap::new();
        let mut written = Written::new();
        for (id, mut draft) in self.drafts {
            let before = draft.before.as_ref().map(|file| &file.task);
            from.extend(before.map(|task| (id.clone(), task.state.name())));
            if before != Some(&draft.after) {
                draft.after.rev = before.map_or(0, |task| task.rev).saturating_add(1);
                let bytes = claude_tasks::write(draft.before.as_ref(), &draft.after);
                readable(&id, &bytes)?;
                match draft.before {
                    Some(_) => batch.put(list.task_path(&id), bytes),
                    None => batch.create(list.task_path(&id), bytes),
                }
            }
            written.insert(id, draft.after);
        }
        for id in &self.removed {
            batch.remove(list.task_path(id));
        }
        if self.entries.is_empty() {
            return Ok((answer, written));
        }
        for entry in &mut self.entries {
            let Some(after) = entry.task.as_ref().and_then(|id| written.get(id)) else {
                continue;
            };
            entry.detail.insert("rev".to_owned(), after.rev.into());
            let (before, now) = (from.get(&after.id).copied(), after.state.name());
            if entry.to.is_none() && before != Some(now) {
                entry.from = before;
                entry.to = Some(now);
            }
        }
        let sealed = batch.seal(fs)?;
        writer.record(&self.actor, self.entries)?;
        if let Err(error) = sealed.reveal() {
            drop(writer);
            // What failed may have appeared all the same. Should looking fail too, the next writer
            // does it.
            let _: Result<()> = history.settle(&self.actor, self.at);
            return Err(error.into());
        }
        Ok((answer, written))
    }
}

/// Acknowledged means that it can be read again: JSON may be six times as long as its text.
fn readable(id: &TaskId, bytes: &[u8]) -> Result<()> {
    if bytes.len() as u64 <= fsx::READ_LIMIT {
        return Ok(());
    }
    let (len, limit) = (bytes.len(), fsx::READ_LIMIT);
    Err(Error::Invalid {
        what: format!("task {id}"),
        reason: format!("its file would have {len} bytes, more than the {limit} that are read"),
    })
}

/// Whether the change that a history entry tells of is in the list's files; `known` is a list that
/// is open already.
pub(crate) fn appeared(home: &Home, known: Option<&List<'_>>, entry: &Entry) -> Result<bool> {
    let (Some(id), Some(task)) = (&entry.list, &entry.task) else {
        return Ok(true);
    };
    let other;
    let list = match known.filter(|list| list.id() == id) {
        Some(list) => list,
        None => match List::open(home, id) {
            Ok(opened) => {
                other = opened;
                &other
            }
            Err(Error::NotFound { .. }) => return Ok(true),
            Err(error) => return Err(error),
        },
    };
    let seen = match entry.kind {
        Kind::TaskLinked => is_linked(list, task, entry),
        Kind::TaskUnlinked => is_linked(list, task, entry).map(|linked| !linked),
        Kind::TaskRemoved => found(list, task).map(|file| file.is_none()),
        _ => found(list, task).map(|file| {
            file.is_some_and(|file| {
                let (rev, told) = (file.task.rev, entry.rev().unwrap_or_default());
                // A foreign writer may have dropped our part of the file.
                rev >= told || rev == 0 && told > 1
            })
        }),
    };
    match seen {
        // Unreadable says nothing about what happened before it became so.
        Err(Error::Disk(error)) if error.is_no_such_file() => Ok(true),
        seen => seen,
    }
}

/// Either file is enough, as it is for whoever reads the list.
fn is_linked(list: &List<'_>, task: &TaskId, entry: &Entry) -> Result<bool> {
    let blocker = entry.detail.get("blocked_by").and_then(|id| id.as_str());
    let Some(blocker) = blocker.and_then(|id| id.parse::<TaskId>().ok()) else {
        return Ok(false);
    };
    let waits = found(list, task)?.is_some_and(|file| file.task.blocked_by.contains(&blocker));
    Ok(waits || found(list, &blocker)?.is_some_and(|file| file.task.blocks.contains(task)))
}

fn found(list: &List<'_>, task: &TaskId) -> Result<Option<TaskFile>> {
    match list.task(task) {
        Ok(file) => Ok(Some(file)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
