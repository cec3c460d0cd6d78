//! How a fleet stands, as one machine is told it.
//!
//! Owns one look at the server: what it says of itself, who belongs to the fleet, what it shares, how far
//! each order goes; and what is written down of it for everybody who reads files. It changes nothing else.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use flagpost_core::{Home, order, registry};
use flagpost_model::{
    MachineId, RepoId,
    machines::{FleetMachine, FleetRepository, FleetServer, FleetStanding},
};

use crate::{
    error::FleetError,
    fleet_record::{MachineRecord, RepoRecord},
    link::Link,
    live::LiveMachines,
    membership::Membership,
    stream::{Replicas, RepoStream},
};

/// What is written down is not older than this.
const FRESH: Duration = Duration::from_secs(10);

/// Asks the server of this machine's fleet. What only a daemon that follows can know is what it saw last.
pub fn standing(home: &Home, member: &Membership) -> Result<FleetStanding, FleetError> {
    let link = Link::of(member)?;
    let before = before(home, member);
    let (standing, _) = look(home, member, &link)?;
    let mut standing = standing.after(Some(&before));
    note_own(&mut standing, home, &frozen_before(&before));
    Ok(standing)
}

/// The same where the server cannot be asked.
pub fn standing_alone(home: &Home, member: &Membership, fault: &FleetError) -> FleetStanding {
    let before = before(home, member);
    let mut standing = without_answer(&before, home, fault);
    note_own(&mut standing, home, &frozen_before(&before));
    standing
}

/// Writes down how the fleet stands, for as long as somebody follows.
#[derive(Debug)]
pub(crate) struct Noted<'h> {
    home: &'h Home,
    member: Membership,
    last: FleetStanding,
    written: Option<(Instant, FleetStanding)>,
    /// When the server was looked at last.
    looked: Option<Instant>,
}

impl<'h> Noted<'h> {
    pub(crate) fn of(home: &'h Home, member: Membership) -> Self {
        let last = before(home, &member);
        Self {
            home,
            member,
            last,
            written: None,
            looked: None,
        }
    }

    pub(crate) fn member(&self) -> &Membership {
        &self.member
    }

    /// Nobody answers.
    pub(crate) fn alone(&mut self, fault: &FleetError, frozen: &BTreeMap<RepoId, String>) {
        self.looked = None;
        self.last = without_answer(&self.last, self.home, fault);
        self.write(frozen);
    }

    /// Looks at the server now and then, and at what is here each time. Answers with the signs of life
    /// that it saw there.
    pub(crate) fn connected(
        &mut self,
        link: &Link,
        frozen: &BTreeMap<RepoId, String>,
    ) -> Result<LiveMachines, FleetError> {
        let mut signs = LiveMachines::new();
        if self.looked.is_none_or(|at| at.elapsed() >= FRESH) {
            let (standing, seen) = look(self.home, &self.member, link)?;
            self.last = standing.after(Some(&self.last));
            self.looked = Some(Instant::now());
            signs = seen;
        }
        self.write(frozen);
        Ok(signs)
    }

    fn write(&mut self, frozen: &BTreeMap<RepoId, String>) {
        note_own(&mut self.last, self.home, frozen);
        let is_due = self.written.as_ref().is_none_or(|(at, written)| {
            at.elapsed() >= FRESH || !written.says_the_same(&self.last)
        });
        if is_due {
            self.last.at = self.home.time_by(|own| self.last.time(own));
            // What cannot be written is not known to others; the disk's faults are told where they harm.
            let noted = order::note(self.home, &self.last);
            self.written = noted.is_ok().then(|| (Instant::now(), self.last.clone()));
        }
    }
}

/// What was seen last; nothing but who this machine is, where nobody looked.
fn before(home: &Home, member: &Membership) -> FleetStanding {
    let address = member.invitation.to_string();
    let seen = order::seen(home);
    let mut seen = seen.filter(|it| it.machine == member.machine && it.server.address == address);
    let standing = seen.take().unwrap_or_else(|| FleetStanding {
        at: home.now(),
        since: home.now(),
        server: FleetServer {
            address,
            version: None,
            fault: None,
            syncs: None,
            replicas: None,
            offset_ms: None,
            copies: Vec::new(),
        },
        machine: member.machine.clone(),
        founder: member.admin.is_some(),
        may_decide: None,
        repositories: Vec::new(),
        machines: Vec::new(),
    });
    with_own(standing, home)
}

/// The same with all repositories that are shared here.
fn with_own(mut standing: FleetStanding, home: &Home) -> FleetStanding {
    let shared = order::shared(home).unwrap_or_default();
    for it in registry::repositories(home).unwrap_or_default() {
        if shared.contains(&it.id) && standing.repository(&it.id).is_none() {
            standing.repositories.push(FleetRepository {
                name: it.name.to_string(),
                id: it.id,
                here: None,
                there: None,
                frozen: None,
                kept: 0,
            });
        }
    }
    standing
}

fn without_answer(before: &FleetStanding, home: &Home, fault: &FleetError) -> FleetStanding {
    let explained = fault.clone().explained(home);
    let mut standing = before.alone(home.now(), explained.to_string());
    if let FleetError::TooOld { version, .. } = fault {
        standing.server.version = Some(version.clone());
    }
    with_own(standing, home)
}

/// How far each shared repository is here.
fn here(home: &Home) -> BTreeMap<RepoId, u64> {
    let shared = order::shared(home).unwrap_or_default().into_iter();
    let each = shared.filter_map(|repo| Some((repo.clone(), order::last(home, &repo).ok()?)));
    each.collect()
}

/// What is here by now.
fn note_own(standing: &mut FleetStanding, home: &Home, frozen: &BTreeMap<RepoId, String>) {
    standing.note_here(&here(home), frozen);
    for it in &mut standing.repositories {
        it.kept = order::kept(home, &it.id).unwrap_or_default();
    }
}

fn frozen_before(before: &FleetStanding) -> BTreeMap<RepoId, String> {
    let all = before.frozen();
    all.map(|(it, why)| (it.id.clone(), why.to_owned()))
        .collect()
}

/// One look, and the signs of life that it saw.
fn look(
    home: &Home,
    member: &Membership,
    link: &Link,
) -> Result<(FleetStanding, LiveMachines), FleetError> {
    let hub = &link.hub;
    let fleet = hub.fleet()?;
    let replicas = fleet.record()?.replicas;
    let mut repositories = Vec::new();
    for (id, record) in fleet.all::<RepoRecord>()? {
        let there = match end(link, &id) {
            Ok(end) => end,
            Err(error @ FleetError::Unreachable { .. }) => return Err(error),
            // Whoever follows it says what is wrong with it.
            Err(_) => None,
        };
        repositories.push(FleetRepository {
            name: record.name,
            id,
            here: None,
            there,
            frozen: None,
            kept: 0,
        });
    }
    let copies = match replicas {
        Replicas::One => Vec::new(),
        Replicas::Three => hub.copies(repositories.iter().map(|it| &it.id))?,
    };
    let (syncs, time) = hub.storage()?;
    let own = home.time_by(|own| own);
    let ahead = time.map(|time| own.duration_since(time).as_millis());
    let signs = fleet.live().machines()?;
    let machines = fleet.all::<MachineRecord>()?.into_iter();
    let machines = machines.filter(|(_, it)| it.left.is_none());
    let standing = FleetStanding {
        at: home.now(),
        since: home.now(),
        server: FleetServer {
            address: member.invitation.to_string(),
            version: Some(hub.server_version()),
            fault: None,
            syncs: Some(syncs),
            replicas: Some(replicas.count()),
            offset_ms: ahead.and_then(|it| it.try_into().ok()),
            copies,
        },
        machine: member.machine.clone(),
        founder: member.admin.is_some(),
        may_decide: hub.may_decide(&member.machine)?,
        repositories,
        machines: machines.map(|it| machine(it, &signs)).collect(),
    };
    let mut standing = with_own(standing, home);
    standing.count_lags();
    Ok((standing, signs))
}

/// The number of the last line of a repository; none where its order has not begun.
fn end(link: &Link, repo: &RepoId) -> Result<Option<u64>, FleetError> {
    let last = RepoStream::open(&link.hub, repo)?.last()?;
    Ok(last.map(|last| last.headers.numbers.last()))
}

fn machine((id, record): (MachineId, MachineRecord), signs: &LiveMachines) -> FleetMachine {
    let sign = signs.iter().find(|(of, _)| *of == id).map(|(_, it)| it);
    FleetMachine {
        machine: id,
        host: record.host,
        flagpost: record.flagpost,
        since: sign.map(|it| it.since),
        lag: None,
        behind_since: None,
        behind: false,
        applied: sign.map(|it| it.applied.clone()).unwrap_or_default(),
    }
}
