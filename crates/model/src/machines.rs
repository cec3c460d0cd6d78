//! How a fleet of machines stands, as one of them saw it (`docs/machines.md`).
//!
//! Owns what is known of the server, of each machine and of each shared repository, and the rules about it:
//! since when things are as they are, when a machine counts as behind, when nothing is known any more. It is
//! a hint: nothing is decided by it.

use std::{collections::BTreeMap, fmt};

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{MachineId, RepoId, names::names, view};

/// What was seen so long ago says nothing of now. Whoever follows looks three times as often.
pub const KNOWN_FOR: SignedDuration = SignedDuration::from_secs(30);

/// A machine that lacks a line for so long is behind: what was done just now is on its way.
pub const BEHIND_AFTER: SignedDuration = SignedDuration::from_secs(30);

/// Clocks that differ by less are as good as one: it is not measured more exactly.
const CLOCKS_AGREE: SignedDuration = SignedDuration::from_secs(2);

/// The oldest server that keeps its promises.
pub const OLDEST_SERVER: (u64, u64) = (2, 12);

/// A fleet of machines, as this one sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetStanding {
    /// When it was seen.
    pub at: Timestamp,
    /// Since when the server can be reached, or cannot.
    pub since: Timestamp,
    /// Its server.
    pub server: FleetServer,
    /// What this machine is called.
    pub machine: MachineId,
    /// This machine founded the fleet.
    pub founder: bool,
    /// This machine's key may decide on briefs; null where that is not known.
    pub may_decide: Option<bool>,
    /// What is shared.
    pub repositories: Vec<FleetRepository>,
    /// Who belongs to it.
    pub machines: Vec<FleetMachine>,
}

/// The server of a fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetServer {
    /// Where it is.
    pub address: String,
    /// Its version; null where it cannot be reached.
    pub version: Option<String>,
    /// Why it cannot be reached; null where it can.
    pub fault: Option<String>,
    /// It syncs each message before it acknowledges it.
    pub syncs: Option<bool>,
    /// On how many servers each message lies.
    pub replicas: Option<u64>,
    /// How far this machine's clock is ahead of its, in milliseconds.
    pub offset_ms: Option<i64>,
    /// What each of several has; empty where there is one, or that is not known.
    #[serde(default)]
    pub copies: Vec<ServerCopy>,
}

names!(
    /// What one of several servers has of what the fleet keeps.
    CopyState {
        /// All.
        Whole = "whole",
        /// Not all: while it fills, no other server may stop.
        Partial = "partial",
        /// It is not there.
        Away = "away",
    }
);

/// One of several servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerCopy {
    /// Where it listens.
    pub server: String,
    /// What it has.
    pub state: CopyState,
}

/// A repository that is shared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetRepository {
    /// What people call it.
    pub name: String,
    /// Which it is.
    pub id: RepoId,
    /// The number of its last line here; null where it is not on this machine.
    pub here: Option<u64>,
    /// The number of its last line in the fleet; null where that is not known.
    pub there: Option<u64>,
    /// Why this machine changes nothing in it any more; null where it does.
    pub frozen: Option<String>,
    /// How many reports of agents on this machine the fleet has not heard yet.
    #[serde(default)]
    pub kept: usize,
}

/// A machine of the fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetMachine {
    /// Which it is.
    pub machine: MachineId,
    /// What it is called in its network.
    pub host: String,
    /// The version of its Flagpost.
    pub flagpost: String,
    /// Since when its daemon follows; null where it does not now, or that is not known.
    pub since: Option<Timestamp>,
    /// How many lines it is behind, over all repositories; null where it does not follow.
    pub lag: Option<u64>,
    /// Since when it lacks a line that others have; null where it has all.
    pub behind_since: Option<Timestamp>,
    /// It has lacked one for so long that something stands in its way.
    #[serde(default)]
    pub behind: bool,
    /// The number of the last line that it has, of each repository that it follows.
    pub applied: BTreeMap<RepoId, u64>,
}

names!(
    /// Whether the fleet can be reached.
    FleetLink {
        /// The server answers.
        Connected = "connected",
        /// It does not: what is here can be read, and nothing changed.
        Alone = "alone",
        /// Nobody follows on this machine, so nobody knows.
        Unknown = "unknown",
    }
);

/// What is known of the fleet at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FleetSight {
    /// Nothing any more: the daemon does not follow, and did so at this time last.
    Unknown(Option<Timestamp>),
    /// This.
    Known(Box<FleetStanding>),
}

view! {
    /// What is known of the fleet of machines that this one belongs to.
    pub struct FleetSeen<'a> for sight: FleetSight {
        /// Alone: the server cannot be reached. Unknown: this machine's daemon does not follow.
        link: FleetLink = sight.link(),
        /// Since when that is so; null where it never followed.
        since: Option<Timestamp> = sight.since(),
        /// How it stands; null where that is unknown.
        standing: Option<&'a FleetStanding> = sight.standing(),
    }
}

/// What is wrong with it, if anything is.
impl fmt::Display for ServerCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has = match self.state {
            CopyState::Whole => "has all",
            CopyState::Partial => "does not have all yet",
            CopyState::Away => "is away",
        };
        write!(f, "the server at {} {has}", self.server)
    }
}

impl FleetSight {
    /// What somebody saw, as it counts now.
    pub fn of(seen: Option<FleetStanding>, now: Timestamp) -> Self {
        match seen {
            Some(seen) if now.duration_since(seen.at).abs() <= KNOWN_FOR => {
                Self::Known(Box::new(seen))
            }
            seen => Self::Unknown(seen.map(|it| it.at)),
        }
    }

    /// Whether the fleet can be reached.
    pub fn link(&self) -> FleetLink {
        match self {
            Self::Unknown(_) => FleetLink::Unknown,
            Self::Known(it) => it.link(),
        }
    }

    /// Since when that is so.
    pub fn since(&self) -> Option<Timestamp> {
        match self {
            Self::Unknown(since) => *since,
            Self::Known(it) => Some(it.since),
        }
    }

    /// Whether it says the same, whenever it was seen and whatever the clocks do.
    pub fn says_the_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Known(one), Self::Known(other)) => one.says_the_same(other),
            (Self::Unknown(one), Self::Unknown(other)) => one == other,
            _ => false,
        }
    }

    /// How it stands, where that is known.
    pub fn standing(&self) -> Option<&FleetStanding> {
        match self {
            Self::Unknown(_) => None,
            Self::Known(it) => Some(it),
        }
    }
}

impl FleetStanding {
    /// What time it is by the server's clock, as it was measured, where this machine's own says this.
    pub fn time(&self, own: Timestamp) -> Timestamp {
        let ahead = SignedDuration::from_millis(self.server.offset_ms.unwrap_or_default());
        match ahead.abs() > CLOCKS_AGREE {
            true => own.saturating_sub(ahead).unwrap_or(own),
            false => own,
        }
    }

    /// The same where that was measured lately: since then somebody may have set the clock.
    pub fn time_if_known(&self, own: Timestamp) -> Option<Timestamp> {
        let time = self.time(own);
        (time.duration_since(self.at).abs() <= KNOWN_FOR).then_some(time)
    }

    /// Whether the server can be reached.
    pub fn link(&self) -> FleetLink {
        match self.server.fault {
            None => FleetLink::Connected,
            Some(_) => FleetLink::Alone,
        }
    }

    /// This, with what was seen before: since when things are as they are.
    #[must_use]
    pub fn after(mut self, before: Option<&Self>) -> Self {
        // Nobody knows what was between two looks that lie far apart.
        let same = before.filter(|it| {
            let is_next = self.at.duration_since(it.at).abs() <= KNOWN_FOR;
            is_next && it.link() == self.link()
        });
        self.since = same.map_or(self.at, |it| it.since);
        for machine in &mut self.machines {
            machine.behind_since = behind_since(machine, before, self.at);
            let lacks = machine
                .behind_since
                .map(|since| self.at.duration_since(since));
            machine.behind = lacks.is_some_and(|lacks| lacks >= BEHIND_AFTER);
        }
        self
    }

    /// The same where the server cannot be reached, for this reason. What is known of the other machines is
    /// their names.
    #[must_use]
    pub fn alone(&self, at: Timestamp, fault: String) -> Self {
        let mut alone = self.clone();
        alone.at = at;
        alone.server = FleetServer {
            address: self.server.address.clone(),
            version: None,
            fault: Some(fault),
            syncs: None,
            replicas: None,
            offset_ms: None,
            copies: Vec::new(),
        };
        for repository in &mut alone.repositories {
            repository.there = None;
        }
        for machine in &mut alone.machines {
            (machine.since, machine.lag) = (None, None);
        }
        alone.after(Some(self))
    }

    /// What is here by now: the number of the last line of each repository, and why one stands still.
    pub fn note_here(&mut self, here: &BTreeMap<RepoId, u64>, frozen: &BTreeMap<RepoId, String>) {
        for it in &mut self.repositories {
            it.here = here.get(&it.id).copied();
            it.frozen = frozen.get(&it.id).cloned();
            // What is here came from there.
            it.there = it.there.map(|there| there.max(it.here.unwrap_or_default()));
        }
        let ends = self.ends();
        let own = self.machines.iter_mut();
        for own in own.filter(|it| it.machine == self.machine) {
            own.applied.clone_from(here);
            own.lag = own.lag.map(|_| lag(&own.applied, &ends));
            if own.lag == Some(0) {
                (own.behind_since, own.behind) = (None, false);
            }
        }
    }

    /// How far each machine is behind.
    pub fn count_lags(&mut self) {
        let ends = self.ends();
        for it in &mut self.machines {
            it.lag = it.since.map(|_| lag(&it.applied, &ends));
        }
    }

    /// The number of the last line of each repository in the fleet.
    fn ends(&self) -> BTreeMap<RepoId, u64> {
        let known = self.repositories.iter();
        known
            .filter_map(|it| Some((it.id.clone(), it.there?)))
            .collect()
    }

    /// A repository of it.
    pub fn repository(&self, id: &RepoId) -> Option<&FleetRepository> {
        self.repositories.iter().find(|it| it.id == *id)
    }

    /// The repositories that stand still on this machine, and why.
    pub fn frozen(&self) -> impl Iterator<Item = (&FleetRepository, &str)> {
        let all = self.repositories.iter();
        all.filter_map(|it| Some((it, it.frozen.as_deref()?)))
    }

    /// The servers that are away or do not have all.
    pub fn lacking(&self) -> impl Iterator<Item = &ServerCopy> {
        let all = self.server.copies.iter();
        all.filter(|it| it.state != CopyState::Whole)
    }

    /// The machines that have been behind for long.
    pub fn behind(&self) -> impl Iterator<Item = &FleetMachine> {
        self.machines.iter().filter(|it| it.behind)
    }

    /// How many machines follow.
    pub fn following(&self) -> usize {
        let all = self.machines.iter();
        all.filter(|it| it.since.is_some()).count()
    }

    /// Whether it says the same, whenever it was seen and whatever the clocks do.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let mut other = other.clone();
        other.at = self.at;
        other.server.offset_ms = self.server.offset_ms;
        *self == other
    }
}

fn lag(applied: &BTreeMap<RepoId, u64>, ends: &BTreeMap<RepoId, u64>) -> u64 {
    let each = applied.iter();
    let each = each.filter_map(|(id, n)| Some(ends.get(id)?.saturating_sub(*n)));
    each.sum()
}

/// Since when a machine lacks a line. One that has all that there was at the look before lacks only newer ones.
fn behind_since(
    machine: &FleetMachine,
    before: Option<&FleetStanding>,
    at: Timestamp,
) -> Option<Timestamp> {
    machine.lag.filter(|lag| *lag > 0)?;
    let lacked = before.and_then(|before| {
        let ends = before.ends();
        let known = before.machines.iter();
        let known = known.filter(|it| it.machine == machine.machine);
        let since = known.filter_map(|it| it.behind_since).next()?;
        (lag(&machine.applied, &ends) > 0).then_some(since)
    });
    Some(lacked.unwrap_or(at))
}

/// Whether a server of this version keeps its promises.
pub fn is_new_enough(version: &str) -> bool {
    let mut parts = version.split(['.', '-']).map(str::parse::<u64>);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= OLDEST_SERVER,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
