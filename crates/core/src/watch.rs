//! Being woken when something in a home changes.
//!
//! Owns where something may change that somebody is told of: the directories of lists and of
//! repositories, and of each worker its own, its inbox and its outbox. Archives only grow by what was told
//! before, and may be large: nobody watches them. A wake says that something may have changed, and nothing
//! more: it is read from the files.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use flagpost_disk::{
    fsx,
    notices::{Notice, Watcher},
};
use flagpost_model::RepoId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Home, relay::Fleet, roots};

/// How changes are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum WatchMode {
    /// The system tells of them.
    #[default]
    Events,
    /// By looking once a second.
    Polling,
}

/// Why somebody is woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// Something changed.
    Changed,
    /// The system cannot tell of all changes any more: look every now and then instead.
    Lost,
}

/// Wakes for as long as it lives.
#[derive(Debug)]
pub struct HomeWatch {
    watcher: Watcher,
    /// What is watched. A directory that goes is forgotten, so that one in its place is watched anew.
    places: BTreeSet<PathBuf>,
    /// Watched beside the home's own.
    also: Vec<PathBuf>,
}

impl HomeWatch {
    /// Watches a home, and these directories where they are there. `None` where the system cannot tell of
    /// changes. `woken` is called from a thread of the watcher's.
    pub fn begin(
        home: &Home,
        also: Vec<PathBuf>,
        mut woken: impl FnMut(Wake) + Send + 'static,
    ) -> Option<Self> {
        let watcher = Watcher::new(move |notice| {
            woken(match notice {
                Notice::Changed(_) => Wake::Changed,
                Notice::Deaf(_) => Wake::Lost,
            });
        });
        let mut watch = Self {
            watcher: watcher.ok()?,
            places: BTreeSet::new(),
            also,
        };
        watch.renew(home).is_ok().then_some(watch)
    }

    /// Watches directories that have come since. Whether there were any: something may have come there
    /// before they were watched. An error where not all can be watched.
    pub fn renew(&mut self, home: &Home) -> Result<bool, Wake> {
        let also = self.also.iter().filter(|dir| is_dir(home, dir));
        let there: BTreeSet<PathBuf> = places(home).into_iter().chain(also.cloned()).collect();
        self.places.retain(|place| there.contains(place));
        let mut is_new = false;
        for place in there {
            if self.places.contains(&place) {
                continue;
            }
            match self.watcher.add(&place) {
                Ok(()) => is_new |= self.places.insert(place),
                // It went again.
                Err(_) if !is_dir(home, &place) => {}
                Err(_) => return Err(Wake::Lost),
            }
        }
        Ok(is_new)
    }
}

/// The directories in which something may change that somebody is told of, as far as they are there.
pub fn places(home: &Home) -> Vec<PathBuf> {
    let mut places = vec![home.tasks_root(), home.repositories_root()];
    places.extend(below(home, &home.tasks_root()));
    // A root that cannot be read has lists that cannot be read either.
    for root in roots::scan(home).unwrap_or_default() {
        if let roots::RootStatus::Readable { .. } = root.standing {
            places.extend(below(home, &root.dir));
            places.push(root.dir);
        }
    }
    // One that is being registered has a directory before it has a record.
    for dir in below(home, &home.repositories_root()) {
        let name = dir.file_name().and_then(|name| name.to_str());
        let Some(id) = name.and_then(|name| name.parse::<RepoId>().ok()) else {
            continue;
        };
        let workers = Fleet::of(home, &id).dir();
        places.push(dir);
        for worker in below(home, &workers) {
            places.extend([worker.join("inbox"), worker.join("outbox"), worker]);
        }
        places.push(workers);
    }
    places.retain(|place| is_dir(home, place));
    places
}

fn below(home: &Home, dir: &Path) -> Vec<PathBuf> {
    let names = home.fs().names(dir).unwrap_or_default();
    let all = names.into_iter().map(|name| dir.join(name));
    all.filter(|path| is_dir(home, path)).collect()
}

fn is_dir(home: &Home, path: &Path) -> bool {
    let stat = fsx::stat(home.fs(), path).ok().flatten();
    stat.is_some_and(|stat| stat.kind == fsx::FileKind::Dir)
}
