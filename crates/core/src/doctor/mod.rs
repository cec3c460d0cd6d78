//! Looking at everything that should hold of a home and its repositories (`tree.md`).
//!
//! Owns the checks, one file per subject, and carrying their repairs out. Invariants: looking
//! leaves nothing behind and never fails: what goes wrong in one check is itself a finding and
//! hides no other. A repair looks again under the lock before it changes anything, tells the
//! history first, and deletes no content.
//!
//! A new check is a function over the `World` and a line in `CHECKS`; a new fault is a line in
//! `model::finding`.

mod accounts;
mod answer;
mod coordination;
mod counter;
mod files;
mod history;
mod lists;
mod locks;
mod machine;
mod machines;
mod mail;
mod modes;
mod moves;
mod notifications;
mod offline_queue;
mod repair;
mod repositories;
mod reservations;
mod sessions;
mod settings;
mod tasks;
mod world;

use std::path::{Path, PathBuf};

use flagpost_model::{
    ListId, RepoId, TaskId, WorkerId,
    envelope::Direction,
    finding::{Code, Severity},
};

pub use answer::{ANSWERS, Examined, FindingCounts};
pub use repair::{Mended, RepairOutcome, mend};

use crate::{
    error::{Result, describe},
    home::Home,
};
use world::World;

/// Something that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which fault.
    pub code: Code,
    /// What is wrong, in a sentence.
    pub what: String,
    /// Where.
    pub path: Option<PathBuf>,
    /// In which list.
    pub list: Option<ListId>,
    /// With which task.
    pub task: Option<TaskId>,
    /// What to do about it.
    pub repair: Repair,
}

/// What to do about a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repair {
    /// Nothing has to be done.
    Nothing,
    /// Somebody has to do it: the command or the edit.
    ByHand(String),
    /// `doctor --fix` does it.
    Fix(Fix),
}

/// What `doctor --fix` can do, in the order in which it does it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fix {
    /// Remove the temporaries of dead writers from a directory: older than 60 s, pid dead.
    Sweep(PathBuf),
    /// Let nobody but the owner into these.
    Close(Vec<PathBuf>),
    /// Give the lines after a leap in a history the numbers that they would have had.
    Renumber(RepoId),
    /// Give a list to the repository whose history records it.
    Bind(ListId, RepoId),
    /// Void the lines of changes that never appeared.
    Settle(RepoId),
    /// Go on in a history above every number and token that was seen.
    Resume(RepoId),
    /// Find the highest id ever given out anew.
    Recount(ListId),
    /// Find the highest number of a direction of a worker's mail anew.
    RecountMail(RepoId, WorkerId, Direction),
    /// Make both files say that the first task waits for the second.
    Mirror(ListId, TaskId, TaskId),
    /// Put the files of a list back that another program took away, as this history last tells of them.
    BringBack(ListId, RepoId),
    /// Make the first task not block the second, which does not exist.
    Unblock(ListId, TaskId, TaskId),
}

impl std::fmt::Display for Fix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sweep(dir) => write!(f, "remove dead writers' temporaries in {}", dir.display()),
            Self::Close(paths) => match paths.as_slice() {
                [one] => write!(f, "let nobody but you into {}", one.display()),
                all => write!(f, "let nobody but you into {} files", all.len()),
            },
            Self::Renumber(repository) => write!(
                f,
                "keep a copy of the history of repository {repository}, and give the lines after the leap the numbers that come next"
            ),
            Self::Bind(list, repository) => {
                write!(f, "give list {list} to repository {repository}")
            }
            Self::Settle(repository) => write!(
                f,
                "void what never happened in the history of repository {repository}"
            ),
            Self::Resume(repository) => write!(
                f,
                "go on above every number seen in the history of repository {repository}"
            ),
            Self::Recount(list) => {
                write!(f, "find the highest id of list {list} anew")
            }
            Self::RecountMail(_, worker, direction) => write!(
                f,
                "find the highest number in the {direction} of {worker} anew"
            ),
            Self::Mirror(list, waiting, blocker) => write!(
                f,
                "make both files in list {list} say that {waiting} waits for {blocker}"
            ),
            Self::BringBack(list, _) => write!(
                f,
                "put the tasks of list {list} back as the history last tells of them"
            ),
            Self::Unblock(list, blocking, missing) => write!(
                f,
                "make {blocking} in list {list} not block {missing} any more"
            ),
        }
    }
}

impl Finding {
    /// A finding with nothing to be done about it.
    pub fn new(code: Code, what: impl Into<String>) -> Self {
        Self {
            code,
            what: what.into(),
            path: None,
            list: None,
            task: None,
            repair: Repair::Nothing,
        }
    }

    /// How bad it is.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// At this path.
    #[must_use]
    pub fn at(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// In this list.
    #[must_use]
    pub fn list(mut self, list: &ListId) -> Self {
        self.list = Some(list.clone());
        self
    }

    /// With this task.
    #[must_use]
    pub fn task(mut self, task: &TaskId) -> Self {
        self.task = Some(task.clone());
        self
    }

    /// For somebody to do.
    #[must_use]
    pub fn by_hand(mut self, text: impl Into<String>) -> Self {
        self.repair = Repair::ByHand(text.into());
        self
    }

    /// For `doctor --fix` to do.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.repair = Repair::Fix(fix);
        self
    }
}

type Check = fn(&World<'_>, &mut Vec<Finding>) -> Result<()>;

/// Every check, with the subject that is named where it fails.
const CHECKS: &[(&str, Check)] = &[
    ("modes", modes::check),
    ("locks", locks::check),
    ("temporary files", files::temporaries),
    ("quarantine", files::quarantine),
    ("names of lists", lists::names),
    ("tasks.roots", lists::roots),
    ("tasks.mirror", lists::mirror),
    ("bindings", lists::bindings),
    ("execution pointers", lists::pointers),
    ("counters", counter::check),
    ("tasks", tasks::check),
    ("dependencies", tasks::links),
    ("parents", tasks::parents),
    ("files taken away", tasks::vanished),
    ("moves", moves::check),
    ("repositories", repositories::check),
    ("targets of landings", repositories::targets),
    ("branches without a task", repositories::ownerless),
    ("reservations and requests", reservations::check),
    ("kept reports", offline_queue::check),
    ("coordination directories", coordination::check),
    ("histories", history::check),
    ("mail", mail::check),
    ("sessions", sessions::check),
    ("tasks of sessions", sessions::tasks),
    ("settings", settings::check),
    ("policies", settings::policies),
    ("accounts", accounts::check),
    ("notifications", notifications::check),
    ("fleet of machines", machines::check),
    ("clock", machine::clock),
    ("disk", machine::disk),
    ("git", machine::git),
    ("watches", machine::watches),
];

/// Looks at the whole home, at every repository registered in it, and at the one around `dir`. The
/// worst comes first.
pub fn examine(home: &Home, dir: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(world) = World::see(home, dir, &mut findings) {
        for (subject, check) in CHECKS {
            if let Err(error) = check(&world, &mut findings) {
                let what = format!("{subject} could not be checked: {}", describe(&error));
                let hint = "mend what it names, and look again";
                findings.push(Finding::new(Code::CheckFailed, what).by_hand(hint));
            }
        }
    }
    findings.sort_by(|a, b| {
        let key = |it: &Finding| (it.severity(), it.code, it.list.clone(), it.task.clone());
        key(a).cmp(&key(b)).then_with(|| a.path.cmp(&b.path))
    });
    findings
}
