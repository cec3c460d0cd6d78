//! Update to done left `completedAt` empty; stop-timer ignored partial ids; timers died with the
//! process.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::ask_one;
use crate::world::World;

#[test]
fn every_way_to_done_says_when() {
    let world = World::real();
    let now = json!(world.home.now());
    for (verb, more) in [
        ("complete", json!({})),
        ("update", json!({"status": "done"})),
    ] {
        let task = ask_one(&world, "create", json!({"title": "a"})).unwrap();
        let mut payload = more;
        payload["taskId"] = task["id"].clone();
        let done = ask_one(&world, verb, payload).unwrap();
        tells!(done, {"status": "done", "completedAt": now});
        let back = ask_one(&world, "uncomplete", json!({"taskId": task["id"]})).unwrap();
        assert_eq!(back["completedAt"], Value::Null);
    }
}

#[test]
fn timers_take_partial_ids_and_outlive_the_process() {
    let world = World::real();
    world.put(
        "deadbeef.json",
        json!({"id": "deadbeef", "subject": "a", "status": "pending"}).to_string(),
    );
    ask_one(&world, "start-timer", json!({"taskId": "dead"})).unwrap();
    // Each command is a process of its own here.
    world.pass(SignedDuration::from_mins(2));
    let stopped = ask_one(&world, "stop-timer", json!({"taskId": "deadb"})).unwrap();
    tells!(stopped, {"timeSpentSeconds": 120, "timerStartedAt": null});
}
