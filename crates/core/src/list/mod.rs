//! A list of tasks on disk.
//!
//! Owns reading: one task, or the outlines of all. A file that is no task is skipped, reported and
//! kept; it never hides its neighbours.

mod cache;
pub(crate) mod shortlist;

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use flagpost_disk::{
    self as disk,
    dialects::claude_tasks::{self, TaskFile},
    fsx,
};
use flagpost_model::{
    ListId, RepoId, TaskId, WorkerId,
    task::{Outline, Standing},
};

use crate::{
    change::Change,
    error::{Error, Result},
    history::{Entry, History, Kind},
    home::Home,
    repository::Repository,
    roots,
};

/// A list whose directory has been found to lie inside its root.
#[derive(Debug)]
pub struct List<'h> {
    pub(crate) home: &'h Home,
    id: ListId,
    dir: PathBuf,
    account: Option<Account>,
}

/// On whose account a list is changed: a detail that each line of the history has then.
pub(crate) type Account = (&'static str, serde_json::Value);

/// All of a list that can be read, and what could not.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The tasks, by id.
    pub outlines: Vec<Outline>,
    /// The files that are no tasks.
    pub skipped: Vec<Skipped>,
}

/// A file that was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its name in the list's directory; what is not UTF-8 in it is shown as U+FFFD.
    pub name: String,
    pub(crate) file: OsString,
    /// Why it is no task.
    pub reason: String,
}

impl Skipped {
    /// A file of this name, passed over for this reason.
    pub fn new(name: String, reason: String) -> Self {
        let file = OsString::from(&name);
        Self { name, file, reason }
    }
}

impl<'h> List<'h> {
    /// An existing list, of the home or else of the first root that has it.
    pub fn open(home: &'h Home, id: &ListId) -> Result<Self> {
        let list = Self::of_home(home, id);
        if list.exists()? {
            return Ok(list);
        }
        match roots::find(home, id)? {
            Some(dir) => Ok(Self { dir, ..list }),
            None => Err(list.not_found()),
        }
    }

    /// A list bound to a repository: to `repository` where it was to none. Where there is none, it
    /// is made in the home.
    pub fn open_or_create(home: &'h Home, id: &ListId, repository: &Repository) -> Result<Self> {
        let list = match Self::open(home, id) {
            Err(Error::NotFound { .. }) => Self::of_home(home, id),
            opened => opened?,
        };
        let binding = list.path(claude_tasks::REPOSITORY);
        // Whoever bound the list had made its directory durable.
        if fsx::stat(home.fs(), &binding)?.is_some() {
            return Ok(list);
        }
        home.make_dirs(&list.dir)?;
        match fsx::publish(
            home.fs(),
            &binding,
            format!("{}\n", repository.id).as_bytes(),
        ) {
            Ok(()) | Err(disk::Error::Conflict { .. }) => Ok(list),
            Err(error) => Err(error.into()),
        }
    }

    fn of_home(home: &'h Home, id: &ListId) -> Self {
        Self {
            home,
            id: id.clone(),
            dir: home.list_dir(id),
            account: None,
        }
    }

    /// The same list, changed on this account.
    pub(crate) fn on_account(self, account: Account) -> Self {
        Self {
            account: Some(account),
            ..self
        }
    }

    pub(crate) fn account(&self) -> Option<&Account> {
        self.account.as_ref()
    }

    fn exists(&self) -> Result<bool> {
        match fsx::within(self.home.fs(), &self.home.tasks_root(), &self.dir) {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The root that it lies in, unless that is the home.
    pub fn root(&self) -> Option<&Path> {
        let root = self.dir.parent();
        root.filter(|root| *root != self.home.tasks_root())
    }

    fn not_found(&self) -> Error {
        Error::NotFound {
            what: "list",
            id: self.id.to_string(),
            list: None,
        }
    }

    /// The list's id.
    pub fn id(&self) -> &ListId {
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
        self.path(&claude_tasks::file_name(id))
    }

    /// The repository whose history records this list. One that has no history here is refused: a
    /// second one would count from the beginning.
    pub fn repository(&self) -> Result<RepoId> {
        let path = self.path(claude_tasks::REPOSITORY);
        let Some(text) = fsx::read_lossy(self.home.fs(), &path)? else {
            return Err(Error::NoRepository {
                dir: self.dir.clone(),
            });
        };
        let lost = || Error::LostRepository {
            list: self.id.clone(),
        };
        let id: RepoId = text.trim().parse().map_err(|_| lost())?;
        match fsx::stat(self.home.fs(), &self.home.repository_dir(&id))? {
            Some(_) => Ok(id),
            None => Err(lost()),
        }
    }

    /// Gives the list to another repository where `is_broken` says so under the list's lock. What
    /// its binding said is kept in quarantine.
    pub(crate) fn rebind(
        &self,
        actor: &WorkerId,
        repository: &RepoId,
        is_broken: &dyn Fn(&Self) -> Result<bool>,
    ) -> Result<bool> {
        let (fs, now) = (self.home.fs(), self.home.now());
        let lock = self.path(claude_tasks::LOCK);
        let _lock = fsx::lock(fs, &lock, fsx::Rank::List, fsx::DEFAULT_WAIT, now)?;
        if !is_broken(self)? {
            return Ok(false);
        }
        let binding = self.path(claude_tasks::REPOSITORY);
        if let Some(content) = fsx::read(fs, &binding)? {
            fsx::keep(fs, &binding, &content, "it named no registered repository")?;
        }
        let mut entry = Entry::new(Kind::ListBound);
        entry.list = Some(self.id.clone());
        History::of(self.home, repository).record(actor, now, vec![entry])?;
        fsx::replace(fs, &binding, format!("{repository}\n").as_bytes())?;
        Ok(true)
    }

    /// One task.
    pub fn task(&self, id: &TaskId) -> Result<TaskFile> {
        let path = self.task_path(id);
        let Some(bytes) = fsx::read(self.home.fs(), &path)? else {
            let list = Some(self.id.clone());
            return Err(Error::NotFound {
                what: "task",
                id: id.to_string(),
                list,
            });
        };
        claude_tasks::read(id, &bytes)
            .map_err(|reason| disk::Error::Malformed { path, reason }.into())
    }

    /// The task that a person means: an exact id, else a prefix that fits just one.
    pub fn resolve(&self, given: &str) -> Result<TaskId> {
        let exact = given.parse::<TaskId>()?;
        if fsx::stat(self.home.fs(), &self.task_path(&exact))?.is_some() {
            return Ok(exact);
        }
        let mut fits: Vec<TaskId> = self
            .ids()?
            .into_iter()
            .filter(|id| id.as_str().starts_with(given))
            .collect();
        fits.sort();
        match fits.as_slice() {
            [one] => Ok(one.clone()),
            [] => Err(Error::NotFound {
                what: "task",
                id: given.to_owned(),
                list: Some(self.id.clone()),
            }),
            several => Err(Error::Ambiguous {
                given: given.to_owned(),
                candidates: several.iter().take(10).map(TaskId::to_string).collect(),
            }),
        }
    }

    /// The ids that task files are named by, in no order.
    pub fn ids(&self) -> Result<Vec<TaskId>> {
        let names = self
            .home
            .fs()
            .names(&self.dir)
            .map_err(disk::Error::io("list", &self.dir))?;
        Ok(names
            .iter()
            .filter_map(|name| claude_tasks::id_of(name.to_str()?))
            .collect())
    }

    /// The files that tasks are in, or should be, in no order.
    pub(crate) fn survey(&self) -> Result<Vec<(OsString, fsx::Stat)>> {
        let fs = self.home.fs();
        Ok(fs
            .survey(&self.dir, &claude_tasks::is_task_name)
            .map_err(disk::Error::io("list", &self.dir))?)
    }

    /// A file of the survey: `Ok(None)` where it is gone since; the error says why it is no task.
    pub(crate) fn read(&self, file: &OsStr, stat: fsx::Stat) -> Result<Option<TaskFile>, String> {
        let id = file.to_str().and_then(claude_tasks::id_of);
        cache::read_file(self.home.fs(), &self.dir.join(file), id, stat)
    }

    /// Everything that can be read. What cannot is reported, and kept aside if that is possible.
    pub fn load(&self) -> Result<Loaded> {
        let loaded = cache::load(self.home, &self.dir, cache::Leave::Fresh)?;
        if !loaded.skipped.is_empty() {
            // A reader on a read-only home still reads; the next writer keeps the file aside.
            let _: Result<()> = self.keep_aside(&loaded.skipped);
        }
        Ok(loaded)
    }

    /// Where each task that can be read stands, by id. What cannot be read is as [`List::load`] has it.
    pub fn standings(&self) -> Result<Vec<Standing>> {
        match cache::standings(self.home, &self.dir)? {
            Some((standings, skipped)) => {
                if !skipped.is_empty() {
                    let _: Result<()> = self.keep_aside(&skipped);
                }
                Ok(standings)
            }
            None => Ok(self.load()?.outlines.iter().map(Standing::from).collect()),
        }
    }

    /// Everything that can be read, by a look that leaves no trace: for a shell that only wonders
    /// what could be typed.
    pub fn peek(&self) -> Result<Loaded> {
        cache::load(self.home, &self.dir, cache::Leave::Untouched)
    }

    /// Every task as its file says, by id, and what is no task. Unlike [`List::load`] it reads every
    /// file, believes no cache, and leaves nothing behind.
    pub(crate) fn examine(&self) -> Result<(Vec<TaskFile>, Vec<Skipped>)> {
        let files = self.survey()?;
        let read = |files: &[(OsString, fsx::Stat)]| {
            let (mut tasks, mut skipped) = (Vec::with_capacity(files.len()), Vec::new());
            for (file, stat) in files {
                match self.read(file, *stat) {
                    Ok(task) => tasks.extend(task),
                    Err(reason) => skipped.push(Skipped {
                        name: file.to_string_lossy().into_owned(),
                        file: file.clone(),
                        reason,
                    }),
                }
            }
            (tasks, skipped)
        };
        let (one, other) = files.split_at(files.len() / 2);
        let (mut tasks, mut skipped) = std::thread::scope(|scope| {
            let other = scope.spawn(|| read(other));
            let (mut tasks, mut skipped) = read(one);
            let (more, others) = other.join().map_err(|_| Error::Invalid {
                what: format!("list {}", self.id),
                reason: "a reader thread panicked".to_owned(),
            })?;
            tasks.extend(more);
            skipped.extend(others);
            Ok::<_, Error>((tasks, skipped))
        })?;
        tasks.sort_by(|a, b| a.task.id.cmp(&b.task.id));
        skipped.sort_by(|a, b| a.name.cmp(&b.name));
        Ok((tasks, skipped))
    }

    /// Records skipped files that are new, then copies them to quarantine. One that cannot be kept
    /// costs no other its line or its copy.
    fn keep_aside(&self, skipped: &[Skipped]) -> Result<()> {
        let repository = match self.repository() {
            Ok(repository) => Some(repository),
            // Nothing records a list that is nobody's.
            Err(Error::NoRepository { .. }) => None,
            Err(error) => return Err(error),
        };
        let mut failed = None;
        for skipped in skipped {
            if let Err(error) = self.keep_one_aside(repository.as_ref(), skipped) {
                failed = Some(error);
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn keep_one_aside(&self, repository: Option<&RepoId>, skipped: &Skipped) -> Result<()> {
        let Skipped { name, file, reason } = skipped;
        let home = self.home;
        let (fs, now) = (home.fs(), home.now());
        let path = self.dir.join(file);
        let settled = fsx::stat(fs, &path)?
            .is_some_and(|stat| now.as_nanosecond() - i128::from(stat.modified) > cache::SETTLED);
        if !settled {
            // Its writer may be in the middle of it.
            return Ok(());
        }
        // What is too large to read is too large to copy: the reason stands in for it.
        let content = match fsx::read(fs, &path) {
            Ok(content) => content.unwrap_or_default(),
            Err(_) => reason.clone().into_bytes(),
        };
        let Some(case) = fsx::quarantine(fs, &path, &content, reason)? else {
            return Ok(());
        };
        if let Some(repository) = repository {
            let mut entry = Entry::new(Kind::TaskQuarantined)
                .detail("file", name.as_str())
                .detail("reason", reason.as_str());
            entry.list = Some(self.id.clone());
            let history = History::of(home, repository);
            history.record(&WorkerId::operator(), now, vec![entry])?;
        }
        Ok(case.keep(fs)?)
    }

    /// Locks the list for one change by `actor`.
    pub fn change<'l>(&'l self, actor: &WorkerId) -> Result<Change<'l>> {
        Change::begin(self, actor)
    }
}
