//! A list of tasks on disk: a directory of files, or the table of a coordination directory.
//!
//! Owns reading: one task, or the outlines of all. A file or a row that is no task is skipped, reported
//! and kept; it never hides its neighbours.

mod cache;
mod id_pool;
pub(crate) mod quarantine;
mod reader;
mod recorder;
pub(crate) mod rows;
pub(crate) mod table;
pub(crate) mod vanished;

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    sync::Arc,
};

use flagpost_disk::{
    self as disk, TaskFile,
    dialects::{claude_tasks, coordination as layout},
    fsx,
};
use flagpost_model::{
    ListId, ListRef, TaskId,
    coordination::LEASE,
    task::{Outline, TaskSummary},
};
use jiff::SignedDuration;

pub(crate) use id_pool::IdPool;
pub use reader::ListReader;
use table::TableList;

use crate::{
    coordination::Directory,
    error::{Error, Result},
    history::History,
    home::Home,
    mirror,
    repository::Repository,
    roots,
    skipped::Skipped,
};

/// A list that has been found: one of ours, whose directory lies inside its root, or a table.
#[derive(Debug)]
pub struct List<'h> {
    pub(crate) home: &'h Home,
    id: ListRef,
    dir: PathBuf,
    store: Store<'h>,
    account: Option<OriginDetail>,
    stock: Option<Arc<IdPool>>,
}

/// What its tasks are in.
#[derive(Debug)]
enum Store<'h> {
    /// A file each.
    Files,
    /// The rows of one table.
    Table(Box<TableList<'h>>),
}

/// On whose account a list is changed: a detail that each line of the history has then.
pub(crate) type OriginDetail = (&'static str, serde_json::Value);

/// All of a list that can be read, and what could not.
#[derive(Debug)]
pub struct Loaded<O = Outline> {
    /// The tasks, by id.
    pub outlines: Vec<O>,
    /// The files that are no tasks.
    pub skipped: Vec<Skipped>,
}

impl<O> Default for Loaded<O> {
    fn default() -> Self {
        Self {
            outlines: Vec::new(),
            skipped: Vec::new(),
        }
    }
}

impl<'h> List<'h> {
    /// An existing list, by its name or at its place.
    pub fn find(home: &'h Home, list: &ListRef) -> Result<Self> {
        match list {
            ListRef::Named(_) | ListRef::Foreign(_) => Self::open_dir(home, list),
            ListRef::Coordination(place) => {
                Self::of_table(home, Directory::open(home, place.path())?)
            }
        }
    }

    /// The table of a coordination directory as a list.
    pub fn of_table(home: &'h Home, directory: Directory<'h>) -> Result<Self> {
        let dir = directory.dir().to_owned();
        let id = ListRef::of_directory(&dir).ok_or_else(|| Error::Invalid {
            what: "list".to_owned(),
            reason: format!("the path {} has no spelling", dir.display()),
        })?;
        Ok(Self {
            home,
            id,
            dir,
            store: Store::Table(Box::new(TableList::of(directory))),
            account: None,
            stock: None,
        })
    }

    /// An existing list, of the home or else of the first root that has it.
    pub fn open(home: &'h Home, id: &ListId) -> Result<Self> {
        Self::open_dir(home, &id.into())
    }

    fn open_dir(home: &'h Home, list: &ListRef) -> Result<Self> {
        let list = Self::of_home(home, list);
        match roots::dir_of(home, list.id.as_str())? {
            Some(dir) => Ok(Self { dir, ..list }),
            None => Err(list.not_found()),
        }
    }

    /// A list bound to a repository: to `repository` where it was to none. Where there is none, it
    /// is made in the home.
    pub fn open_or_create(home: &'h Home, id: &ListId, repository: &Repository) -> Result<Self> {
        let list = match Self::open(home, id) {
            Err(Error::NotFound { .. }) => Self::of_home(home, &id.into()),
            opened => opened?,
        };
        let binding = list.path(claude_tasks::REPOSITORY);
        // Whoever bound the list had made its directory durable.
        if fsx::stat(home.fs(), &binding)?.is_some() {
            return Ok(list);
        }
        // What others follow has a name that no other list of theirs has.
        if let Some(order) = home.order()
            && History::of(home, &repository.id).is_shared()?
        {
            order.name_list(&repository.id, id)?;
        }
        home.make_dirs(&list.dir)?;
        match fsx::publish(
            home.fs(),
            &binding,
            format!("{}\n", repository.id).as_bytes(),
        ) {
            Ok(()) | Err(disk::Error::Conflict { .. }) => {
                // It is there whether others see it or not; the doctor tells of what they do not.
                let _: Result<Vec<_>> = mirror::keep(home);
                Ok(list)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn of_home(home: &'h Home, list: &ListRef) -> Self {
        Self {
            home,
            id: list.clone(),
            dir: home.tasks_root().join(list.as_str()),
            store: Store::Files,
            account: None,
            stock: None,
        }
    }

    /// The same list, changed on this account.
    pub(crate) fn on_account(self, account: OriginDetail) -> Self {
        Self {
            account: Some(account),
            ..self
        }
    }

    /// The same list, whose new ids come from this stock.
    pub(crate) fn with_stock(self, stock: Option<Arc<IdPool>>) -> Self {
        Self { stock, ..self }
    }

    pub(crate) fn stock(&self) -> Option<&IdPool> {
        self.stock.as_deref()
    }

    pub(crate) fn account(&self) -> Option<&OriginDetail> {
        self.account.as_ref()
    }

    /// The table that it is, where it is one.
    pub(crate) fn table(&self) -> Option<&TableList<'h>> {
        match &self.store {
            Store::Files => None,
            Store::Table(table) => Some(table),
        }
    }

    /// How long a claim lasts that was asked for for so long: a table has one lease for all.
    pub fn lease(&self, asked: SignedDuration) -> SignedDuration {
        match &self.store {
            Store::Files => asked,
            Store::Table(_) => LEASE,
        }
    }

    /// Refuses to take a task out where only its state can say that it is not wanted.
    pub(crate) fn must_let_go(&self) -> Result<()> {
        self.must_be_files("its tasks are cancelled, and none is removed")
    }

    /// Refuses what only a list of files can do.
    pub(crate) fn must_be_files(&self, cannot: &'static str) -> Result<()> {
        self.name_for(cannot).map(drop)
    }

    /// Refuses to change what only its own program may: a history, a lock and a claim name a list, and
    /// this one has no name that they could have. Nor is one changed that lies elsewhere by a link.
    pub fn must_be_writable(&self) -> Result<()> {
        match &self.id {
            ListRef::Foreign(_) => Err(Error::ForeignList {
                list: self.id.clone(),
            }),
            ListRef::Named(_) | ListRef::Coordination(_) => self.home.must_not_be_linked(&self.dir),
        }
    }

    fn is_writable(&self) -> bool {
        self.must_be_writable().is_ok()
    }

    /// Its name, for what is kept under names alone.
    pub fn name_for(&self, cannot: &'static str) -> Result<&ListId> {
        self.must_be_writable()?;
        self.id.name().ok_or_else(|| Error::NotInTable {
            list: self.id.clone(),
            cannot,
        })
    }

    /// The root that it lies in, unless that is the home.
    pub fn root(&self) -> Option<&Path> {
        let root = self.dir.parent().filter(|_| self.table().is_none());
        root.filter(|root| *root != self.home.tasks_root())
    }

    fn not_found(&self) -> Error {
        Error::NotFound {
            what: "list",
            id: self.id.to_string(),
            list: None,
        }
    }

    /// What it is called.
    pub fn id(&self) -> &ListRef {
        &self.id
    }

    /// The list's directory.
    pub fn dir(&self) -> &PathBuf {
        &self.dir
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub(crate) fn task_path(&self, id: &TaskId) -> PathBuf {
        match &self.store {
            Store::Files => self.path(&claude_tasks::file_name(id)),
            Store::Table(_) => self.path(layout::TASKS),
        }
    }

    /// One task.
    pub fn task(&self, id: &TaskId) -> Result<TaskFile> {
        if let Some(table) = self.table() {
            let file = table.view()?.files.get(id).cloned();
            return file.ok_or_else(|| self.unknown(id.as_str()));
        }
        let path = self.task_path(id);
        let Some(bytes) = fsx::read(self.home.fs(), &path)? else {
            return Err(self.unknown(id.as_str()));
        };
        // As one that was removed: whoever named it was told why there is none.
        claude_tasks::read(id, &bytes).map_err(|reason| match vanished::is_nothing(&bytes) {
            true => self.unknown(id.as_str()),
            false => disk::Error::Malformed { path, reason }.into(),
        })
    }

    fn unknown(&self, task: &str) -> Error {
        Error::NotFound {
            what: "task",
            id: task.to_owned(),
            list: Some(self.id.clone()),
        }
    }

    /// The task that what is in its store would be.
    pub(crate) fn understand(&self, id: &TaskId, raw: &rows::Raw) -> Result<TaskFile> {
        let read = match &self.store {
            Store::Files => claude_tasks::read(id, &claude_tasks::to_bytes(raw.clone())),
            Store::Table(table) => table.read_row(raw),
        };
        let path = || self.task_path(id);
        read.map_err(|reason| {
            let path = path();
            disk::Error::Malformed { path, reason }.into()
        })
    }

    /// The task as a file of its own, for whoever keeps a copy.
    pub fn copy_of(&self, file: &TaskFile) -> Vec<u8> {
        match &self.store {
            Store::Files => file.with(&file.task),
            Store::Table(_) => claude_tasks::to_bytes(claude_tasks::write(None, &file.task)),
        }
    }

    /// The task that a person means: an exact id, else a prefix that fits just one.
    pub fn resolve(&self, given: &str) -> Result<TaskId> {
        let exact = given.parse::<TaskId>()?;
        match &self.store {
            Store::Files => {
                let is_there = fsx::stat(self.home.fs(), &self.task_path(&exact))?.is_some();
                if is_there && !self.is_emptied(&exact) {
                    return Ok(exact);
                }
            }
            Store::Table(table) => {
                if let Some(id) = table.named(&exact)? {
                    return Ok(id);
                }
            }
        }
        let mut fits: Vec<TaskId> = self
            .ids()?
            .into_iter()
            .filter(|id| id.as_str().starts_with(given) && *id != exact)
            .collect();
        fits.sort();
        let gone = self.gone(&exact)?;
        match fits.as_slice() {
            // The name of a task that was taken away is the beginning of no other's.
            _ if matches!(gone, Error::Vanished { .. }) => Err(gone),
            [one] => Ok(one.clone()),
            [] => Err(gone),
            several => Err(Error::Ambiguous {
                given: given.to_owned(),
                candidates: several.iter().take(10).map(TaskId::to_string).collect(),
            }),
        }
    }

    /// Why there is no file of a task, or nothing in it: another program did that, or there never was one.
    pub(crate) fn gone(&self, id: &TaskId) -> Result<Error> {
        Ok(match self.taken_away(id)? {
            Some(TaskFile { task, .. }) => Error::Vanished {
                task: id.clone(),
                list: self.id.clone(),
                subject: task.subject,
                state: task.state.name(),
            },
            None => self.unknown(id.as_str()),
        })
    }

    /// The ids of its tasks, and of files that should be some, in no order.
    pub fn ids(&self) -> Result<Vec<TaskId>> {
        if let Some(table) = self.table() {
            return Ok(table.view()?.files.keys().cloned().collect());
        }
        Ok(fsx::names(self.home.fs(), &self.dir)?
            .iter()
            .filter_map(|name| claude_tasks::id_of(name.to_str()?))
            .collect())
    }

    /// The files that tasks are in, or should be, in no order; none where a table has them.
    pub(crate) fn scan_files(&self) -> Result<Vec<(OsString, fsx::Stat)>> {
        if self.table().is_some() {
            return Ok(Vec::new());
        }
        let fs = self.home.fs();
        Ok(fs
            .scan_dir(&self.dir, &claude_tasks::is_task_name)
            .map_err(disk::Error::io("list", &self.dir))?)
    }

    /// A file of the survey: `Ok(None)` where it is gone since; the error says why it is no task.
    pub(crate) fn read(&self, file: &OsStr, stat: fsx::Stat) -> Result<Option<TaskFile>, String> {
        let id = file.to_str().and_then(claude_tasks::id_of);
        cache::read_file(self.home.fs(), &self.dir.join(file), id, stat)
    }

    /// Everything that can be read. What cannot is reported; the next writer keeps it aside.
    pub fn load(&self) -> Result<Loaded> {
        match self.table() {
            Some(table) => Ok(table.view()?.loaded()),
            None if !self.is_writable() => self.peek(),
            None => {
                let mut loaded = cache::load(self.home, &self.dir, cache::Leave::Fresh)?;
                let done = self.done_and_away(loaded.outlines.iter());
                for outline in loaded.outlines.iter_mut().filter(|_| !done.is_empty()) {
                    outline.blocked_by.retain(|it| !done.contains(it));
                }
                Ok(loaded)
            }
        }
    }

    /// The same for a writer: what cannot be read is kept aside, if that is possible.
    pub(crate) fn load_and_keep(&self) -> Result<Loaded> {
        let loaded = self.load()?;
        if !loaded.skipped.is_empty() && self.table().is_none() && self.is_writable() {
            // What cannot be kept now is the next writer's.
            let _: Result<usize> = self.quarantine(&loaded.skipped, quarantine::FEW);
        }
        Ok(loaded)
    }

    /// Makes the next look a fast one, where nobody looked before: reading every file may take longer
    /// than others wait for the lock.
    pub(crate) fn prepare(&self) -> Result<()> {
        let is_known = fsx::stat(self.home.fs(), &self.path(claude_tasks::CACHE))?.is_some();
        if !is_known && self.ids()?.len() >= cache::WORTHWHILE {
            self.load()?;
        }
        Ok(())
    }

    /// Where each task that can be read stands, by id, for a writer: what cannot be read is kept aside.
    pub fn summaries(&self) -> Result<Vec<TaskSummary>> {
        self.summaries_since(|| ())
    }

    /// As [`List::summaries`], not older than the call of `begun`.
    pub(crate) fn summaries_since(&self, begun: impl FnOnce()) -> Result<Vec<TaskSummary>> {
        if let Some(table) = self.table() {
            begun();
            let view = table.view()?;
            let tasks = view.files.values();
            return Ok(tasks.map(|file| TaskSummary::from(&file.task)).collect());
        }
        if !self.is_writable() {
            begun();
            return Ok(self
                .peek()?
                .outlines
                .iter()
                .map(TaskSummary::from)
                .collect());
        }
        let (mut standings, skipped) = cache::summaries(self.home, &self.dir, begun)?;
        let done = self.done_and_away(standings.iter());
        for standing in standings.iter_mut().filter(|_| !done.is_empty()) {
            standing.blocked_by.retain(|it| !done.contains(it));
        }
        if !skipped.is_empty() {
            let _: Result<usize> = self.quarantine(&skipped, quarantine::FEW);
        }
        Ok(standings)
    }

    /// Everything that can be read, by a look that leaves no trace: for a shell that only wonders
    /// what could be typed.
    pub fn peek(&self) -> Result<Loaded> {
        if let Some(table) = self.table() {
            return Ok(table.view()?.loaded());
        }
        cache::load(self.home, &self.dir, cache::Leave::Untouched)
    }

    /// Every task as its file says, by id, and what is no task. Unlike [`List::load`] it reads every
    /// file, believes no cache, and leaves nothing behind.
    pub(crate) fn examine(&self) -> Result<(Vec<TaskFile>, Vec<Skipped>)> {
        if let Some(table) = self.table() {
            let view = table.view()?;
            return Ok((view.files.values().cloned().collect(), view.skipped()));
        }
        let files = self.scan_files()?;
        let read = cache::read_all(self.home.fs(), &self.dir, &files, |file| file);
        let (mut tasks, mut skipped) = (Vec::with_capacity(files.len()), Vec::new());
        for ((file, _), read) in files.into_iter().zip(read) {
            match read {
                Ok(task) => tasks.extend(task),
                Err(reason) => skipped.push(Skipped {
                    name: file.to_string_lossy().into_owned(),
                    file,
                    reason,
                }),
            }
        }
        tasks.sort_by(|a, b| a.task.id.cmp(&b.task.id));
        skipped.sort_by(|a, b| a.name.cmp(&b.name));
        Ok((tasks, skipped))
    }
}
