//! Reservations: who works on which files.
//!
//! Owns when a path may be reserved, how long that holds, and who touched what without it. An
//! exclusive reservation keeps everybody else's away from whatever it may meet; shared ones stand
//! beside each other. Nobody is in his own way. One that is over holds nothing. A reservation is an
//! announcement: it stops no program from writing a file.

mod name;
mod pattern;
#[cfg(test)]
mod tests;

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

pub use pattern::{InvalidPattern, Pattern, is_glob};

use crate::{id::WorkerId, lease, names::names, task::DEFAULT_LEASE};

/// How long a reservation lasts unless its holder says otherwise, or says anything: as long as a
/// claim.
pub const LEASE: SignedDuration = DEFAULT_LEASE;

names! {
    /// Who else may reserve the same.
    ReservationMode {
        /// Nobody.
        Exclusive = "exclusive",
        /// Whoever reserves it as shared, too.
        Shared = "shared",
    }
}

/// What somebody wants to reserve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReservationRequest {
    /// A path from the top of the repository, or a glob of such paths.
    pub path: Pattern,
    /// Who holds it.
    #[serde(rename = "worker")]
    pub holder: WorkerId,
    /// Who else may.
    pub mode: ReservationMode,
    /// The task that it is for; null where it is for none.
    pub task: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// Who works on which files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reservation {
    /// Its number, which is that of its line in the history.
    pub n: u64,
    /// What was asked for.
    #[serde(flatten)]
    pub wanted: ReservationRequest,
    /// Since when, or when it was renewed.
    pub at: Timestamp,
    /// Until when it holds.
    pub until: Timestamp,
}

/// What a reservation that may be made is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReservationGrant {
    /// A new one.
    New,
    /// It is there: its lease begins anew.
    Renews(u64),
    /// It takes the place of one of the same holder and path.
    Replaces(u64),
}

/// Somebody else has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[error(
    "{path} is reserved by {} until {:.0}{}{}",
    by.wanted.holder, by.until, of(path, &by.wanted.path), why(by.wanted.reason.as_deref())
)]
pub struct ReservationConflict {
    /// What was wanted.
    pub path: Pattern,
    /// The reservation in the way.
    #[serde(rename = "held")]
    pub by: Box<Reservation>,
}

/// How a touched file stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holding<'r> {
    /// Whoever touched it holds it.
    Held,
    /// Somebody else does.
    Others(&'r Reservation),
    /// Nobody does.
    Nobody,
}

impl Reservation {
    /// What was wanted, from now on.
    pub fn new(n: u64, wanted: ReservationRequest, now: Timestamp, length: SignedDuration) -> Self {
        Self {
            n,
            wanted,
            at: now,
            until: lease::end(now, length),
        }
    }

    /// Whether it holds anything.
    pub fn is_live(&self, now: Timestamp) -> bool {
        lease::is_live(self.until, now)
    }

    /// The same after a sign of life of its holder; none where it is over, or where most of it is
    /// left, so that not every word costs a write.
    pub fn renewed(&self, now: Timestamp) -> Option<Self> {
        let length = lease::renewed(self.at, self.until, now)?;
        Some(Self::new(self.n, self.wanted.clone(), now, length))
    }

    fn is_in_the_way_of(&self, wanted: &ReservationRequest, now: Timestamp) -> bool {
        let both_shared =
            self.wanted.mode == ReservationMode::Shared && wanted.mode == ReservationMode::Shared;
        self.is_live(now)
            && self.wanted.holder != wanted.holder
            && !both_shared
            && self.wanted.path.meets(&wanted.path)
    }
}

/// Whether something may be reserved beside what is.
pub fn may_reserve(
    wanted: &ReservationRequest,
    held: &[Reservation],
    now: Timestamp,
) -> Result<ReservationGrant, ReservationConflict> {
    if let Some(other) = held.iter().find(|it| it.is_in_the_way_of(wanted, now)) {
        return Err(ReservationConflict {
            path: wanted.path.clone(),
            by: Box::new(other.clone()),
        });
    }
    let same = |it: &&Reservation| {
        it.is_live(now) && it.wanted.holder == wanted.holder && it.wanted.path == wanted.path
    };
    Ok(match held.iter().find(same) {
        None => ReservationGrant::New,
        Some(mine) if mine.wanted.mode == wanted.mode => ReservationGrant::Renews(mine.n),
        Some(mine) => ReservationGrant::Replaces(mine.n),
    })
}

/// How a file stands that `who` touched; where nobody knows who did, it is enough that somebody
/// holds it.
pub fn holding<'r>(
    path: &str,
    who: Option<&WorkerId>,
    held: &'r [Reservation],
    now: Timestamp,
) -> Holding<'r> {
    let all = held.iter().filter(|it| it.is_live(now));
    let taking: Vec<&Reservation> = all.filter(|it| it.wanted.path.takes(path)).collect();
    let is_own = |it: &&Reservation| who.is_none_or(|who| it.wanted.holder == *who);
    if taking.iter().any(is_own) {
        return Holding::Held;
    }
    let exclusive = taking
        .iter()
        .find(|it| it.wanted.mode == ReservationMode::Exclusive);
    match exclusive.or(taking.first()) {
        Some(other) => Holding::Others(other),
        None => Holding::Nobody,
    }
}

fn of(wanted: &Pattern, held: &Pattern) -> String {
    match wanted == held {
        true => String::new(),
        false => format!(", as part of {held}"),
    }
}

fn why(reason: Option<&str>) -> String {
    reason.map_or_else(String::new, |reason| format!(": {reason}"))
}
