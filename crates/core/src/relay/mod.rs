//! The relay: a controller proposes, a person decides, a worker receives and reports.
//!
//! Owns where a worker's mail lies and how a transition is carried out: under the direction's lock,
//! the new content is sealed, its line is made durable, and only then the names appear. A decision
//! is durable before its flag. Invariants: a number is given out once; a brief is decided once; what
//! is not decided, not what was decided on, or decided by an unknown hand is never delivered.

pub mod brief_snapshots;
pub mod briefs;
pub mod broken;
pub mod decide;
mod decision_records;
pub mod deliver;
mod envelope_files;
pub mod fleet;
mod foreign;
mod leases;
pub mod liveness;
mod mail_dirs;
pub mod messages;
mod numbers;
pub mod observe;
mod publication;
mod record;
mod repair;
pub mod reports;
pub mod retention;
pub mod shown;
#[cfg(test)]
mod tests;
pub mod workers;

use std::{
    cell::Cell,
    path::{Path, PathBuf},
    sync::Arc,
};

use flagpost_disk::{
    dialects::relay::{self as layout, EnvelopePart},
    fsx::{self, Batch, Lock, Rank, StagedBatch},
};
use flagpost_model::{RepoId, Seq, WorkerId, envelope::Direction};
use jiff::Timestamp;

pub(crate) use mail_dirs::MailDir;
use record::BriefHistory;

use crate::{
    error::{Error, Result},
    history::{Entry, History, Kind, Writer},
    home::Home,
    permissions::Permissions,
    reservations::Reservations,
    skipped::Skipped,
};

/// So many messages, by their numbers, are looked at for one that a new one repeats: what each says of its time
/// is a hand's to write.
const LOOK_BACK: usize = 100;

/// So many messages of a direction are read for a page, the newest: anybody can put any number of files there.
const PAGE: usize = 1_000;

/// All workers of one repository.
#[derive(Debug)]
pub struct Fleet<'h> {
    pub(crate) home: &'h Home,
    pub(crate) repo: RepoId,
    record: Arc<BriefHistory>,
}

/// One worker's directory: its inbox, its outbox, its archive.
#[derive(Debug, Clone)]
pub struct Mail<'h> {
    home: &'h Home,
    repo: RepoId,
    worker: WorkerId,
    dir: PathBuf,
    record: Arc<BriefHistory>,
}

impl<'h> Fleet<'h> {
    /// The fleet of a registered repository.
    pub fn of(home: &'h Home, repo: &RepoId) -> Self {
        Self {
            home,
            repo: repo.clone(),
            record: Arc::default(),
        }
    }

    /// What its workers reserved.
    pub fn reservations(&self) -> Reservations<'h> {
        Reservations::of(self.home, &self.repo)
    }

    /// What its workers ask to be allowed.
    pub fn permissions(&self) -> Permissions<'h> {
        Permissions::of(self.home, &self.repo)
    }

    /// Where the workers' directories are.
    pub fn dir(&self) -> PathBuf {
        self.home.workers_dir(&self.repo)
    }

    /// The ids of all that have a directory, in order.
    pub fn ids(&self) -> Result<Vec<WorkerId>> {
        let mut ids: Vec<WorkerId> = self.home.ids_in(&self.dir())?;
        ids.sort_by_cached_key(in_fleet_order);
        Ok(ids)
    }

    /// Every directory that we write into, as far as it is there.
    pub(crate) fn dirs(&self) -> Result<Vec<PathBuf>> {
        let mut dirs = vec![self.dir()];
        for worker in self.ids()? {
            let mail = self.directory(&worker);
            for direction in Direction::ALL {
                let dir = mail.dir(*direction);
                dirs.push(dir.join(fsx::QUARANTINE));
                dirs.push(dir);
                // One that is closed is in the way of no other.
                for month in mail.months().unwrap_or_default() {
                    dirs.push(mail.archive().join(&month));
                    dirs.push(mail.archive_of(&month, *direction));
                }
            }
            dirs.extend([mail.archive(), mail.dir]);
        }
        dirs.sort();
        dirs.dedup();
        Ok(dirs)
    }

    /// The locks of every worker's mail.
    pub(crate) fn lock_paths(&self) -> Result<Vec<PathBuf>> {
        let mails = self.mails()?;
        let dirs = mails
            .iter()
            .flat_map(|mail| Direction::ALL.iter().map(|it| mail.dir(*it)));
        Ok(dirs.map(|dir| dir.join(layout::LOCK)).collect())
    }

    /// The mail of a registered worker.
    pub fn mail(&self, worker: &WorkerId) -> Result<Mail<'h>> {
        let mail = self.directory(worker);
        match fsx::stat(self.home.fs(), &mail.dir.join(layout::WORKER)) {
            Ok(Some(_)) => Ok(mail),
            // Whoever uses it is told that it is closed.
            Err(error) if error.is_denied() => Ok(mail),
            Err(error) if !error.is_not_a_directory() => Err(error.into()),
            Ok(None) | Err(_) => Err(Error::NotFound {
                what: "worker",
                id: worker.to_string(),
                list: None,
            }),
        }
    }

    /// Whether a worker was taken off the fleet.
    pub fn has_retired(&self, worker: &WorkerId) -> Result<bool> {
        let known = self.mail(worker);
        match known.and_then(|mail| workers::must_belong(&mail)) {
            Ok(()) => Ok(false),
            Err(Error::NotFound { .. }) => Ok(self.mail(worker).is_ok()),
            Err(error) => Err(error),
        }
    }

    /// Refuses a name that no worker of the fleet has, with those there are.
    pub fn must_know(&self, worker: &WorkerId) -> Result<()> {
        let known = self.mail(worker);
        match known.and_then(|mail| workers::must_belong(&mail)) {
            Ok(()) => Ok(()),
            Err(Error::NotFound { .. }) => {
                let mut known = self.mails()?;
                known.retain(|it| workers::must_belong(it).is_ok());
                Err(Error::UnknownWorker {
                    worker: worker.clone(),
                    known: known.into_iter().map(|it| it.worker).collect(),
                })
            }
            Err(error) => Err(error),
        }
    }

    /// The mail of every registered worker, in order.
    pub fn mails(&self) -> Result<Vec<Mail<'h>>> {
        let mails = self.ids()?.into_iter().map(|id| self.mail(&id));
        let there = mails.filter(|it| !matches!(it, Err(Error::NotFound { .. })));
        there.collect()
    }

    fn directory(&self, worker: &WorkerId) -> Mail<'h> {
        Mail {
            home: self.home,
            repo: self.repo.clone(),
            worker: worker.clone(),
            dir: self.dir().join(worker.as_str()),
            record: Arc::clone(&self.record),
        }
    }
}

/// W2 comes before W10.
fn in_fleet_order(worker: &WorkerId) -> (String, u64, String) {
    let text = worker.as_str();
    let word = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = text
        .get(word.len()..)
        .and_then(|digits| digits.parse().ok());
    (word.to_owned(), number.unwrap_or_default(), text.to_owned())
}

impl Mail<'_> {
    /// Whose it is.
    pub fn worker(&self) -> &WorkerId {
        &self.worker
    }

    /// Where one direction of it is.
    pub fn dir(&self, direction: Direction) -> PathBuf {
        self.dir.join(direction.as_str())
    }

    /// The same mail as it lies in the archive, a month each, oldest first.
    fn archived(&self) -> Result<Vec<Self>> {
        let shelf = |month: String| Self {
            dir: self.archive().join(month),
            ..self.clone()
        };
        Ok(self.months()?.into_iter().map(shelf).collect())
    }

    /// The same mail where this part of a message lies: as it is, or a month of the archive.
    fn shelf_of(&self, direction: Direction, (seq, part): (Seq, EnvelopePart)) -> Result<Self> {
        let holds = |mail: &Self| -> Result<bool> {
            let slots = mail.slots(direction)?;
            Ok(slots.get(&seq).is_some_and(|slot| slot.has(part)))
        };
        if !holds(self)? {
            for shelf in self.archived()?.into_iter().rev() {
                if holds(&shelf)? {
                    return Ok(shelf);
                }
            }
        }
        Ok(self.clone())
    }

    /// Where a brief's body is.
    pub fn body_path(&self, seq: Seq) -> PathBuf {
        self.dir(Direction::Inbox).join(layout::body(seq))
    }

    fn archive(&self) -> PathBuf {
        self.dir.join(layout::ARCHIVE)
    }

    /// The months that something was archived under, oldest first.
    fn months(&self) -> Result<Vec<String>> {
        let mut names = envelope_files::names(self.home.fs(), &self.archive())?;
        names.retain(|name| !name.starts_with('.'));
        names.sort();
        Ok(names)
    }

    /// Where the messages of a month are.
    fn archive_of(&self, month: &str, direction: Direction) -> PathBuf {
        self.archive().join(month).join(direction.as_str())
    }

    fn lock(&self, direction: Direction) -> Result<Locked<'_>> {
        let dir = self.dir(direction);
        let path = dir.join(layout::LOCK);
        let (fs, asked) = (self.home.fs(), self.home.now());
        self.home.must_not_be_linked(&dir)?;
        let lock = match fsx::lock(fs, &path, Rank::Direction, fsx::DEFAULT_WAIT, asked) {
            Err(error) if error.is_not_found() => {
                // Somebody made the worker by hand.
                self.home.make_dirs(&dir)?;
                fsx::lock(fs, &path, Rank::Direction, fsx::DEFAULT_WAIT, asked)?
            }
            locked => locked?,
        };
        Ok(Locked {
            mail: self,
            dir,
            direction,
            // A lease begins when it is granted, however long others had the lock.
            at: self.home.now(),
            quarantined: Cell::new(0),
            _lock: lock,
        })
    }

    /// Does what one alone may do at a time with the mail of a direction.
    pub(crate) fn alone<T>(
        &self,
        direction: Direction,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let _lock = self.lock(direction)?;
        work()
    }

    fn entry(&self, kind: Kind, seq: Option<Seq>) -> Entry {
        Entry::new(kind).mail(&self.worker, seq)
    }

    fn not_found(&self, what: &'static str, seq: Seq) -> Error {
        let id = format!("{seq} of {}", self.worker);
        Error::NotFound {
            what,
            id,
            list: None,
        }
    }

    fn history(&self) -> History<'_> {
        History::of(self.home, &self.repo)
    }
}

/// What changes together, and the lines that tell of it.
#[derive(Debug, Default)]
struct Transition {
    entries: Vec<Entry>,
    batch: Batch,
}

impl Transition {
    /// Its content is sealed, its lines are durable, its files appear. Durable on return, which tells
    /// the number of the first line.
    fn carry_out(
        self,
        home: &Home,
        repo: &RepoId,
        (actor, at): (&WorkerId, Timestamp),
    ) -> Result<u64> {
        let sealed = self.batch.stage(home.fs())?;
        let history = History::of(home, repo);
        let writer = history.writer(at)?;
        Self::appear(writer, actor, self.entries, sealed)
    }

    /// The same for one whose files name its lines, made once the number of the first is known.
    fn carry_out_numbered(
        home: &Home,
        repo: &RepoId,
        (actor, at): (&WorkerId, Timestamp),
        make: impl FnOnce(u64) -> Result<Self>,
    ) -> Result<u64> {
        let history = History::of(home, repo);
        let writer = history.writer(at)?;
        let made = make(writer.next())?;
        let sealed = made.batch.stage(home.fs())?;
        Self::appear(writer, actor, made.entries, sealed)
    }

    fn appear(
        writer: Writer<'_>,
        actor: &WorkerId,
        entries: Vec<Entry>,
        sealed: StagedBatch<'_>,
    ) -> Result<u64> {
        let first = writer.next();
        writer.carry_out(actor, entries, sealed)?;
        Ok(first)
    }
}

/// One direction, locked.
#[derive(Debug)]
struct Locked<'m> {
    mail: &'m Mail<'m>,
    dir: PathBuf,
    direction: Direction,
    at: Timestamp,
    /// How many files that cannot be understood were copied aside under this lock.
    quarantined: Cell<usize>,
    _lock: Lock,
}

impl Locked<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Carries out a transition, durable on return.
    fn commit(&self, actor: &WorkerId, entries: Vec<Entry>, batch: Batch) -> Result<()> {
        self.carry_out(actor, Transition { entries, batch })?;
        Ok(())
    }

    /// The same, which tells the number of the first line.
    fn carry_out(&self, actor: &WorkerId, transition: Transition) -> Result<u64> {
        let mail = self.mail;
        transition.carry_out(mail.home, &mail.repo, (actor, self.at))
    }

    /// The same for one that is made once that number is known.
    fn commit_numbered(
        &self,
        actor: &WorkerId,
        make: impl FnOnce(u64) -> Result<Transition>,
    ) -> Result<u64> {
        let mail = self.mail;
        Transition::carry_out_numbered(mail.home, &mail.repo, (actor, self.at), make)
    }

    /// The same for one that only raises a flag.
    fn commit_flag(&self, actor: &WorkerId, entries: Vec<Entry>, flag: PathBuf) -> Result<()> {
        let mut batch = Batch::new();
        batch.flag(flag);
        self.commit(actor, entries, batch)
    }

    /// Records what no file of its own shows.
    fn record(&self, actor: &WorkerId, entries: Vec<Entry>) -> Result<()> {
        self.mail.history().record(actor, self.at, entries)
    }

    /// Records what other hands made of these files; the number of the first line.
    fn record_found(&self, actor: &WorkerId, found: (Vec<Entry>, &[PathBuf])) -> Result<u64> {
        self.mail.history().record_found(actor, self.at, found)
    }

    /// Keeps a copy of what cannot be understood, and says so once, with what other hands made of these
    /// files; whether it was new. Of what is no file that could be copied there is none: it stays where it is,
    /// and holds up nothing beside it.
    fn quarantine(
        &self,
        actor: &WorkerId,
        path: &Path,
        (entries, found): (Vec<Entry>, &[PathBuf]),
        reason: &str,
    ) -> Result<bool> {
        let fs = self.mail.home.fs();
        let Some(content) = self.copyable(path)? else {
            return Ok(false);
        };
        let Some(case) = fsx::quarantine(fs, path, &content, reason)? else {
            return Ok(false);
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let told = |entry: Entry| entry.detail("file", &*name).detail("reason", reason);
        let entries = entries.into_iter().map(told).collect();
        self.record_found(actor, (entries, found))?;
        case.store(fs)?;
        Ok(true)
    }

    /// What can be copied aside; none where nothing is, or no file of ours.
    fn copyable(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        match fsx::read(self.mail.home.fs(), path) {
            Err(error) if error.is_unreadable_file() => Ok(None),
            read => Ok(read?),
        }
    }
}

/// The newest of the messages of a direction, which are read, and what is said of the older ones, which are
/// counted.
fn page<'s, T>(
    mail: &Mail<'_>,
    direction: Direction,
    (all, most): (&'s [(&'s Seq, T)], usize),
) -> (&'s [(&'s Seq, T)], Option<Skipped>) {
    let (older, newest) = all.split_at(all.len().saturating_sub(most));
    let counted = older.first().zip(older.last()).map(|((first, _), (last, _))| {
        let (worker, count) = (&mail.worker, older.len());
        let reason = format!(
            "older messages are counted and not read: {count}, from {first} to {last}; 'flagpost {direction} {worker} {}' shows one",
            first.get()
        );
        skipped(format!("{worker}/{direction}"), reason)
    });
    (newest, counted)
}

/// A message that is not shown, and why.
fn skipped(name: String, reason: impl Into<String>) -> Skipped {
    Skipped::new(name, reason.into())
}
