//! What a landing would do, asked of git without touching a tree.
//!
//! Owns the chain of merges that it tries: each branch on what those before it would make of the target,
//! as objects that no name leads to. Whether a check would succeed nobody can know.

use flagpost_core::{
    git::{self, Git, GitResult},
    landing::{LandingQueue, QueuedBranch},
};
use flagpost_model::TaskId;

use crate::worktree::FileList;

/// A branch that would be tried.
#[derive(Debug)]
pub struct Rehearsed {
    /// Which.
    pub branch: QueuedBranch,
    /// How many commits the target lacks.
    pub ahead: u64,
    /// The files in which it would meet conflicts, with the target or with a branch before it.
    pub conflicts: FileList,
}

/// Tries the branches that can land, in order; only those of some tasks, where any are named.
pub fn rehearse(
    top: &std::path::Path,
    queue: &LandingQueue,
    only: &[TaskId],
) -> flagpost_core::Result<Vec<Rehearsed>> {
    let mut base = queue
        .staged
        .clone()
        .unwrap_or_else(|| queue.target.tip.clone());
    let mut rehearsed = Vec::new();
    for branch in queue.ready_of(only) {
        let (tree, conflicts) = git::try_merge(top, &base, &branch.tip)?;
        let conflicts = FileList::from_names(&conflicts);
        if conflicts.is_empty() {
            base = commit(top, &tree, [&base, &branch.tip])?;
        }
        rehearsed.push(Rehearsed {
            ahead: queue.ahead(top, branch)?,
            branch: branch.clone(),
            conflicts,
        });
    }
    Ok(rehearsed)
}

/// A commit that nothing names.
fn commit(top: &std::path::Path, tree: &str, parents: [&str; 2]) -> GitResult<String> {
    let [ours, theirs] = parents;
    let made = Git::at(top)
        .config("user.name=Flagpost")
        .config("user.email=flagpost@localhost")
        .args(&[
            "commit-tree",
            tree,
            "-p",
            ours,
            "-p",
            theirs,
            "-m",
            "rehearsed",
        ])
        .run()?;
    Ok(git::text(&made))
}
