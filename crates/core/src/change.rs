//! One change of a list: locked, recorded, atomic per file.
//!
//! Owns the order in which every change happens: read under the list's lock → rule → new content
//! durable under temporary names → history line durable → names change → answer. Invariants: no
//! change without its line; nothing is answered before it is durable; a task's `rev` grows by one
//! per change.

mod outcome;
mod table;

use std::{cell::Cell, collections::BTreeMap};

use flagpost_disk::{
    self as disk, TaskFile,
    dialects::{
        claude_tasks::{self, COUNTER},
        coordination as layout,
    },
    fsx::{self, Durability, Lock, Rank},
};
use flagpost_model::{
    RepoId, TaskId, Token, WorkerId,
    coordination::micros,
    task::{Act, State, Task},
};
use jiff::Timestamp;
use serde_json::Value;

pub(crate) use table::refused;

use crate::{
    error::{Error, Result},
    history::{Entry, History, Kind, detail::APART},
    list::{
        List, Loaded,
        rows::Raw,
        table::{TableList, TableLock},
    },
    mirror,
};
use outcome::ChangeSet;
use table::{Maker, SideEffects};

/// A list, locked for one change. Dropping it changes nothing.
#[derive(Debug)]
pub struct Change<'l> {
    list: &'l List<'l>,
    repository: Option<RepoId>,
    _lock: Guard<'l>,
    actor: WorkerId,
    at: Timestamp,
    drafts: BTreeMap<TaskId, PendingWrite>,
    removed: BTreeMap<TaskId, TaskFile>,
    entries: Vec<Entry>,
    /// The tasks that are given back in the name of whoever holds them.
    given_back: Vec<TaskId>,
    /// How many numbers of the table were given out, which its rows do not show yet.
    numbered: Cell<u64>,
}

/// The lock of either sort of list.
#[derive(Debug)]
enum Guard<'l> {
    /// Of a directory of files.
    Files(#[expect(dead_code, reason = "it is held")] Lock),
    /// Of a table.
    Table(#[expect(dead_code, reason = "it is held")] TableLock<'l>),
}

/// The tasks of a change as they are on disk now.
pub(crate) type Written = BTreeMap<TaskId, Task>;

#[derive(Debug)]
struct PendingWrite {
    before: Option<TaskFile>,
    after: Task,
    /// The file to write, where it is not made from the task.
    raw: Option<Raw>,
}

impl List<'_> {
    /// Locks the list for one change by `actor`.
    pub fn change<'l>(&'l self, actor: &WorkerId) -> Result<Change<'l>> {
        Change::begin(self, actor)
    }
}

impl<'l> Change<'l> {
    fn begin(list: &'l List<'l>, actor: &WorkerId) -> Result<Self> {
        let home = list.home;
        let repository = list.recorder()?;
        let lock = match list.table() {
            Some(table) => Guard::Table(table.lock()?),
            None => {
                let path = list.path(claude_tasks::LOCK);
                let wait = fsx::DEFAULT_WAIT;
                Guard::Files(fsx::lock(home.fs(), &path, Rank::List, wait, home.now())?)
            }
        };
        Ok(Self::under(lock, list, repository, actor))
    }

    /// As [`Change::begin`] for a list of files, if nobody changes it at this moment.
    pub(crate) fn begin_if_free(list: &'l List<'l>, actor: &WorkerId) -> Result<Option<Self>> {
        let (home, path) = (list.home, list.path(claude_tasks::LOCK));
        let Some(lock) = fsx::try_lock(home.fs(), &path, Rank::List, home.now())? else {
            return Ok(None);
        };
        let repository = list.recorder()?;
        Ok(Some(Self::under(
            Guard::Files(lock),
            list,
            repository,
            actor,
        )))
    }

    fn under(
        lock: Guard<'l>,
        list: &'l List<'l>,
        repository: Option<RepoId>,
        actor: &WorkerId,
    ) -> Self {
        Self {
            list,
            repository,
            _lock: lock,
            actor: actor.clone(),
            at: list.home.now(),
            drafts: BTreeMap::new(),
            removed: BTreeMap::new(),
            entries: Vec::new(),
            given_back: Vec::new(),
            numbered: Cell::new(0),
        }
    }

    /// When the change happens.
    pub(crate) fn at(&self) -> Timestamp {
        self.at
    }

    /// What its maker does at its moment, by no claim.
    pub(crate) fn act(&self) -> Act {
        Act {
            actor: self.actor.clone(),
            token: None,
            at: self.at,
        }
    }

    /// The list.
    pub(crate) fn list(&self) -> &'l List<'l> {
        self.list
    }

    /// Everything that can be read, as it is under the lock.
    pub(crate) fn load(&self) -> Result<Loaded> {
        self.list.load_and_keep()
    }

    /// A task to be changed.
    pub(crate) fn task(&mut self, id: &TaskId) -> Result<&mut Task> {
        if !self.drafts.contains_key(id) {
            let before = self.list.task(id)?;
            let after = before.task.clone();
            self.drafts.insert(
                id.clone(),
                PendingWrite {
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
            PendingWrite {
                before: None,
                after: task,
                raw: None,
            },
        );
    }

    /// Adds a task whose file keeps what `file` of another list holds beyond it.
    pub(crate) fn put_moved(&mut self, file: &TaskFile, task: Task) {
        let draft = PendingWrite {
            before: None,
            raw: Some(file.copied(&task)),
            after: task,
        };
        self.drafts.insert(draft.after.id.clone(), draft);
    }

    /// Puts a task's file back to what it was: one that is there or one that was removed.
    pub(crate) fn restore(&mut self, id: &TaskId, raw: Raw) -> Result<()> {
        let after = self.list.understand(id, &raw)?.task;
        let before = match self.list.task(id) {
            Ok(file) => Some(file),
            Err(Error::NotFound { .. }) => None,
            Err(error) => return Err(error),
        };
        let raw = Some(raw);
        self.drafts
            .insert(id.clone(), PendingWrite { before, after, raw });
        Ok(())
    }

    /// Makes a task pending in the name of whoever holds it, who is not there any more.
    pub(crate) fn give_back(&mut self, id: &TaskId) -> Result<()> {
        let task = self.task(id)?;
        task.state = State::Pending;
        task.owner = None;
        self.given_back.push(id.clone());
        Ok(())
    }

    /// Removes a task. Its id is not given out again, even where a foreign writer chose it.
    pub(crate) fn remove(&mut self, id: &TaskId) -> Result<()> {
        self.list.must_let_go()?;
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
        let ids = match self.list.table() {
            Some(table) => self.new_names(table, count)?,
            None => self.new_numbers(count)?,
        };
        Ok(ids.into_iter())
    }

    /// Ids as the table has them. One that was ever used, as its result shows, is not given again.
    fn new_names(&self, table: &TableList<'_>, count: u64) -> Result<Vec<TaskId>> {
        let view = table.view()?;
        let highest = table.directory.highest(&view.tables)?;
        let first = highest.max(self.numbered.get()).saturating_add(1);
        let end = first.saturating_add(count);
        self.numbered.set(end.saturating_sub(1));
        let ids = (first..end).map(|number| Ok(layout::numbered(number).parse()?));
        ids.collect()
    }

    fn new_numbers(&self, count: u64) -> Result<Vec<TaskId>> {
        let list = self.list;
        let more = |count| self.allocate(count);
        let is_free =
            |id| Ok(fsx::stat(list.home.fs(), &list.task_path(&TaskId::from(id)))?.is_none());
        let numbers = match list.stock() {
            Some(stock) => stock.take(count, &is_free, &more)?,
            None => more(count)?.collect(),
        };
        Ok(numbers.into_iter().map(TaskId::from).collect())
    }

    fn allocate(&self, count: u64) -> Result<std::ops::Range<u64>> {
        let ids = self.list.ids()?;
        let highest = ids.iter().filter_map(TaskId::counted).max();
        let highest = highest.max(Some(self.last_id()?)).unwrap_or_default();
        let counter = self.list.path(COUNTER);
        let first = fsx::allocate(self.list.home.fs(), &counter, highest, count)?;
        Ok(first..first.saturating_add(count))
    }

    /// What the history tells of is given out by nobody any more, though another program chose its id.
    fn count_foreign_ids(&self) -> Result<()> {
        let told = self.drafts.keys().filter_map(TaskId::counted).max();
        match told.filter(|_| self.list.table().is_none()) {
            Some(highest) if highest > self.last_id()? => {
                let counter = self.list.path(COUNTER);
                fsx::allocate(self.list.home.fs(), &counter, highest, 0)?;
                Ok(())
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The highest id given out so far, as the counter says. A list whose counter is gone, with its
    /// directory perhaps, finds it in the history.
    pub(crate) fn last_id(&self) -> Result<u64> {
        let (fs, counter) = (self.list.home.fs(), self.list.path(COUNTER));
        if fsx::stat(fs, &counter)?.is_some() {
            return Ok(fsx::peek(fs, &counter)?);
        }
        let told = self.ids_in_history()?;
        let highest = told.iter().filter_map(TaskId::counted).max();
        Ok(highest.unwrap_or_default())
    }

    /// The ids that the history tells of.
    fn ids_in_history(&self) -> Result<Vec<TaskId>> {
        let list = self.list;
        let Some(repository) = &self.repository else {
            return Ok(Vec::new());
        };
        let history = History::of(list.home, repository);
        let told = history.since(0)?.into_iter().filter_map(|line| {
            let ours = list.concerns(&line.entry);
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
        let history = History::of(list.home, &list.repository()?);
        let ids = list.ids()?.into_iter().chain(self.ids_in_history()?);
        let highest = ids.filter_map(|id| id.counted()).max().unwrap_or_default();
        let counter = list.path(COUNTER);
        if let Some(content) = fsx::read(fs, &counter)? {
            fsx::store(fs, &counter, &content, "it was not the highest id")?;
        }
        let mut entry = Entry::new(Kind::ListRecounted).detail("highest", highest);
        list.sign(&mut entry);
        history.record(&self.actor, self.at, vec![entry])?;
        fsx::replace(fs, &counter, format!("{highest}\n").as_bytes())?;
        Ok(true)
    }

    /// Says what the change was, for the history.
    pub(crate) fn note(&mut self, kind: Kind, task: &TaskId) -> &mut Entry {
        let mut entry = Entry::new(kind);
        self.list.sign(&mut entry);
        entry.task = Some(task.clone());
        self.entries.push(entry);
        let last = self.entries.len() - 1;
        &mut self.entries[last]
    }

    /// Says of what was noted last that it is somebody else's doing: of who is named, or of the hand
    /// behind that name.
    pub(crate) fn sign(&mut self, actor: &WorkerId, hand: Option<&WorkerId>) {
        if let Some(entry) = self.entries.pop() {
            self.entries.push(entry.on_behalf_of(actor, hand));
        }
    }

    /// Makes each line a change of its own.
    pub(crate) fn set_apart(&mut self) {
        for entry in &mut self.entries {
            entry.detail.insert(APART.to_owned(), true.into());
        }
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
        self.list.sign(&mut entry);
        self.entries.push(entry);
        let last = self.entries.len() - 1;
        &mut self.entries[last]
    }

    /// Carries the change out, durable on return, and answers with the tasks as written.
    pub(crate) fn commit(self) -> Result<Written> {
        Ok(self.commit_with(|_, _| Ok(()))?.1)
    }

    /// Carries the change out after `rule` has been given the claim token that it may use, which only
    /// grows: the number of the change's first history line (`tree.md` §2), or the moment in a table,
    /// which every program of that format knows.
    pub(crate) fn commit_with<T>(
        self,
        rule: impl FnOnce(&mut Self, Token) -> Result<T>,
    ) -> Result<(T, Written)> {
        self.commit_then(rule, |_| ())
    }

    /// As [`Change::commit_with`]; what the rule answered is durable when `then` is told of it, and
    /// nobody else can change the list yet.
    pub(crate) fn commit_then<T>(
        mut self,
        rule: impl FnOnce(&mut Self, Token) -> Result<T>,
        then: impl FnOnce(&T),
    ) -> Result<(T, Written)> {
        let fs = self.list.home.fs();
        let list = self.list;
        let repository = self.repository.clone();
        let history = repository.as_ref().map(|it| History::of(list.home, it));
        let writer = history.as_ref().map(|it| it.writer(self.at));
        let writer = writer.transpose()?;
        let token = match (list.table(), &writer) {
            (None, Some(writer)) => writer.next(),
            (Some(table), _) => micros(table.directory.naive(self.at)),
            (None, None) => 0,
        };
        let answer = rule(&mut self, Token(token))?;
        self.count_foreign_ids()?;

        let mut outcome = self.outcome()?;
        if self.entries.is_empty() {
            return Ok((answer, outcome.written));
        }
        outcome.tell(&mut self.entries);
        if let Some((key, account)) = list.account() {
            for entry in &mut self.entries {
                entry.detail.insert((*key).to_owned(), account.clone());
            }
        }
        let sealed = outcome.batch.stage(fs)?;
        if let (Some(table), Some(beside)) = (list.table(), &outcome.beside) {
            beside.make_way(table)?;
        }
        // A sign of life alone is no news.
        let is_news = outcome.beside.as_ref().is_none_or(|it| it.rev.is_some());
        match writer {
            Some(writer) if is_news => {
                writer.carry_out(&self.actor, self.entries, sealed)?;
            }
            _ => sealed.publish()?,
        }
        if let (Some(table), Some(beside)) = (list.table(), outcome.beside) {
            beside.tell(table);
        }
        then(&answer);
        if list.table().is_none() {
            let touched = outcome.written.keys().chain(outcome.removed.keys());
            mirror::refresh(list.home, touched.map(|id| list.task_path(id)));
        }
        Ok((answer, outcome.written))
    }

    /// The tasks as the change would write them, or why it would not: every rule is asked, and nothing
    /// is written.
    pub(crate) fn rehearse(mut self) -> Result<Written> {
        Ok(self.outcome()?.written)
    }

    /// What becomes of the list.
    fn outcome(&mut self) -> Result<ChangeSet> {
        let drafts = std::mem::take(&mut self.drafts);
        let Some(table) = self.list.table() else {
            return ChangeSet::of(self.list, drafts, std::mem::take(&mut self.removed));
        };
        let maker = Maker {
            actor: &self.actor,
            at: self.at,
            given_back: &self.given_back,
        };
        table::outcome(table, &maker, drafts, &self.entries)
    }
}

impl SideEffects {
    /// Refuses where somebody changed the table without its lock, and writes what it is about to speak
    /// of.
    fn make_way(&self, table: &TableList<'_>) -> Result<()> {
        let (fs, directory) = (table.directory.home().fs(), &table.directory);
        let path = directory.path(layout::TASKS);
        if fsx::read(fs, &path)?.as_ref() != Some(&self.before) {
            return Err(disk::Error::Changed { path }.into());
        }
        for (name, page) in &self.pages {
            directory.make_dir(layout::RESULTS)?;
            fsx::replace(fs, &directory.path(name), page)?;
        }
        Ok(())
    }

    /// Tells the logs. The table is the truth: one that cannot be written takes nothing back.
    fn tell(self, table: &TableList<'_>) {
        let (fs, directory) = (table.directory.home().fs(), &table.directory);
        for (name, line) in self.logs {
            let path = directory.path(&layout::log(&name));
            let _: Result<()> = directory.make_dir(layout::LOGS);
            let _: disk::Result<()> = fsx::append(fs, &path, line.as_bytes(), Durability::Lazy);
        }
    }
}
