//! The tasks that a query selects.
//!
//! Owns what a query may read: outlines, and a whole file only where a test is about more. A file
//! that went away meanwhile fits nothing; one that cannot be read is an error, not a miss. What an
//! operation changes by query is chosen under the list's lock.

use std::cell::RefCell;

use flagpost_disk as disk;
use flagpost_model::{
    TaskId, WorkerId,
    query::{Query, QueryScope},
    task::{Outline, Task},
};

use crate::{
    change::Change,
    error::{Error, Result},
    list::{List, Loaded},
};

/// Which tasks an operation is about.
#[derive(Debug, Clone)]
pub enum TaskSelector {
    /// These.
    These(Vec<TaskId>),
    /// Those that fit when nobody else can change the list.
    Fitting(Fitting),
}

/// A query whose tasks are to be changed.
#[derive(Debug, Clone)]
pub struct Fitting {
    /// The query.
    pub query: Query,
    /// Who `me` is in it.
    pub me: Option<WorkerId>,
    /// What it selected before the list was locked.
    pub seen: Vec<TaskId>,
    /// Whether other tasks may fit by now.
    pub agreed: Agreed,
}

/// What somebody agreed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreed {
    /// To change whatever fits.
    ToTheQuery,
    /// To change the tasks that were seen.
    ToWhatWasSeen,
}

impl<T: AsRef<[TaskId]> + ?Sized> From<&T> for TaskSelector {
    fn from(ids: &T) -> Self {
        Self::These(ids.as_ref().to_vec())
    }
}

impl TaskSelector {
    /// The tasks as far as they are known without a lock.
    pub fn seen(&self) -> &[TaskId] {
        match self {
            Self::These(ids) => ids,
            Self::Fitting(fitting) => &fitting.seen,
        }
    }

    /// The tasks that are meant, chosen again under the lock of the change.
    pub(crate) fn ids(self, change: &Change<'_>) -> Result<Vec<TaskId>> {
        let fitting = match self {
            Self::These(ids) => return Ok(ids),
            Self::Fitting(fitting) => fitting,
        };
        let Fitting {
            query,
            me,
            seen,
            agreed,
        } = fitting;
        let list = change.list();
        let found = select(list, &change.load()?, &query, me.as_ref(), 0)?.ids();
        let (list, query) = (list.id().clone(), query.to_string());
        if agreed == Agreed::ToWhatWasSeen && found != seen {
            return Err(Error::OthersFit { list, query });
        }
        match found.is_empty() {
            true => Err(Error::NoneFits { list, query }),
            false => Ok(found),
        }
    }
}

/// What a query selected.
#[derive(Debug)]
pub struct Selected<'o> {
    /// The tasks, in order, as many as the limit lets through.
    pub tasks: Vec<&'o Outline>,
    /// How many there are without the limit.
    pub total: usize,
}

impl Selected<'_> {
    /// Their ids.
    pub fn ids(&self) -> Vec<TaskId> {
        self.tasks.iter().map(|task| task.id.clone()).collect()
    }
}

/// The tasks that fit; at most so many where the query has no limit of its own, 0 for all.
pub fn select<'o>(
    list: &List<'_>,
    loaded: &'o Loaded,
    query: &Query,
    me: Option<&WorkerId>,
    limit: usize,
) -> Result<Selected<'o>> {
    let failed = RefCell::new(None);
    let whole = |id: &TaskId| match read(list, id) {
        Ok(task) => task,
        Err(error) => {
            failed.replace(Some(error));
            None
        }
    };
    let home = list.home;
    let (me, outlines) = (me.cloned(), &loaded.outlines);
    let scope = QueryScope::new(outlines, me, home.now(), home.zone(), &whole);
    let (tasks, total) = query.select(&scope, limit);
    match failed.take() {
        Some(error) => Err(error),
        None => Ok(Selected { tasks, total }),
    }
}

fn read(list: &List<'_>, id: &TaskId) -> Result<Option<Task>> {
    match list.task(id) {
        Ok(file) => Ok(Some(file.task)),
        // Loading the list tells of these.
        Err(Error::NotFound { .. } | Error::Disk(disk::Error::Malformed { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}
