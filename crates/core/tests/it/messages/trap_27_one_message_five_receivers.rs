//! Several receivers under one name: each message goes to one of them.

use std::collections::BTreeSet;

use flagpost_model::message::Subject;

use super::{Side, done, words};
use crate::{child::CHILDREN, relay::register, world::World};

const MESSAGES: usize = 30;
const RECEIVERS: usize = 6;

fn each_once(world: &World, role: &str) {
    let told = CHILDREN.race(RECEIVERS, role, world.place());
    let all: Vec<String> = told.into_iter().flatten().collect();
    assert_eq!(all.len(), MESSAGES, "none twice");
    let different: BTreeSet<&String> = all.iter().collect();
    assert_eq!(different.len(), MESSAGES, "none left out");
}

#[test]
fn trap_27_six_receivers_of_one_inbox_get_each_message_once() {
    let world = World::real();
    register(&world, &["W1"]);
    let orchestrator = Side::of(&world, "orchestrator");
    for number in 0..MESSAGES {
        orchestrator.give("W1", &format!("b{number}"));
    }
    each_once(&world, "receive as W1");
    assert!(Side::of(&world, "W1").receive().is_none(), "all are held");
}

#[test]
fn trap_27_six_orchestrators_get_each_report_once() {
    let world = World::real();
    register(&world, &["W1", "W2", "W3"]);
    for number in 0..MESSAGES {
        let side = Side::of(&world, &format!("W{}", number % 3 + 1));
        side.send(words(Subject::Done, &done(&format!("b{number}"))));
    }
    each_once(&world, "receive as orchestrator");
}
