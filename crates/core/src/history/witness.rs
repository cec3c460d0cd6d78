//! Whether what a line of a history tells of has appeared.
//!
//! Owns which file each kind of line stands for, by the formats alone: whoever writes those files stands on the
//! history, which stands on none of them. It is asked about the last change only, before the next one; a message
//! cannot have been archived since. A file that somebody removed is no change that never appeared: the kept words
//! show that a brief was published, and a decision whose line is durable was made. It must never change anything.

use std::{
    io,
    path::{Path, PathBuf},
};

use flagpost_disk::{
    self as disk, TaskFile,
    dialects::{
        claude_tasks, coordination, relay as layout, relay::WorkerFile, requests, reservations,
    },
    fsx,
};
use flagpost_model::{
    Seq, TaskId, WorkerId,
    coordination::micros,
    decision::Decision,
    envelope::{Direction, Hash},
    worker::WorkerStatus,
};
use serde_json::Value;

use super::{
    Entry, Fate, History, Kind,
    detail::{REQUEST, RESERVATION, RULE, TABLE, TOKEN_HASH},
};
use crate::{
    error::{Error, Result},
    roots,
};

impl Entry {
    /// Whether it stands for something that may be missing.
    pub(super) fn may_be_void(&self) -> bool {
        self.rev().is_some()
            || self.seq.is_some()
            || self.number(RESERVATION).is_some()
            || self.number(REQUEST).is_some()
            || matches!(
                self.kind,
                Kind::WorkerRegistered | Kind::WorkerRetired | Kind::TokenIssued
            )
    }

    /// The direction that a line about a message names.
    pub(crate) fn direction(&self) -> Direction {
        let word = self.detail.get("direction").and_then(Value::as_str);
        word.and_then(|word| word.parse().ok())
            .unwrap_or(Direction::Inbox)
    }
}

impl History<'_> {
    /// Whether what the entry of line `n` stands for is there, or was; an entry that stands for nothing has
    /// always appeared.
    pub(super) fn has_appeared(&self, (n, entry): (u64, &Entry), fate: Fate) -> Result<bool> {
        Ok(self.is_in_tasks(entry)?
            && self.is_in_mail((n, entry), fate)?
            && self.is_in_reservations(entry)?
            && self.is_in_requests((n, entry))?)
    }

    fn is_in_tasks(&self, entry: &Entry) -> Result<bool> {
        if let Some(dir) = entry.detail.get(TABLE).and_then(Value::as_str) {
            return self.is_in_table(entry, Path::new(dir));
        }
        let (Some(list), Some(task)) = (&entry.list, &entry.task) else {
            return Ok(true);
        };
        // A list that is gone took its tasks along.
        let Some(dir) = roots::dir_of(self.home, list.as_str())? else {
            return Ok(true);
        };
        let seen = match entry.kind {
            // It tells of what a client did, and changes no file.
            Kind::TaskAttempted => Ok(true),
            Kind::TaskLinked => self.is_linked(&dir, task, entry),
            Kind::TaskUnlinked => self.is_linked(&dir, task, entry).map(|linked| !linked),
            Kind::TaskRemoved | Kind::TaskVanished => {
                self.task(&dir, task).map(|file| file.is_none())
            }
            _ => self.task(&dir, task).map(|file| match file {
                Some(file) => {
                    let (rev, told) = (file.task.rev, entry.rev().unwrap_or_default());
                    // A foreign writer may have dropped our part of the file.
                    rev >= told || rev == 0 && told > 1
                }
                // A file that was there before the change was taken away since: a change replaces it at once.
                None => !entry.creates(),
            }),
        };
        match seen {
            // Unreadable says nothing about what happened before it became so.
            Err(Error::Disk(error)) if error.is_no_such_file() => Ok(true),
            seen => seen,
        }
    }

    /// Either file is enough, as it is for whoever reads the list.
    fn is_linked(&self, dir: &Path, task: &TaskId, entry: &Entry) -> Result<bool> {
        let blocker = entry.detail.get("blocked_by").and_then(|id| id.as_str());
        let Some(blocker) = blocker.and_then(|id| id.parse::<TaskId>().ok()) else {
            return Ok(false);
        };
        let waits = self.task(dir, task)?;
        let blocks = || self.task(dir, &blocker);
        Ok(
            waits.is_some_and(|file| file.task.blocked_by.contains(&blocker))
                || blocks()?.is_some_and(|file| file.task.blocks.contains(task)),
        )
    }

    fn task(&self, dir: &Path, id: &TaskId) -> Result<Option<TaskFile>> {
        let path = dir.join(claude_tasks::file_name(id));
        let Some(bytes) = fsx::read(self.home.fs(), &path)? else {
            return Ok(None);
        };
        let read = claude_tasks::read(id, &bytes);
        Ok(Some(read.map_err(|reason| disk::Error::Malformed {
            path,
            reason,
        })?))
    }

    fn is_in_table(&self, entry: &Entry, dir: &Path) -> Result<bool> {
        let bytes = match fsx::read(self.home.fs(), &dir.join(coordination::TASKS)) {
            Ok(Some(bytes)) => bytes,
            // What is gone or unreadable says nothing about what happened before it became so.
            Ok(None) => return Ok(true),
            Err(error) if error.is_no_such_file() => return Ok(true),
            Err(error) => return Err(error.into()),
        };
        let updated = coordination::read_last_updated(&bytes, &self.home.zone());
        Ok(updated.is_none_or(|it| micros(it) >= entry.rev().unwrap_or_default()))
    }

    fn is_in_mail(&self, (n, entry): (u64, &Entry), fate: Fate) -> Result<bool> {
        let Some(worker) = &entry.worker else {
            return Ok(true);
        };
        match entry.kind {
            Kind::WorkerRegistered => return self.is_worker(worker, &is_now(WorkerStatus::Active)),
            Kind::WorkerRetired => return self.is_worker(worker, &is_now(WorkerStatus::Retired)),
            Kind::TokenIssued => {
                let told = entry.detail.get(TOKEN_HASH).and_then(Value::as_str);
                let has = |it: &WorkerFile| it.content.token.as_ref().map(Hash::as_str) == told;
                return self.is_worker(worker, &has);
            }
            _ => {}
        }
        let Some(seq) = entry.seq else {
            return Ok(true);
        };
        let dir = |direction: Direction| self.worker_dir(worker).join(direction.as_str());
        let inbox = dir(Direction::Inbox);
        let there =
            |path: PathBuf| -> Result<bool> { Ok(fsx::stat(self.home.fs(), &path)?.is_some()) };
        // A power cut may have left either half, or a mark alone.
        let is_of_brief = match entry.kind {
            Kind::BriefProposed | Kind::BriefDecided | Kind::BriefRead => true,
            Kind::MessageSent | Kind::MessageImported | Kind::MessageAcked => {
                entry.direction() == Direction::Inbox
            }
            _ => false,
        };
        let is_whole = || -> Result<bool> {
            Ok(there(inbox.join(layout::sidecar(seq)))? && there(inbox.join(layout::body(seq)))?)
        };
        if is_of_brief && !is_whole()? {
            // What is kept of its words is written once it is published, whatever is left of it.
            return there(inbox.join(layout::words(seq)));
        }
        if entry.kind == Kind::BriefDecided {
            return Ok(fate == Fate::CutShort || self.is_decision(&inbox, seq, n)?);
        }
        let (direction, name) = match entry.kind {
            Kind::BriefProposed => (Direction::Inbox, layout::body(seq)),
            Kind::BriefDelivered => (Direction::Inbox, layout::offered(seq)),
            Kind::BriefRead => (Direction::Inbox, layout::read_flag(seq)),
            Kind::Reported => (Direction::Outbox, layout::report(seq)),
            Kind::ReportRead => (Direction::Outbox, layout::read_flag(seq)),
            Kind::ReportConfirmed => (Direction::Outbox, layout::flag(seq, Decision::Ratified)),
            Kind::MessageSent | Kind::MessageImported => match entry.direction() {
                Direction::Inbox => (Direction::Inbox, layout::body(seq)),
                Direction::Outbox => (Direction::Outbox, layout::report(seq)),
            },
            Kind::MessageReceived => match entry.number("count") {
                None => (entry.direction(), layout::read_flag(seq)),
                Some(count) => {
                    let path = dir(entry.direction()).join(layout::offered(seq));
                    let bytes = fsx::read(self.home.fs(), &path)?;
                    let lease = bytes.and_then(|bytes| layout::read_lease(&bytes).ok().flatten());
                    return Ok(lease.is_some_and(|lease| lease.count >= count));
                }
            },
            Kind::MessageWithdrawn => (Direction::Inbox, layout::withdrawn(seq)),
            Kind::MessageAcked => (entry.direction(), layout::read_flag(seq)),
            _ => return Ok(true),
        };
        there(dir(direction).join(name))
    }

    fn worker_dir(&self, worker: &WorkerId) -> PathBuf {
        self.home.workers_dir(&self.repo).join(worker.as_str())
    }

    /// Whether the decision that lies beside a brief is the one of this line.
    fn is_decision(&self, inbox: &Path, seq: Seq, line: u64) -> Result<bool> {
        match fsx::read(self.home.fs(), &inbox.join(layout::decision(seq))) {
            Ok(None) => Ok(false),
            Ok(Some(bytes)) => {
                Ok(layout::read_verdict(&bytes).is_ok_and(|it| it.line == Some(line)))
            }
            Err(error) if error.is_unreadable_file() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a request is there, with the decision of this line where the line is one.
    fn is_in_requests(&self, (n, entry): (u64, &Entry)) -> Result<bool> {
        let Some(request) = entry.number(REQUEST) else {
            return Ok(true);
        };
        let dir = self.home.repository_dir(&self.repo).join(requests::DIR);
        let decides = matches!(
            entry.kind,
            Kind::PermissionAllowed
                | Kind::PermissionDenied
                | Kind::PermissionExpired
                | Kind::PermissionWithdrawn
        );
        let read = match fsx::read(self.home.fs(), &dir.join(requests::name(request))) {
            // A decision replaces a file at once: one that is gone was taken away since. A rule decides with the
            // request, before there is a file.
            Ok(None) => return Ok(decides && !entry.detail.contains_key(RULE)),
            Ok(Some(bytes)) => requests::read(&bytes),
            // Unreadable says nothing about what happened before it became so.
            Err(error) if error.is_unreadable_file() => return Ok(true),
            Err(error) => return Err(error.into()),
        };
        Ok(match read {
            Ok(file) if decides => file.content.decision.is_some_and(|it| it.line == n),
            Ok(_) | Err(_) => true,
        })
    }

    /// Whether a worker's file says so.
    fn is_worker(&self, worker: &WorkerId, says: &dyn Fn(&WorkerFile) -> bool) -> Result<bool> {
        let path = self.worker_dir(worker).join(layout::WORKER);
        match fsx::read(self.home.fs(), &path) {
            Ok(None) => Ok(false),
            // Unreadable says nothing about what happened before it became so.
            Ok(Some(bytes)) => Ok(layout::read_worker(worker, &bytes)
                .ok()
                .is_none_or(|it| says(&it))),
            Err(error) if error.is_unreadable_file() => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    fn is_in_reservations(&self, entry: &Entry) -> Result<bool> {
        let Some(n) = entry.number(RESERVATION) else {
            return Ok(true);
        };
        let dir = self.home.repository_dir(&self.repo).join(reservations::DIR);
        let path = dir.join(reservations::name(n));
        let is_there = match self.home.fs().stat(&path) {
            Ok(_) => true,
            // Whatever stands in the directory's place, there is no reservation in it.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                false
            }
            Err(error) => return Err(disk::Error::io("look at", &path)(error).into()),
        };
        Ok(match entry.kind {
            Kind::ReservationAdded => is_there,
            Kind::ReservationReleased | Kind::ReservationExpired => !is_there,
            _ => true,
        })
    }
}

fn is_now(status: WorkerStatus) -> impl Fn(&WorkerFile) -> bool {
    move |file| file.content.standing == status
}
