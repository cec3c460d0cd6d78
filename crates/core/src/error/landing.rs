//! Why nothing can be landed.
//!
//! Owns the words. What they mean for an exit code and what to do next is in `failure`.

use std::path::PathBuf;

use flagpost_disk::fsx::Holder;
use flagpost_model::TaskId;

/// Nothing can be landed so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LandingRefusal {
    /// Git knows no repository there, or nothing of it.
    #[error("git cannot say what is to land in {}: {why}", dir.display())]
    NoGit {
        /// Where.
        dir: PathBuf,
        /// What git said.
        why: String,
    },
    /// The repository stands on a commit.
    #[error("the repository stands on no branch, so nothing says where to land")]
    Detached,
    /// The target is not there.
    #[error("there is no branch {branch} to land on")]
    NoTarget {
        /// Its name.
        branch: String,
    },
    /// The target is a task's.
    #[error("{branch} is the branch of a task, and no work lands on it")]
    OwnBranch {
        /// Its name.
        branch: String,
    },
    /// Somebody else lands.
    #[error("a landing is under way{}", holder.as_ref().map_or_else(String::new, |it| format!(": {it}")))]
    UnderWay {
        /// Who.
        holder: Option<Holder>,
    },
    /// A task that was named has nothing to land.
    #[error("task {task} has nothing to land: {why}")]
    NothingToLand {
        /// Which.
        task: TaskId,
        /// Why not.
        why: String,
    },
    /// The branch of a task is not the one that was looked at.
    #[error(
        "the branch of task {task} stands on {tip:.12}, and you saw {seen:.12}: nothing was decided"
    )]
    NotAsSeen {
        /// Whose.
        task: TaskId,
        /// The commit that was looked at.
        seen: String,
        /// The commit that it stands on.
        tip: String,
    },
    /// A comment is about a line that is not there.
    #[error("task {task} has no line {place}: {why}")]
    NoLine {
        /// Which.
        task: TaskId,
        /// The line, as `path:number`.
        place: String,
        /// Why not.
        why: String,
    },
    /// No branch holds changes of this task.
    #[error("task {task} has no changes of its own")]
    NoChange {
        /// Which.
        task: TaskId,
    },
    /// A task has no worktree.
    #[error("task {task} has no worktree")]
    NoWorktree {
        /// Which.
        task: TaskId,
        /// Its branch, where it has one.
        branch: Option<String>,
    },
    /// The target and the remote's went apart.
    #[error("{branch} and {branch} of {remote} have gone apart")]
    Diverged {
        /// The branch.
        branch: String,
        /// The remote.
        remote: String,
    },
    /// The remote did not do what was asked.
    #[error("{remote} does not take {branch}: {why}")]
    Remote {
        /// The remote.
        remote: String,
        /// The branch.
        branch: String,
        /// What git said.
        why: String,
    },
    /// Somebody else moved the target on this machine.
    #[error(
        "somebody else moved {branch} from {from} to {to} meanwhile ('{subject}'), and nothing landed on top of that"
    )]
    Moved {
        /// The branch.
        branch: String,
        /// Where it stood.
        from: String,
        /// Where it stands.
        to: String,
        /// What the newer commit says of itself.
        subject: String,
    },
    /// What git runs is not what it was when the last run began.
    #[error("nothing lands: since the last run began, what git runs here was changed: {}", what.join(", "))]
    GitChanged {
        /// Settings, hooks and files of git.
        what: Vec<String>,
    },
    /// The target moves faster than it can be checked.
    #[error("{branch} was moved by others {times} times while its next commit was checked")]
    Overtaken {
        /// The branch.
        branch: String,
        /// How often.
        times: u32,
    },
    /// The check fails without any of the work that is to land.
    #[error(
        "nothing lands, and no work is sent back, since the check fails on {branch} itself. {why}"
    )]
    Unsound {
        /// The branch.
        branch: String,
        /// What came of the check.
        why: String,
    },
    /// The tree of the checks does not get what a worktree gets.
    #[error("nothing lands, since the tree of the checks could not be set up: {why}")]
    NotSetUp {
        /// What came of the command.
        why: String,
    },
    /// The process of a landing ended before it was at work.
    #[error("the landing did not begin: {why}")]
    NotStarted {
        /// What it said.
        why: String,
    },
    /// A remote has no place for pull requests.
    #[error("no pull request can be opened at {remote}: {why}")]
    NoRequests {
        /// The remote.
        remote: String,
        /// Why not.
        why: String,
    },
    /// The program that opens pull requests is not installed.
    #[error("pull requests are opened by the program gh, which is not on the PATH")]
    NoGh,
    /// It failed.
    #[error("gh {call}: {why}")]
    Gh {
        /// What it was asked.
        call: String,
        /// What it said.
        why: String,
    },
    /// The operator ended it.
    #[error("the landing was interrupted; what had landed on {branch} before is whole")]
    Interrupted {
        /// The branch.
        branch: String,
    },
}
