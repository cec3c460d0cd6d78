//! A coordination directory: what can be done with the table that agents share.
//!
//! Owns where the directory is, and how it is read. Every change goes through `change`: one locked
//! reading, one rule, one replacement. The directory's own files are the truth; a repository's
//! history gets a line of each change where the directory lies in one.

mod change;
mod discoveries;
mod leader;
#[cfg(test)]
mod tests;
mod worker;

use std::path::{Path, PathBuf};

use flagpost_disk::{
    self as disk,
    dialects::coordination::{self as layout, AgentsFile, TasksFile},
    fsx::{self, Lock, Rank},
};
use flagpost_model::{
    RepoId, TaskId,
    coordination::{Board, CoordReadiness, CoordStatus, CoordTask, whole_micros},
};
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

pub(crate) use change::STAND_BACK;
pub use discoveries::{Discovery, discover, discoveries};
pub(crate) use leader::put;
pub use leader::{Summary, add, aggregate, cancel, init, lay_out, read_drafts, retry, set_goal};
pub(crate) use worker::keep_late;
pub use worker::{
    CoordActor, CoordClaimed, claim, complete, fail, heartbeat, register, start, subtask,
};

use crate::{
    error::{Error, Result, WITHOUT_TABLE},
    home::Home,
    repository::Repository,
    skipped::Skipped,
};

/// A coordination directory that is there.
#[derive(Debug)]
pub struct Directory<'h> {
    home: &'h Home,
    dir: PathBuf,
    pub(crate) repository: Option<RepoId>,
}

/// All of a directory at one moment.
#[derive(Debug, Clone)]
pub struct CoordSnapshot {
    /// The tasks and agents.
    pub board: Board,
    /// How each task stands.
    pub standings: Vec<CoordReadiness>,
    /// What is wanted, where the plan says so.
    pub goal: Option<String>,
    /// A name for the table, for good.
    pub name: String,
    /// When the table was last changed, as it says.
    pub last_updated: Option<DateTime>,
    /// What time it is in the directory's way of telling it.
    pub now: DateTime,
    /// Rows that are no tasks or no agents.
    pub skipped: Vec<Skipped>,
}

impl CoordSnapshot {
    /// The tasks, each with how it stands.
    pub fn tasks(&self) -> impl Iterator<Item = (&CoordTask, &CoordReadiness)> {
        self.board.tasks.iter().zip(&self.standings)
    }

    /// How many have this status.
    pub fn count(&self, status: CoordStatus) -> usize {
        self.board
            .tasks
            .iter()
            .filter(|it| it.status == status)
            .count()
    }
}

/// The locks of both tables.
#[derive(Debug)]
pub(crate) struct Locks {
    _agents: Lock,
    _tasks: Lock,
}

/// Both tables as they are on disk.
#[derive(Debug, Clone)]
pub(crate) struct Tables {
    pub(crate) tasks: TasksFile,
    pub(crate) agents: AgentsFile,
    /// Why the second says nothing that can be understood. Nothing is written then.
    pub(crate) agents_fault: Option<String>,
    pub(crate) bytes: Bytes,
}

/// The bytes of both tables, to see whether somebody changed them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bytes {
    pub(crate) tasks: Vec<u8>,
    pub(crate) agents: Option<Vec<u8>>,
}

impl Tables {
    pub(crate) fn board(&self) -> Board {
        Board {
            tasks: self.tasks.contents().cloned().collect(),
            agents: self.agents.contents().cloned().collect(),
        }
    }

    pub(crate) fn skipped(&self) -> Vec<Skipped> {
        let of = |name: &str, (row, reason): (String, &str)| {
            Skipped::new(format!("{name}: {row}"), reason.to_owned())
        };
        let tasks = self.tasks.faults().map(|it| of(layout::TASKS, it));
        let agents = self.agents.faults().map(|it| of(layout::AGENTS, it));
        let whole = self.agents_fault.iter();
        let whole = whole.map(|reason| Skipped::new(layout::AGENTS.to_owned(), reason.clone()));
        tasks.chain(agents).chain(whole).collect()
    }
}

/// Where the directory is meant to be: as somebody says, else the nearest one upwards, else at the
/// top of the repository.
pub fn place(home: &Home, from: &Path, told: Option<&Path>) -> Result<PathBuf> {
    if let Some(told) = told {
        return Ok(from.join(told));
    }
    for dir in from.ancestors() {
        let dir = dir.join(layout::DEFAULT_DIR);
        if fsx::stat(home.fs(), &dir.join(layout::TASKS))?.is_some() {
            return Ok(dir);
        }
    }
    Ok(Repository::top(home, from)?.join(layout::DEFAULT_DIR))
}

impl<'h> Directory<'h> {
    /// The directory at this place.
    pub fn open(home: &'h Home, dir: &Path) -> Result<Self> {
        match fsx::stat(home.fs(), &dir.join(layout::TASKS))? {
            Some(_) => Self::at(home, dir),
            None => Err(Error::NotFound {
                what: match fsx::stat(home.fs(), dir)? {
                    Some(_) => WITHOUT_TABLE,
                    None => "coordination directory",
                },
                id: dir.display().to_string(),
                list: None,
            }),
        }
    }

    fn at(home: &'h Home, dir: &Path) -> Result<Self> {
        let dir = home
            .fs()
            .canonical(dir)
            .map_err(disk::Error::io("resolve", dir))?;
        let repository = Repository::find(home, &dir)?.map(|it| it.id);
        Ok(Self {
            home,
            dir,
            repository,
        })
    }

    pub(crate) fn home(&self) -> &'h Home {
        self.home
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where one of its files is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// All of it as it is now.
    pub fn look(&self) -> Result<CoordSnapshot> {
        let tables = self.read_whole(|| self.read(), |tables| tables)?;
        let (board, now) = (tables.board(), self.naive(self.home.now()));
        let plan = fsx::read_lossy(self.home.fs(), &self.path(layout::PLAN))?;
        Ok(CoordSnapshot {
            standings: board.readiness(now),
            board,
            goal: plan.as_deref().and_then(layout::objective),
            name: self.name(&tables),
            last_updated: tables.tasks.last_updated,
            now,
            skipped: tables
                .skipped()
                .into_iter()
                .chain(self.unlogged()?)
                .collect(),
        })
    }

    /// Where nobody can keep a log, and why.
    fn unlogged(&self) -> Result<Option<Skipped>> {
        let stat = fsx::stat(self.home.fs(), &self.path(layout::LOGS))?;
        let is_other = stat
            .is_some_and(|stat| matches!(stat.kind, fsx::FileKind::File | fsx::FileKind::Other));
        let reason = "it is no directory, so nobody's log is kept: move it away";
        Ok(is_other.then(|| Skipped::new(layout::LOGS.to_owned(), reason.to_owned())))
    }

    /// The id that a person means: an exact one, the number in one of ours, else a prefix that fits
    /// just one.
    pub fn resolve(&self, given: &str) -> Result<TaskId> {
        let exact = given.parse::<TaskId>()?;
        let board = self.look()?.board;
        let numbered = given.parse().ok().map(layout::numbered);
        let numbered = numbered.and_then(|it| it.parse::<TaskId>().ok());
        for id in [Some(&exact), numbered.as_ref()].into_iter().flatten() {
            if board.task(id).is_some() {
                return Ok(id.clone());
            }
        }
        let fits = board.tasks.iter().map(|it| &it.id);
        let fits: Vec<&TaskId> = fits.filter(|id| id.as_str().starts_with(given)).collect();
        match fits.as_slice() {
            [one] => Ok((*one).clone()),
            [] => Err(unknown(&exact)),
            several => Err(Error::Ambiguous {
                given: given.to_owned(),
                candidates: several.iter().take(10).map(ToString::to_string).collect(),
            }),
        }
    }

    /// What `read` answers while nobody is writing. Whoever replaces a table shows no half of it;
    /// whoever writes into it in place holds its lock.
    pub(crate) fn read_whole<T>(
        &self,
        read: impl Fn() -> Result<T>,
        tables: impl Fn(&T) -> &Tables,
    ) -> Result<T> {
        match read() {
            Ok(whole) if tables(&whole).agents_fault.is_none() => Ok(whole),
            // Agents that are none for good hide no task from who may only read.
            Ok(whole) => match self.lock() {
                Ok(_lock) => read(),
                Err(_) => Ok(whole),
            },
            Err(Error::Disk(disk::Error::Malformed { .. })) => {
                let _lock = self.lock()?;
                read()
            }
            Err(error) => Err(error),
        }
    }

    fn read(&self) -> Result<Tables> {
        self.tables(self.bytes()?)
    }

    pub(crate) fn bytes(&self) -> Result<Bytes> {
        let fs = self.home.fs();
        Ok(Bytes {
            tasks: fsx::read(fs, &self.path(layout::TASKS))?.unwrap_or_default(),
            agents: fsx::read(fs, &self.path(layout::AGENTS))?,
        })
    }

    pub(crate) fn tables(&self, bytes: Bytes) -> Result<Tables> {
        let zone = self.zone();
        let malformed = |name: &str| {
            let path = self.path(name);
            move |reason| disk::Error::Malformed { path, reason }
        };
        let tasks = layout::read_tasks(&bytes.tasks, &zone).map_err(malformed(layout::TASKS))?;
        let agents = match &bytes.agents {
            None => Ok(layout::new_table()),
            Some(bytes) => layout::read_agents(bytes, &zone),
        };
        let agents_fault = agents.as_ref().err().cloned();
        Ok(Tables {
            tasks,
            agents: agents.unwrap_or_else(|_| layout::new_table()),
            agents_fault,
            bytes,
        })
    }

    /// What the table is called for good: when it was made, else where it is.
    pub(crate) fn name(&self, tables: &Tables) -> String {
        let made = tables.tasks.made().map(str::to_owned);
        made.unwrap_or_else(|| self.dir.display().to_string())
    }

    /// Keeps everybody else from both tables: other programs lock each alone.
    pub(crate) fn lock(&self) -> Result<Locks> {
        let (fs, now) = (self.home.fs(), self.home.now());
        let take = |name, rank| {
            let path = self.path(name);
            fsx::lock(fs, &path, rank, fsx::DEFAULT_WAIT, now)
        };
        Ok(Locks {
            _tasks: take(layout::LOCK, Rank::List)?,
            _agents: take(layout::AGENTS_LOCK, Rank::Agents)?,
        })
    }

    /// A moment as this directory tells it.
    pub(crate) fn naive(&self, at: Timestamp) -> DateTime {
        whole_micros(at.to_zoned(self.zone()).datetime())
    }

    /// What its times mean.
    pub(crate) fn zone(&self) -> TimeZone {
        self.home.zone()
    }
}

fn unknown(task: &TaskId) -> Error {
    Error::NotFound {
        what: "coordination task",
        id: task.to_string(),
        list: None,
    }
}
