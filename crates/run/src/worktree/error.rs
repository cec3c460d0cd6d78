//! What can go wrong with a worktree, always with what git was asked and where.
//!
//! Owns the error of this subject. It must never name a command that throws work away: agents obey
//! error texts (trap 44).

use std::path::PathBuf;

use flagpost_core::git::GitError;
use flagpost_disk as disk;
use flagpost_model::TaskId;

/// A result of this subject.
pub type WorktreeResult<T, E = WorktreeError> = std::result::Result<T, E>;

/// A worktree that could not be had.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// The directory is not the top of a git working tree.
    #[error("{} is not the top of a git working tree: {reason}", dir.display())]
    NoRepository {
        /// Which directory.
        dir: PathBuf,
        /// What git said.
        reason: String,
    },
    /// There is nothing to branch from.
    #[error("{} has no commit yet: worktrees branch from one, so make the first", dir.display())]
    NoCommit {
        /// The top of the repository.
        dir: PathBuf,
    },
    /// A branch stands where the branches of the tasks go.
    #[error("there is a branch named {branch:?}, so git can make none named \"{branch}/…\"")]
    BranchInTheWay {
        /// Its name.
        branch: String,
    },
    /// Git makes no worktree. Nor would it for the next task.
    #[error(
        "git could make no worktree for task {task}, and what it made of it is removed; it said at last:\n{said}"
    )]
    NotMade {
        /// Which task's.
        task: TaskId,
        /// The last lines of git and its hooks.
        said: String,
    },
    /// A link of `run.worktree.link` cannot be made.
    #[error("{reason}")]
    NoLink {
        /// Why not.
        reason: &'static str,
    },
    /// `git` failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A directory could not be made or found.
    #[error(transparent)]
    Disk(#[from] disk::Error),
}
