//! Bringing a repository into the fleet, and a machine to it.
//!
//! Owns what happens once: the administrator's machine makes a repository's stream and begins it with what
//! is there; another machine takes that over in a clone, which it knows by its first commit. What was cut
//! short is begun again: only a whole base counts, and the last one.

use std::path::Path;

use flagpost_core::{
    Home, Repository,
    order::{self, Message},
};
use flagpost_model::{ListId, MachineId, RepoId, WorkerId};
use jiff::Timestamp;

use crate::{
    address::Invitation,
    error::FleetError,
    fleet_record::{Fleet, FleetRecord, ListRecord, MachineRecord, RepoRecord},
    founder::{Founder, PATIENT, name_lists, root_commit},
    hub::Hub,
    link::{Link, runtime},
    locate_order::base,
    membership::Membership,
    order::put_aside,
    server::KeptServer,
    server_config::MachineAccess,
    share_error::ShareError,
    stream::RepoStream,
};

/// Brings the repository into the fleet of this home, which its machine founded; the number of its last line.
pub fn share(home: &Home, repository: &Repository, actor: &WorkerId) -> Result<u64, ShareError> {
    let founder = Founder::of(home)?;
    let repo = &repository.id;
    if order::is_shared(home, repo)? {
        return Err(ShareError::Shared { repo: repo.clone() });
    }
    let record = founder.record_of(repository)?;
    let fleet = founder.hub.fleet()?;
    name_lists(home, &fleet, repository)?;
    let stream = RepoStream::create(&founder.hub, repo, fleet.record()?.replicas)?;
    match fleet.create(repo, &record) {
        // It was begun and cut short.
        Ok(()) | Err(FleetError::Exists { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let last = stream.last()?;
    if let Some(last) = &last
        && let Message::Change(_) = Message::parse(repo, &last.body)?
    {
        return Err(ShareError::Shared { repo: repo.clone() });
    }
    let after = last.map_or(0, |last| last.seq);
    founder.begin(home, (repo, 1), actor, &|| Ok((stream.clone(), after)))
}

/// What a machine joined.
#[derive(Debug)]
pub struct Joined {
    /// The fleet.
    pub fleet: FleetRecord,
    /// The repository of the clone, and the number of its last line; none outside of a clone.
    pub repository: Option<(Repository, u64)>,
    /// What was put aside for that; none where nothing was in its way.
    pub put_aside: Option<String>,
}

/// Makes this home one of the fleet's, and the clone around `dir` one of its repositories.
pub fn join(
    home: &Home,
    invitation: &Invitation,
    machine: &MachineRecord,
    dir: &Path,
) -> Result<Joined, ShareError> {
    let known = Membership::read(home)?;
    if let Some(known) = &known
        && known.invitation != *invitation
    {
        return Err(ShareError::Member {
            server: known.invitation.to_string(),
            machine: known.machine.clone(),
        });
    }
    let admin = known.and_then(|it| it.admin);
    let member = Membership::of(invitation.clone(), admin)?;
    let link = Link::within(&member, PATIENT)?;
    let fleet = link.hub.fleet()?;
    let record = fleet.record()?;
    // A clone that cannot be taken over makes no member.
    let mine = shared_as(home, &fleet, dir)?;
    fleet.put_machine(&member.machine, machine)?;
    member.write(home)?;
    let (repository, put_aside) = match mine {
        Some((repo, name)) => {
            let (repository, last, put_aside) = take_over(home, &link, dir, (&repo, &name))?;
            (Some((repository, last)), put_aside)
        }
        None => (None, None),
    };
    Ok(Joined {
        fleet: record,
        repository,
        put_aside,
    })
}

/// Leaves the fleet; which one that was, if there was one.
pub fn leave(home: &Home) -> Result<Option<Membership>, ShareError> {
    let Some(member) = Membership::read(home)? else {
        return Ok(None);
    };
    if member.admin.is_some() || KeptServer::of_home(home)?.is_some() {
        return Err(ShareError::KeepsServer);
    }
    // Who is away leaves too; the others see it as silent.
    if let Ok(link) = Link::of(&member) {
        let _ = link
            .hub
            .fleet()
            .and_then(|it| gone(&it, &member.machine, home.now()));
    }
    Membership::forget(home)?;
    Ok(Some(member))
}

/// Shuts a machine out of the fleet that this one founded. Its key opens no server any more.
pub fn shut_out(home: &Home, machine: &MachineId) -> Result<(), ShareError> {
    let member = Membership::read(home)?.ok_or(ShareError::NoFleet)?;
    let admin = member.admin.clone().ok_or(ShareError::NotFounder)?;
    let server = KeptServer::of_home(home)?.ok_or(ShareError::NotFounder)?;
    if *machine == member.machine {
        return Err(ShareError::KeepsServer);
    }
    let runtime = runtime(&member.invitation.to_string())?;
    let hub = Hub::connect(&member.invitation.with_seed(admin), runtime.handle())?;
    let fleet = hub.fleet()?;
    let is_let_in = |it: &MachineAccess| it.machine == *machine;
    let is_in = server.access()?.machines.iter().any(is_let_in);
    let known = fleet.get::<MachineRecord>(machine)?;
    // What was cut short after the first half is done again.
    if !is_in && known.is_none_or(|it| it.left.is_some()) {
        let machine = machine.clone();
        return Err(ShareError::NoMachine { machine });
    }
    // First: the server is started anew for the second.
    gone(&fleet, machine, home.now())?;
    server.shut_out(machine, home.now())?;
    Ok(())
}

/// Says in the fleet's records that a machine belongs to it no more.
fn gone(fleet: &Fleet, machine: &MachineId, now: Timestamp) -> Result<(), FleetError> {
    let Some(record) = fleet.get::<MachineRecord>(machine)? else {
        return Ok(());
    };
    let left = Some(now);
    fleet.put_machine(machine, &MachineRecord { left, ..record })
}

/// As which of the fleet's repositories the clone around `dir` is shared; none outside of a clone.
fn shared_as(
    home: &Home,
    fleet: &Fleet,
    dir: &Path,
) -> Result<Option<(RepoId, ListId)>, ShareError> {
    if !Repository::is_git(home, dir)? {
        return Ok(None);
    }
    let root = root_commit(dir)?;
    let shared = fleet.all::<RepoRecord>()?;
    let mine = shared
        .iter()
        .find(|(_, it)| root.is_some() && it.root_commit == root);
    let Some((repo, record)) = mine else {
        return Err(ShareError::Unknown {
            dir: dir.display().to_string(),
            known: shared.into_iter().map(|(_, it)| it.name).collect(),
        });
    };
    let name = record.name.parse().map_err(flagpost_core::Error::from)?;
    order::must_be_free(home, repo, &name)?;
    for (list, record) in fleet.all::<ListRecord>()? {
        if record.repo == *repo {
            order::must_be_free(home, repo, &list)?;
        }
    }
    Ok(Some((repo.clone(), name)))
}

/// The clone around `dir` becomes one of the fleet's repositories.
fn take_over(
    home: &Home,
    link: &Link,
    dir: &Path,
    (repo, name): (&RepoId, &ListId),
) -> Result<(Repository, u64, Option<String>), ShareError> {
    let repository = Repository::adopt(home, dir, repo, name)?;
    let mut aside = Vec::new();
    if !order::is_shared(home, repo)? {
        let stream = link.stream(repo)?;
        let last = stream.last()?;
        let parts = last.as_ref().map(|last| base(&stream, last)).transpose()?;
        let whole = last.zip(parts.flatten());
        let (last, parts) = whole.ok_or_else(|| ShareError::Unfinished { repo: repo.clone() })?;
        aside = order::take_over(home, (repo, last.headers.epoch), parts)?.aside;
    }
    aside.append(&mut link.catch_up(home, repo)?);
    let last = order::last(home, repo)?;
    let put_aside = put_aside(repo, &aside);
    Ok((repository, last, put_aside))
}
