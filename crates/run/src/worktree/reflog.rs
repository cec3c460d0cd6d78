//! What an agent committed in a worktree and then left.
//!
//! Owns reading that from the worktree's own log of where it stood: a commit counts that was made there and from
//! which something else was checked out. What was amended, rebased or reset away was given up by whoever did that.

use std::path::Path;

use flagpost_core::git::{Git, text};

use super::WorktreeResult;

/// The commits that were made where this git is called and left by a checkout, the newest first.
pub(super) fn left(git: Git) -> WorktreeResult<Vec<String>> {
    let out = git
        .args(&["log", "--walk-reflogs", "--format=%H %gs", "HEAD", "--"])
        .run()?;
    let told = text(&out);
    let entries: Vec<(&str, &str)> = told.lines().filter_map(|it| it.split_once(' ')).collect();
    let pairs = entries.iter().zip(entries.iter().skip(1));
    let left =
        pairs.filter(|((_, then), (_, made))| then.starts_with("checkout:") && is_made(made));
    Ok(left.map(|(_, (commit, _))| (*commit).to_owned()).collect())
}

/// How many commits are in what was left, and on no branch, tag or other name.
pub(super) fn only_there(path: &Path) -> WorktreeResult<u64> {
    let left = left(Git::at(path))?;
    if left.is_empty() {
        return Ok(0);
    }
    let count = Git::at(path).args(&["rev-list", "--count"]).args(&left);
    let out = count.args(&["--not", "--all"]).run()?;
    Ok(text(&out).parse().unwrap_or(1))
}

/// Whether an entry of this kind tells of a commit that was made there.
fn is_made(kind: &str) -> bool {
    ["commit", "cherry-pick", "merge", "revert", "rebase"]
        .iter()
        .any(|it| kind.starts_with(it))
}
