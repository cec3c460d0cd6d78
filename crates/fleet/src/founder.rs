//! The machine that founded the fleet, which has the administrator's key.
//!
//! Owns its way to the fleet's records and how it begins an order with what is here: what is shared first, and what
//! is begun anew, begins so.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use flagpost_core::{
    Home, Repository,
    git::Git,
    order::{self, BasePart},
};
use flagpost_model::{MachineId, RepoId, WorkerId};

use crate::{
    append::Change,
    connect::Deadlines,
    error::FleetError,
    fleet_record::{Fleet, FleetRecord, RepoRecord},
    hub::Hub,
    link::runtime,
    membership::Membership,
    order::{name_list, refused},
    refusals::refusal,
    server::KeptServer,
    share_error::ShareError,
    stored::{ChangeHeaders, Lane, Numbers, WIRE},
    stream::{Replicas, RepoStream},
};

/// What happens once may take its time: three servers may still be choosing which of them leads.
pub(crate) const PATIENT: Deadlines = Deadlines {
    connect: Duration::from_secs(5),
    answer: Duration::from_secs(12),
    settle: Duration::from_secs(15),
};

/// How long machines that are there may take until they say so to a server that knows nothing.
const SIGNS_WITHIN: Duration = Duration::from_secs(4);

/// From one look at the others to the next.
pub(crate) const LOOK: Duration = Duration::from_millis(200);

/// The machine that founded the fleet.
pub(crate) struct Founder {
    pub(crate) member: Membership,
    /// With the administrator's key.
    pub(crate) hub: Hub,
    _runtime: tokio::runtime::Runtime,
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
    pub(crate) fn fleet(&self, home: &Home, repo: &RepoId) -> Result<Fleet, ShareError> {
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

/// Gives the names of the repository's lists to it, which no other one of the fleet may have.
pub(crate) fn name_lists(
    home: &Home,
    fleet: &Fleet,
    repository: &Repository,
) -> Result<(), ShareError> {
    let (repo, own) = (&repository.id, &repository.name);
    order::must_be_free(home, repo, own)?;
    for list in [own].into_iter().chain(&order::lists(home, repo)?) {
        name_list(fleet, repo, list).map_err(flagpost_core::Error::from)?;
    }
    Ok(())
}

/// How far the other machines are that are there.
pub(crate) fn others(
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

/// The first commit of the repository around `dir`; none where it has none yet.
pub(crate) fn root_commit(dir: &Path) -> Result<Option<String>, ShareError> {
    let mut git = Git::at(dir).args(&["rev-list", "--max-parents=0", "HEAD"]);
    let answer = git.ask().map_err(flagpost_core::Error::from)?;
    let text = String::from_utf8_lossy(&answer.out).into_owned();
    // Of several the oldest comes last.
    Ok(text.lines().last().map(str::to_owned))
}
