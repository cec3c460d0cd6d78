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
    order::{self},
};
use flagpost_model::{MachineId, RepoId, WorkerId};

use crate::{
    error::FleetError,
    fleet_record::Fleet,
    founder::{Founder, LOOK, PATIENT, name_lists, others},
    link::Link,
    locate_order::OrderLocation,
    refusals::lost,
    share_error::ShareError,
    stored::before_first,
    stream::RepoStream,
};

/// How long another machine may take until it has what is to be removed.
const HEARS_WITHIN: Duration = Duration::from_secs(60);

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
        OrderLocation::Here(end) if !end.is_sealed => {
            return Err(ShareError::Whole { repo: repo.clone() });
        }
        // What is there is known here, before it is removed.
        OrderLocation::Here(end) => link.read_up_to(home, repo, &end)?,
        OrderLocation::Begins | OrderLocation::Lost(_) => {}
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
            OrderLocation::Here(end) => {
                link.read_up_to(home, repo, &end)?;
                heard(&fleet, &link.machine, repo, end.last.headers.numbers.last())?;
                if !is_the_end {
                    let stream = RepoStream::open(&founder.hub, repo)?;
                    stream.seal()?;
                }
            }
            // It was begun and cut short.
            OrderLocation::Begins => {}
            OrderLocation::Lost(reason) => {
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
}
