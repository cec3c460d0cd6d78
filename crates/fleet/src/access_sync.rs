//! Three servers that let in the same machines.
//!
//! Owns how the founder's word comes to the other two: its daemon writes into the fleet's records whom it lets
//! in, and theirs read it. A server is started anew for that, one after the other, so that two always run.
//! It decides nothing of its own: without that record a server lets in whom it let in before.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use flagpost_core::Home;
use tokio::runtime::Runtime;

use crate::{
    fleet_record::Fleet,
    follow::rest,
    hub::Hub,
    link::{LinkError, runtime},
    membership::Membership,
    server::{KeptServer, ServerAccess},
    server_error::ServerError,
};

/// From one look to the next.
const LOOK: Duration = Duration::from_secs(2);

/// From the restart of one server to that of the next.
const SPACING: Duration = Duration::from_secs(5);

/// Why servers may let in others than they should.
#[derive(Debug, thiserror::Error)]
enum SameAccessError {
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error(transparent)]
    Server(#[from] ServerError),
}

impl From<crate::FleetError> for SameAccessError {
    fn from(error: crate::FleetError) -> Self {
        Self::Link(error.into())
    }
}

/// Keeps this home's server, one of three, letting in whom the founder lets in, until `stop` says so; `tell`
/// hears what stands in the way.
pub fn keep_same_access(home: &Home, stop: &AtomicBool, tell: &dyn Fn(String)) {
    let mut said = None;
    while !stop.load(Ordering::Relaxed) {
        let failed = keep(home, stop).err().map(|it| it.to_string());
        if failed != said {
            failed.iter().for_each(|it| tell(it.clone()));
            said = failed;
        }
        rest(stop, LOOK);
    }
}

/// As long as the connection does.
fn keep(home: &Home, stop: &AtomicBool) -> Result<(), SameAccessError> {
    let Some(server) = KeptServer::of_home(home)? else {
        return Ok(());
    };
    if server.access()?.cluster.is_none() {
        return Ok(());
    }
    let member = Membership::read(home).map_err(LinkError::from)?;
    let member = member.ok_or(LinkError::NoMember)?;
    let (fleet, _runtime) = records(&member)?;
    while !stop.load(Ordering::Relaxed) {
        let mine = server.access()?;
        let told = fleet.access()?;
        match (&member.admin, told) {
            (Some(_), told) if told.as_ref() != Some(&mine.machines) => {
                fleet.put_access(&mine.machines)?;
            }
            (None, Some(told)) if told != mine.machines => {
                rest(stop, SPACING * turn(&mine));
                server.let_in_only(fleet.access()?.unwrap_or(told), home.now())?;
            }
            _ => {}
        }
        rest(stop, LOOK);
    }
    Ok(())
}

/// The fleet's records, with the administrator's key where it is here.
fn records(member: &Membership) -> Result<(Fleet, Runtime), SameAccessError> {
    let to = match &member.admin {
        Some(admin) => member.invitation.with_seed(admin.clone()),
        None => member.invitation.clone(),
    };
    let runtime = runtime(&to.to_string())?;
    let fleet = Hub::connect(&to, runtime.handle())?.fleet()?;
    Ok((fleet, runtime))
}

/// How many servers are started anew before this one.
fn turn(access: &ServerAccess) -> u32 {
    let turn = access.cluster.as_ref().map_or(0, |it| it.turn());
    u32::try_from(turn).unwrap_or_default()
}
