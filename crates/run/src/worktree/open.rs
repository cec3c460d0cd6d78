//! A task's worktree, with what its blockers committed.
//!
//! Owns how a worktree comes to be and comes back on a retry. It must never touch what an earlier
//! attempt left.

use std::path::{Path, PathBuf};

use flagpost_core::git::{
    self, Git, exists,
    worktrees::{self, WorktreeEntry},
};
use flagpost_disk::fsx;
use flagpost_model::TaskId;

use super::{
    Branch, Missing, Worktree, WorktreeError, WorktreeResult, Worktrees,
    blockers::{left_behind, take_in},
    provision::{self, Provision, SETTING_UP},
    status,
};

/// So many lines of what git and its hooks said are shown where no worktree can be made.
const LAST_LINES: usize = 20;

/// A worktree to work in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// Which.
    pub worktree: Worktree,
    /// What of the blockers' work is not in it: for the prompt, and for the operator.
    pub missing: Vec<Missing>,
    /// What git said when it made it whole and failed all the same: a hook did.
    pub hook: Option<String>,
    /// What it was to get and did not, and why, a line each.
    pub left_out: Vec<String>,
    /// Whether it is not [`Worktrees::finish`]ed yet: its setup is to be run first.
    pub is_unfinished: bool,
}

impl Worktrees {
    /// The worktree of a task, made from the commit that the repository stands on; on a retry the
    /// one that there is, as it was left. Then the branches of its blockers are merged into it,
    /// in the order given. `after` names those that ran in worktrees, in this session or, where
    /// one is resumed, in an earlier one; and the target branch, where its work did not land.
    pub fn open(&self, task: &TaskId, after: &[Branch]) -> WorktreeResult<Opened> {
        let head = self.head()?;
        let base = self.make_base()?;
        let entries = worktrees::entries(&self.top)?;
        let mut left_out = Vec::new();
        let mut is_unfinished = false;
        let (path, hook) = match self.existing(&base, task, &entries) {
            Some(entry) if !provision::is_unfinished(entry) => {
                recover(&self.top, entry)?;
                (entry.path.clone(), None)
            }
            found => {
                if let Some(entry) = found {
                    unmake(&self.top, &entry.path)?;
                }
                is_unfinished = self.provision.gives(&self.top);
                self.make(&base, task, &head)?
            }
        };
        let worktree = self.worktree(task.clone(), path);
        let mut missing = Vec::new();
        let hooks = match after {
            [] => None,
            _ => git::own_hooks(&self.top)?,
        };
        for branch in after {
            let mut add = |why| {
                let branch = branch.clone();
                missing.push(Missing { branch, why });
            };
            take_in((&worktree, hooks.as_deref()), branch)?
                .into_iter()
                .for_each(&mut add);
            // What people do where the target is checked out is theirs.
            let of_a_task = branch.is_of_a_task();
            if let Some(entry) = standing_for(&base, branch, &entries).filter(|_| of_a_task) {
                left_behind(&worktree, branch, entry)
                    .into_iter()
                    .for_each(add);
            }
        }
        if is_unfinished {
            left_out = self.provision.fill(&self.top, &worktree.path)?;
            Provision::begin(&self.top, &worktree.path)?;
            is_unfinished = self.provision.setup.is_some();
            if !is_unfinished {
                self.finish(&worktree)?;
            }
        }
        Ok(Opened {
            worktree,
            missing,
            hook,
            left_out,
            is_unfinished,
        })
    }

    /// A new worktree has all that it gets, or never will: from now on what is in it is somebody's work.
    pub fn finish(&self, worktree: &Worktree) -> WorktreeResult<()> {
        Provision::finish(&self.top, &worktree.path)
    }

    /// The worktree of a task, where there is one.
    pub(super) fn existing<'a>(
        &self,
        base: &Path,
        task: &TaskId,
        entries: &'a [WorktreeEntry],
    ) -> Option<&'a WorktreeEntry> {
        made_for(base, &self.branch(task), entries)
    }

    /// Where it is, and what a hook that failed said.
    fn make(
        &self,
        base: &Path,
        task: &TaskId,
        head: &str,
    ) -> WorktreeResult<(PathBuf, Option<String>)> {
        let branch = self.branch(task);
        // It may be there from an attempt that was cut off, or whose worktree somebody removed.
        let is_new = !exists(&self.top, &branch.full())?;
        if is_new {
            Git::at(&self.top)
                .args(&["branch", "--no-track", branch.as_str(), head])
                .run_patiently()?;
        }
        let root = base.join(self.session.as_str());
        fsx::make_dirs(&fsx::RealFs, &root)?;
        let path = free_path(&root, task);
        let lock = ["--lock", "--reason", SETTING_UP];
        let lock = &lock[..if self.provision.gives(&self.top) {
            3
        } else {
            0
        }];
        let mut add = Git::at(&self.top)
            .args(&["worktree", "add"])
            .args(lock)
            .arg(&path)
            .arg(branch.as_str());
        let answer = add.ask_patiently()?;
        if answer.code() == Some(0) {
            return Ok((path, None));
        }
        let mut said = add.refused(&answer).message;
        let entries = worktrees::entries(&self.top)?;
        let made = entries.iter().find(|it| it.path == path);
        if made.is_some_and(|it| it.branch.as_ref() == Some(&branch.full()) && !it.half_made()) {
            let left = status::uncommitted(&path)?.all;
            if left.is_empty() {
                return Ok((path, Some(said)));
            }
            said += &format!("\nA hook left what no commit has: {left}");
        }
        unmake(&self.top, &path)?;
        if is_new {
            Git::at(&self.top)
                .args(&["update-ref", "-d", &branch.full(), head])
                .run_patiently()?;
        }
        Err(WorktreeError::NotMade {
            task: task.clone(),
            said: last_lines(&said),
        })
    }
}

fn made_for<'a>(
    base: &Path,
    branch: &Branch,
    entries: &'a [WorktreeEntry],
) -> Option<&'a WorktreeEntry> {
    entries
        .iter()
        .find(|entry| Worktrees::made_for(base, entry).as_ref() == Some(branch))
}

/// The worktree of a blocker, wherever its agent went in it; else one that stands on its branch.
fn standing_for<'a>(
    base: &Path,
    branch: &Branch,
    entries: &'a [WorktreeEntry],
) -> Option<&'a WorktreeEntry> {
    let full = branch.full();
    made_for(base, branch, entries).or_else(|| {
        entries
            .iter()
            .find(|entry| entry.branch.as_ref() == Some(&full))
    })
}

/// The end of what git said, where what went wrong is.
fn last_lines(said: &str) -> String {
    let lines: Vec<&str> = said.lines().collect();
    let from = lines.len().saturating_sub(LAST_LINES);
    lines.get(from..).unwrap_or_default().join("\n")
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

/// Removes a worktree that nobody was handed: all that is in it comes from the commit, or comes again.
pub(super) fn unmake(top: &Path, path: &Path) -> WorktreeResult<()> {
    if path.symlink_metadata().is_ok() {
        fsx::remove_tree(path)?;
    }
    let known = worktrees::entries(top)?;
    if let Some(entry) = known.into_iter().find(|it| it.path == path) {
        if entry.half_made() || provision::is_unfinished(&entry) {
            provision::unlock(top, path)?;
        }
        Git::at(top)
            .args(&["worktree", "remove"])
            .arg(path)
            .run_patiently()?;
    }
    Ok(())
}

/// Completes a worktree that git was making when it was cut off, and brings one back whose
/// directory somebody removed. One that is whole is left as it is.
fn recover(top: &Path, entry: &WorktreeEntry) -> WorktreeResult<()> {
    let path = &entry.path;
    if fsx::stat(&fsx::RealFs, path)?.is_none() {
        fsx::make_dirs(&fsx::RealFs, path)?;
        Git::at(top).args(&["worktree", "repair"]).run()?;
        status::stands_alone(path)?;
        // From the index, with what was staged.
        Git::at(path)
            .args(&["checkout-index", "--all"])
            .run_patiently()?;
    }
    if entry.half_made() {
        status::stands_alone(path)?;
        // Nobody was handed this one, so all that is in it comes from the commit.
        Git::at(path)
            .args(&["reset", "--quiet", "--hard"])
            .run_patiently()?;
        Git::at(top).args(&["worktree", "unlock"]).arg(path).run()?;
    }
    status::stands_alone(path)
}
