//! Of 589 commands sent to a 20 ms poller, 69 were lost and 9 ran twice.

use std::{collections::BTreeMap, ops::ControlFlow::Continue};

use flagpost_testkit::race::until;
use serde_json::{Value, json};

use super::{
    child::{CHILDREN, COMMANDS},
    command, is_idle, pass, put,
};
use crate::{
    account,
    world::{World, tasks_of},
};

#[test]
fn a_producer_beside_a_poller_loses_nothing_and_nothing_runs_twice() {
    let world = World::real();
    let server = CHILDREN.start("serve", world.place());
    assert_eq!(server.next_report().as_deref(), Some("serving"));
    let producer = CHILDREN.start("produce", world.place());
    producer.finish();
    until("all is done", || {
        tasks_of(&world.list()).len() >= COMMANDS && is_idle(&world.home)
    });
    std::fs::write(world.place().join("stop"), "").unwrap();
    server.finish();
    pass(&world.home);
    let mut each: BTreeMap<String, usize> = BTreeMap::new();
    for task in tasks_of(&world.list()).into_values() {
        *each.entry(task.subject).or_default() += 1;
    }
    let expected: BTreeMap<String, usize> = (0..COMMANDS).map(|n| (format!("0-{n}"), 1)).collect();
    assert_eq!(each, expected, "0 lost, 0 twice");
    account::agrees(&world);
}

#[test]
fn what_is_written_while_an_inbox_is_processed_waits_for_the_next_pass() {
    let world = World::real();
    put(
        &world.home,
        json!([command("1", "create", json!({"title": "a"}))]).to_string(),
    );
    let bridge = super::bridge(&world.home);
    let mut processor = flagpost_core::bridge::Processor::start(&bridge)
        .unwrap()
        .unwrap();
    let meanwhile: Value = json!([command("2", "create", json!({"title": "b"}))]);
    let count = processor
        .pass(&mut |_| {
            put(&world.home, meanwhile.to_string());
            Continue(())
        })
        .unwrap();
    assert_eq!((count, tasks_of(&world.list()).len()), (1, 1));
    assert_eq!(processor.pass(&mut |_| Continue(())).unwrap(), 1);
    assert_eq!(tasks_of(&world.list()).len(), 2);
}
