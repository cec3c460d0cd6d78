//! A worktree and a branch for each task of a run (`run --worktrees`).
//!
//! Owns where they lie, how one begins with what its blockers committed, and whether one may go.
//! Whether a worktree exists, and what it holds, is git's to say: nothing is kept beside it.
//! Invariants: nothing is forced; a worktree goes only when nothing in it would be lost, and stays
//! when that cannot be told (trap 41). It must never commit what an agent left uncommitted: that
//! would pass unfinished work off as the agent's. It is reported instead.

mod blockers;
mod branch;
mod close;
mod error;
mod git;
mod left;
mod listing;
mod open;
mod standing;
mod touched;

use std::path::{Path, PathBuf};

use flagpost_disk::{self as disk, fsx};
use flagpost_model::{SessionId, TaskId};

pub use blockers::{Missing, Why};
pub use branch::Branch;
pub use close::{Because, Closed};
pub use error::{Error, Result};
pub use git::PARENT_VARIABLES;
pub use left::left;
pub use open::Opened;
pub use standing::Files;
pub use touched::{Tree, stamp, touched};

use git::Git;
use listing::Entry;

/// The worktrees of one session.
#[derive(Debug)]
pub struct Worktrees {
    top: PathBuf,
    root: PathBuf,
    session: SessionId,
}

/// A task's worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// Whose.
    pub task: TaskId,
    /// Where it lies.
    pub path: PathBuf,
    /// What it was made to stand on. An agent may have left it.
    pub branch: Branch,
}

impl Worktrees {
    /// The worktrees of `session` in the repository at `top`, to be put under `root`, which need
    /// not exist. No other session may share that directory.
    pub fn new(top: PathBuf, root: PathBuf, session: SessionId) -> Self {
        Self { top, root, session }
    }

    /// An error unless worktrees can be made: `top` is a git working tree, it has a commit, and no
    /// branch stands in the way of the tasks' branches.
    pub fn check(&self) -> Result<()> {
        self.head()?;
        for name in [branch::PREFIX.to_owned(), branch::folder(&self.session)] {
            if exists(&self.top, &format!("refs/heads/{name}"))? {
                return Err(Error::BranchInTheWay { branch: name });
            }
        }
        Ok(())
    }

    /// The branch of a task in this session.
    pub fn branch(&self, task: &TaskId) -> Branch {
        Branch::new(&self.session, task)
    }

    /// Whether there is a branch.
    pub fn has(&self, branch: &Branch) -> Result<bool> {
        exists(&self.top, &branch.full())
    }

    fn worktree(&self, task: TaskId, path: PathBuf) -> Worktree {
        let branch = self.branch(&task);
        Worktree { task, path, branch }
    }

    /// Whose worktree it is. Its place tells, as an agent may stand on any branch; one that
    /// somebody made or moved elsewhere is theirs, whatever it stands on.
    fn task_of(&self, root: &Path, entry: &Entry) -> Option<TaskId> {
        let name = entry.path.strip_prefix(root).ok()?.to_str()?;
        name.split('+').next()?.parse().ok()
    }

    /// The commit that the repository stands on.
    fn head(&self) -> Result<String> {
        standing::stands_alone(&self.top)?;
        commit(&self.top, "HEAD")?.ok_or_else(|| Error::NoCommit {
            dir: self.top.clone(),
        })
    }

    /// Makes the directory of the worktrees; its name as git tells it.
    fn make_root(&self) -> Result<PathBuf> {
        fsx::make_dirs(&fsx::RealFs, &self.root)?;
        let real = self.root.canonicalize();
        Ok(real.map_err(disk::Error::io("resolve", &self.root))?)
    }
}

/// The commit that a name stands for in `dir`.
fn commit(dir: &Path, name: &str) -> Result<Option<String>> {
    let mut git = Git::at(dir)
        .args(&["rev-parse", "--verify", "--quiet"])
        .arg(format!("{name}^{{commit}}"));
    let answer = git.ask()?;
    match answer.code() {
        Some(0) => Ok(Some(text(&answer.out))),
        Some(1) => Ok(None),
        _ => Err(git.refused(&answer)),
    }
}

/// Whether there is a branch, tag or remote branch of this whole name.
fn exists(dir: &Path, full: &str) -> Result<bool> {
    let mut git = Git::at(dir).args(&["show-ref", "--verify", "--quiet", full]);
    let answer = git.ask()?;
    match answer.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => Err(git.refused(&answer)),
    }
}

fn text(out: &[u8]) -> String {
    String::from_utf8_lossy(out).trim().to_owned()
}
