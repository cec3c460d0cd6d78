//! Whoever restarts asks the files, as often as it likes, and does each thing once.

use flagpost_core::messages::Words;
use flagpost_model::message::Subject;
use jiff::SignedDuration;

use super::{Side, done, place, words};
use crate::{relay::register, world::World};

#[test]
fn every_message_that_is_open_names_its_next_step() {
    let world = World::real();
    register(&world, &["W1", "W2", "W3", "W4"]);
    let orchestrator = Side::of(&world, "orchestrator");
    for worker in ["W1", "W2", "W3", "W4"] {
        orchestrator.give(worker, &format!("b-{worker}"));
    }
    let [w2, w3, w4] = ["W2", "W3", "W4"].map(|name| Side::of(&world, name));
    for side in [&w2, &w3, &w4] {
        let received = side.receive().unwrap();
        side.ack(&received.message.place.to_string()).unwrap();
    }
    w3.send(words(Subject::Done, &done("b-W3")));
    let stuck = r#"{"bead_id":"b-W4","reason":"Which?","needs":"guidance"}"#;
    w4.send(words(Subject::Stuck, stuck));
    orchestrator.ack("W4/outbox/1").unwrap();
    world.pass(SignedDuration::from_mins(6));
    let steps = [
        "W1/inbox/1 offer",
        "W2/inbox/1 reassign",
        "W3/outbox/1 process",
    ];
    assert_eq!(orchestrator.steps(), steps);
    assert_eq!(orchestrator.steps(), steps, "asking changes nothing");
    // The question is answered: the task is with its worker again.
    orchestrator.send(Words {
        answers: Some(place("W4/outbox/1")),
        ..words(Subject::Reply, "The first")
    });
    assert_eq!(orchestrator.steps()[3..], ["W4/inbox/2 offer"]);
    w4.ack("W4/inbox/2").unwrap();
    assert_eq!(orchestrator.steps()[3..], ["W4/inbox/1 await"]);
    w4.send(words(Subject::Done, &done("b-W4")));
    orchestrator.ack("W4/outbox/2").unwrap();
    assert_eq!(orchestrator.steps(), steps);
}

#[test]
fn a_done_that_was_archived_still_answers_its_task() {
    let world = World::real();
    register(&world, &["W1"]);
    let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
    orchestrator.give("W1", "b1");
    w1.receive().unwrap();
    w1.ack("W1/inbox/1").unwrap();
    w1.send(words(Subject::Done, &done("b1")));
    orchestrator.ack("W1/outbox/1").unwrap();
    for percent in 0..100 {
        let body = format!(r#"{{"bead_id":"b2","status":"x","percent":{percent}}}"#);
        w1.send(words(Subject::Progress, &body));
    }
    let mail = crate::relay::mail(&world, "W1");
    let ann = crate::world::worker("ann");
    let archived = flagpost_core::relay::retention::archive(&mail, &ann, false).unwrap();
    assert_eq!(archived.len(), 1);
    world.pass(SignedDuration::from_mins(60));
    assert_eq!(w1.steps(), [""; 0]);
}
