//! A session's lock: who runs the session, and whether it still does.
//!
//! Owns the rule of `tree.md` §3 on whose lock stands. Invariants: an flock that somebody holds
//! is a live session however old its stamp; our own lock without its flock is dead at once; age
//! decides only where nothing better is known.

use jiff::{SignedDuration, Timestamp, civil::DateTime, tz::TimeZone};

use super::name::named_at;
use crate::{id::SessionId, list_ref::ListRef};

/// How long a lock stands whose holder cannot be asked.
const STALE_AFTER: SignedDuration = SignedDuration::from_hours(4);

/// What a lock file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lock {
    /// The session it protects; none where the file does not name a usable one.
    pub session: Option<SessionId>,
    /// When the session started.
    pub started: Option<LockTime>,
    /// Who holds it.
    pub pid: Pid,
    /// The list the session runs; only our locks say so.
    pub list: Option<ListRef>,
    /// Whether its holder keeps an flock on the file for the session's life, as Flagpost does.
    pub flocked: bool,
}

/// A time as written in a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockTime {
    /// With a zone.
    Zoned(Timestamp),
    /// Without one: the hours of wherever it was written.
    Zoneless(DateTime),
}

/// The process as written in a lock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Pid {
    /// A process that can be asked for.
    Number(u32),
    /// A word, such as `orchestrator` or `active`.
    Word(String),
    /// Nothing.
    #[default]
    Missing,
}

/// What was seen of the machine beside the lock's text.
#[derive(Debug, Clone, Copy)]
pub struct Sighting {
    /// The time now.
    pub now: Timestamp,
    /// When the lock file was last modified.
    pub modified: Timestamp,
    /// Whether somebody holds an flock on it.
    pub flock_held: bool,
    /// Whether a process with the lock's pid exists; of no meaning where the pid is no number.
    pub pid_alive: bool,
}

/// Whether a session's lock still stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockStatus {
    /// Somebody runs the session: it may not be touched.
    Live(Evidence),
    /// Nobody does: what it left may be recovered.
    Dead(Evidence),
}

/// What a [`LockStatus`] rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// The flock, held or free.
    Flock,
    /// The process, alive or gone.
    Process(u32),
    /// The lock's age.
    Age(SignedDuration),
}

impl Lock {
    /// The lock of a session that Flagpost runs.
    pub fn of_ours(session: SessionId, list: ListRef, pid: u32, started: Timestamp) -> Self {
        Self {
            session: Some(session),
            started: Some(LockTime::Zoned(started)),
            pid: Pid::Number(pid),
            list: Some(list),
            flocked: true,
        }
    }

    /// Whether the lock stands.
    pub fn status(&self, seen: Sighting) -> LockStatus {
        if seen.flock_held {
            return LockStatus::Live(Evidence::Flock);
        }
        if self.flocked {
            return LockStatus::Dead(Evidence::Flock);
        }
        match self.pid {
            Pid::Number(pid) if seen.pid_alive => LockStatus::Live(Evidence::Process(pid)),
            Pid::Number(pid) => LockStatus::Dead(Evidence::Process(pid)),
            Pid::Word(_) | Pid::Missing => {
                let age = seen.now.duration_since(self.since(seen));
                if age < STALE_AFTER {
                    LockStatus::Live(Evidence::Age(age))
                } else {
                    LockStatus::Dead(Evidence::Age(age))
                }
            }
        }
    }

    /// From when the lock's age counts. A stamp in the future would protect it for as long; there the
    /// file's own time counts. A file's time is that of its copy where it came with a clone, so it
    /// counts no further than to the latest time that a stamp without a zone can mean; read as the
    /// hours of here, one written farther west would hijack a young session. Without a stamp the
    /// session's name has one.
    fn since(&self, seen: Sighting) -> Timestamp {
        let named = || {
            self.session
                .as_ref()
                .and_then(named_at)
                .map(LockTime::Zoneless)
        };
        match self.started.or_else(named) {
            Some(LockTime::Zoned(started)) if started <= seen.now => started,
            Some(LockTime::Zoneless(at)) => match latest(at) {
                Some(latest) => latest.min(seen.modified),
                None => seen.modified,
            },
            Some(LockTime::Zoned(_)) | None => seen.modified,
        }
    }
}

/// When the clocks farthest west show this.
fn latest(at: DateTime) -> Option<Timestamp> {
    let west = TimeZone::fixed(jiff::tz::offset(-12));
    Some(at.to_zoned(west).ok()?.timestamp())
}

impl LockTime {
    /// The instant, reading a time without a zone as UTC; for showing, not for deciding.
    pub fn shown(self) -> Option<Timestamp> {
        match self {
            Self::Zoned(at) => Some(at),
            Self::Zoneless(at) => at
                .to_zoned(TimeZone::UTC)
                .ok()
                .map(|zoned| zoned.timestamp()),
        }
    }
}

#[cfg(test)]
mod tests;
