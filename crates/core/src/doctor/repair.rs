//! Carrying repairs out.
//!
//! Owns the order, since a list has to be bound before its history is told anything, and that needs
//! numbers. Each repair
//! looks again under the lock that it needs, and one that fails keeps no other from its turn.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use flagpost_disk::fsx;
use flagpost_model::{ListId, RepoId, TaskId, WorkerId};

use super::{Fix, counter, describe, history, lists};
use crate::{
    error::{Error, Result},
    history::History,
    home::Home,
    list::List,
    relay::Fleet,
    roots, tasks,
};

/// What became of a repair.
#[derive(Debug)]
pub struct Mended {
    /// The repair.
    pub fix: Fix,
    /// How it went.
    pub outcome: RepairOutcome,
}

/// (waiting, blocker).
type Link = (TaskId, TaskId);

/// How a repair went.
#[derive(Debug)]
pub enum RepairOutcome {
    /// It is done, and durable.
    Done,
    /// There was nothing to be done any more.
    Needless,
    /// It could not be done, and why.
    Failed(Error),
}

impl RepairOutcome {
    /// The outcome in a word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Needless => "needless",
            Self::Failed(_) => "failed",
        }
    }

    /// Why it could not be done.
    pub fn why(&self) -> Option<String> {
        match self {
            Self::Failed(error) => Some(describe(error)),
            Self::Done | Self::Needless => None,
        }
    }
}

/// Carries these repairs out.
pub fn mend(home: &Home, actor: &WorkerId, mut fixes: Vec<Fix>) -> Vec<Mended> {
    quarantine_broken_files(home);
    fixes.sort();
    fixes.dedup();
    let mut mended = Vec::new();
    let mut links: BTreeMap<ListId, Vec<Link>> = BTreeMap::new();
    for fix in fixes {
        let result = match &fix {
            Fix::Mirror(list, waiting, blocker) => {
                let link = (waiting.clone(), blocker.clone());
                links.entry(list.clone()).or_default().push(link);
                continue;
            }
            Fix::Sweep(dir) => fsx::remove_orphans(home.fs(), dir, home.now())
                .map(|removed| removed > 0)
                .map_err(Error::from),
            Fix::Close(paths) => close(home, paths),
            Fix::Renumber(id) => History::of(home, id).renumber(actor, home.now()),
            Fix::Bind(list, repository) => bind(home, actor, list, repository),
            Fix::Settle(repository) => reconcile_messages(home, actor, repository),
            Fix::Resume(repository) => resume(home, actor, repository),
            Fix::Recount(list) => recount(home, actor, list),
            Fix::RecountMail(repository, worker, direction) => {
                Fleet::of(home, repository).recount(worker, *direction)
            }
            Fix::BringBack(list, repository) => bring_back(home, actor, list, repository),
            Fix::Unblock(list, blocking, missing) => {
                bound(home, list).and_then(|list| tasks::unblock(&list, actor, blocking, missing))
            }
        };
        let outcome = outcome(result);
        mended.push(Mended { fix, outcome });
    }
    for (id, links) in links {
        for ((waiting, blocker), result) in mirror(home, actor, &id, links) {
            let fix = Fix::Mirror(id.clone(), waiting, blocker);
            let outcome = outcome(result);
            mended.push(Mended { fix, outcome });
        }
    }
    mended
}

/// Keeps a copy of whatever is no task. What cannot be kept stays where it is all the same.
fn quarantine_broken_files(home: &Home) {
    for list in roots::lists(home).unwrap_or_default() {
        let _: Result<usize> = List::open(home, &list).and_then(|list| list.quarantine_all());
    }
}

fn outcome(result: Result<bool>) -> RepairOutcome {
    match result {
        Ok(true) => RepairOutcome::Done,
        Ok(false) => RepairOutcome::Needless,
        Err(error) => RepairOutcome::Failed(error),
    }
}

fn close(home: &Home, paths: &[PathBuf]) -> Result<bool> {
    let mut closed = false;
    for path in paths {
        closed |= fsx::close_to_others(home.fs(), path)?;
    }
    Ok(closed)
}

fn bind(home: &Home, actor: &WorkerId, list: &ListId, repository: &RepoId) -> Result<bool> {
    let list = List::open(home, list)?;
    // A history that is damaged takes no line before it is resumed.
    resume(home, actor, repository)?;
    let bound = home.transact(|| list.rebind(actor, repository, &lists::is_unbound))?;
    // What was numbered elsewhere meanwhile must not be numbered again.
    resume(home, actor, repository)?;
    Ok(bound)
}

fn bring_back(home: &Home, actor: &WorkerId, id: &ListId, repository: &RepoId) -> Result<bool> {
    if let Some(list) = List::absent(home, id)? {
        home.make_dirs(list.dir())?;
        bind(home, actor, id, repository)?;
    }
    let came_back = bound(home, id)?.bring_back(actor)?;
    // A new counter knows none of them.
    recount(home, actor, id)?;
    Ok(came_back)
}

fn reconcile_messages(home: &Home, actor: &WorkerId, repository: &RepoId) -> Result<bool> {
    let history = History::of(home, repository);
    let untrue = history.untrue()?;
    history.void_unapplied(actor, home.now())?;
    Ok(!untrue.is_empty())
}

fn recount(home: &Home, actor: &WorkerId, list: &ListId) -> Result<bool> {
    let list = bound(home, list)?;
    home.transact(|| list.change(actor)?.recount(&counter::is_wrong))
}

fn resume(home: &Home, actor: &WorkerId, repository: &RepoId) -> Result<bool> {
    let named = |most| history::highest_named(home, repository, most);
    let history = History::of(home, repository);
    Ok(history.resume(actor, home.now(), &named)?.is_some())
}

/// All links of a list in one change; where that fails, each on its own.
fn mirror(
    home: &Home,
    actor: &WorkerId,
    id: &ListId,
    links: Vec<Link>,
) -> Vec<(Link, Result<bool>)> {
    let mirror = |links: &[Link]| tasks::mirror(&bound(home, id)?, actor, links);
    match mirror(&links) {
        Ok(mended) => {
            let mended: BTreeSet<Link> = mended.into_iter().collect();
            let each = |link| {
                let is_mended = mended.contains(&link);
                (link, Ok(is_mended))
            };
            links.into_iter().map(each).collect()
        }
        Err(_) => {
            let alone = |link: Link| {
                let mended = mirror(std::slice::from_ref(&link));
                (link, mended.map(|mended| !mended.is_empty()))
            };
            links.into_iter().map(alone).collect()
        }
    }
}

/// A list whose changes go into the history that they belong to.
fn bound<'h>(home: &'h Home, id: &ListId) -> Result<List<'h>> {
    let list = List::open(home, id)?;
    if lists::is_unbound(&list)? {
        return Err(Error::NoRepository {
            dir: list.dir().clone(),
            list: Some(list.id().clone()),
        });
    }
    Ok(list)
}
