//! Locks between processes.
//!
//! Owns the `flock` on a lock file that is never deleted, the note in it that names the holder, and
//! the rank of each lock: index < outgoing < home < list < agents < worker direction < reservations < session
//! start < access < history. Taking a lower rank while holding a higher one can deadlock and panics in debug
//! builds.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::Timestamp;

use super::{Error, Flock, Fs, Result, read, stat};
use crate::{holder::Holder, process::is_alive};

/// How long to wait for a lock unless told otherwise.
pub const DEFAULT_WAIT: Duration = Duration::from_secs(5);

/// Longer than anybody holds a lock who only asks who holds it.
const A_LOOK: Duration = Duration::from_millis(200);

/// The order in which locks may be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// The index: whoever brings it up to date only reads the rest.
    Index,
    /// What a repository's fleet has not heard yet: whoever tells it carries out whole operations.
    OfflineQueue,
    /// The whole home.
    Home,
    /// One list of tasks.
    List,
    /// The agents of a table that several programs share.
    Agents,
    /// One direction of one worker's mail.
    Direction,
    /// The reservations of one repository.
    Reservations,
    /// What the agents of one repository ask to be allowed.
    Requests,
    /// The start of a session.
    Session,
    /// Who is let in to a fleet's server.
    Access,
    /// One repository's history: the last lock of every change.
    History,
}

/// A held lock; dropping it lets go.
#[derive(Debug)]
pub struct Lock {
    _held: Box<dyn Flock>,
    rank: Rank,
}

/// Takes the lock, waiting up to `wait`; then fails naming the holder.
pub fn lock(fs: &dyn Fs, path: &Path, rank: Rank, wait: Duration, now: Timestamp) -> Result<Lock> {
    held::check(rank);
    lock_unchecked(fs, path, rank, wait, now)
}

/// Takes several locks of one rank, by their names in order: who else takes several does so too.
pub fn lock_all(
    fs: &dyn Fs,
    paths: &BTreeSet<PathBuf>,
    rank: Rank,
    wait: Duration,
    now: Timestamp,
) -> Result<Vec<Lock>> {
    held::check(rank);
    let each = paths.iter();
    each.map(|path| lock_unchecked(fs, path, rank, wait, now))
        .collect()
}

fn lock_unchecked(
    fs: &dyn Fs,
    path: &Path,
    rank: Rank,
    wait: Duration,
    now: Timestamp,
) -> Result<Lock> {
    if let Some(lock) = take(fs, path, rank, wait, now)? {
        return Ok(lock);
    }
    let note = read(fs, path).ok().flatten().unwrap_or_default();
    // A program that leaves no note may hold it after one that did, and is dead.
    let holder = Holder::parse(&String::from_utf8_lossy(&note));
    let holder = holder.filter(|it| is_alive(it.pid));
    Err(Error::Busy {
        path: path.to_owned(),
        holder,
        waited: wait,
    })
}

/// Takes the lock if nobody has it.
pub fn try_lock(fs: &dyn Fs, path: &Path, rank: Rank, now: Timestamp) -> Result<Option<Lock>> {
    held::check(rank);
    take(fs, path, rank, Duration::ZERO, now)
}

fn take(
    fs: &dyn Fs,
    path: &Path,
    rank: Rank,
    wait: Duration,
    now: Timestamp,
) -> Result<Option<Lock>> {
    let Some(mut flock) = fs.flock(path, wait).map_err(Error::io("lock", path))? else {
        return Ok(None);
    };
    // Best effort: an unsigned lock holds as well, and a full disk must not keep anybody from the
    // work that makes room.
    let _: io::Result<()> = flock.sign(&Holder::this_process(now).note());
    held::push(rank);
    Ok(Some(Lock { _held: flock, rank }))
}

/// Holds a file for as long as the result lives, to show that its owner is alive; `None` when
/// somebody else holds it. Unlike [`lock`] this has no rank: it guards no short piece of work.
pub fn try_hold(fs: &dyn Fs, path: &Path) -> Result<Option<Box<dyn Flock>>> {
    fs.flock(path, Duration::ZERO)
        .map_err(Error::io("lock", path))
}

/// As [`try_hold`], waiting for those who only look, and with a note of who holds it: for what may
/// be there once.
pub fn hold(fs: &dyn Fs, path: &Path, now: Timestamp) -> Result<Option<Box<dyn Flock>>> {
    let taken = fs.flock(path, A_LOOK).map_err(Error::io("lock", path))?;
    let Some(mut flock) = taken else {
        return Ok(None);
    };
    flock
        .sign(&Holder::this_process(now).note())
        .map_err(Error::io("sign", path))?;
    Ok(Some(flock))
}

/// Who holds a lock at this moment, if somebody does and left a note. Leaves no lock file behind.
pub fn holder(fs: &dyn Fs, path: &Path) -> Result<Option<Holder>> {
    if stat(fs, path)?.is_none() || try_hold(fs, path)?.is_some() {
        return Ok(None);
    }
    let note = read(fs, path)?.unwrap_or_default();
    Ok(Holder::parse(&String::from_utf8_lossy(&note)))
}

impl Drop for Lock {
    fn drop(&mut self) {
        held::pop(self.rank);
    }
}

/// Whether this thread holds a lock.
pub fn holds_a_lock() -> bool {
    held::any()
}

/// The ranks this thread holds.
mod held {
    use super::{Rank, RefCell};

    thread_local! {
        static RANKS: RefCell<Vec<Rank>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) fn check(rank: Rank) {
        if cfg!(debug_assertions) {
            let highest = RANKS.with_borrow(|ranks| ranks.iter().max().copied());
            assert!(
                highest.is_none_or(|held| held < rank),
                "lock order: {rank:?} asked for while holding {highest:?}"
            );
        }
    }

    pub(super) fn any() -> bool {
        RANKS.with_borrow(|ranks| !ranks.is_empty())
    }

    pub(super) fn push(rank: Rank) {
        RANKS.with_borrow_mut(|ranks| ranks.push(rank));
    }

    pub(super) fn pop(rank: Rank) {
        RANKS.with_borrow_mut(|ranks| {
            if let Some(at) = ranks.iter().rposition(|held| *held == rank) {
                ranks.remove(at);
            }
        });
    }
}
