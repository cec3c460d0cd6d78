//! Whether what a line of the history tells of a list has appeared.
//!
//! Owns what in a list's files each kind of line stands for. It must never change anything.

use flagpost_disk::TaskFile;
use flagpost_model::TaskId;
use serde_json::Value;

use super::FINGERPRINT;
use crate::{
    coordination,
    error::{Error, Result},
    history::{Entry, Kind},
    home::Home,
    list::List,
};

/// Whether the change that a history entry tells of is in the list's files; `known` is a list that
/// is open already.
pub(crate) fn is_applied(home: &Home, known: Option<&List<'_>>, entry: &Entry) -> Result<bool> {
    let elsewhere = entry.detail.get(coordination::WHERE);
    if let Some(dir) = elsewhere.and_then(Value::as_str) {
        return coordination::is_applied(home, entry, dir);
    }
    let (Some(id), Some(task)) = (&entry.list, &entry.task) else {
        return Ok(true);
    };
    let other;
    let list = match known.filter(|list| *list.id() == *id) {
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
        // It tells of what a client did, and changes no file.
        Kind::TaskAttempted => Ok(true),
        Kind::TaskLinked => is_linked(list, task, entry),
        Kind::TaskUnlinked => is_linked(list, task, entry).map(|linked| !linked),
        Kind::TaskRemoved | Kind::TaskVanished => found(list, task).map(|file| file.is_none()),
        _ => found(list, task).map(|file| match file {
            Some(file) => {
                let (rev, told) = (file.task.rev, entry.rev().unwrap_or_default());
                // A foreign writer may have dropped our part of the file.
                rev >= told || rev == 0 && told > 1
            }
            // A file that was there before the change was taken away since: a change replaces it at once.
            None => !creates(entry),
        }),
    };
    match seen {
        // Unreadable says nothing about what happened before it became so.
        Err(Error::Disk(error)) if error.is_no_such_file() => Ok(true),
        seen => seen,
    }
}

/// Whether an entry tells of a file that was not there before.
pub(crate) fn creates(entry: &Entry) -> bool {
    entry.kind == Kind::TaskCreated || entry.detail.contains_key(FINGERPRINT)
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
