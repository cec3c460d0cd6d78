//! What the checks look at: everything, read once.
//!
//! Owns reading it without leaving anything behind. What cannot be read is a finding, and the rest
//! is looked at all the same.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use flagpost_disk::{TaskFile, dialects::coordination, fsx};
use flagpost_model::{ListId, RepoId, TaskId, finding::Code, task::Outline};

use super::{Finding, describe};
use crate::{
    error::Result,
    history::{History, HistoryScan},
    home::Home,
    list::List,
    order::OfflineQueue,
    permissions::Permissions,
    relay::Fleet,
    repository::{self, Repository, RepositoryRecord},
    reservations::Reservations,
    roots::{self, RootStatus},
    sessions::Sessions,
    shell::quoted,
    skipped::Skipped,
};

/// Everything.
pub(super) struct World<'h> {
    pub(super) home: &'h Home,
    pub(super) dir: PathBuf,
    pub(super) lists: Vec<ListSnapshot<'h>>,
    pub(super) repositories: BTreeMap<RepoId, RepositoryState>,
    /// The working trees of registered repositories that are where they should be.
    pub(super) places: Vec<Repository>,
}

/// A list and all of its tasks.
pub(super) struct ListSnapshot<'h> {
    id: ListId,
    pub(super) list: List<'h>,
    pub(super) tasks: Vec<TaskFile>,
    pub(super) outlines: Vec<Outline>,
    pub(super) broken: Vec<Skipped>,
    /// Its tasks whose files another program took away.
    pub(super) vanished: BTreeSet<TaskId>,
}

/// A repository's directory in the home.
pub(super) struct RepositoryState {
    pub(super) record: Result<Option<RepositoryRecord>>,
    pub(super) survey: Result<HistoryScan>,
}

impl RepositoryState {
    /// Whether it was registered, readable or not.
    pub(super) fn is_registered(&self) -> bool {
        !matches!(self.record, Ok(None))
    }
}

impl ListSnapshot<'_> {
    pub(super) fn id(&self) -> &ListId {
        &self.id
    }

    /// Whether Flagpost wrote any of it.
    pub(super) fn is_ours(&self) -> bool {
        self.tasks.iter().any(|file| file.task.rev > 0)
    }
}

impl<'h> World<'h> {
    /// Reads everything; `None` where there is no home to look at.
    pub(super) fn see(home: &'h Home, dir: &Path, findings: &mut Vec<Finding>) -> Option<Self> {
        if let Err(error) = readable(home, home.root()) {
            let what = format!("the home cannot be read: {error}");
            let hint = format!("make {} a directory of yours", quoted(home.root()));
            let finding = Finding::new(Code::HomeUnreadable, what);
            findings.push(finding.at(home.root()).by_hand(hint));
            return None;
        }
        // Lists before histories: a claim that is made meanwhile must not look as if its line were
        // lost.
        let lists = lists(home, findings);
        let repositories = repositories(home, findings);
        let places = places(home, dir, &repositories);
        Some(Self {
            home,
            dir: dir.to_owned(),
            lists,
            repositories,
            places,
        })
    }

    /// Every directory of ours in the home.
    pub(super) fn dirs(&self) -> Vec<PathBuf> {
        self.named(fsx::FileKind::Dir)
    }

    /// What has the name of such a directory, and is of this kind.
    pub(super) fn named(&self, kind: fsx::FileKind) -> Vec<PathBuf> {
        let root = self.home.root();
        let mut dirs = vec![root.clone()];
        dirs.extend(["run", "worktrees", "parked"].map(|name| root.join(name)));
        dirs.push(self.home.tasks_root());
        for seen in &self.lists {
            dirs.push(seen.list.dir().clone());
            dirs.push(seen.list.dir().join(fsx::QUARANTINE));
        }
        dirs.push(self.home.repositories_root());
        for id in self.repositories.keys() {
            dirs.push(self.home.repository_dir(id));
            dirs.push(Permissions::of(self.home, id).dir().clone());
            dirs.push(Reservations::of(self.home, id).dir().clone());
            dirs.push(OfflineQueue::of(self.home, id).dir().clone());
            // What cannot be looked at is told of where it is used.
            dirs.extend(Fleet::of(self.home, id).dirs().unwrap_or_default());
        }
        let is_meant = |dir: &PathBuf| {
            let stat = fsx::stat(self.home.fs(), dir).ok().flatten();
            stat.is_some_and(|stat| stat.kind == kind)
        };
        dirs.retain(is_meant);
        dirs
    }

    /// The directories of every session.
    pub(super) fn session_dirs(&self) -> Vec<PathBuf> {
        let mut dirs = Vec::new();
        for place in &self.places {
            let sessions = Sessions::of(self.home, place);
            let ended = sessions.ended().unwrap_or_default();
            let ended = ended.iter().map(|it| sessions.root().join(it.id.as_str()));
            let all = ended.chain([sessions.live_dir()]);
            let parts = |dir: PathBuf| {
                let part = |name: &str| dir.join(name);
                [part("tasks"), part("logs"), part("prompts"), dir]
            };
            dirs.push(sessions.root().to_owned());
            dirs.extend(all.flat_map(parts));
        }
        dirs
    }

    /// The coordination directories at the tops of repositories, and those in them.
    pub(super) fn coordination_dirs(&self) -> impl Iterator<Item = PathBuf> {
        let roots = self.places.iter();
        let roots = roots.map(|place| place.top.join(coordination::DEFAULT_DIR));
        roots.flat_map(|root| {
            let parts = [
                coordination::CONTEXT,
                coordination::LOGS,
                coordination::RESULTS,
                coordination::LATE,
            ];
            let parts = parts.map(|part| root.join(part));
            [root].into_iter().chain(parts)
        })
    }
}

fn readable(home: &Home, dir: &Path) -> std::result::Result<(), String> {
    match home.fs().names(dir) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// The lists that can be read. Every root of lists is [`Home`]'s to know.
fn lists<'h>(home: &'h Home, findings: &mut Vec<Finding>) -> Vec<ListSnapshot<'h>> {
    let mut unread = |dir: PathBuf, list: Option<&ListId>, error: &crate::Error| {
        let next = match dir.is_symlink() {
            true => "put a directory in its place",
            false => "make it readable for you",
        };
        let hint = format!("'ls -ld {}' shows what is there; {next}", quoted(&dir));
        let finding = Finding::new(Code::ListUnreadable, describe(error)).at(dir);
        findings.push(Finding {
            list: list.cloned(),
            ..finding.by_hand(hint)
        });
    };
    let ids = match home.lists() {
        Ok(ids) => ids,
        Err(error) => {
            unread(home.tasks_root(), None, &error);
            return Vec::new();
        }
    };
    let of_home = ids.into_iter().map(|id| (home.list_dir(&id), id));
    let mut lists = Vec::new();
    for (dir, id) in of_home.chain(elsewhere(home)) {
        let is_file =
            |stat: fsx::Stat| matches!(stat.kind, fsx::FileKind::File | fsx::FileKind::Other);
        if fsx::stat(home.fs(), &dir).is_ok_and(|it| it.is_some_and(is_file)) {
            // Somebody's own file among the lists.
            continue;
        }
        let examined = List::open(home, &id).and_then(|list| {
            let (tasks, broken) = list.examine()?;
            Ok(ListSnapshot {
                id: id.clone(),
                outlines: tasks.iter().map(|file| Outline::from(&file.task)).collect(),
                tasks,
                // A history that cannot be read is told of where that is looked at.
                vanished: list.vanished(&broken).unwrap_or_default(),
                broken,
                list,
            })
        });
        match examined {
            Ok(seen) => lists.push(seen),
            Err(error) => unread(dir, Some(&id), &error),
        }
    }
    lists
}

/// The lists in `tasks.roots`. What cannot be read of these is a finding of its own check.
fn elsewhere(home: &Home) -> Vec<(PathBuf, ListId)> {
    let mut elsewhere = Vec::new();
    for root in roots::scan(home).unwrap_or_default() {
        if let RootStatus::Readable { lists, .. } = root.standing {
            let lists = lists.into_iter();
            elsewhere.extend(lists.map(|list| (root.dir.join(list.as_str()), list)));
        }
    }
    elsewhere
}

fn repositories(home: &Home, findings: &mut Vec<Finding>) -> BTreeMap<RepoId, RepositoryState> {
    let root = home.repositories_root();
    let ids = home.ids_in::<RepoId>(&root).unwrap_or_else(|error| {
        let hint = format!("make {} readable for you", quoted(&root));
        let finding = Finding::new(Code::RecordUnreadable, describe(&error));
        findings.push(finding.at(&root).by_hand(hint));
        Vec::new()
    });
    let known = |id: RepoId| {
        let known = RepositoryState {
            record: repository::record(home, &id),
            survey: History::of(home, &id).scan(),
        };
        (id, known)
    };
    ids.into_iter().map(known).collect()
}

fn places(home: &Home, dir: &Path, known: &BTreeMap<RepoId, RepositoryState>) -> Vec<Repository> {
    let recorded = known
        .values()
        .filter_map(|it| it.record.as_ref().ok()?.as_ref());
    let recorded = recorded.map(|record| PathBuf::from(&record.path));
    let mut places: Vec<Repository> = Vec::new();
    for dir in recorded.chain([dir.to_owned()]) {
        let stands = fsx::stat(home.fs(), &dir).is_ok_and(|stat| stat.is_some());
        if let Some(place) = stands
            .then(|| Repository::find(home, &dir).ok().flatten())
            .flatten()
            && !places.iter().any(|known| known.top == place.top)
        {
            places.push(place);
        }
    }
    places
}
