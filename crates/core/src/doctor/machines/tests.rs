//! Each finding, by how the fleet stands.

use std::collections::BTreeMap;

use flagpost_model::machines::{CopyState, FleetMachine, FleetRepository, FleetServer, ServerCopy};
use jiff::Timestamp;

use super::*;

/// A fleet in which all is well.
fn standing() -> FleetStanding {
    let at = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(1);
    let repo = "r-1".parse().unwrap();
    FleetStanding {
        at,
        since: Timestamp::UNIX_EPOCH,
        server: FleetServer {
            address: "nats://127.0.0.1:4222".to_owned(),
            version: Some("2.15.1".to_owned()),
            fault: None,
            syncs: Some(true),
            replicas: Some(3),
            offset_ms: Some(-40),
            copies: Vec::new(),
        },
        machine: "aaaaaaaa".parse().unwrap(),
        founder: true,
        may_decide: Some(true),
        repositories: vec![FleetRepository {
            name: "app".to_owned(),
            id: repo,
            here: Some(5),
            there: Some(8),
            frozen: None,
            kept: 0,
        }],
        machines: vec![FleetMachine {
            machine: "aaaaaaaa".parse().unwrap(),
            host: "box".to_owned(),
            flagpost: "0.1.0".to_owned(),
            since: Some(Timestamp::UNIX_EPOCH),
            lag: Some(3),
            behind_since: Some(at),
            behind: false,
            applied: BTreeMap::new(),
        }],
    }
}

fn codes(found: impl IntoIterator<Item = Finding>) -> Vec<Code> {
    found.into_iter().map(|it| it.code).collect()
}

#[test]
fn a_server_is_held_to_what_it_promises() {
    let set = |change: &dyn Fn(&mut FleetServer)| {
        let mut standing = standing();
        change(&mut standing.server);
        codes(of_server(&standing))
    };
    assert_eq!(set(&|_| {}), []);
    assert_eq!(set(&|it| it.syncs = Some(false)), [Code::FleetUnsynced]);
    assert_eq!(set(&|it| it.replicas = Some(1)), [Code::FleetOneServer]);
    let lacks = |state| ServerCopy {
        server: "10.0.0.6:4222".to_owned(),
        state,
    };
    let copies = set(&|it| it.copies = CopyState::ALL.iter().map(|it| lacks(*it)).collect());
    assert_eq!(copies, [Code::FleetServerLacking; 2]);
    let away = set(&|it| {
        it.fault = Some("it does not answer".to_owned());
        (it.version, it.syncs, it.replicas) = (None, None, None);
    });
    assert_eq!(away, [Code::FleetAlone]);
    // It is refused, and so cannot be reached either.
    let old = set(&|it| {
        it.fault = Some("it runs nats-server 2.11.9".to_owned());
        (it.version, it.syncs, it.replicas) = (Some("2.11.9".to_owned()), None, None);
    });
    assert_eq!(old, [Code::FleetServerOld]);
}

#[test]
fn clocks_may_differ_by_five_seconds() {
    for (offset, found) in [
        (None, None),
        (Some(0), None),
        (Some(5_000), None),
        (Some(-5_001), Some(Code::FleetClockOff)),
        (Some(30_000), Some(Code::FleetClockOff)),
        (Some(30_001), Some(Code::FleetClockWrong)),
        (Some(-40_000), Some(Code::FleetClockWrong)),
    ] {
        let mut standing = standing();
        standing.server.offset_ms = offset;
        assert_eq!(of_clock(&standing).map(|it| it.code), found, "{offset:?}");
    }
}

#[test]
fn this_machine_is_behind_when_it_has_been_for_long_and_not_when_it_stands_still() {
    let mut standing = standing();
    assert_eq!(of_lag(&standing), None, "it lacks them since now");
    standing.machines[0].behind = true;
    assert_eq!(codes(of_lag(&standing)), [Code::FleetBehind]);
    let why = "a newer Flagpost changes it".to_owned();
    standing.repositories[0].frozen = Some(why.clone());
    assert_eq!(of_lag(&standing), None);
    let frozen: Vec<Finding> = of_frozen(&standing).collect();
    assert!(frozen[0].what.contains(&why), "{frozen:?}");
    standing.repositories[0].frozen = None;
    standing.machine = "bbbbbbbb".parse().unwrap();
    assert_eq!(of_lag(&standing), None, "another one is told of on it");
}
