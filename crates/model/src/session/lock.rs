//! A session's lock: who runs the session, and whether it still does.
//!
//! Owns the rule of `tree.md` §3 on whose lock stands. Invariants: an flock that somebody holds
//! is a live session however old its stamp; our own lock without its flock is dead at once; age
//! decides only where nothing better is known.

use jiff::{SignedDuration, Timestamp, civil::DateTime, tz::TimeZone};

use crate::id::{ListId, SessionId};

/// How long a lock stands whose holder cannot be asked.
pub const STALE_AFTER: SignedDuration = SignedDuration::from_hours(4);

/// What a lock file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lock {
    /// The session it protects; none where the file does not name a usable one.
    pub session: Option<SessionId>,
    /// When the session started.
    pub started: Option<Stamp>,
    /// Who holds it.
    pub pid: Pid,
    /// The list the session runs; only our locks say so.
    pub list: Option<ListId>,
    /// Whether its holder keeps an flock on the file for the session's life, as Flagpost does.
    pub flocked: bool,
}

/// A time as written in a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stamp {
    /// With a zone.
    Instant(Timestamp),
    /// Without one: could be up to 14 hours off.
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
pub enum Standing {
    /// Somebody runs the session: it may not be touched.
    Live(Evidence),
    /// Nobody does: what it left may be recovered.
    Dead(Evidence),
}

/// What a [`Standing`] rests on.
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
    pub fn of_ours(session: SessionId, list: ListId, pid: u32, started: Timestamp) -> Self {
        Self {
            session: Some(session),
            started: Some(Stamp::Instant(started)),
            pid: Pid::Number(pid),
            list: Some(list),
            flocked: true,
        }
    }

    /// Whether the lock stands.
    pub fn standing(&self, seen: Sighting) -> Standing {
        if seen.flock_held {
            return Standing::Live(Evidence::Flock);
        }
        if self.flocked {
            return Standing::Dead(Evidence::Flock);
        }
        match self.pid {
            Pid::Number(pid) if seen.pid_alive => Standing::Live(Evidence::Process(pid)),
            Pid::Number(pid) => Standing::Dead(Evidence::Process(pid)),
            Pid::Word(_) | Pid::Missing => {
                let age = seen.now.duration_since(self.since(seen.modified));
                if age < STALE_AFTER {
                    Standing::Live(Evidence::Age(age))
                } else {
                    Standing::Dead(Evidence::Age(age))
                }
            }
        }
    }

    /// From when the lock's age counts. A stamp without a zone may be hours off and would hijack
    /// a young session or protect a dead one, so there the file's own time counts.
    fn since(&self, modified: Timestamp) -> Timestamp {
        match self.started {
            Some(Stamp::Instant(started)) => started,
            Some(Stamp::Zoneless(_)) | None => modified,
        }
    }
}

impl Stamp {
    /// The instant, reading a time without a zone as UTC; for showing, not for deciding.
    pub fn shown(self) -> Option<Timestamp> {
        match self {
            Self::Instant(at) => Some(at),
            Self::Zoneless(at) => at
                .to_zoned(TimeZone::UTC)
                .ok()
                .map(|zoned| zoned.timestamp()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-02-05T14:30:00Z";

    fn ts(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn foreign(pid: Pid, started: Option<&str>) -> Lock {
        Lock {
            session: "user-auth-20260205-093000".parse().ok(),
            started: started.map(|s| Stamp::Instant(ts(s))),
            pid,
            ..Lock::default()
        }
    }

    fn standing(lock: &Lock, flock_held: bool, pid_alive: bool, modified: &str) -> Standing {
        lock.standing(Sighting {
            now: ts(NOW),
            modified: ts(modified),
            flock_held,
            pid_alive,
        })
    }

    #[test]
    fn trap_05_age_never_overrules_what_can_be_asked() {
        let five_hours_ago = "2026-02-05T09:30:00Z";
        let one_minute_ago = "2026-02-05T14:29:00Z";
        let word = || Pid::Word("orchestrator".into());
        let ours = |at| {
            Lock::of_ours(
                "user-auth-20260205-093000".parse().unwrap(),
                "web".parse().unwrap(),
                77,
                ts(at),
            )
        };
        let live = Standing::Live;
        let dead = Standing::Dead;
        let hours = |h| Evidence::Age(SignedDuration::from_hours(h));
        let minute = Evidence::Age(SignedDuration::from_mins(1));
        for (what, lock, held, alive, modified, expected) in [
            (
                "ours, held for five hours",
                ours(five_hours_ago),
                true,
                true,
                five_hours_ago,
                live(Evidence::Flock),
            ),
            (
                "ours, dead for a minute",
                ours(one_minute_ago),
                false,
                false,
                one_minute_ago,
                dead(Evidence::Flock),
            ),
            (
                "ours, dead, its pid reused",
                ours(one_minute_ago),
                false,
                true,
                one_minute_ago,
                dead(Evidence::Flock),
            ),
            (
                "foreign, but flocked by somebody",
                foreign(word(), Some(five_hours_ago)),
                true,
                false,
                five_hours_ago,
                live(Evidence::Flock),
            ),
            (
                "foreign, old, process lives",
                foreign(Pid::Number(9), Some(five_hours_ago)),
                false,
                true,
                five_hours_ago,
                live(Evidence::Process(9)),
            ),
            (
                "foreign, young, process gone",
                foreign(Pid::Number(9), Some(one_minute_ago)),
                false,
                false,
                one_minute_ago,
                dead(Evidence::Process(9)),
            ),
            (
                "a word for a pid, young",
                foreign(word(), Some(one_minute_ago)),
                false,
                false,
                five_hours_ago,
                live(minute),
            ),
            (
                "a word for a pid, old",
                foreign(word(), Some(five_hours_ago)),
                false,
                true,
                one_minute_ago,
                dead(hours(5)),
            ),
            (
                "a word, exactly four hours",
                foreign(word(), Some("2026-02-05T10:30:00Z")),
                false,
                false,
                NOW,
                dead(hours(4)),
            ),
            (
                "nothing readable, young file",
                foreign(Pid::Missing, None),
                false,
                false,
                one_minute_ago,
                live(minute),
            ),
            (
                "nothing readable, old file",
                foreign(Pid::Missing, None),
                false,
                false,
                five_hours_ago,
                dead(hours(5)),
            ),
            (
                "a stamp from the future",
                foreign(word(), Some("2026-02-05T15:30:00Z")),
                false,
                false,
                NOW,
                live(hours(-1)),
            ),
        ] {
            assert_eq!(standing(&lock, held, alive, modified), expected, "{what}");
        }
    }

    #[test]
    fn trap_05_a_stamp_without_a_zone_does_not_age_a_young_lock() {
        // Written a minute ago by a clock eight hours behind UTC.
        let mut lock = foreign(Pid::Word("active".into()), None);
        lock.started = Some(Stamp::Zoneless("2026-02-05T06:29:00".parse().unwrap()));
        assert!(matches!(
            standing(&lock, false, false, "2026-02-05T14:29:00Z"),
            Standing::Live(Evidence::Age(_))
        ));
        assert!(matches!(
            standing(&lock, false, false, "2026-02-05T09:29:00Z"),
            Standing::Dead(Evidence::Age(_))
        ));
    }
}
