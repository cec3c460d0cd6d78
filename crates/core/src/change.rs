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
use serde_json::{Map, Value};

use crate::{
    coordination,
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
    removed: BTreeMap<TaskId, TaskFile>,
    entries: Vec<Entry>,
}

/// The tasks of a change as they are on disk now.
pub(crate) type Written = BTreeMap<TaskId, Task>;

#[derive(Debug)]
struct Draft {
    before: Option<TaskFile>,
    after: Task,
    /// The file to write, where it is not made from the task.
    raw: Option<Raw>,
}

type Raw = Map<String, Value>;

/// The detail of a history line that says what a created file said.
pub(crate) const FINGERPRINT: &str = "fingerprint";

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
            removed: BTreeMap::new(),
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
                    raw: None,
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
                raw: None,
            },
        );
    }

    /// Adds a task whose file keeps what `file` of another list holds beyond it.
    pub(crate) fn adopt(&mut self, file: &TaskFile, task: Task) {
        let draft = Draft {
            before: None,
            raw: Some(file.copied(&task)),
            after: task,
        };
        self.drafts.insert(draft.after.id.clone(), draft);
    }

    /// Puts a task's file back to what it was: one that is there or one that was removed.
    pub(crate) fn restore(&mut self, id: &TaskId, raw: Raw) -> Result<()> {
        let file = claude_tasks::read(id, &claude_tasks::to_bytes(raw.clone()));
        let after = file.map_err(|reason| self.malformed(id, reason))?.task;
        let before = match self.list.task(id) {
            Ok(file) => Some(file),
            Err(Error::NotFound { .. }) => None,
            Err(error) => return Err(error),
        };
        let raw = Some(raw);
        self.drafts.insert(id.clone(), Draft { before, after, raw });
        Ok(())
    }

    fn malformed(&self, id: &TaskId, reason: String) -> Error {
        let path = self.list.task_path(id);
        flagpost_disk::Error::Malformed { path, reason }.into()
    }

    /// Removes a task. Its id is not given out again, even where a foreign writer chose it.
    pub(crate) fn remove(&mut self, id: &TaskId) -> Result<()> {
        let number = id.counted().unwrap_or_default();
        if number > self.last_id()? {
            let counter = self.list.path(COUNTER);
            fsx::allocate(self.list.home.fs(), &counter, number, 0)?;
        }
        self.task(id)?;
        let draft = self.drafts.remove(id);
        let file = draft.and_then(|draft| draft.before);
        self.removed.extend(file.map(|file| (id.clone(), file)));
        Ok(())
    }

    /// Ids that were never given out, durable before they are.
    pub(crate) fn new_ids(&self, count: u64) -> Result<impl Iterator<Item = TaskId> + use<>> {
        let ids = self.list.ids()?;
        let highest = ids.iter().filter_map(TaskId::counted).max();
        let highest = highest.max(Some(self.last_id()?)).unwrap_or_default();
        let counter = self.list.path(COUNTER);
        let first = fsx::allocate(self.list.home.fs(), &counter, highest, count)?;
        Ok((first..first.saturating_add(count)).map(TaskId::from))
    }

    /// The highest id given out so far, as the counter says. A list whose counter is gone, with its
    /// directory perhaps, finds it in the history.
    pub(crate) fn last_id(&self) -> Result<u64> {
        let (fs, counter) = (self.list.home.fs(), self.list.path(COUNTER));
        if fsx::stat(fs, &counter)?.is_some() {
            return Ok(fsx::peek(fs, &counter)?);
        }
        let told = self.told_ids()?;
        let highest = told.iter().filter_map(TaskId::counted).max();
        Ok(highest.unwrap_or_default())
    }

    /// The ids that the history tells of.
    fn told_ids(&self) -> Result<Vec<TaskId>> {
        let list = self.list;
        let history = History::of(list.home, &self.repository);
        let told = history.since(0)?.into_iter().filter_map(|line| {
            let ours = line.entry.list.as_ref() == Some(list.id());
            line.entry.task.filter(|_| ours)
        });
        Ok(told.collect())
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
        let ids = list.ids()?.into_iter().chain(self.told_ids()?);
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

    /// Marks every line of this change as taking back the change whose first line is `n`, with a
    /// line for each of `tasks` that has none.
    pub(crate) fn mark<'t>(&mut self, n: u64, tasks: impl Iterator<Item = &'t TaskId>) {
        for id in tasks {
            let is_new = self.drafts.get(id).is_some_and(|it| it.before.is_none());
            let told = self.entries.iter().any(|it| it.task.as_ref() == Some(id));
            if !told {
                let kind = if is_new {
                    Kind::TaskCreated
                } else {
                    Kind::TaskUndone
                };
                self.note(kind, id);
            }
        }
        for entry in &mut self.entries {
            entry.detail.insert("undoes".to_owned(), n.into());
        }
    }

    /// Tasks as this change would write them.
    pub(crate) fn drafted<'t>(&self, ids: impl IntoIterator<Item = &'t TaskId>) -> Vec<Task> {
        let drafts = ids.into_iter().filter_map(|id| self.drafts.get(id));
        drafts.map(|draft| draft.after.clone()).collect()
    }

    /// Adds to what is said about a task.
    pub(crate) fn tell(&mut self, task: &TaskId, key: &str, value: Value) {
        let about = |entry: &&mut Entry| entry.task.as_ref() == Some(task);
        if let Some(entry) = self.entries.iter_mut().find(about) {
            entry.detail.insert(key.to_owned(), value);
        }
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
        let mut changes: BTreeMap<TaskId, Raw> = BTreeMap::new();
        let mut created: BTreeMap<TaskId, String> = BTreeMap::new();
        for (id, mut draft) in self.drafts {
            let before = draft.before.as_ref().map(|file| &file.task);
            from.extend(before.map(|task| (id.clone(), task.state.name())));
            if before != Some(&draft.after) || draft.raw.is_some() {
                draft.after.rev = match before {
                    Some(task) => task.rev.saturating_add(1),
                    None => draft.after.rev.saturating_add(1),
                };
                let raw = match draft.raw {
                    Some(raw) => claude_tasks::restore(raw, draft.after.rev),
                    None => claude_tasks::write(draft.before.as_ref(), &draft.after),
                };
                match &draft.before {
                    Some(before) => {
                        drop(changes.insert(id.clone(), claude_tasks::changes(before.raw(), &raw)))
                    }
                    None => drop(created.insert(id.clone(), claude_tasks::fingerprint(&raw))),
                }
                let is_too_deep = claude_tasks::is_too_deep(&raw);
                let bytes = claude_tasks::to_bytes(raw);
                readable(&id, &bytes, is_too_deep)?;
                match draft.before {
                    Some(_) => batch.put(list.task_path(&id), bytes),
                    None => batch.create(list.task_path(&id), bytes),
                }
            }
            written.insert(id, draft.after);
        }
        for id in self.removed.keys() {
            batch.remove(list.task_path(id));
        }
        if self.entries.is_empty() {
            return Ok((answer, written));
        }
        for entry in &mut self.entries {
            let Some(id) = entry.task.clone() else {
                continue;
            };
            if let Some(file) = self.removed.get(&id) {
                entry.from = Some(file.task.state.name());
                let (subject, rev) = (file.task.subject.as_str(), file.task.rev);
                entry.detail.insert("subject".to_owned(), subject.into());
                entry
                    .detail
                    .insert("rev".to_owned(), rev.saturating_add(1).into());
                let raw = Value::Object(file.raw().clone());
                entry.detail.insert("removed".to_owned(), raw);
            } else if let Some(after) = written.get(&id) {
                entry.detail.insert("rev".to_owned(), after.rev.into());
                let (before, now) = (from.get(&id).copied(), after.state.name());
                if entry.to.is_none() && before != Some(now) {
                    entry.from = before;
                    entry.to = Some(now);
                }
                let changed = changes.remove(&id).map(Value::Object);
                let created = created.remove(&id).map(Value::String);
                let told = [("changes", changed), (FINGERPRINT, created)];
                let told = told.into_iter().filter_map(|(key, it)| Some((key, it?)));
                entry
                    .detail
                    .extend(told.map(|(key, it)| (key.to_owned(), it)));
            }
        }
        // Neighbours that changed with no line of their own.
        if let Some(first) = self.entries.first_mut().filter(|_| !changes.is_empty()) {
            let others = changes.into_iter();
            let others = others.map(|(id, it)| (id.to_string(), Value::Object(it)));
            first.detail.insert("others".to_owned(), others.collect());
        }
        if let Some((key, account)) = list.account() {
            for entry in &mut self.entries {
                entry.detail.insert((*key).to_owned(), account.clone());
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
fn readable(id: &TaskId, bytes: &[u8], is_too_deep: bool) -> Result<()> {
    let (len, limit) = (bytes.len(), fsx::READ_LIMIT);
    let reason = if is_too_deep {
        "its file would be nested too deep to be read".to_owned()
    } else if len as u64 > limit {
        format!("its file would have {len} bytes, more than the {limit} that are read")
    } else {
        return Ok(());
    };
    Err(Error::Invalid {
        what: format!("task {id}"),
        reason,
    })
}

/// Whether the change that a history entry tells of is in the list's files; `known` is a list that
/// is open already.
pub(crate) fn appeared(home: &Home, known: Option<&List<'_>>, entry: &Entry) -> Result<bool> {
    let elsewhere = entry.detail.get(coordination::WHERE);
    if let Some(dir) = elsewhere.and_then(Value::as_str) {
        return coordination::appeared(home, entry, dir);
    }
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
