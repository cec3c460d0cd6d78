//! What a repository holds when its order begins, at first or anew.
//!
//! Owns the base: the whole history and every shared file, in parts that each fit a message, and the numbers
//! that were given out. It is taken under the history's lock, under which every recorded change appears.
//! Invariant: the flag `.shared` is raised last.

use std::path::Path;

use flagpost_disk::{
    dialects::{claude_tasks, relay as mail},
    fsx,
};
use flagpost_model::{RepoId, WorkerId, envelope::Direction};
use serde::{Deserialize, Serialize};

use super::{
    list_names,
    shared_change::WIRE,
    shared_dir::{SharedDir, SharedFile},
};
use crate::{
    error::{Error, Result},
    history::History,
    home::Home,
    relay::Fleet,
};

/// So much text a part has at most, and one file more.
const PART: usize = 256 << 10;

/// One part of a base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BasePart {
    wire: u32,
    /// The number of this part, from 1.
    pub(super) part: usize,
    /// How many there are.
    pub(super) of: usize,
    /// The number of the history's last line.
    last: u64,
    /// The next text of the history, which may end within a line.
    pub(super) history: String,
    pub(super) files: Vec<BaseFile>,
    /// The highest number that was given out in a directory.
    pub(super) counters: Vec<BaseCounter>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct BaseFile {
    pub(super) file: String,
    pub(super) text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct BaseCounter {
    pub(super) dir: String,
    pub(super) highest: u64,
}

/// Begins the order of a repository, the `epoch`-th, with what is here: each part of its base is published,
/// and from then on its changes are put in order. Answers with the number of the last line.
pub fn share(
    home: &Home,
    (repo, epoch): (&RepoId, u64),
    actor: &WorkerId,
    publish: &mut dyn FnMut(&BasePart) -> Result<()>,
) -> Result<u64> {
    let history = History::of(home, repo);
    // Where an order is begun anew, the one before says nothing any more.
    history.void_alone(actor, home.now())?;
    let follower = history.follower(home.now())?;
    follower.end_line()?;
    let last = history.last()?;
    for part in parts(home, repo, last)? {
        publish(&part)?;
    }
    follower.caught_up(last)?;
    follower.enter(epoch)?;
    follower.raise_shared()?;
    Ok(last)
}

/// What is here, in parts.
fn parts(home: &Home, repo: &RepoId, last: u64) -> Result<Vec<BasePart>> {
    let history = String::from_utf8(History::of(home, repo).bytes()?);
    let history = history.map_err(|_| Error::Invalid {
        what: "history".to_owned(),
        reason: "it is no UTF-8; 'flagpost doctor' tells how to go on".to_owned(),
    })?;
    let mut parts: Vec<BasePart> = Vec::new();
    let empty = || BasePart {
        wire: WIRE,
        part: 0,
        of: 0,
        last,
        history: String::new(),
        files: Vec::new(),
        counters: Vec::new(),
    };
    let mut rest = history.as_str();
    while !rest.is_empty() {
        let mut cut = PART.min(rest.len());
        while !rest.is_char_boundary(cut) {
            cut -= 1;
        }
        let (text, after) = rest.split_at(cut);
        parts.push(BasePart {
            history: text.to_owned(),
            ..empty()
        });
        rest = after;
    }
    let (mut part, mut size) = (empty(), 0);
    for dir in dirs(home, repo)? {
        let path = dir.path(home, repo)?;
        let counter = path.join(counter_of(&dir));
        let highest = fsx::peek(home.fs(), &counter)?;
        // An empty list is one, too.
        if highest > 0 || matches!(dir, SharedDir::List(_)) {
            let dir = dir.to_string();
            part.counters.push(BaseCounter { dir, highest });
        }
        for name in fsx::names(home.fs(), &path)? {
            let Ok(file) = SharedFile::new(dir.clone(), &name.to_string_lossy()) else {
                continue;
            };
            let Some(text) = text_of(home, &path.join(&name))? else {
                continue;
            };
            let file = file.to_string();
            size += file.len() + text.len();
            part.files.push(BaseFile { file, text });
            if size >= PART {
                parts.push(std::mem::replace(&mut part, empty()));
                size = 0;
            }
        }
    }
    parts.push(part);
    let of = parts.len();
    for (at, part) in parts.iter_mut().enumerate() {
        (part.part, part.of) = (at + 1, of);
    }
    Ok(parts)
}

/// The text of a file. What cannot be read is nobody else's either.
fn text_of(home: &Home, path: &Path) -> Result<Option<String>> {
    match fsx::read(home.fs(), path) {
        Ok(bytes) => Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok())),
        Err(error) if error.is_unreadable_file() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Every shared directory of a repository.
pub(super) fn dirs(home: &Home, repo: &RepoId) -> Result<Vec<SharedDir>> {
    let lists = list_names::lists(home, repo)?.into_iter();
    let mut dirs: Vec<SharedDir> = lists.map(SharedDir::List).collect();
    let workers = Fleet::of(home, repo).ids()?.into_iter();
    for worker in workers.filter(|it| !it.is_process()) {
        dirs.push(SharedDir::Worker(worker.clone()));
        let of = |direction: &Direction| SharedDir::Mail(worker.clone(), *direction);
        dirs.extend(Direction::ALL.iter().map(of));
    }
    dirs.push(SharedDir::Reservations);
    Ok(dirs)
}

/// The name of the file that counts what a directory gave out; of one without, a name that nothing has.
pub(super) fn counter_of(dir: &SharedDir) -> &'static str {
    match dir {
        SharedDir::List(_) => claude_tasks::COUNTER,
        SharedDir::Mail(..) | SharedDir::Worker(_) | SharedDir::Reservations => mail::COUNTER,
    }
}

impl BasePart {
    /// The part as it is published.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Texts, numbers and lists of them are always JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The number of the history's last line.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Whether a base begins with it.
    pub fn is_first(&self) -> bool {
        self.part == 1
    }

    /// Whether all of a base is there with it.
    pub fn is_last(&self) -> bool {
        self.part == self.of
    }
}
