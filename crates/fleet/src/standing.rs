//! How a fleet stands, as one machine is told it.
//!
//! Owns one look at the server: what it says of itself, who belongs to the fleet, what it shares, how far
//! each order goes. It changes nothing.

use std::collections::BTreeMap;

use flagpost_model::{MachineId, RepoId};

use crate::{
    error::FleetError,
    fleet_record::{MachineRecord, RepoRecord},
    live::LiveMachine,
    membership::Membership,
    order::Link,
    stream::RepoStream,
};

/// What was seen.
#[derive(Debug)]
pub struct FleetStanding {
    /// The server's version.
    pub version: String,
    /// It syncs each message before it acknowledges it.
    pub syncs: bool,
    /// Who belongs to the fleet.
    pub machines: Vec<(MachineId, MachineRecord)>,
    /// Whose daemons follow now.
    pub signs: Vec<(MachineId, LiveMachine)>,
    /// What is shared.
    pub repositories: Vec<(RepoId, RepoRecord)>,
    /// The number of the last line of each, as far as it was begun.
    pub ends: BTreeMap<RepoId, u64>,
}

/// Asks the server of this machine's fleet.
pub fn standing(member: &Membership) -> Result<FleetStanding, FleetError> {
    let link = Link::of(member)?;
    let hub = &link.hub;
    let fleet = hub.fleet()?;
    let repositories = fleet.all::<RepoRecord>()?;
    let mut ends = BTreeMap::new();
    for (repo, _) in &repositories {
        let stream = RepoStream::open(hub, repo)?;
        if let Some(last) = stream.last()? {
            ends.insert(repo.clone(), last.headers.numbers.last());
        }
    }
    let mut there = fleet.all::<MachineRecord>()?;
    there.retain(|(_, it)| it.left.is_none());
    Ok(FleetStanding {
        version: hub.server_version(),
        syncs: hub.syncs_always()?,
        machines: there,
        signs: fleet.live().machines()?,
        repositories,
        ends,
    })
}
