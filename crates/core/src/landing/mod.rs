//! Landing: passed tasks' branches on their way to the target branch.
//!
//! Owns what is to land and in which order, which is derived from tasks, sessions and git whenever it is
//! asked for, and how an outcome is recorded. The only thing that is kept is the outcome: on the task, in
//! the history, and in git as a tag below `refs/flagpost/landed/`, made in the same step that moves the
//! target. How branches are merged and checked belongs to whoever runs a landing.

mod activity;
mod change;
mod launch;
mod named;
mod outcome;
mod queue;
mod refs;
mod review;
mod session;
mod settings;
mod view;

use std::path::{Path, PathBuf};

use flagpost_disk::fsx::{self, Flock};

use crate::{
    error::Result,
    git::{self, Branch, Git, branch},
    history::Kind,
    home::Home,
    repository::Repository,
};

pub use crate::error::LandingRefusal;
pub use activity::{LandingActivity, LandingFailure, LandingStep};
pub use change::{ChangeStage, ChangedFile, TaskChange, worktree_of};
pub use launch::start;
pub use outcome::{LandedTask, recall, record_landed, record_move, record_no_commit, refuse};
pub use queue::{BranchAction, BranchState, LandingQueue, QueuedBranch, ownerless, queue};
pub use refs::{LandedTag, has_landed, landed_below, landed_ref, passed_ref, staged_ref};
pub use review::{
    InvalidRemark, LineRemark, ReviewRule, ReviewWords, approve, return_work, reviewed,
};
pub use session::SessionLanding;
pub use settings::GitSettings;
pub use view::LandingView;

/// The lock that a landing holds for its life.
const LOCK: &str = "land.lock";

/// The branch that work lands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its name, as `git branch` shows it.
    pub branch: String,
    /// The commit that it stands on.
    pub tip: String,
}

impl Target {
    /// The branch of this name; without one, the branch that the repository stands on.
    pub fn of(repository: &Repository, asked: Option<&str>) -> Result<Self> {
        let top = &repository.top;
        let branch = match asked {
            Some(name) => git::branch::short(name).to_owned(),
            None => current_branch(top)?.ok_or(LandingRefusal::Detached)?,
        };
        if Branch::named(&branch).is_of_a_task() {
            return Err(LandingRefusal::OwnBranch { branch }.into());
        }
        match git::tip(top, &format!("refs/heads/{branch}"))? {
            Some(tip) => Ok(Self { branch, tip }),
            None => Err(LandingRefusal::NoTarget { branch }.into()),
        }
    }

    /// Where it stands now, if something else moved it than a landing or who took what one had staged, and
    /// nobody was told of that.
    pub fn moved_by_others(&self, home: &Home, repository: &Repository) -> Result<Option<Self>> {
        let now = Self::of(repository, Some(&self.branch))?;
        if now.tip == self.tip {
            return Ok(None);
        }
        let kinds = [Kind::TargetMoving, Kind::TargetMoved];
        let move_to = (&*now.branch, &*now.tip);
        let is_known = outcome::is_on_record(home, repository, &kinds, move_to)?;
        Ok((!is_known).then_some(now))
    }

    /// The commit that waits to be taken into it, and whether a landing tested it.
    pub fn staged(&self, home: &Home, repository: &Repository) -> Result<Option<(String, bool)>> {
        let Some(commit) = git::commit(&repository.top, &staged_ref(&self.branch))? else {
            return Ok(None);
        };
        let is_ours = outcome::is_of_a_landing(home, repository, (&self.branch, &commit))?;
        Ok(Some((commit, is_ours)))
    }

    /// Its whole name.
    pub fn full(&self) -> String {
        format!("refs/heads/{}", self.branch)
    }
}

/// The branch that a working tree or bare repository stands on.
fn current_branch(top: &Path) -> Result<Option<String>> {
    let mut git = Git::at(top).args(&["symbolic-ref", "--quiet", "HEAD"]);
    let answer = git.ask()?;
    match answer.code() {
        Some(0) => Ok(Some(branch::short(&git::text(&answer.out)).to_owned())),
        Some(1) => Ok(None),
        _ => Err(LandingRefusal::NoGit {
            dir: top.to_owned(),
            why: git.refused(&answer).message,
        }
        .into()),
    }
}

/// Whether a repository may have branches of tasks: where there are none, git need not be asked. A linked
/// working tree's are elsewhere.
pub fn may_have_branches(repository: &Repository) -> bool {
    let git = repository.top.join(".git");
    if !git.is_dir() {
        return git.is_file();
    }
    let folder = format!("refs/heads/{}", branch::PREFIX);
    let packed = std::fs::read(git.join("packed-refs")).unwrap_or_default();
    let is_packed = packed
        .windows(folder.len())
        .any(|it| it == folder.as_bytes());
    git.join(&folder).is_dir() || is_packed
}

/// A landing that nobody else of the repository is in. It ends when it is dropped.
#[derive(Debug)]
pub struct LandingLock {
    _held: Box<dyn Flock>,
}

impl LandingLock {
    /// Takes it, unless somebody holds it.
    pub fn take(home: &Home, repository: &Repository) -> Result<Self> {
        let path = lock_path(home, repository);
        match fsx::hold(home.fs(), &path, home.now())? {
            Some(held) => Ok(Self { _held: held }),
            None => Err(LandingRefusal::UnderWay {
                holder: fsx::holder(home.fs(), &path)?,
            }
            .into()),
        }
    }
}

fn lock_path(home: &Home, repository: &Repository) -> PathBuf {
    home.repository_dir(&repository.id).join(LOCK)
}
