//! Forty processes send at once: none is refused, none is lost, and each has a number of its own.

use std::collections::BTreeSet;

use flagpost_core::messages;

use crate::{child::CHILDREN, relay::register, world::World};

pub const SENDERS: usize = 40;

#[test]
fn trap_26_forty_parallel_senders_all_get_through() {
    let world = World::real();
    register(&world, &["W0", "W1", "W2", "W3"]);
    let told = CHILDREN.race(SENDERS, "send a message", world.place());
    let places: BTreeSet<String> = told.into_iter().flatten().collect();
    assert_eq!(places.len(), SENDERS);
    let survey = messages::all(&world.fleet()).unwrap();
    let stored: BTreeSet<String> = survey
        .messages
        .iter()
        .map(|it| it.message.place.to_string())
        .collect();
    assert_eq!(stored, places);
    let lines = world.history();
    let sent = lines
        .iter()
        .filter(|it| it.entry.kind.as_str() == "message.sent");
    assert_eq!(sent.count(), SENDERS, "the audit is complete");
}
