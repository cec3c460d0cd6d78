//! Worktrees that runs left, for `doctor`.
//!
//! Owns telling them from those of a run that goes on, and what each still holds. They are only
//! ever named: whether one may go is a person's to decide (trap 41).

use std::path::Path;

use flagpost_core::{
    Home, Repository,
    doctor::Finding,
    sessions::{Sessions, Stage},
};
use flagpost_model::finding::Code;

use super::{branch, listing, standing};

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
    let current = Sessions::of(home, repository).glimpse().ok().flatten();
    let live = current
        .filter(|session| session.stage == Stage::Live)
        .and_then(|session| session.lock.session);
    let live = live.map(|session| root.join(session.as_str()));
    let is_left = |entry: &listing::Entry| {
        let ours = entry.path.starts_with(&root);
        ours && !live
            .as_ref()
            .is_some_and(|live| entry.path.starts_with(live))
    };
    let entries = entries.into_iter().filter(is_left);
    entries.map(|entry| told(&entry)).collect()
}

fn told(entry: &listing::Entry) -> Finding {
    let stands = match &entry.branch {
        Some(name) => {
            let short = name.strip_prefix("refs/heads/").unwrap_or(name);
            let ours = short.starts_with(branch::PREFIX);
            format!("on {}branch {short}", if ours { "" } else { "foreign " })
        }
        None => "on no branch".to_owned(),
    };
    let path = entry.path.display();
    let (holds, next) = match standing::uncommitted(&entry.path) {
        Ok(found) if found.all.is_empty() => (
            "nothing in it is uncommitted".to_owned(),
            format!(
                "merge the branch if its work is wanted; then 'git worktree remove {path}', which refuses where something would be lost"
            ),
        ),
        Ok(found) => (
            format!("not committed in it: {}", found.all),
            format!("'git -C {path} status' shows it; commit or copy what is wanted first"),
        ),
        Err(error) => (
            format!("what it holds cannot be told: {error}"),
            format!("look into {path}"),
        ),
    };
    let what = format!("a run left a worktree {stands}; {holds}");
    Finding::new(Code::WorktreeLeft, what)
        .at(&entry.path)
        .by_hand(next)
}
