//! The fleet of machines that the home is in: its server, this machine's clock and place, what stands still.
//!
//! Says what the daemon that follows wrote down last; nobody is asked over the network.

use flagpost_model::{
    finding::Code,
    machines::{FleetSight, FleetStanding, OLDEST_SERVER, is_new_enough},
    worker::{Liveness, WorkerStatus},
};
use jiff::SignedDuration;

use super::{Finding, world::World};
use crate::{
    error::Result,
    order,
    relay::{Fleet, workers},
    sessions::Sessions,
};

/// A clock that differs by so much is told of.
const CLOCK_OFF: SignedDuration = SignedDuration::from_secs(5);

/// A clock that differs by so much ends the leases of others early, or never.
const CLOCK_WRONG: SignedDuration = SignedDuration::from_secs(30);

/// How the fleet stands.
pub(super) fn check(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    match order::sight(world.home) {
        None => {}
        Some(FleetSight::Unknown(since)) => {
            let since = since.map_or(String::new(), |at| format!(" since {at:.0}"));
            let what = format!("no daemon follows the fleet here{since}");
            let hint = "'flagpost up' starts one";
            findings.push(Finding::new(Code::FleetUnfollowed, what).by_hand(hint));
        }
        Some(FleetSight::Known(standing)) => {
            let agents = standing.may_decide == Some(true) && has_agents(world)?;
            findings.extend(of_server(&standing));
            findings.extend(of_clock(&standing));
            findings.extend(of_frozen(&standing));
            findings.extend(of_lag(&standing));
            findings.extend(agents.then(of_gate));
        }
    }
    Ok(())
}

/// The server: whether it is there, and what it promises.
fn of_server(standing: &FleetStanding) -> Vec<Finding> {
    let server = &standing.server;
    let mut found = Vec::new();
    let old = server.version.as_ref().filter(|it| !is_new_enough(it));
    match (old, &server.fault) {
        (Some(version), _) => {
            let what = format!("{} runs nats-server {version}", server.address);
            let (major, minor) = OLDEST_SERVER;
            let hint = format!(
                "install {major}.{minor} or newer on its machine, then there: 'flagpost down' and 'flagpost up'"
            );
            found.push(Finding::new(Code::FleetServerOld, what).by_hand(hint));
        }
        (None, Some(fault)) => {
            let what = format!("alone since {:.0}: {fault}", standing.since);
            let hint = "where that does not say what to do: look whether the server's machine is up, its daemon \
                runs ('flagpost up' there) and the way to it is open (ssh -L, VPN); until then what is here \
                can be read";
            found.push(Finding::new(Code::FleetAlone, what).by_hand(hint));
        }
        (None, None) => {}
    }
    if server.syncs == Some(false) {
        let what = format!("{} does not sync each message", server.address);
        let hint = "set 'sync_interval: always' in its configuration, as 'flagpost fleet up' does";
        found.push(Finding::new(Code::FleetUnsynced, what).by_hand(hint));
    }
    let lacking = standing.lacking().map(|it| {
        let hint = "until it has all, let the other two run: without one of them nothing is changed; where it \
            is away, 'flagpost up' on its machine starts it";
        Finding::new(Code::FleetServerLacking, it.to_string()).by_hand(hint)
    });
    found.extend(lacking);
    if server.replicas == Some(1) {
        let what = format!("one server, {}, keeps the order of changes", server.address);
        let hint =
            "back up its machine; every record also lies in the files of each machine that follows";
        found.push(Finding::new(Code::FleetOneServer, what).by_hand(hint));
    }
    found
}

fn of_clock(standing: &FleetStanding) -> Option<Finding> {
    let offset = SignedDuration::from_millis(standing.server.offset_ms?);
    let code = match offset.abs() {
        off if off > CLOCK_WRONG => Code::FleetClockWrong,
        off if off > CLOCK_OFF => Code::FleetClockOff,
        _ => return None,
    };
    let way = if offset.is_negative() {
        "behind"
    } else {
        "ahead of"
    };
    let seconds = offset.abs().as_secs();
    let what = format!("the clock of this machine is {seconds} s {way} that of the fleet's server");
    let hint = "let the network keep the clocks of both; 'timedatectl' tells whether it does";
    Some(Finding::new(code, what).by_hand(hint))
}

fn of_frozen(standing: &FleetStanding) -> impl Iterator<Item = Finding> {
    standing.frozen().map(|(repository, why)| {
        let what = format!("nothing of {} is changed here any more: {why}", repository.name);
        let hint = "where a newer Flagpost changes it, update this one; where its server lost it, \
            'flagpost fleet restore' on the first machine; else keep this home and join anew under another \
            FLAGPOST_HOME";
        Finding::new(Code::FleetFrozen, what).by_hand(hint)
    })
}

/// How far this machine is behind. One that stands still is told of as such.
fn of_lag(standing: &FleetStanding) -> Option<Finding> {
    let mut own = standing
        .behind()
        .filter(|it| it.machine == standing.machine);
    let own = own.next().filter(|_| standing.frozen().next().is_none())?;
    let (lag, since) = (own.lag?, own.behind_since?);
    let what =
        format!("this machine has lacked lines that others have since {since:.0}: {lag} by now");
    let hint = "'flagpost daemon logs' says what stands in the way";
    Some(Finding::new(Code::FleetBehind, what).by_hand(hint))
}

fn of_gate() -> Finding {
    let what = "agents run here, and this machine's key may decide on briefs";
    let hint = "an agent runs as you and could use it; run agents on a machine that was invited without \
        --gate";
    Finding::new(Code::FleetGateOpen, what).by_hand(hint)
}

/// Whether agents work on this machine.
fn has_agents(world: &World<'_>) -> Result<bool> {
    for place in &world.places {
        let session = Sessions::of(world.home, place).glimpse();
        // One that cannot be read is told of with the others.
        if session.is_ok_and(|it| it.is_some_and(|it| it.runs())) {
            return Ok(true);
        }
    }
    for id in world.repositories.keys() {
        let (workers, _) = workers::list(&Fleet::of(world.home, id))?;
        let is_here = workers.iter().any(|it| {
            it.worker.standing == WorkerStatus::Active && it.liveness != Liveness::Silent
        });
        if is_here {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests;
