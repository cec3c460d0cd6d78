//! Beginning a repository's order anew: after its server lost it, or to make it short.
//!
//! Owns what only the machine that founded the fleet can do. The next order has a number of its own, its
//! places are no other order's, and its first messages are what this machine has. The one before is removed
//! first, since both have one name; what was cut short in between is done by doing it again. Invariant: an
//! order from which others may still hear of something new is ended before it is read for the last time.

use std::{
    thread,
    time::{Duration, Instant},
};

use flagpost_core::{
    Home, Repository,
    order::{self, BasePart},
};
use flagpost_model::{MachineId, RepoId, WorkerId};

use crate::{
    append::Change,
    error::FleetError,
    fleet_record::{Fleet, FleetRecord, RepoRecord},
    hub::Hub,
    membership::Membership,
    order::{Link, lost, refusal, refused, runtime},
    server::KeptServer,
    share::{PATIENT, ShareError, name_lists, root_commit},
    stand::Stand,
    stored::{ChangeHeaders, Lane, Numbers, WIRE, before_first},
    stream::{Replicas, RepoStream},
};

/// How long machines that are there may take until they say so to a server that knows nothing.
const SIGNS_WITHIN: Duration = Duration::from_secs(4);

/// How long another machine may take until it has what is to be removed.
const HEARS_WITHIN: Duration = Duration::from_secs(60);

/// From one look at the others to the next.
const LOOK: Duration = Duration::from_millis(200);

/// What becomes of lines that only another machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind {
    /// Nothing is begun.
    Refuse,
    /// That machine keeps them in quarantine.
    Accept,
}

/// An order that was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begun {
    /// The number of the last line that it began with.
    pub n: u64,
    /// Its own number.
    pub epoch: u64,
}

/// The machine that founded the fleet.
pub(crate) struct Founder {
    pub(crate) member: Membership,
    /// With the administrator's key.
    pub(crate) hub: Hub,
    _runtime: tokio::runtime::Runtime,
}

/// Begins the order of a repository anew, where its server has lost it or a part of it.
pub fn restore(
    home: &Home,
    repository: &Repository,
    actor: &WorkerId,
    behind: Behind,
) -> Result<Begun, ShareError> {
    let founder = Founder::of(home)?;
    let repo = shared(home, repository)?;
    let link = Link::within(&founder.member, PATIENT)?;
    match link.stand(home, repo)? {
        Stand::Here(end) if !end.is_sealed => {
            return Err(ShareError::Whole { repo: repo.clone() });
        }
        // What is there is known here, before it is removed.
        Stand::Here(end) => link.read_up_to(home, repo, &end)?,
        Stand::Begins | Stand::Lost(_) => {}
    }
    let fleet = founder.fleet(home, repo)?;
    let ours = order::last(home, repo)?;
    let others = others(&fleet, &link.machine, repo)?;
    let ahead = others.into_iter().max_by_key(|(_, n)| *n);
    if let Some((machine, theirs)) = ahead.filter(|(_, n)| *n > ours)
        && behind == Behind::Refuse
    {
        return Err(ShareError::Behind {
            machine,
            theirs,
            ours,
        });
    }
    founder.begin_anew(home, (repository, &fleet), actor)
}

/// Begins the order of a repository anew with what it has come to, without the way there. What others append
/// meanwhile waits.
pub fn compact(
    home: &Home,
    repository: &Repository,
    actor: &WorkerId,
) -> Result<Begun, ShareError> {
    let founder = Founder::of(home)?;
    let repo = shared(home, repository)?;
    let link = Link::within(&founder.member, PATIENT)?;
    let fleet = founder.hub.fleet()?;
    // Others are there before anybody is made to wait, and once more when nothing comes after it.
    for is_the_end in [false, true] {
        match link.stand(home, repo)? {
            Stand::Here(end) => {
                link.read_up_to(home, repo, &end)?;
                heard(&fleet, &link.machine, repo, end.last.headers.numbers.last())?;
                if !is_the_end {
                    let stream = RepoStream::open(&founder.hub, repo)?;
                    stream.seal()?;
                }
            }
            // It was begun and cut short.
            Stand::Begins => {}
            Stand::Lost(reason) => {
                return Err(flagpost_core::Error::from(lost(repo, &reason)).into());
            }
        }
    }
    founder.begin_anew(home, (repository, &fleet), actor)
}

fn shared<'r>(home: &Home, repository: &'r Repository) -> Result<&'r RepoId, ShareError> {
    let repo = &repository.id;
    match order::is_shared(home, repo)? {
        true => Ok(repo),
        false => Err(ShareError::NotShared { repo: repo.clone() }),
    }
}

/// How far the other machines are that are there.
fn others(
    fleet: &Fleet,
    me: &MachineId,
    repo: &RepoId,
) -> Result<Vec<(MachineId, u64)>, FleetError> {
    let others = fleet.live().machines()?.into_iter();
    let others = others.filter(|(machine, _)| machine != me);
    Ok(others
        .filter_map(|(machine, sign)| Some((machine, *sign.applied.get(repo)?)))
        .collect())
}

/// Waits until another machine has line `n`, where another one is there.
fn heard(fleet: &Fleet, me: &MachineId, repo: &RepoId, n: u64) -> Result<(), ShareError> {
    let deadline = Instant::now() + HEARS_WITHIN;
    loop {
        let others = others(fleet, me, repo)?;
        if others.is_empty() || others.iter().any(|(_, theirs)| *theirs >= n) {
            return Ok(());
        }
        if Instant::now() >= deadline {
            return Err(ShareError::Unheard { n });
        }
        thread::sleep(LOOK);
    }
}

impl Founder {
    /// That of this home.
    pub(crate) fn of(home: &Home) -> Result<Self, ShareError> {
        let member = Membership::read(home)?.ok_or(ShareError::NoFleet)?;
        let admin = member.admin.clone().ok_or(ShareError::NotFounder)?;
        let runtime = runtime(&member.invitation.to_string())?;
        let to = member.invitation.with_seed(admin);
        let hub = Hub::connect_within(&to, runtime.handle(), PATIENT)?;
        Ok(Self {
            member,
            hub,
            _runtime: runtime,
        })
    }

    /// The fleet's records. A server that has none is given them, and the machines that are there the time to
    /// say so.
    fn fleet(&self, home: &Home, repo: &RepoId) -> Result<Fleet, ShareError> {
        match self.hub.fleet() {
            Err(FleetError::Gone { .. }) => {}
            known => return Ok(known?),
        }
        let server = KeptServer::of_home(home)?;
        let access = server.map(|it| it.access()).transpose()?;
        let replicas = match access.and_then(|it| it.cluster) {
            Some(_) => Replicas::Three,
            None => Replicas::One,
        };
        let fleet = match self.hub.found(&FleetRecord::new(replicas)) {
            Err(FleetError::Exists { .. }) => self.hub.fleet()?,
            founded => founded?,
        };
        let deadline = Instant::now() + SIGNS_WITHIN;
        while Instant::now() < deadline && others(&fleet, &self.member.machine, repo)?.is_empty() {
            thread::sleep(LOOK);
        }
        Ok(fleet)
    }

    /// What the fleet's records say of a repository of this machine.
    pub(crate) fn record_of(&self, repository: &Repository) -> Result<RepoRecord, ShareError> {
        let root_commit = root_commit(&repository.top)?.ok_or(ShareError::NoCommit)?;
        Ok(RepoRecord {
            name: repository.name.to_string(),
            root_commit: Some(root_commit),
            created_by: self.member.machine.clone(),
            epoch: 1,
        })
    }

    fn begin_anew(
        &self,
        home: &Home,
        (repository, fleet): (&Repository, &Fleet),
        actor: &WorkerId,
    ) -> Result<Begun, ShareError> {
        let repo = &repository.id;
        let last = match RepoStream::open(&self.hub, repo) {
            Ok(stream) => stream.last()?.map_or(0, |it| it.headers.epoch),
            // One that is gone, or that no machine would take.
            Err(FleetError::Gone { .. } | FleetError::Configuration { .. }) => 0,
            Err(error) => return Err(error.into()),
        };
        let above = order::epoch(home, repo)?.max(last);
        name_lists(home, fleet, repository)?;
        let record = self.record_of(repository)?;
        let epoch = fleet.next_epoch(repo, above, record)?;
        let replicas = fleet.record()?.replicas;
        let open = || {
            RepoStream::remove(&self.hub, repo)?;
            let stream = RepoStream::begin(&self.hub, (repo, epoch), replicas)?;
            Ok((stream, before_first(epoch)))
        };
        let n = self.begin(home, (repo, epoch), actor, &open)?;
        Ok(Begun { n, epoch })
    }

    /// Begins an order with what is here. `open` gives the stream, and the place after which it goes on; it is
    /// asked when nothing is changed here any more.
    pub(crate) fn begin(
        &self,
        home: &Home,
        (repo, epoch): (&RepoId, u64),
        actor: &WorkerId,
        open: &dyn Fn() -> Result<(RepoStream, u64), FleetError>,
    ) -> Result<u64, ShareError> {
        let mut opened = None;
        let mut publish = |part: &BasePart| {
            let (stream, after) = match &mut opened {
                Some(opened) => opened,
                none => none.insert(open().map_err(|error| refusal(repo, &error))?),
            };
            // A base that is not whole ends with no line of the history: nothing can follow it.
            let last = if part.is_last() { part.last() } else { 1 };
            let no_history = || flagpost_core::Error::Invalid {
                what: format!("repository {repo}"),
                reason: "it has no history yet".to_owned(),
            };
            let numbers = Numbers::new(1, last).ok_or_else(no_history)?;
            let body = part.to_bytes();
            let change = Change {
                machine: &self.member.machine,
                lane: Lane::Own,
                headers: ChangeHeaders::new(numbers, *after),
                body: &body,
            };
            let appended = stream.append(*after, &change);
            *after = appended.map_err(|error| refused(repo, Lane::Own, error))?;
            Ok(())
        };
        Ok(order::share(home, (repo, epoch), actor, &mut publish)?)
    }
}

impl FleetRecord {
    /// Of a fleet that is founded.
    pub fn new(replicas: Replicas) -> Self {
        Self {
            name: "fleet".to_owned(),
            epoch: 1,
            wire_min: WIRE,
            replicas,
        }
    }
}
