//! The tasks that a query selects.
//!
//! Owns what a query may read: outlines, and a whole file only where a test is about more. A file
//! that went away meanwhile fits nothing; one that cannot be read is an error, not a miss.

use std::cell::RefCell;

use flagpost_disk as disk;
use flagpost_model::{
    TaskId, WorkerId,
    query::{Query, Scope},
    task::{Outline, Task},
};

use crate::{
    error::{Error, Result},
    list::{List, Loaded},
};

/// What a query selected.
#[derive(Debug)]
pub struct Selected<'o> {
    /// The tasks, in order, as many as the limit lets through.
    pub tasks: Vec<&'o Outline>,
    /// How many there are without the limit.
    pub total: usize,
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
    let scope = Scope::new(outlines, me, home.now(), home.zone(), &whole);
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
