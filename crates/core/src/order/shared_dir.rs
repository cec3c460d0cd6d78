//! Directories that every machine of a fleet has, wherever they lie there.
//!
//! Owns which files are shared: tasks, mail, workers and reservations. Counters, locks, leases of
//! messages, kept words, caches and queues are each machine's own, and so is the mail of a run's processes.
//! A name that came from another machine is held to the same rules as one of ours, so that it leads nowhere
//! else.

use std::{fmt, path::Path, path::PathBuf, str::FromStr};

use flagpost_disk::{
    dialects::{claude_tasks, relay, relay::EnvelopePart, reservations},
    fsx::Rank,
};
use flagpost_model::{ListId, RepoId, WorkerId, envelope::Direction};

use super::list_names;
use crate::{
    error::Result,
    home::Home,
    relay::{Fleet, workers},
    reservations::Reservations,
};

/// A directory of a shared repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SharedDir {
    /// The tasks of a list.
    List(ListId),
    /// Who a worker is.
    Worker(WorkerId),
    /// A direction of a worker's mail.
    Mail(WorkerId, Direction),
    /// Who works on which files.
    Reservations,
}

/// A file's name in one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SharedFile {
    /// Where.
    pub(super) dir: SharedDir,
    /// Its name there.
    pub(super) name: String,
}

/// What names no shared file.
#[derive(Debug, thiserror::Error)]
#[error("{text:?} is no shared file")]
pub(super) struct InvalidFile {
    text: String,
}

impl SharedDir {
    /// Whether every machine has it: a run's processes are called alike on each, and their mail is its own.
    pub(super) fn is_everybodys(&self) -> bool {
        match self {
            Self::Worker(worker) | Self::Mail(worker, _) => !worker.is_process(),
            Self::List(_) | Self::Reservations => true,
        }
    }

    /// Whether a file of this name in it is shared.
    fn shares(&self, name: &str) -> bool {
        match self {
            Self::List(_) => {
                claude_tasks::is_task_name(name.as_bytes()) && claude_tasks::id_of(name).is_some()
            }
            Self::Worker(_) => name == relay::WORKER,
            Self::Mail(_, direction) => relay::parse(*direction, name).is_some_and(|(_, part)| {
                !matches!(part, EnvelopePart::Offered | EnvelopePart::Words)
            }),
            Self::Reservations => matches!(reservations::parse(name), Some(Some(_))),
        }
    }

    /// A file in it that another machine wrote, as it is to be here, where there may be another one.
    pub(super) fn as_here(&self, text: &str, there: Option<&[u8]>) -> Vec<u8> {
        match self {
            Self::Worker(worker) => workers::from_elsewhere(worker, text, there),
            Self::List(_) | Self::Mail(..) | Self::Reservations => text.as_bytes().to_owned(),
        }
    }

    /// Where it is here; a list is made where there is none.
    pub(super) fn path(&self, home: &Home, repo: &RepoId) -> Result<PathBuf> {
        match self {
            Self::List(id) => Ok(list_names::own_or_new(home, repo, id)?.dir().clone()),
            Self::Worker(worker) => Ok(Fleet::of(home, repo).dir().join(worker.as_str())),
            Self::Mail(worker, direction) => Ok(Fleet::of(home, repo).live(worker, *direction)),
            Self::Reservations => Ok(home.repository_dir(repo).join(reservations::DIR)),
        }
    }

    /// The same, made where it is not there; with a worker both directions of its mail.
    pub(super) fn made(&self, home: &Home, repo: &RepoId) -> Result<PathBuf> {
        let path = self.path(home, repo)?;
        home.make_dirs(&path)?;
        if let Self::Worker(worker) = self {
            for direction in Direction::ALL {
                let mail = Self::Mail(worker.clone(), *direction);
                home.make_dirs(&mail.path(home, repo)?)?;
            }
        }
        Ok(path)
    }

    /// The lock under which it is changed.
    pub(super) fn lock(&self, home: &Home, repo: &RepoId) -> Result<(Rank, PathBuf)> {
        Ok(match self {
            Self::List(_) => (Rank::List, self.path(home, repo)?.join(claude_tasks::LOCK)),
            // As whoever registers a worker does.
            Self::Worker(worker) => {
                return Self::Mail(worker.clone(), Direction::Inbox).lock(home, repo);
            }
            Self::Mail(..) => (Rank::Direction, self.path(home, repo)?.join(relay::LOCK)),
            Self::Reservations => (Rank::Reservations, Reservations::of(home, repo).lock_path()),
        })
    }
}

impl SharedFile {
    /// The shared file at a path, where there is one: in a directory of the repository, or in one of
    /// these lists.
    pub(super) fn at(
        (home, repo): (&Home, &RepoId),
        lists: &[(ListId, PathBuf)],
        path: &Path,
    ) -> Option<Self> {
        let (parent, name) = (path.parent()?, path.file_name()?.to_str()?);
        let list = lists.iter().find(|(_, dir)| dir == parent);
        let dir = match list {
            Some((id, _)) => SharedDir::List(id.clone()),
            None => {
                let inside = parent.strip_prefix(home.repository_dir(repo)).ok()?;
                let parts: Option<Vec<&str>> = inside.iter().map(|it| it.to_str()).collect();
                match parts?.as_slice() {
                    ["workers", worker] => SharedDir::Worker(worker.parse().ok()?),
                    ["workers", worker, direction] => {
                        SharedDir::Mail(worker.parse().ok()?, direction.parse().ok()?)
                    }
                    [reservations::DIR] => SharedDir::Reservations,
                    _ => return None,
                }
            }
        };
        Self::new(dir, name).ok()
    }

    pub(super) fn new(dir: SharedDir, name: &str) -> Result<Self, InvalidFile> {
        match dir.is_everybodys() && dir.shares(name) {
            true => Ok(Self {
                dir,
                name: name.to_owned(),
            }),
            false => Err(invalid(&format!("{dir}/{name}"))),
        }
    }

    /// Whether it says that a brief is decided.
    pub(super) fn decides(&self) -> bool {
        let SharedDir::Mail(_, Direction::Inbox) = self.dir else {
            return false;
        };
        let part = relay::parse(Direction::Inbox, &self.name).map(|(_, part)| part);
        matches!(part, Some(EnvelopePart::Decision | EnvelopePart::Flag(_)))
    }

    /// Where it is here.
    pub(super) fn path(&self, home: &Home, repo: &RepoId) -> Result<PathBuf> {
        Ok(self.dir.path(home, repo)?.join(&self.name))
    }
}

fn invalid(text: &str) -> InvalidFile {
    let text = text.chars().take(200).collect();
    InvalidFile { text }
}

impl fmt::Display for SharedDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List(id) => write!(f, "list/{id}"),
            Self::Worker(worker) => write!(f, "worker/{worker}"),
            Self::Mail(worker, direction) => write!(f, "mail/{worker}/{direction}"),
            Self::Reservations => f.write_str("reservations"),
        }
    }
}

impl FromStr for SharedDir {
    type Err = InvalidFile;
    fn from_str(text: &str) -> Result<Self, InvalidFile> {
        let parts: Vec<&str> = text.split('/').collect();
        let dir = match parts.as_slice() {
            ["list", id] => id.parse().ok().map(Self::List),
            ["worker", worker] => worker.parse().ok().map(Self::Worker),
            ["mail", worker, direction] => match (worker.parse(), direction.parse()) {
                (Ok(worker), Ok(direction)) => Some(Self::Mail(worker, direction)),
                _ => None,
            },
            ["reservations"] => Some(Self::Reservations),
            _ => None,
        };
        dir.ok_or_else(|| invalid(text))
    }
}

impl fmt::Display for SharedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.dir, self.name)
    }
}

impl FromStr for SharedFile {
    type Err = InvalidFile;
    fn from_str(text: &str) -> Result<Self, InvalidFile> {
        let (dir, name) = text.rsplit_once('/').ok_or_else(|| invalid(text))?;
        Self::new(dir.parse()?, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_file_has_one_spelling_and_no_other_leads_anywhere() {
        for text in [
            "list/main/17.json",
            "worker/W3/worker.json",
            "mail/W3/inbox/0007.brief",
            "mail/W3/inbox/.0007.decision.json",
            "mail/W3/inbox/0007.ratified",
            "mail/W3/outbox/0007.json",
            "reservations/41.json",
        ] {
            let file: SharedFile = text.parse().unwrap();
            assert_eq!(file.to_string(), text);
        }
        for text in [
            "",
            "list/main",
            "list/main/",
            "list/main/.highwatermark",
            "list/main/.repo",
            "list/../17.json",
            "list/main/../17.json",
            "list/main/x/17.json",
            "/list/main/17.json",
            "list/main/note.txt",
            "mail/W3/inbox/.seq",
            "mail/W3/inbox/.lock",
            "mail/W3/inbox/.0007.offered",
            "mail/W3/inbox/.0007.words.json",
            "mail/W3/inbox/7.brief",
            "mail/W3/trash/0007.brief",
            "mail/../inbox/0007.brief",
            "worker/W3/other.json",
            "worker/run-1/worker.json",
            "mail/run-1/inbox/0007.brief",
            "reservations/041.json",
            "reservations/x.json",
            "history.jsonl",
        ] {
            assert!(text.parse::<SharedFile>().is_err(), "{text}");
        }
    }
}
