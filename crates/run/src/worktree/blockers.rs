//! What a task's blockers did, taken into its worktree.
//!
//! Owns the merge of a blocker's branch and the look at what it lacks. Invariants: only a merge
//! that was begun here is called off here; nothing is merged into uncommitted changes; whatever of
//! a blocker's work is not in the worktree is told.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use flagpost_core::git::{Git, commit, is_ancestor, text, with_hooks, worktrees::WorktreeEntry};

use super::{Branch, FileList, Worktree, WorktreeError, WorktreeResult, status};

/// A blocker's work that is not in the worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The blocker's branch.
    pub branch: Branch,
    /// Why.
    pub why: MissingReason,
}

/// Why a blocker's work is not in a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissingReason {
    /// Merging the branch met conflicts and was called off; the agent can merge it.
    Conflict {
        /// The files in conflict.
        files: FileList,
    },
    /// The branch was not merged for another reason; the agent can merge it.
    NotMerged {
        /// In words.
        reason: String,
    },
    /// There is no such branch: somebody merged or removed it.
    NoBranch,
    /// The blocker's agent committed elsewhere than on its branch.
    Elsewhere {
        /// The blocker's worktree.
        path: PathBuf,
        /// The commit that it stands on.
        commit: String,
    },
    /// The blocker's agent left work uncommitted. What it did commit is merged.
    Uncommitted {
        /// The blocker's worktree.
        path: PathBuf,
        /// What is not committed.
        files: FileList,
    },
    /// Whether anything is missing cannot be told.
    Untellable {
        /// In words.
        reason: String,
    },
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.branch)?;
        match &self.why {
            MissingReason::Conflict { files } => {
                write!(f, "merge it yourself; it conflicts in {files}")
            }
            MissingReason::NotMerged { reason } => write!(f, "merge it yourself; {reason}"),
            MissingReason::NoBranch => {
                f.write_str("the branch is gone; somebody merged or removed it")
            }
            MissingReason::Elsewhere { path, commit } => {
                write!(f, "more was committed in {}, as {commit}", path.display())
            }
            MissingReason::Uncommitted { path, files } => {
                write!(
                    f,
                    "uncommitted work was left in {}: {files}",
                    path.display()
                )
            }
            MissingReason::Untellable { reason } => {
                write!(f, "perhaps not all of it is here: {reason}")
            }
        }
    }
}

/// Merges a blocker's branch, unless it holds nothing new.
pub(super) fn take_in(
    (worktree, hooks): (&Worktree, Option<&str>),
    branch: &Branch,
) -> WorktreeResult<Option<MissingReason>> {
    let path = &worktree.path;
    if commit(path, &branch.full())?.is_none() {
        return Ok(Some(MissingReason::NoBranch));
    }
    let new = Git::at(path)
        .args(&["rev-list", "--count"])
        .arg(format!("HEAD..{}", branch.full()))
        .run()?;
    if text(&new) == "0" {
        return Ok(None);
    }
    if let Some(reason) = unfit(worktree)? {
        return Ok(Some(MissingReason::NotMerged { reason }));
    }
    merge((worktree, hooks), branch)
}

/// Why nothing may be merged into the worktree as an earlier attempt left it.
fn unfit(worktree: &Worktree) -> WorktreeResult<Option<String>> {
    let path = &worktree.path;
    if let Some(what) = status::underway(path)? {
        return Ok(Some(format!("a {what} is under way in the worktree")));
    }
    let changed = status::uncommitted(path)?.tracked;
    if !changed.is_empty() {
        return Ok(Some(format!(
            "the worktree has uncommitted changes: {changed}"
        )));
    }
    let mut git = Git::at(path).args(&["symbolic-ref", "--quiet", "HEAD"]);
    let stands_on = text(&git.ask()?.out);
    Ok((stands_on != worktree.branch.full())
        .then(|| format!("the worktree does not stand on {}", worktree.branch)))
}

fn merge(
    (worktree, hooks): (&Worktree, Option<&str>),
    branch: &Branch,
) -> WorktreeResult<Option<MissingReason>> {
    let path = &worktree.path;
    // By its whole name, which no tag has; the message names it as people do.
    let message = format!("Merge branch '{branch}' into {}", worktree.branch);
    // The commit is made by this program: it is not signed in the user's name.
    let mut git = with_hooks(Git::at(path), hooks)
        .args(&["merge", "--no-gpg-sign", "--ff", "--commit", "--no-squash"])
        .args(&["--no-autostash", "--no-overwrite-ignore"])
        .arg("-m")
        .arg(message)
        .arg(branch.full());
    let answer = git.ask_patiently()?;
    if answer.code() == Some(0) {
        return Ok(None);
    }
    let mut reason = git.refused(&answer).to_string();
    let files = conflicts(path)?;
    if status::underway(path)?.is_some() {
        let abort = Git::at(path).args(&["merge", "--abort"]).run_patiently();
        if let Err(error) = abort {
            reason = format!("{reason}; {error}");
            return Ok(Some(MissingReason::NotMerged { reason }));
        }
    }
    Ok(Some(if files.is_empty() {
        MissingReason::NotMerged { reason }
    } else {
        MissingReason::Conflict { files }
    }))
}

/// The files of a working tree that are in conflict.
pub(crate) fn conflicts(path: &Path) -> WorktreeResult<FileList> {
    let out = Git::at(path)
        .args(&[
            "diff",
            "--name-only",
            "--diff-filter=U",
            "--no-ext-diff",
            "-z",
        ])
        .run()?;
    Ok(FileList::from_names(&out))
}

/// What is in the blocker's worktree and not in this one.
pub(super) fn left_behind(
    worktree: &Worktree,
    branch: &Branch,
    entry: &WorktreeEntry,
) -> Vec<MissingReason> {
    let untellable = |error: WorktreeError| MissingReason::Untellable {
        reason: error.to_string(),
    };
    let path = || entry.path.clone();
    let mut left = Vec::new();
    if let Some(commit) = &entry.head
        && entry.branch.as_ref() != Some(&branch.full())
    {
        match is_ancestor(&worktree.path, commit, "HEAD") {
            Ok(true) => {}
            Ok(false) => left.push(MissingReason::Elsewhere {
                path: path(),
                commit: commit.clone(),
            }),
            Err(error) => left.push(untellable(error.into())),
        }
    }
    match status::uncommitted(&entry.path) {
        Ok(found) if found.all.is_empty() => {}
        Ok(found) => left.push(MissingReason::Uncommitted {
            path: path(),
            files: found.all,
        }),
        Err(error) => left.push(untellable(error)),
    }
    left
}
