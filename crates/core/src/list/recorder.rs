//! Which repository's history tells of a list.
//!
//! Owns the binding of a list to its repository, and how a line says which list it is about. Invariant:
//! a list whose history is not here is refused, since a second one would count from the beginning.

use flagpost_disk::{dialects::claude_tasks, fsx};
use flagpost_model::{RepoId, TaskId, WorkerId};

use super::{List, Store};
use crate::{
    error::{Error, Result},
    history::{AboutList, Entry, History, Kind},
};

impl List<'_> {
    /// The repository whose history records this list, if it must have one or has one.
    pub(crate) fn recorder(&self) -> Result<Option<RepoId>> {
        self.must_be_writable()?;
        match &self.store {
            Store::Files => self.repository().map(Some),
            Store::Table(table) => Ok(table.directory.repository.clone()),
        }
    }

    /// Says of a history line that it is about this list.
    pub(crate) fn sign(&self, entry: &mut Entry) {
        entry.sign(&self.id, &self.dir);
    }

    /// Whether a history line is about this list.
    pub(crate) fn concerns(&self, entry: &Entry) -> bool {
        entry.is_about(&self.id, &self.dir)
    }

    /// The lines about it, or about one task of it.
    pub fn lines(&self, task: Option<TaskId>) -> AboutList {
        AboutList {
            list: self.id.clone(),
            dir: self.dir.clone(),
            task,
        }
    }

    /// The repository whose history records this list. One that has no history here is refused: a
    /// second one would count from the beginning.
    pub fn repository(&self) -> Result<RepoId> {
        if let Some(table) = self.table() {
            let repository = table.directory.repository.clone();
            let dir = self.dir.clone();
            return repository.ok_or(Error::NoRepository { dir, list: None });
        }
        let path = self.path(claude_tasks::REPOSITORY);
        let Some(text) = fsx::read_lossy(self.home.fs(), &path)? else {
            return Err(Error::NoRepository {
                dir: self.dir.clone(),
                list: Some(self.id.clone()),
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
            fsx::store(fs, &binding, &content, "it named no registered repository")?;
        }
        let mut entry = Entry::new(Kind::ListBound);
        self.sign(&mut entry);
        History::of(self.home, repository).record(actor, now, vec![entry])?;
        fsx::replace(fs, &binding, format!("{repository}\n").as_bytes())?;
        Ok(true)
    }
}
