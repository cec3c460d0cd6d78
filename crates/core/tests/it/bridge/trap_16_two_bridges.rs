//! `send` beside a running bridge executed commands twice.

use std::collections::BTreeSet;

use serde_json::json;

use super::{
    ask,
    child::{CHILDREN, COMMANDS},
    command, pass, put,
};
use crate::{
    account,
    world::{World, tasks_of},
};

fn subjects(world: &World) -> Vec<String> {
    tasks_of(&world.list())
        .into_values()
        .map(|task| task.subject)
        .collect()
}

#[test]
fn two_that_pass_through_one_inbox_carry_out_each_command_once() {
    let world = World::real();
    let items: serde_json::Value = (0..COMMANDS)
        .map(|n| {
            command(
                &format!("c{n}"),
                "create",
                json!({"title": format!("c{n}")}),
            )
        })
        .collect();
    put(&world.home, items.to_string());
    CHILDREN.race(2, "pass through", world.place());
    pass(&world.home);
    let there = subjects(&world);
    assert_eq!(there.len(), COMMANDS);
    assert_eq!(there.into_iter().collect::<BTreeSet<_>>().len(), COMMANDS);
    account::agrees(&world);
}

#[test]
fn four_that_send_at_once_are_each_answered_once() {
    let world = World::real();
    let reports = CHILDREN.race(4, "send", world.place());
    let told: Vec<&String> = reports.iter().flatten().collect();
    let ids: BTreeSet<&str> = told
        .iter()
        .map(|it| it.rsplit(' ').next().unwrap())
        .collect();
    assert_eq!((told.len(), ids.len()), (COMMANDS, COMMANDS));
    assert_eq!(subjects(&world).len(), COMMANDS);
    account::agrees(&world);
}

#[test]
fn a_second_processor_is_told_that_there_is_one() {
    let world = World::real();
    let bridge = super::bridge(&world.home);
    assert_eq!(bridge.running().unwrap(), None);
    let first = flagpost_core::bridge::Processor::start(&bridge).unwrap();
    assert!(first.is_some());
    let again = flagpost_core::bridge::Processor::start(&bridge).unwrap();
    assert!(again.is_none());
    assert_eq!(bridge.running().unwrap().unwrap().pid, std::process::id());
    drop(first);
    ask(&world, &command("c", "stats", json!({})));
}
