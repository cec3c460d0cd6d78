//! A machine's connection to its fleet, and what it knows of each repository's end.
//!
//! Owns that a repository's stream is opened once. How far this machine has come is for [`crate::order`] to say.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use flagpost_core::Home;
use flagpost_model::{MachineId, RepoId};
use tokio::runtime::Runtime;

use crate::{
    connect::Deadlines,
    error::FleetError,
    hub::Hub,
    membership::{Membership, MembershipError},
    stream::RepoStream,
};

/// How long a verb waits for a connection, and then until its change is settled: others who wait for the
/// same locks give up after five seconds.
const CONNECT: Duration = Duration::from_secs(2);
const SETTLE: Duration = Duration::from_secs(4);

/// A connection, and what is known of each repository's end.
pub(crate) struct Link {
    pub(crate) machine: MachineId,
    pub(crate) hub: Hub,
    streams: Mutex<BTreeMap<RepoId, RepoStream>>,
    places: Mutex<BTreeMap<RepoId, Place>>,
    /// Ends with the connection.
    runtime: Option<Runtime>,
}

/// A message, and the number of its last line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) seq: u64,
    pub(crate) n: u64,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkError {
    /// What says where it is cannot be read.
    #[error(transparent)]
    Member(#[from] MembershipError),
    /// The home is in no fleet.
    #[error("this machine belongs to no fleet")]
    NoMember,
    /// The server.
    #[error(transparent)]
    Fleet(#[from] FleetError),
}

impl Link {
    /// With the key of this home's machine.
    pub(crate) fn open(home: &Home) -> Result<Self, LinkError> {
        let member = Membership::read(home)?.ok_or(LinkError::NoMember)?;
        Ok(Self::of(&member)?)
    }

    pub(crate) fn of(member: &Membership) -> Result<Self, FleetError> {
        let deadlines = Deadlines {
            connect: CONNECT,
            settle: SETTLE,
            ..Deadlines::default()
        };
        Self::within(member, deadlines)
    }

    /// The same with other deadlines.
    pub(crate) fn within(member: &Membership, deadlines: Deadlines) -> Result<Self, FleetError> {
        let runtime = runtime(&member.invitation.to_string())?;
        let hub = Hub::connect_within(&member.invitation, runtime.handle(), deadlines)?;
        Ok(Self {
            machine: member.machine.clone(),
            hub,
            streams: Mutex::default(),
            places: Mutex::default(),
            runtime: Some(runtime),
        })
    }

    /// The order of a repository, looked at once whether it promises what it must.
    pub(crate) fn stream(&self, repo: &RepoId) -> Result<RepoStream, FleetError> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = streams.get(repo) {
            return Ok(known.clone());
        }
        let stream = RepoStream::open(&self.hub, repo)?;
        streams.insert(repo.clone(), stream.clone());
        Ok(stream)
    }

    pub(crate) fn places(&self) -> MutexGuard<'_, BTreeMap<RepoId, Place>> {
        // What another thread left is a place that once was the last.
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // It may end on a thread that must not wait for it.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// What waits for answers while the process works. One thread is enough for one connection.
pub fn runtime(server: &str) -> Result<Runtime, FleetError> {
    let built = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("fleet")
        .enable_all()
        .build();
    built.map_err(|error| FleetError::Unreachable {
        server: server.to_owned(),
        reason: error.to_string(),
    })
}
