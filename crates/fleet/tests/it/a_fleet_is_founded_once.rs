//! A fleet's records: made once, read by all.

use std::time::Duration;

use flagpost_fleet::{
    FleetError, FleetRecord, ListRecord, LiveMachine, MachineRecord, Replicas, RepoRecord,
};
use flagpost_model::{ListId, RepoId};
use flagpost_testkit::race::until;
use jiff::Timestamp;

use crate::world::World;

fn fleet(name: &str) -> FleetRecord {
    FleetRecord {
        name: name.to_owned(),
        epoch: 1,
        wire_min: 1,
        replicas: Replicas::One,
    }
}

#[test]
fn the_second_who_founds_is_refused() {
    let Some(world) = World::start(1) else { return };
    let admin = world.admin();
    let absent = admin.fleet().unwrap_err();
    assert!(matches!(absent, FleetError::Gone { .. }), "{absent:?}");
    admin.found(&fleet("web")).unwrap();
    let again = admin.found(&fleet("other")).unwrap_err();
    assert!(matches!(again, FleetError::Exists { .. }), "{again:?}");
    assert_eq!(
        world.hub(0).fleet().unwrap().record().unwrap(),
        fleet("web")
    );
}

#[test]
fn records_are_made_once_and_listed() {
    let Some(world) = World::start(2) else { return };
    let records = world.admin().found(&fleet("web")).unwrap();
    let repo: RepoId = "0199aaaa-0000-7000-8000-000000000001".parse().unwrap();
    let record = RepoRecord {
        name: "web".to_owned(),
        root_commit: Some("c0ffee".to_owned()),
        created_by: world.id(0).clone(),
        epoch: 1,
    };
    assert_eq!(records.all::<RepoRecord>().unwrap(), []);
    records.create(&repo, &record).unwrap();
    let again = records.create(&repo, &record).unwrap_err();
    assert!(matches!(again, FleetError::Exists { .. }), "{again:?}");

    let seen = world.hub(1).fleet().unwrap();
    let lists: Vec<ListId> = ["a..b", "api", "main", "web.ui"]
        .map(|it| it.parse().unwrap())
        .into();
    let other: RepoId = "0199aaaa-0000-7000-8000-000000000002".parse().unwrap();
    for list in &lists {
        // Whoever names it first has the name, whichever machine that is.
        assert_eq!(seen.name_list(list, &repo).unwrap(), repo);
        assert_eq!(records.name_list(list, &other).unwrap(), repo);
        assert_eq!(seen.name_list(list, &repo).unwrap(), repo);
    }

    assert_eq!(
        seen.all::<RepoRecord>().unwrap(),
        [(repo.clone(), record.clone())]
    );
    let mut names: Vec<ListId> = seen
        .all::<ListRecord>()
        .unwrap()
        .into_iter()
        .map(|it| it.0)
        .collect();
    names.sort();
    assert_eq!(names, lists);
    assert_eq!(
        seen.get::<ListRecord>(&lists[1]).unwrap(),
        Some(ListRecord { repo: repo.clone() })
    );
    assert_eq!(seen.get::<MachineRecord>(world.id(0)).unwrap(), None);
}

#[test]
fn records_and_buckets_are_there_when_the_server_comes_back() {
    let Some(mut world) = World::start(1) else {
        return;
    };
    world.admin().found(&fleet("web")).unwrap();
    let records = world.hub(0).fleet().unwrap();
    let sign = LiveMachine {
        applied: [].into(),
        workers: [].into(),
        since: Timestamp::now(),
    };
    records.live().put_machine(world.id(0), &sign).unwrap();
    world.server.restart();
    until("the connection stands again", || records.record().is_ok());
    assert_eq!(records.record().unwrap(), fleet("web"));
    records.live().put_machine(world.id(0), &sign).unwrap();
    assert_eq!(records.live().machines().unwrap().len(), 1);
}

#[test]
#[ignore = "a sign of life lasts half a minute"]
fn a_sign_of_life_goes_by_itself() {
    let Some(world) = World::start(1) else { return };
    let records = world.admin().found(&fleet("web")).unwrap();
    let sign = LiveMachine {
        applied: [].into(),
        workers: [].into(),
        since: Timestamp::now(),
    };
    records.live().put_machine(world.id(0), &sign).unwrap();
    let began = std::time::Instant::now();
    until("the sign goes", || {
        records.live().machines().unwrap().is_empty()
    });
    assert!(
        began.elapsed() > Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
}
