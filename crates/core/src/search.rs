//! Looking for a text in a list's files.
//!
//! Owns reading them all, several at once. It is a plain look at every file, and believes nothing
//! else. A file that cannot be read is reported and hides none of its neighbours.

use std::thread;

use flagpost_disk::{self as disk, dialects::claude_tasks};
use flagpost_model::{
    TaskId,
    search::{self, Hit},
    task::Task,
};

use crate::{
    error::{Error, Result},
    list::{List, Skipped},
};

/// What was found in a list.
#[derive(Debug, Default)]
pub struct Found {
    /// The tasks with the text in them, by id, and where it is in each.
    pub tasks: Vec<(Task, Vec<Hit>)>,
    /// The files that could not be looked through.
    pub skipped: Vec<Skipped>,
}

/// Below this many files a second thread costs more than it brings.
const WORTHWHILE: usize = 64;

/// Every task of the list with this text in it, in whatever case.
pub fn search(list: &List<'_>, text: &str) -> Result<Found> {
    if text.trim().is_empty() {
        return Err(Error::Invalid {
            what: "text".to_owned(),
            reason: "say what to look for".to_owned(),
        });
    }
    let mut ids = list.ids()?;
    ids.sort();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let each = ids.len().div_ceil(threads).max(WORTHWHILE);
    let parts: Vec<Found> = thread::scope(|scope| {
        let parts = ids.chunks(each);
        let parts: Vec<_> = parts
            .map(|ids| scope.spawn(move || look(list, ids, text)))
            .collect();
        let joined = parts.into_iter().map(|part| match part.join() {
            Ok(found) => found,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.collect()
    });
    let mut found = Found::default();
    for part in parts {
        found.tasks.extend(part.tasks);
        found.skipped.extend(part.skipped);
    }
    Ok(found)
}

fn look(list: &List<'_>, ids: &[TaskId], text: &str) -> Found {
    let mut found = Found::default();
    for id in ids {
        let reason = match list.task(id) {
            Ok(file) => {
                let hits = search::hits(&file.task, text);
                if !hits.is_empty() {
                    found.tasks.push((file.task, hits));
                }
                continue;
            }
            Err(Error::NotFound { .. }) => continue,
            Err(Error::Disk(disk::Error::Malformed { reason, .. })) => reason,
            Err(Error::Disk(disk::Error::Io { source, .. })) => source.to_string(),
            Err(error) => error.to_string(),
        };
        found
            .skipped
            .push(Skipped::new(claude_tasks::file_name(id), reason));
    }
    found
}
