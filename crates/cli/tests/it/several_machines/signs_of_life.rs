//! A worker that is live on one machine is live on the others too.

use flagpost_testkit::{race::until, sealed::World};

use super::{clocks::ahead, clone, found, join, json, machine, server_dir, shared};

fn liveness(machine: &World) -> String {
    let shown = json(machine, &["worker", "show", "W3"]);
    shown["liveness"].as_str().expect("it has one").to_owned()
}

/// Nobody has seen W3 on this machine for long.
fn forget(machine: &World) {
    let file = shared(machine).join("workers/W3/worker.json");
    let text = std::fs::read_to_string(&file).expect("it is here");
    let mut worker: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    worker["last_seen"] = "2026-05-13T14:25:00Z".into();
    std::fs::write(&file, worker.to_string()).expect("it can be written");
}

#[test]
fn a_sign_of_life_is_seen_on_the_other_machines() {
    let Some(server) = server_dir() else { return };
    let box_a = found(ahead(machine(&server), "+0s"));
    let box_b = join(ahead(clone(&server, &box_a), "+0s"), &box_a, false);
    until("it is known there", || {
        box_b.flagpost(["worker", "show", "W3"]).code == 0
    });
    for machine in [&box_a, &box_b] {
        forget(machine);
        assert_eq!(liveness(machine), "silent");
    }
    until("what it did is seen here", || {
        box_b.ok(["worker", "heartbeat", "W3"]);
        liveness(&box_a) == "heartbeat"
    });
}
