//! What a task changes: which two states of the files git compares.
//!
//! Owns that choice. What passed is compared as a landing would bring it: the target, and the target with the task's
//! branch merged. What is being done is compared with where it began, and what has landed with what was there before.
//! It changes nothing but git's objects: a merge on trial leaves a tree that nothing names.

use std::path::{Path, PathBuf};

use flagpost_model::{
    TaskId,
    task::{Landed, Landing, Task},
};

use super::{GitSettings, LandingRefusal, QueuedBranch, Target, queue::branches, reviewed};
use crate::{
    error::{Error, Result},
    git::{self, Branch, Git, GitResult, text, worktrees},
    list::List,
    repository::Repository,
    sessions::Sessions,
};

/// So many bytes of a file's patch are told: no person reads more.
const LONGEST_PATCH: usize = 1 << 20;

/// What a task changes.
#[derive(Debug)]
pub struct TaskChange {
    /// Whose.
    pub task: TaskId,
    /// Where git is asked.
    pub dir: PathBuf,
    /// The commit before.
    pub before: String,
    /// The commit or tree after; none is what lies in the working tree.
    pub after: Option<String>,
    /// The target branch.
    pub onto: String,
    /// How far it is.
    pub stage: ChangeStage,
    /// Its branch in the queue, where it is to land.
    pub queued: Option<QueuedBranch>,
    /// Whether git's settings are those that a person has seen: others may run an agent's programs.
    pub is_trusted: bool,
    /// New files in the working tree that git does not know: no comparison has them.
    pub unknown: Vec<String>,
}

/// How far the work of a task is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeStage {
    /// It is being done, or was given up.
    Underway(Branch),
    /// It is to land, and is compared as the target would have it.
    ToLand(Branch),
    /// It meets conflicts in these files, and is compared with where it began.
    Conflicts(Branch, Vec<String>),
    /// It is on the target since this commit.
    Landed(String),
}

/// A file that a task changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path, from the top.
    pub path: String,
    /// Lines added and lines removed; none where it is no text.
    pub lines: Option<(u64, u64)>,
    /// What git says of it in full, where that was asked for.
    pub patch: Option<String>,
}

impl ChangeStage {
    /// In a word.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Underway(_) => "underway",
            Self::ToLand(_) => "to_land",
            Self::Conflicts(..) => "conflicts",
            Self::Landed(_) => "landed",
        }
    }

    /// The task's branch; none where it has landed.
    pub fn branch(&self) -> Option<&Branch> {
        match self {
            Self::Underway(branch) | Self::ToLand(branch) | Self::Conflicts(branch, _) => {
                Some(branch)
            }
            Self::Landed(_) => None,
        }
    }

    /// The files in conflict with the target.
    pub fn conflicts(&self) -> &[String] {
        match self {
            Self::Conflicts(_, files) => files,
            Self::Underway(_) | Self::ToLand(_) | Self::Landed(_) => &[],
        }
    }
}

impl TaskChange {
    /// What a task changes, on its way to the target of this name or the branch that the repository stands on.
    pub fn of(
        repository: &Repository,
        list: &List<'_>,
        task: &Task,
        onto: Option<&str>,
    ) -> Result<Self> {
        let queue = reviewed(list, repository, onto)?;
        let queued = queue.branch_of(&task.id).cloned();
        let (place, target) = ((repository, list), queue.target);
        let (dir, before, after, stage) = compared(place, task, &target, queued.as_ref())?;
        let settings = GitSettings::of(repository)?;
        let unknown = match (&dir, &after) {
            (Some(dir), None) => unknown(dir)?,
            _ => Vec::new(),
        };
        Ok(Self {
            task: task.id.clone(),
            dir: dir.unwrap_or_else(|| repository.top.clone()),
            before,
            after,
            onto: target.branch,
            stage,
            queued,
            is_trusted: settings.changed(list.home, repository)?.is_empty(),
            unknown,
        })
    }

    /// The words by which 'git diff' compares it.
    pub fn words(&self) -> Vec<&str> {
        let mut words = vec!["diff"];
        if !self.is_trusted {
            words.extend(["--no-ext-diff", "--no-textconv"]);
        }
        words.push(&self.before);
        words.extend(self.after.as_deref());
        words
    }

    /// One of the files with its patch; of a long one the beginning.
    pub fn file(&self, path: &str) -> Result<ChangedFile> {
        let only = format!(":(top,literal){path}");
        let found = self.sizes(&["--", &only])?;
        // The path of a directory has the files below it.
        let found = found.into_iter().find(|it| it.path == path);
        let file = found.ok_or_else(|| Error::NotFound {
            what: "changed file",
            id: path.to_owned(),
            list: None,
        })?;
        let mut words = self.words();
        words.splice(1..1, ["--no-color", "--no-ext-diff", "--no-renames"]);
        words.extend(["--", &only]);
        let out = Git::at(&self.dir).args(&words).run()?;
        let most = out.len().min(LONGEST_PATCH);
        let mut patch = String::from_utf8_lossy(&out[..most]).into_owned();
        if out.len() > most {
            patch += &format!("\n… {} bytes more\n", out.len() - most);
        }
        Ok(ChangedFile {
            patch: Some(patch),
            ..file
        })
    }

    /// The commit of its branch, where that waits to land: what a person approves.
    pub fn tip(&self) -> Option<&str> {
        self.queued.as_ref().map(|it| it.tip.as_str())
    }

    /// Whether git sees no difference.
    pub fn is_empty(&self) -> Result<bool> {
        let mut words = self.words();
        words.splice(1..1, ["--quiet", "--no-ext-diff"]);
        let mut look = Git::at(&self.dir).args(&words);
        let answer = look.ask()?;
        match answer.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(look.refused(&answer).into()),
        }
    }

    /// The files.
    pub fn files(&self) -> Result<Vec<ChangedFile>> {
        self.sizes(&[])
    }

    /// How much of each file changes, of those that these further words select.
    fn sizes(&self, of: &[&str]) -> Result<Vec<ChangedFile>> {
        let mut words = self.words();
        words.splice(1..1, ["--numstat", "--no-renames", "-z"]);
        words.extend(of);
        let out = Git::at(&self.dir).args(&words).run()?;
        let out = String::from_utf8_lossy(&out);
        let entries = out.split_terminator('\0').filter_map(|entry| {
            let mut parts = entry.splitn(3, '\t');
            let (added, removed) = (parts.next()?, parts.next()?);
            let lines = added.parse().ok().zip(removed.parse().ok());
            let path = parts.next()?.to_owned();
            Some(ChangedFile {
                path,
                lines,
                patch: None,
            })
        });
        Ok(entries.collect())
    }
}

/// What is compared, and how far the work is: a working tree where one has it, what was before, and what is after.
type Compared = (Option<PathBuf>, String, Option<String>, ChangeStage);

fn compared(
    (repository, list): (&Repository, &List<'_>),
    task: &Task,
    target: &Target,
    queued: Option<&QueuedBranch>,
) -> Result<Compared> {
    let top = &repository.top;
    if let Some(queued) = queued {
        let (before, after, stage) = merged(top, target, queued)?;
        return Ok((None, before, Some(after), stage));
    }
    let of_branch = match &task.landing {
        Some(Landing::Landed(landed)) => {
            let stage = ChangeStage::Landed(landed.commit.clone());
            let before = before_landed(top, landed)?;
            return Ok((None, before, Some(landed.commit.clone()), stage));
        }
        Some(Landing::NoCommit(_)) => None,
        Some(Landing::Refused(_) | Landing::Approved(_)) | None => {
            let sessions = Sessions::of(list.home, repository);
            branches(&sessions, repository, list, target)?.remove(&task.id)
        }
    };
    let Some((branch, tip)) = of_branch else {
        let task = task.id.clone();
        return Err(LandingRefusal::NoChange { task }.into());
    };
    let worktree = worktree_on(top, &branch)?;
    let before = merge_base(top, &target.tip, &tip)?;
    let after = worktree.is_none().then_some(tip);
    Ok((worktree, before, after, ChangeStage::Underway(branch)))
}

/// Where the worktree of a task is.
pub fn worktree_of(repository: &Repository, list: &List<'_>, task: &TaskId) -> Result<PathBuf> {
    let target = Target::of(repository, None)?;
    let sessions = Sessions::of(list.home, repository);
    let branch = branches(&sessions, repository, list, &target)?.remove(task);
    let dir = match &branch {
        Some((branch, _)) => worktree_on(&repository.top, branch)?,
        None => None,
    };
    dir.ok_or_else(|| {
        let branch = branch.map(|(branch, _)| branch.to_string());
        let task = task.clone();
        LandingRefusal::NoWorktree { task, branch }.into()
    })
}

/// New files in a working tree that git does not know.
fn unknown(dir: &Path) -> GitResult<Vec<String>> {
    let out = Git::at(dir)
        .args(&["ls-files", "--others", "--exclude-standard", "-z"])
        .run()?;
    Ok(names(&out))
}

/// The target and what it would be with the branch merged; where that meets conflicts, the branch and where it began.
fn merged(
    top: &Path,
    target: &Target,
    queued: &QueuedBranch,
) -> GitResult<(String, String, ChangeStage)> {
    let (tree, files) = git::try_merge(top, &target.tip, &queued.tip)?;
    let (files, branch) = (names(&files), queued.branch.clone());
    if files.is_empty() {
        return Ok((target.tip.clone(), tree, ChangeStage::ToLand(branch)));
    }
    let before = merge_base(top, &target.tip, &queued.tip)?;
    let stage = ChangeStage::Conflicts(branch, files);
    Ok((before, queued.tip.clone(), stage))
}

/// Names of files, each ended by a NUL.
fn names(out: &[u8]) -> Vec<String> {
    let names = out.split(|byte| *byte == 0).filter(|it| !it.is_empty());
    names
        .map(|it| String::from_utf8_lossy(it).into_owned())
        .collect()
}

/// The commit before those by which work landed: a merge has it as its first parent, a squash as its only one; of a
/// rebase it stands as many commits below as the branch had.
fn before_landed(top: &Path, landed: &Landed) -> GitResult<String> {
    let commit = &landed.commit;
    let is_own = git::subject(top, commit)?.starts_with("Land task ");
    let counted = match is_own {
        true => "1".to_owned(),
        false => {
            let mut count = Git::at(top)
                .args(&["rev-list", "--count", &landed.tip, "--not"])
                .args(&[commit, "--"]);
            text(&count.ask()?.out)
        }
    };
    let commits: u64 = counted.parse().unwrap_or_default();
    let name = format!("{commit}~{}", commits.max(1));
    let found = git::commit(top, &name)?;
    Ok(found.unwrap_or_else(|| commit.clone()))
}

fn merge_base(top: &Path, one: &str, other: &str) -> GitResult<String> {
    let found = Git::at(top).args(&["merge-base", one, other]).run()?;
    Ok(text(&found))
}

/// The working tree that stands on a branch.
fn worktree_on(top: &Path, branch: &Branch) -> GitResult<Option<PathBuf>> {
    let full = branch.full();
    let mut entries = worktrees::entries(top)?.into_iter();
    let found = entries.find(|it| it.branch.as_ref() == Some(&full));
    Ok(found.map(|it| it.path).filter(|it| it.is_dir()))
}
