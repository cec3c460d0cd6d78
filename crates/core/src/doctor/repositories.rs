//! Repositories: their records, where they are, the id they carry.

use std::{
    collections::BTreeSet,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use flagpost_disk::fsx;
use flagpost_model::{RepoId, finding::Code};

use super::{
    Finding, describe,
    world::{ListSnapshot, World},
};
use crate::{
    error::{Error, Result},
    history::{History, Kind},
    landing::{self, may_have_branches},
    repository::{carried, git_version, record_path},
    sessions::Sessions,
    shell::quoted,
};

/// How much of the end of a history tells of what is still news.
const LATELY: u64 = 1 << 20;

/// Who else moved the branches that work lands on, where that happened lately.
pub(super) fn targets(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for place in &world.places {
        let mut named = BTreeSet::new();
        let history = History::of(world.home, &place.id);
        // One that cannot be read is told of as such.
        let _: Result<()> = history.backward(LATELY, &mut |line| {
            let told = |key| line.entry.detail.get(key).and_then(|it| it.as_str());
            let moved = (told("onto"), told("from"), told("to"));
            if let (Kind::TargetMoved, (Some(onto), Some(from), Some(to))) =
                (&line.entry.kind, moved)
                && named.insert([onto, from, to].map(str::to_owned))
            {
                let what = format!(
                    "something else than a landing moved {onto} from {from} to {to} at {:.0}",
                    line.at
                );
                let hint = format!(
                    "'git -C {} log --left-right {from}...{to}' shows what went and what came",
                    quoted(&place.top)
                );
                let finding = Finding::new(Code::TargetMoved, what);
                findings.push(finding.at(&place.top).by_hand(hint));
            }
            ControlFlow::Continue(())
        });
    }
    Ok(())
}

/// Work that no landing takes, as its task is in no list any more. Of a task whose file cannot be read another check
/// tells.
pub(super) fn ownerless(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for place in world.places.iter().filter(|it| may_have_branches(it)) {
        let is_of_it = |it: &&ListSnapshot<'_>| it.list.repository().is_ok_and(|id| id == place.id);
        let lists: Vec<_> = world.lists.iter().filter(is_of_it).collect();
        if lists
            .iter()
            .any(|it| !it.broken.is_empty() || !it.vanished.is_empty())
        {
            continue;
        }
        let lists = lists.into_iter().map(|it| (&it.list, &*it.outlines));
        let sessions = Sessions::of(world.home, place);
        // Where git answers nothing, there is nothing to tell.
        for branch in landing::ownerless(&sessions, place, lists).unwrap_or_default() {
            let what = format!(
                "{branch} has work that passed, and its task is in its list no more, so no landing takes it"
            );
            let hint = format!(
                "'git merge {branch}' takes it; 'flagpost worktree clean' and then 'git branch -D {branch}' give it up"
            );
            let finding = Finding::new(Code::BranchOwnerless, what);
            findings.push(finding.at(&place.top).by_hand(hint));
        }
    }
    Ok(())
}

/// The records of all repositories, and the one we stand in.
pub(super) fn check(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for (id, known) in &world.repositories {
        let path = record_path(world.home, id);
        match &known.record {
            Err(error) => {
                let hint = format!(
                    "it has to hold id, name, path and created_at; the first line of history.jsonl beside it tells the path: {}",
                    quoted(&path)
                );
                let finding = Finding::new(Code::RecordUnreadable, describe(error));
                findings.push(finding.at(path).by_hand(hint));
            }
            Ok(None) => unregistered(world, id, findings)?,
            Ok(Some(record)) => {
                findings.extend(gone(world, id, Path::new(&record.path)).map(|what| {
                    let hint = format!(
                        "if it moved, write its new place as \"path\" into {}",
                        quoted(&path)
                    );
                    Finding::new(Code::RepositoryGone, what)
                        .at(&path)
                        .by_hand(hint)
                }));
            }
        }
    }
    if let Some((top, Err(error @ Error::InvalidId(_)))) = carried(world.home, &world.dir)? {
        let hint = format!(
            "set it to what it was, or take it away so that the next command gives it a new one: git -C {} config --unset flagpost.repoId",
            quoted(&top)
        );
        let finding = Finding::new(Code::RepositoryIdInvalid, describe(&error));
        findings.push(finding.at(top).by_hand(hint));
    }
    Ok(())
}

fn unregistered(world: &World<'_>, id: &RepoId, findings: &mut Vec<Finding>) -> Result<()> {
    let dir = world.home.repository_dir(id);
    if fsx::stat(world.home.fs(), &dir)?.is_some_and(|stat| stat.kind == fsx::FileKind::Dir) {
        let what = format!("repository {id} has a directory here and was never registered");
        let hint = "'flagpost init' in the repository that carries this id registers it; if there \
            is none, nothing reads it";
        let finding = Finding::new(Code::RepositoryUnregistered, what);
        findings.push(finding.at(dir).by_hand(hint));
    }
    Ok(())
}

/// Why a repository is not where its record says.
fn gone(world: &World<'_>, id: &RepoId, recorded: &Path) -> Option<String> {
    let lossy = recorded.to_string_lossy().contains('\u{fffd}');
    if lossy || world.places.iter().any(|place| place.id == *id) {
        return None;
    }
    let top = PathBuf::from(recorded);
    let why = match carried(world.home, &top) {
        _ if !fsx::stat(world.home.fs(), &top).is_ok_and(|stat| stat.is_some()) => {
            "is not there any more".to_owned()
        }
        Ok(Some((_, Ok(Some(other))))) => format!("carries the id {other}"),
        // That is told as such.
        Ok(Some((_, Err(Error::Git(_))))) if git_version().is_none() => return None,
        Ok(Some((_, Ok(None))) | None) => "carries no id".to_owned(),
        Ok(Some((_, Err(error)))) | Err(error) => format!("cannot be asked: {}", describe(&error)),
    };
    Some(format!("{} {why}", recorded.display()))
}
