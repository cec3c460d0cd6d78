//! Worktrees that runs left, for `doctor`.
//!
//! Owns telling them from those of a run that goes on, and what each still holds. They are only
//! ever named: whether one may go is a person's to decide (trap 41).

use std::path::Path;

use flagpost_core::{
    Home, Repository,
    doctor::Finding,
    git::branch,
    landing::LandingActivity,
    sessions::{SessionStatus, Sessions},
};
use flagpost_model::finding::Code;

use super::{
    close::{Because, nothing_to_lose},
    listing, status,
};

/// The worktrees under the home's directory for them that no running session works in.
pub fn left(home: &Home, repository: &Repository, top: &Path) -> Vec<Finding> {
    let Ok(root) = top.canonicalize() else {
        // No run ever made one.
        return Vec::new();
    };
    let entries = match listing::entries(&repository.top) {
        Ok(entries) => entries,
        Err(error) => {
            let what = format!("worktrees could not be listed: {error}");
            let hint = "'git worktree list' tells what git makes of it";
            let finding = Finding::new(Code::CheckFailed, what);
            return vec![finding.at(&repository.top).by_hand(hint)];
        }
    };
    let current = Sessions::of(home, repository).status().ok().flatten();
    let live = current
        .filter(|(stage, _)| *stage == SessionStatus::Live)
        .and_then(|(_, lock)| lock.session);
    let live = live.map(|session| root.join(session.as_str()));
    // A landing that is under way has a tree of its own.
    let lands = LandingActivity::read(home, repository).is_ok_and(|it| it.is_some());
    let is_left = |entry: &listing::WorktreeEntry| {
        let ours = entry.path.starts_with(&root);
        let is_landing = lands && entry.path.ends_with(crate::landing::TREE);
        ours && !is_landing
            && !live
                .as_ref()
                .is_some_and(|live| entry.path.starts_with(live))
    };
    let entries = entries.into_iter().filter(is_left);
    entries
        .map(|entry| describe(&repository.top, &entry))
        .collect()
}

fn describe(top: &Path, entry: &listing::WorktreeEntry) -> Finding {
    let own = entry.branch.as_deref();
    let stands = match own.map(branch::short) {
        Some(name) if name.starts_with(branch::PREFIX) => format!("on branch {name}"),
        Some(name) => format!("on foreign branch {name}"),
        None => "on no branch".to_owned(),
    };
    let path = entry.path.display();
    let (holds, next) = match nothing_to_lose(top, &entry.path, own) {
        Ok(_) => (
            "all that it holds is elsewhere".to_owned(),
            format!("'git worktree remove {path}' removes it"),
        ),
        Err(because) => {
            let next = next(&because, &entry.path, own.is_some());
            (because.to_string(), next)
        }
    };
    let what = format!("a run left a worktree {stands}; {holds}");
    Finding::new(Code::WorktreeLeft, what)
        .at(&entry.path)
        .by_hand(next)
}

/// What a person does where this would be lost. Git itself removes a worktree with ignored files, and
/// one whose commits are on no branch.
fn next(because: &Because, path: &Path, has_branch: bool) -> String {
    let also = || match status::uncommitted(path) {
        Ok(found) if found.ignored.is_empty() => String::new(),
        Ok(found) => format!("; it would take ignored files along: {}", found.ignored),
        Err(error) => {
            format!("; whether it would take ignored files along cannot be told: {error}")
        }
    };
    let path = path.display();
    match because {
        Because::Dirty { .. } => {
            format!("'git -C {path} status' shows it; commit or copy what is wanted first")
        }
        Because::Ignored { .. } => {
            format!("copy what is wanted; 'git worktree remove {path}' takes them along")
        }
        Because::Unmerged { .. } if has_branch => format!(
            "merge the branch if its work is wanted; 'git worktree remove {path}' leaves the branch{}",
            also()
        ),
        Because::Unmerged { .. } => format!(
            "give them a branch, or they are lost: 'git -C {path} switch --create NAME'; then 'git worktree remove {path}'{}",
            also()
        ),
        Because::OnTasks => "'flagpost land' brings its work onto your branch".to_owned(),
        Because::Underway { what } => format!("end the {what} in {path} first, or abort it"),
        Because::Untellable(_) => format!("look into {path}"),
    }
}
