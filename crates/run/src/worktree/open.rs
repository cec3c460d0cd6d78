//! A task's worktree, with what its blockers committed.
//!
//! Owns how a worktree comes to be, comes back on a retry, and takes in the blockers' branches.
//! Invariants: what an earlier attempt left is never touched; only a merge that was begun here is
//! called off here; whatever of the blockers' work is not in the worktree is told.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use flagpost_disk::fsx;
use flagpost_model::TaskId;

use super::{
    Branch, Files, Result, Worktree, Worktrees, commit, exists,
    git::Git,
    listing::{self, Entry},
    standing, text,
};

/// A worktree to work in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// Which.
    pub worktree: Worktree,
    /// What of the blockers' work is not in it: for the prompt, and for the operator.
    pub missing: Vec<Missing>,
}

/// A blocker's work that is not in the worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The blocker's branch.
    pub branch: Branch,
    /// Why.
    pub why: Why,
}

/// Why a blocker's work is not in a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// Merging the branch met conflicts and was called off; the agent can merge it.
    Conflict {
        /// The files in conflict.
        files: Files,
    },
    /// The branch was not merged for another reason; the agent can merge it.
    NotMerged {
        /// In words.
        reason: String,
    },
    /// There is no such branch: somebody merged or removed it.
    NoBranch,
    /// The blocker's agent left work uncommitted. What it did commit is merged.
    Uncommitted {
        /// The blocker's worktree.
        path: PathBuf,
        /// What is not committed.
        files: Files,
    },
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.branch)?;
        match &self.why {
            Why::Conflict { files } => write!(f, "merge it yourself; it conflicts in {files}"),
            Why::NotMerged { reason } => write!(f, "merge it yourself; {reason}"),
            Why::NoBranch => f.write_str("the branch is gone; somebody merged or removed it"),
            Why::Uncommitted { path, files } => {
                write!(
                    f,
                    "uncommitted work was left in {}: {files}",
                    path.display()
                )
            }
        }
    }
}

impl Worktrees {
    /// The worktree of a task, made from the commit that the repository stands on; on a retry the
    /// one that there is, as it was left. Then the branches of its blockers are merged into it,
    /// in the order given. `after` names those that ran in worktrees, in this session or, where
    /// one is resumed, in an earlier one.
    pub fn open(&self, task: &TaskId, after: &[Branch]) -> Result<Opened> {
        let _turn = self.turn();
        let head = self.head()?;
        let root = self.make_root()?;
        let entries = listing::entries(&self.top)?;
        let path = match self.existing(&root, task, &entries) {
            Some(entry) => {
                recover(&self.top, entry)?;
                entry.path.clone()
            }
            None => self.make(&root, task, &head)?,
        };
        let worktree = self.worktree(task.clone(), path);
        let mut missing = Vec::new();
        for branch in after {
            let why = take_in(&worktree, branch)?;
            let left = left_behind(branch, &entries);
            let both = [why, left].into_iter().flatten();
            missing.extend(both.map(|why| Missing {
                branch: branch.clone(),
                why,
            }));
        }
        Ok(Opened { worktree, missing })
    }

    fn existing<'a>(&self, root: &Path, task: &TaskId, entries: &'a [Entry]) -> Option<&'a Entry> {
        entries
            .iter()
            .find(|entry| self.task_of(root, entry).as_ref() == Some(task))
    }

    fn make(&self, root: &Path, task: &TaskId, head: &str) -> Result<PathBuf> {
        let branch = self.branch(task);
        // It may be there from an attempt that was cut off, or whose worktree somebody removed.
        if !exists(&self.top, &branch.full())? {
            Git::at(&self.top)
                .args(&["branch", "--no-track", branch.as_str(), head])
                .run_patiently()?;
        }
        let path = free_path(root, task);
        Git::at(&self.top)
            .args(&["worktree", "add"])
            .arg(&path)
            .arg(branch.as_str())
            .run_patiently()?;
        Ok(path)
    }
}

/// `{task}`, or `{task}+2` and so on where something lies there that is no worktree of the
/// repository. `+` is in no id.
fn free_path(root: &Path, task: &TaskId) -> PathBuf {
    let mut path = root.join(task.as_str());
    for n in 2_u32.. {
        if path.symlink_metadata().is_err() {
            break;
        }
        path = root.join(format!("{task}+{n}"));
    }
    path
}

/// Completes a worktree that git was making when it was cut off, and brings one back whose
/// directory somebody removed. One that is whole is left as it is.
fn recover(top: &Path, entry: &Entry) -> Result<()> {
    let path = &entry.path;
    if fsx::stat(&fsx::RealFs, path)?.is_none() {
        fsx::make_dirs(&fsx::RealFs, path)?;
        Git::at(top).args(&["worktree", "repair"]).arg(path).run()?;
        standing::stands_alone(path)?;
        // From the index, with what was staged.
        Git::at(path)
            .args(&["checkout-index", "--all"])
            .run_patiently()?;
    }
    if entry.half_made() {
        standing::stands_alone(path)?;
        // Nobody was handed this one, so all that is in it comes from the commit.
        Git::at(path)
            .args(&["reset", "--quiet", "--hard"])
            .run_patiently()?;
        Git::at(top).args(&["worktree", "unlock"]).arg(path).run()?;
    }
    standing::stands_alone(path)
}

/// Merges a blocker's branch, unless it holds nothing new.
fn take_in(worktree: &Worktree, branch: &Branch) -> Result<Option<Why>> {
    let path = &worktree.path;
    if commit(path, &branch.full())?.is_none() {
        return Ok(Some(Why::NoBranch));
    }
    let new = Git::at(path)
        .args(&["rev-list", "--count", "--end-of-options"])
        .arg(format!("HEAD..{}", branch.full()))
        .run()?;
    if text(&new) == "0" {
        return Ok(None);
    }
    if let Some(reason) = unfit(worktree)? {
        return Ok(Some(Why::NotMerged { reason }));
    }
    merge(path, branch)
}

/// Why nothing may be merged into the worktree as an earlier attempt left it.
fn unfit(worktree: &Worktree) -> Result<Option<String>> {
    let path = &worktree.path;
    if let Some(what) = standing::underway(path)? {
        return Ok(Some(format!("a {what} is under way in the worktree")));
    }
    let changed = standing::uncommitted(path)?.tracked;
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

fn merge(path: &Path, branch: &Branch) -> Result<Option<Why>> {
    // The commit is made by this program: it is not signed in the user's name.
    let mut git = Git::at(path)
        .args(&[
            "merge",
            "--no-edit",
            "--no-gpg-sign",
            "--ff",
            "--commit",
            "--no-squash",
        ])
        .args(&["--no-autostash", "--no-overwrite-ignore"])
        .arg(branch.as_str());
    let answer = git.ask_patiently()?;
    if answer.code() == Some(0) {
        return Ok(None);
    }
    let mut reason = git.refused(&answer).to_string();
    let files = conflicts(path)?;
    if standing::underway(path)?.is_some() {
        let abort = Git::at(path).args(&["merge", "--abort"]).run_patiently();
        if let Err(error) = abort {
            reason = format!("{reason}; {error}");
            return Ok(Some(Why::NotMerged { reason }));
        }
    }
    Ok(Some(if files.is_empty() {
        Why::NotMerged { reason }
    } else {
        Why::Conflict { files }
    }))
}

fn conflicts(path: &Path) -> Result<Files> {
    let out = Git::at(path)
        .args(&[
            "diff",
            "--name-only",
            "--diff-filter=U",
            "--no-ext-diff",
            "-z",
        ])
        .run()?;
    Ok(Files::from_names(&out))
}

/// What the blocker's agent did not commit, where its worktree is still there.
fn left_behind(branch: &Branch, entries: &[Entry]) -> Option<Why> {
    let full = branch.full();
    let entry = entries
        .iter()
        .find(|entry| entry.branch.as_ref() == Some(&full))?;
    match standing::uncommitted(&entry.path) {
        Ok(found) if found.all.is_empty() => None,
        Ok(found) => Some(Why::Uncommitted {
            path: entry.path.clone(),
            files: found.all,
        }),
        // Of a worktree that cannot be looked at, nothing can be said but that.
        Err(_) => None,
    }
}
