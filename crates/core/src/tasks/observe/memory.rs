//! What is known of a repository's tasks, from one daemon to the next.
//!
//! Owns `tasks.seen.json`. It need not be up to date: the history tells what was done and recorded
//! since. Without it, or beside another history than the one that it was written beside, nothing is
//! known, and what was done meanwhile is nobody's news.

use std::{borrow::Cow, path::PathBuf};

use flagpost_disk::fsx;
use flagpost_model::RepoId;
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::{Lists, TaskWatch};
use crate::{
    error::Result,
    history::{History, ReadPosition, Tail},
    home::Home,
};

/// Grows with every change of the form. Another version is as good as none.
const VERSION: u32 = 1;
/// So often it is written at most.
const PAUSE: SignedDuration = SignedDuration::from_mins(1);
/// What lists of a million tasks take; a larger one was damaged.
const LIMIT: u64 = 256 << 20;

#[derive(Serialize, Deserialize)]
struct Memory<'w> {
    version: u32,
    since: u64,
    place: Cow<'w, ReadPosition>,
    lists: Cow<'w, Lists>,
}

fn path(home: &Home, repo: &RepoId) -> PathBuf {
    home.repository_dir(repo).join("tasks.seen.json")
}

/// The watch as it was when it was written down last.
pub(super) fn recall(home: &Home, repo: &RepoId) -> Result<Option<TaskWatch>> {
    let bytes = home.fs().read(&path(home, repo), 0, LIMIT);
    let memory = bytes.ok().and_then(|it| serde_json::from_slice(&it).ok());
    let fits = |it: &Memory<'_>| it.version == VERSION;
    let Some(memory) = memory.filter(fits) else {
        return Ok(None);
    };
    let history = History::of(home, repo);
    if !history.has(&memory.place)? {
        return Ok(None);
    }
    Ok(Some(TaskWatch {
        tail: Tail::at_end_after(&history, memory.since)?,
        since: memory.since,
        lists: memory.lists.into_owned(),
        kept: None,
    }))
}

impl TaskWatch {
    /// Writes down what is known, unless that was done just now.
    pub(super) fn keep(&mut self, home: &Home, repo: &RepoId) {
        let now = home.now();
        if self.kept.is_some_and(|at| now.duration_since(at) < PAUSE) {
            return;
        }
        let memory = Memory {
            version: VERSION,
            since: self.since,
            place: Cow::Borrowed(self.tail.place()),
            lists: Cow::Borrowed(&self.lists),
        };
        // Whoever cannot remember still records what he sees.
        let bytes = serde_json::to_vec(&memory).unwrap_or_default();
        if fsx::replace(home.fs(), &path(home, repo), &bytes).is_ok() {
            self.kept = Some(now);
        }
    }
}
