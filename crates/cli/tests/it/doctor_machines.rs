//! What `doctor` and `status` say of a fleet of machines, by what the daemon that follows wrote down. The
//! files are made by hand; `several_machines` has real ones.

use flagpost_testkit::sealed::World;
use serde_json::{Value, json};

use crate::{
    doctor_faults::{finds, found, is_healthy, mode, put},
    world_with,
};

/// Now, in a world whose clock stands.
const NOW: &str = "2026-05-13T14:25:00Z";

/// A home in a fleet, whose one repository is shared.
fn shared() -> World {
    share(world_with(&["a"]))
}

fn share(world: World) -> World {
    let dir = world.home().join("fleet");
    std::fs::create_dir(&dir).unwrap();
    mode(&dir, 0o700);
    put(&dir.join("machine.json"), "{}");
    put(&world.kept().join(".shared"), "");
    world
}

/// What the daemon saw, where all is well and three servers keep the order.
fn well(world: &World) -> Value {
    let repo = world.kept();
    let repo = repo.file_name().unwrap().to_str().unwrap();
    json!({
        "at": NOW,
        "since": "2026-05-13T13:00:00Z",
        "server": {
            "address": "nats://127.0.0.1:4222", "version": "2.15.1", "fault": null, "syncs": true,
            "replicas": 3, "offset_ms": 12,
        },
        "machine": "aaaaaaaa",
        "founder": true,
        "may_decide": true,
        "repositories": [{"name": "web", "id": repo, "here": 2, "there": 2, "frozen": null}],
        "machines": [
            {"machine": "aaaaaaaa", "host": "box", "flagpost": "0.1.0", "since": "2026-05-13T13:00:00Z",
             "lag": 0, "behind_since": null, "applied": {repo: 2}},
            {"machine": "bbbbbbbb", "host": "laptop", "flagpost": "0.1.0", "since": null,
             "lag": null, "behind_since": null, "applied": {}},
        ],
    })
}

fn note(world: &World, standing: &Value) {
    put(
        &world.home().join("fleet/standing.json"),
        standing.to_string(),
    );
}

/// The line about the fleet.
fn line(world: &World) -> Option<String> {
    let text = world.ok(["status"]);
    let lines = text.lines().filter_map(|it| it.strip_prefix("fleet: "));
    lines.map(str::to_owned).next()
}

#[test]
fn a_home_in_no_fleet_is_told_nothing_of_one() {
    let world = world_with(&["a"]);
    is_healthy(&world);
    assert_eq!(line(&world), None);
    assert_eq!(world.json(["status"]).1["fleet"], Value::Null);
}

#[test]
fn a_fleet_in_which_all_is_well() {
    let world = shared();
    note(&world, &well(&world));
    is_healthy(&world);
    assert_eq!(line(&world).unwrap(), "1 of 2 machines follow");
    let fleet = &world.json(["status"]).1["fleet"];
    assert_eq!(fleet["link"], "connected");
    assert_eq!(fleet["standing"]["machines"][1]["host"], "laptop");
}

#[test]
fn one_that_nobody_follows_is_not_known() {
    let world = shared();
    finds(&world, 0, "fleet-unfollowed");
    assert!(
        line(&world)
            .unwrap()
            .starts_with("unknown: no daemon follows it")
    );
    for unread in ["", "{", "[]", r#"{"at":7}"#] {
        put(&world.home().join("fleet/standing.json"), unread);
        finds(&world, 0, "fleet-unfollowed");
    }
    let mut old = well(&world);
    old["at"] = json!("2026-05-13T14:24:00Z");
    old["repositories"][0]["frozen"] = json!("this was then");
    note(&world, &old);
    finds(&world, 0, "fleet-unfollowed");
    let line = line(&world).unwrap();
    assert!(line.starts_with("unknown since 1m ago: "), "{line}");
    let fleet = &world.json(["status"]).1["fleet"];
    assert_eq!(fleet["link"], "unknown");
    assert_eq!(fleet["since"], "2026-05-13T14:24:00Z");
    assert_eq!(fleet["standing"], Value::Null);
}

#[test]
fn a_machine_that_is_alone() {
    let world = shared();
    let mut standing = well(&world);
    standing["since"] = json!("2026-05-13T14:20:00Z");
    standing["server"] = json!({"address": "nats://127.0.0.1:4222", "fault": "nobody answers"});
    note(&world, &standing);
    finds(&world, 0, "fleet-alone");
    let line = line(&world).unwrap();
    assert!(line.starts_with("alone since 5m ago, n 2: "), "{line}");
    assert!(line.ends_with("nobody answers"), "{line}");
    assert_eq!(world.json(["status"]).1["fleet"]["link"], "alone");
}

#[test]
fn a_repository_that_stands_still() {
    let world = shared();
    let mut standing = well(&world);
    standing["repositories"][0]["frozen"] = json!("a newer Flagpost changes it");
    note(&world, &standing);
    finds(&world, 1, "fleet-frozen");
    let line = line(&world).unwrap();
    assert!(line.starts_with("frozen at n 2: "), "{line}");
    assert!(line.contains("a newer Flagpost changes it"), "{line}");
}

#[test]
fn machines_that_are_behind() {
    let world = shared();
    let mut standing = well(&world);
    for machine in [0, 1] {
        standing["machines"][machine]["since"] = json!("2026-05-13T13:00:00Z");
        standing["machines"][machine]["lag"] = json!(4);
        standing["machines"][machine]["behind_since"] = json!("2026-05-13T14:23:00Z");
        standing["machines"][machine]["behind"] = json!(true);
    }
    standing["machines"][1]["host"] = json!("lap\ntop");
    note(&world, &standing);
    finds(&world, 0, "fleet-behind");
    assert_eq!(
        line(&world).unwrap(),
        "2 of 2 machines follow, this one is behind by 4 lines since 2m ago, \
         lap top is behind by 4 lines since 2m ago"
    );
}

#[test]
fn servers_and_clocks_that_are_not_as_they_should_be() {
    let world = shared();
    for (key, value, exit, code) in [
        ("version", json!("2.11.9"), 1, "fleet-server-old"),
        ("syncs", json!(false), 1, "fleet-unsynced"),
        ("replicas", json!(1), 0, "fleet-one-server"),
        (
            "copies",
            json!([{ "server": "10.0.0.6:4222", "state": "partial" }]),
            0,
            "fleet-server-lacking",
        ),
        ("offset_ms", json!(5_001), 0, "fleet-clock-off"),
        ("offset_ms", json!(-30_001), 1, "fleet-clock-wrong"),
    ] {
        let mut standing = well(&world);
        standing["server"][key] = value;
        note(&world, &standing);
        finds(&world, exit, code);
    }
}

#[test]
fn what_holds_up_the_reports_that_are_kept() {
    let world = shared();
    note(&world, &well(&world));
    let dir = world.kept().join("outgoing");
    std::fs::create_dir(&dir).unwrap();
    mode(&dir, 0o700);
    let codes = ["reports-held", "reports-unheard"];
    let first = dir.join("000001.json");
    put(&first, "{\"form\":9}");
    assert_eq!(found(&world).1, codes);
    std::fs::remove_file(&first).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", &first).unwrap();
    assert_eq!(found(&world).1, codes);
    std::fs::remove_file(&first).unwrap();
    std::fs::create_dir(&first).unwrap();
    mode(&first, 0o700);
    assert_eq!(found(&world).1, codes);
}

#[test]
fn agents_beside_a_key_that_may_decide() {
    let world = world_with(&["a"]);
    world.ok(["worker", "add", "W1"]);
    world.ok(["worker", "heartbeat", "--as", "W1"]);
    let world = share(world);
    for (may_decide, codes) in [
        (json!(true), vec!["fleet-gate-open".to_owned()]),
        (json!(false), vec![]),
        (Value::Null, vec![]),
    ] {
        let mut standing = well(&world);
        standing["may_decide"] = may_decide;
        note(&world, &standing);
        assert_eq!(found(&world), (0, codes));
    }
}

/// Each machine counts what it gave out itself.
#[test]
fn counters_of_a_shared_repository_may_lag_behind() {
    let world = world_with(&["a"]);
    world.ok(["worker", "add", "W1"]);
    world.ok(["assign", "1", "W1", "--inline", "Do it"]);
    let world = share(world);
    let mut standing = well(&world);
    standing["may_decide"] = json!(false);
    note(&world, &standing);
    let mail = world.kept().join("workers/W1/inbox/.seq");
    let counters = [world.list("web").join(".highwatermark"), mail];
    for counter in &counters {
        let content = std::fs::read(counter).unwrap();
        put(counter, "0\n");
        is_healthy(&world);
        put(counter, "many\n");
        finds(&world, 1, "counter-unreadable");
        put(counter, content);
    }
    std::fs::remove_file(world.kept().join(".shared")).unwrap();
    for counter in &counters {
        let content = std::fs::read(counter).unwrap();
        put(counter, "0\n");
        finds(&world, 0, "counter-behind");
        put(counter, content);
    }
}
