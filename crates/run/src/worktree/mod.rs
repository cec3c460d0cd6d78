//! A worktree and a branch for each task of a run (`run --worktrees`).
//!
//! Owns where they lie, how one begins with what its blockers committed, and whether one may go.
//! Whether a worktree exists, and what it holds, is git's to say: nothing is kept beside it.
//! Invariants: nothing is forced; a worktree goes only when nothing in it would be lost, and stays
//! when that cannot be told (trap 41). What an agent left uncommitted is committed only where its task passed,
//! and the message says by whom; else it would pass unfinished work off as the agent's.

mod blockers;
mod close;
mod error;
mod keeping;
mod left;
mod open;
mod provision;
mod reflog;
pub(crate) mod status;
pub(crate) mod submodules;
mod touched;

use std::path::{Path, PathBuf};

use flagpost_core::{
    Home, Repository,
    git::{
        Git, branch, commit, exists, text,
        worktrees::{self, WorktreeEntry},
    },
};
use flagpost_disk::{self as disk, fsx};
use flagpost_model::{SessionId, TaskId};

pub use flagpost_core::git::Branch;

pub(crate) use blockers::conflicts;
pub use blockers::{Missing, MissingReason};
pub use close::{Because, Closed};
pub use error::{WorktreeError, WorktreeResult};
pub use keeping::{KeptWork, has_commits, keep, mark_passed};
pub use left::{LeftWorktree, clean, findings, left};
pub use open::Opened;
pub use provision::Provision;
pub use status::{FileList, changed};
pub use submodules::LonelyCommits;
pub use touched::{Tree, stamp, touched};

/// The name of the directory in which a landing has its tree, beside those of the sessions: their names end in a
/// time.
pub(crate) const LANDING: &str = "landing";

/// The directory of a repository's worktrees.
pub fn root(home: &Home, repository: &Repository) -> PathBuf {
    let root = home.root().join("worktrees");
    root.join(repository.name.as_str())
}

/// The worktrees of one session.
#[derive(Debug, Clone)]
pub struct Worktrees {
    top: PathBuf,
    base: PathBuf,
    session: SessionId,
    provision: Provision,
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
    /// The worktrees of `session` in the repository at `top`, to be put under `base`, which need not
    /// exist, in a directory of the session's name. New ones get what `provision` says.
    pub fn new(top: PathBuf, base: PathBuf, session: SessionId, provision: Provision) -> Self {
        Self {
            top,
            base,
            session,
            provision,
        }
    }

    /// Those of the first of these sessions that has a worktree or a branch of the task.
    pub fn left(&self, task: &TaskId, earlier: &[SessionId]) -> WorktreeResult<Option<Self>> {
        let base = self.make_base()?;
        let entries = worktrees::entries(&self.top)?;
        for session in earlier {
            let it = Self {
                session: session.clone(),
                ..self.clone()
            };
            if it.existing(&base, task, &entries).is_some() || it.has(&it.branch(task))? {
                return Ok(Some(it));
            }
        }
        Ok(None)
    }

    /// The worktree of a task, where there is one.
    pub fn find(&self, task: &TaskId) -> WorktreeResult<Option<Worktree>> {
        let Ok(base) = self.base.canonicalize() else {
            return Ok(None);
        };
        let entries = worktrees::entries(&self.top)?;
        let found = self.existing(&base, task, &entries);
        Ok(found.map(|entry| self.worktree(task.clone(), entry.path.clone())))
    }

    /// An error unless worktrees can be made: `top` is a git working tree, it has a commit, and no
    /// branch stands in the way of the tasks' branches.
    pub fn check(&self) -> WorktreeResult<()> {
        self.head()?;
        for name in [branch::PREFIX.to_owned(), branch::folder(&self.session)] {
            if exists(&self.top, &format!("refs/heads/{name}"))? {
                return Err(WorktreeError::BranchInTheWay { branch: name });
            }
        }
        Ok(())
    }

    /// The branch of a task in this session.
    pub fn branch(&self, task: &TaskId) -> Branch {
        Branch::new(&self.session, task)
    }

    /// Whether there is a branch.
    pub fn has(&self, branch: &Branch) -> WorktreeResult<bool> {
        Ok(exists(&self.top, &branch.full())?)
    }

    fn worktree(&self, task: TaskId, path: PathBuf) -> Worktree {
        let branch = self.branch(&task);
        Worktree { task, path, branch }
    }

    /// Which branch a worktree was made for. Its place tells, as an agent may stand on any; one that
    /// somebody made or moved elsewhere is theirs, whatever it stands on.
    pub(super) fn made_for(base: &Path, entry: &WorktreeEntry) -> Option<Branch> {
        let mut place = entry.path.strip_prefix(base).ok()?.iter();
        let (session, name) = (place.next()?.to_str()?, place.next()?.to_str()?);
        let task = name.split('+').next()?.parse().ok()?;
        let is_whole = place.next().is_none();
        is_whole.then_some(Branch::new(&session.parse().ok()?, &task))
    }

    /// The commit that the repository stands on.
    fn head(&self) -> WorktreeResult<String> {
        status::stands_alone(&self.top)?;
        commit(&self.top, "HEAD")?.ok_or_else(|| WorktreeError::NoCommit {
            dir: self.top.clone(),
        })
    }

    /// Makes the directory of all worktrees; its name as git tells it.
    fn make_base(&self) -> WorktreeResult<PathBuf> {
        fsx::make_dirs(&fsx::RealFs, &self.base)?;
        let real = self.base.canonicalize();
        Ok(real.map_err(disk::Error::io("resolve", &self.base))?)
    }
}

/// The directories that a commit in a working tree writes to: the repository's, and its own where it has
/// one. None where there is no git.
pub fn git_dirs(dir: &Path) -> Vec<PathBuf> {
    let args = [
        "rev-parse",
        "--path-format=absolute",
        "--git-common-dir",
        "--git-dir",
    ];
    let out = Git::at(dir).args(&args).run().unwrap_or_default();
    let text = text(&out);
    let mut dirs: Vec<PathBuf> = text.lines().map(PathBuf::from).collect();
    dirs.dedup();
    dirs
}

/// Whether worktrees can be made in a repository: it is one of git's, and has a commit.
pub fn can_have_worktrees(repository: &Repository) -> bool {
    commit(&repository.top, "HEAD").is_ok_and(|it| it.is_some())
}

/// The files of a worktree that are in no commit and that the repository does not ignore.
pub fn uncommitted(worktree: &Worktree) -> WorktreeResult<FileList> {
    Ok(status::uncommitted(&worktree.path)?.all)
}

/// What `git status --short` says of a working tree; none where git does not say.
pub fn status(dir: &Path) -> Option<String> {
    let out = Git::at(dir).args(&["status", "--short"]).run().ok()?;
    Some(String::from_utf8_lossy(&out).trim_end().to_owned())
}
