//! The end of a worktree, where it may end.
//!
//! Owns what "nothing would be lost" means (trap 41): no changed, staged, new, ignored or
//! overlooked file, nothing under way, and every commit on another branch, tag or remote branch.
//! Invariants: a failed look keeps; nothing is forced; a branch goes only together with the proof
//! that the one that holds its commits still does.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use flagpost_core::{
    git::{
        Git, GitError, branch, commit, is_ancestor, text, without_hooks,
        worktrees::{self, WorktreeEntry},
    },
    landing::{has_landed, passed_ref},
};

use flagpost_model::{TaskId, task::KeptWorktrees};

use super::{
    Branch, FileList, Worktree, Worktrees,
    error::WorktreeResult,
    open::unmake,
    provision::{Provision, is_unfinished},
    reflog, status, submodules,
    submodules::LonelyCommits,
};

/// What came of closing a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Closed {
    /// Worktree and branch are gone; all that was in them is elsewhere.
    Removed,
    /// Something would have been lost, or might have been.
    Kept {
        /// The worktree; `None` where only the branch was kept.
        path: Option<PathBuf>,
        /// Its branch.
        branch: Branch,
        /// What would have been lost.
        because: Because,
    },
}

impl Closed {
    /// Whether the worktree is still there.
    pub fn is_kept(&self) -> bool {
        matches!(self, Self::Kept { path: Some(_), .. })
    }
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Removed => f.write_str("removed: all that it held is elsewhere"),
            Self::Kept {
                path: Some(path),
                branch,
                because,
            } => write!(f, "kept at {} (branch {branch}): {because}", path.display()),
            Self::Kept {
                path: None,
                branch,
                because,
            } => write!(f, "removed, and its branch {branch} kept: {because}"),
        }
    }
}

/// What would be lost with a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Because {
    /// Changed, staged or new files.
    Dirty {
        /// Which.
        files: FileList,
    },
    /// Files that the repository ignores: build output, but as well an `.env` or a database that
    /// nothing can bring back.
    Ignored {
        /// Which; a directory counts once.
        files: FileList,
    },
    /// Commits that are on no other branch, tag or remote branch.
    Unmerged {
        /// How many.
        commits: u64,
    },
    /// Commits that were made in it, then left, and that no branch has.
    Left {
        /// How many.
        commits: u64,
    },
    /// Commits of its submodules that nobody else has.
    Submodules(Vec<LonelyCommits>),
    /// Its commits are on the branches of other tasks and on no other: they have not landed.
    OnTasks,
    /// A merge, rebase, cherry-pick, revert or bisection that has not ended.
    Underway {
        /// Which of them.
        what: &'static str,
    },
    /// Nothing, but somebody locked it.
    Locked {
        /// Why, in their words.
        why: String,
    },
    /// Nothing, but the command that ends its use failed: how.
    Teardown(String),
    /// `run.worktree.keep` is `all`.
    Settled,
    /// It cannot be told.
    Untellable(String),
}

impl Because {
    /// Whether all that would be lost is on its own branch, which can stay without it.
    pub(super) fn is_on_its_branch(&self) -> bool {
        matches!(self, Self::Unmerged { .. } | Self::OnTasks)
    }
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dirty { files } => write!(f, "uncommitted: {files}"),
            Self::Ignored { files } => write!(f, "ignored files, which git does not keep: {files}"),
            Self::Unmerged { commits: 1 } => write!(f, "1 commit is on no other branch"),
            Self::Unmerged { commits } => write!(f, "{commits} commits are on no other branch"),
            Self::Left { commits: 1 } => write!(f, "1 commit was made in it and is on no branch"),
            Self::Left { commits } => {
                write!(f, "{commits} commits were made in it and are on no branch")
            }
            Self::Submodules(all) => {
                let each = all.iter().map(|it| match it.commits {
                    1 => format!("1 commit of submodule {}", it.submodule),
                    n => format!("{n} commits of submodule {}", it.submodule),
                });
                let each: Vec<String> = each.collect();
                write!(f, "only it has {}", each.join(" and "))
            }
            Self::OnTasks => write!(f, "its work has not landed"),
            Self::Locked { why } if why.is_empty() => f.write_str("somebody locked it"),
            Self::Locked { why } => write!(f, "somebody locked it: {why}"),
            Self::Teardown(how) => write!(f, "its teardown failed: {how}"),
            Self::Settled => f.write_str("run.worktree.keep is all"),
            Self::Underway { what } => write!(f, "a {what} is under way"),
            Self::Untellable(reason) => write!(f, "cannot tell what would be lost: {reason}"),
        }
    }
}

/// A look's answer: what there is to lose, or what was asked for.
pub(super) type Safe<T> = std::result::Result<T, Because>;

impl Worktrees {
    /// Removes a worktree and its branch if nothing would be lost with them. Not before the tasks
    /// that depend on it have been opened, or are given up: they take its branch in.
    pub fn close(&self, worktree: &Worktree) -> Closed {
        let kept = |path: Option<&Path>, because| Closed::Kept {
            path: path.map(Path::to_owned),
            branch: worktree.branch.clone(),
            because,
        };
        let path = Some(worktree.path.as_path());
        match self.is_unfinished(&worktree.path) {
            Ok(false) => {}
            Ok(true) => {
                let gone = unmake(&self.top, &worktree.path);
                return match gone.and_then(|()| self.close_branch(&worktree.task)) {
                    Ok(()) => Closed::Removed,
                    Err(error) => kept(path, error.into()),
                };
            }
            Err(error) => return kept(path, error.into()),
        }
        let own = worktree.branch.full();
        let branch = match nothing_to_lose(&self.top, &worktree.path, Some(&own)) {
            Ok(branch) => branch,
            Err(because) => return kept(path, because),
        };
        if let Err(because) = remove(&self.top, &self.provision, &worktree.path) {
            return kept(path, because);
        }
        match branch {
            None => Closed::Removed,
            // What a task did lands by its own branch, whoever else holds it.
            Some(held) if held.is_by_a_task() || self.is_to_land(&worktree.branch, &held) => {
                kept(None, Because::OnTasks)
            }
            Some(held) => match self.drop_branch(&worktree.branch, &held) {
                Ok(()) => Closed::Removed,
                Err(error) => kept(None, error.into()),
            },
        }
    }

    fn is_unfinished(&self, path: &Path) -> WorktreeResult<bool> {
        let mut entries = worktrees::entries(&self.top)?.into_iter();
        Ok(entries.any(|it| it.path == path && is_unfinished(&it)))
    }

    /// The same at the end of a run, of which these stay.
    pub fn end(&self, worktree: &Worktree, keep: KeptWorktrees) -> Closed {
        let kept = |path, because| Closed::Kept {
            path,
            branch: worktree.branch.clone(),
            because,
        };
        if keep == KeptWorktrees::All {
            return kept(Some(worktree.path.clone()), Because::Settled);
        }
        match self.close(worktree) {
            Closed::Kept {
                path: Some(path),
                because,
                ..
            } if keep == KeptWorktrees::Files && because.is_on_its_branch() => {
                match put_away(&self.top, &self.provision, &path, false) {
                    Ok(()) => kept(None, because),
                    Err(because) => kept(Some(path), because),
                }
            }
            closed => closed,
        }
    }

    /// Whether a branch has work with which its task passed, and that neither landed nor is on the branch that the
    /// repository stands on. What cannot be told may be so.
    fn is_to_land(&self, branch: &Branch, held: &ReachableCommit) -> bool {
        let has_passed = commit(&self.top, &passed_ref(branch)).map_or(true, |it| it.is_some());
        let has_landed = has_landed(&self.top, branch).unwrap_or(false);
        let is_here = || is_ancestor(&self.top, &held.tip, "HEAD").unwrap_or(false);
        has_passed && !has_landed && !is_here()
    }

    /// Removes the branch of a task that has no worktree, if nothing would be lost with it.
    pub fn close_branch(&self, task: &TaskId) -> WorktreeResult<()> {
        let branch = self.branch(task);
        let own = branch.full();
        let Some(tip) = commit(&self.top, &own)? else {
            return Ok(());
        };
        match held(&self.top, &tip, Some(&own)) {
            Ok(by) if !by.is_by_a_task() => self.drop_branch(&branch, &by),
            // It stays: that is no failure.
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// One transaction: the other still holds the commit, and the branch has not moved.
    fn drop_branch(&self, branch: &Branch, held: &ReachableCommit) -> WorktreeResult<()> {
        let ReachableCommit { tip, by, at } = held;
        let (own, passed) = (branch.full(), passed_ref(branch));
        without_hooks(&self.top)
            .args(&["update-ref", "-m", "flagpost: closed", "--stdin"])
            .input(format!(
                "start\nverify {by} {at}\ndelete {own} {tip}\ndelete {passed}\nprepare\ncommit\n"
            ))
            .run_patiently()?;
        // Left there by `git push -u`; most branches have none, and then git fails.
        let _ = Git::at(&self.top)
            .args(&["config", "--local", "--remove-section"])
            .arg(format!("branch.{branch}"))
            .ask();
        Ok(())
    }
}

/// Removes a worktree of which its branch keeps all, and leaves the branch; `ignored` says that files which the
/// repository ignores may go.
pub(super) fn put_away(top: &Path, provision: &Provision, path: &Path, ignored: bool) -> Safe<()> {
    let files = status::uncommitted(path)?.ignored;
    if !ignored && !files.is_empty() {
        return Err(Because::Ignored { files });
    }
    remove(top, provision, path)
}

/// Removes a worktree with which nothing would be lost.
fn remove(top: &Path, provision: &Provision, path: &Path) -> Safe<()> {
    provision.tear_down(path)?;
    submodules::empty(path)?;
    // Git looks once more itself, and would believe a setting that hides new files.
    Git::at(top)
        .config("status.showUntrackedFiles=all")
        .args(&["worktree", "remove"])
        .arg(path)
        .run_patiently()?;
    Ok(())
}

/// The branch's commit and what else holds it; `None` where there is no such branch any more. Without a
/// branch, what it stands on has to be on another.
pub(super) fn nothing_to_lose(
    top: &Path,
    path: &Path,
    own: Option<&str>,
) -> Safe<Option<ReachableCommit>> {
    is_only_place(top, path, own)?;
    let found = status::uncommitted(path)?;
    if !found.all.is_empty() {
        return Err(Because::Dirty { files: found.all });
    }
    if let Some(what) = status::underway(path)? {
        return Err(Because::Underway { what });
    }
    let overlooked = status::overlooked(path)?;
    if !overlooked.is_empty() {
        let text = format!("git was told to overlook changes of {overlooked}");
        return Err(Because::Untellable(text));
    }
    let lonely = submodules::only_here(path)?;
    if !lonely.is_empty() {
        return Err(Because::Submodules(lonely));
    }
    // An agent may have gone elsewhere: what it stands on counts as much as its branch.
    let head = commit(path, "HEAD")?
        .ok_or_else(|| Because::Untellable("it stands on no commit".to_owned()))?;
    let tip = own.map(|own| commit(path, own)).transpose()?.flatten();
    let lost = reflog::only_there(path)?;
    if lost > 0 {
        return Err(Because::Left { commits: lost });
    }
    let of_head = held(top, &head, own)?;
    let held = match tip {
        Some(tip) if tip != head => Some(held(top, &tip, own)?),
        Some(_) => Some(of_head),
        None => None,
    };
    if !found.ignored.is_empty() {
        let files = found.ignored;
        return Err(Because::Ignored { files });
    }
    Ok(held)
}

/// That git knows the worktree, and that nobody else stands on its branch.
fn is_only_place(top: &Path, path: &Path, own: Option<&str>) -> Safe<()> {
    let entries = worktrees::entries(top)?;
    let Some(entry) = entries.iter().find(|entry| entry.path == path) else {
        let text = format!("git knows no worktree at {}", path.display());
        return Err(Because::Untellable(text));
    };
    if let Some(why) = &entry.locked {
        return Err(Because::Locked { why: why.clone() });
    }
    let Some(own) = own else {
        return Ok(());
    };
    let stands = |entry: &&WorktreeEntry| entry.branch.as_deref() == Some(own);
    let mut others = entries.iter().filter(|entry| entry.path != path);
    match others.find(stands) {
        Some(entry) => Err(Because::Untellable(format!(
            "{} stands on {}, too",
            entry.path.display(),
            branch::short(own)
        ))),
        None => Ok(()),
    }
}

/// What besides this branch holds a commit.
fn held(top: &Path, oid: &str, own: Option<&str>) -> Safe<ReachableCommit> {
    let out = Git::at(top)
        .args(&["for-each-ref", "--contains", oid])
        .arg("--format=%(objectname) %(refname) %(symref)")
        .args(&[
            "refs/heads",
            "refs/remotes",
            "refs/tags",
            "refs/flagpost/landed",
        ])
        .run()?;
    let mut by_a_task = None;
    for line in text(&out).lines() {
        let mut words = line.split(' ');
        // A symbolic one holds nothing itself; it may even stand for the branch in question.
        if let (Some(at), Some(name), None | Some("")) = (words.next(), words.next(), words.next())
            && Some(name) != own
        {
            let found = ReachableCommit {
                tip: oid.to_owned(),
                by: name.to_owned(),
                at: at.to_owned(),
            };
            match found.is_by_a_task() {
                true => by_a_task = Some(found),
                false => return Ok(found),
            }
        }
    }
    if let Some(found) = by_a_task {
        return Ok(found);
    }
    let mut counting = Git::at(top).args(&["rev-list", "--count", oid, "--not"]);
    if let Some(own) = own {
        counting = counting.arg(format!("--exclude={}", branch::short(own)));
    }
    let out = counting
        .args(&["--branches", "--remotes", "--tags"])
        .run()?;
    Err(Because::Unmerged {
        // None on others than symbolic ones, which hold nothing, is still one.
        commits: text(&out).parse().unwrap_or(1).max(1),
    })
}

/// A commit, and a name other than the task's branch that holds it.
#[derive(Debug)]
pub(super) struct ReachableCommit {
    tip: String,
    by: String,
    at: String,
}

impl ReachableCommit {
    /// Whether only the branch of another task holds it.
    fn is_by_a_task(&self) -> bool {
        self.by.starts_with("refs/heads/") && Branch::named(&self.by).is_of_a_task()
    }
}

impl From<super::WorktreeError> for Because {
    fn from(error: super::WorktreeError) -> Self {
        Self::Untellable(error.to_string())
    }
}

impl From<GitError> for Because {
    fn from(error: GitError) -> Self {
        Self::Untellable(error.to_string())
    }
}
