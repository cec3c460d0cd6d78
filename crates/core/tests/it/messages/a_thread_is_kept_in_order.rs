//! A conversation is one list, whoever said what, live or archived, and found by any name.

use flagpost_core::{
    Error,
    messages::{self, NewMessage},
    relay::retention,
};
use flagpost_model::message::Subject;

use super::{Side, done, place, words};
use crate::{
    relay::{mail, one_worker, propose, register},
    world::{World, worker},
};

#[test]
fn a_question_and_its_answer_follow_each_other_in_their_thread() {
    let world = World::real();
    register(&world, &["W1", "W2"]);
    let orchestrator = Side::of(&world, "orchestrator");
    let (w1, w2) = (Side::of(&world, "W1"), Side::of(&world, "W2"));
    orchestrator.give("W1", "b1");
    orchestrator.give("W2", "b2");
    let stuck = r#"{"bead_id":"b1","reason":"Which?","needs":"guidance"}"#;
    w1.send(words(Subject::Stuck, stuck));
    // The clock is set back; what is an answer comes after what it answers all the same.
    world.pass(jiff::SignedDuration::from_hours(-1));
    let reply = orchestrator.send(NewMessage {
        answers: Some(place("W1/outbox/1")),
        ..words(Subject::Reply, "The first")
    });
    assert_eq!(reply.message.to, "W1", "to whoever asked");
    assert_eq!(reply.message.thread.as_deref(), Some("epic-1"));
    world.pass(jiff::SignedDuration::from_hours(1));
    w2.send(words(Subject::Done, &done("b2")));
    let thread = || -> Vec<String> {
        let survey = messages::thread(&world.fleet(), "epic-1").unwrap();
        let places = survey.messages.iter();
        places.map(|it| it.message.place.to_string()).collect()
    };
    let order = thread();
    let at = |text: &str| order.iter().position(|it| it == text).unwrap();
    assert_eq!(order.len(), 5);
    assert!(at("W1/inbox/1") < at("W1/outbox/1"));
    assert!(at("W1/outbox/1") < at("W1/inbox/2"));
    assert!(at("W2/inbox/1") < at("W2/outbox/1"));
    let nothing = messages::thread(&world.fleet(), "epic-9");
    fails!(nothing, Error::NotFound { what: "thread", .. });
}

#[test]
fn the_archive_belongs_to_the_record() {
    let world = one_worker(&[]);
    let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
    for number in 0..102 {
        orchestrator.give("W1", &format!("b{number}"));
    }
    w1.receive().unwrap();
    w1.ack("W1/inbox/1").unwrap();
    w1.send(words(Subject::Done, &done("b0")));
    retention::archive(&mail(&world, "W1"), &worker("ann"), false).unwrap();
    let survey = messages::thread(&world.fleet(), "epic-1").unwrap();
    assert_eq!(survey.messages.len(), 103);
    assert_eq!(survey.messages[0].message.place, place("W1/inbox/1"));
    let id = survey.messages[0].message.id.clone().unwrap();
    let found = messages::find(&orchestrator.party(), &id).unwrap();
    assert_eq!(found, place("W1/inbox/1"));
}

#[test]
fn a_message_is_found_by_place_number_id_and_the_beginning_of_one() {
    let world = one_worker(&[]);
    let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
    for id in ["0199-a", "0199-ab", "0200"] {
        orchestrator.send(NewMessage {
            to: Some(worker("W1")),
            id: Some(id.to_owned()),
            ..words(Subject::Query, id)
        });
    }
    let find = |side: &Side<'_>, given: &str| {
        let found = messages::find(&side.party(), given);
        found.map(|it| it.to_string())
    };
    for (given, expected) in [
        ("W1/inbox/2", "W1/inbox/2"),
        ("0199-a", "W1/inbox/1"),
        ("02", "W1/inbox/3"),
    ] {
        assert_eq!(find(&orchestrator, given).unwrap(), expected);
    }
    assert_eq!(find(&w1, "2").unwrap(), "W1/inbox/2", "in its own inbox");
    let many = find(&orchestrator, "0199");
    assert!(matches!(many, Err(Error::Ambiguous { candidates, .. }) if candidates.len() == 2));
    for (given, is_invalid) in [
        ("W1/inbox/9", false),
        ("x", false),
        ("", false),
        ("a/b", true),
    ] {
        match find(&orchestrator, given) {
            Err(Error::NotFound {
                what: "message", ..
            }) => assert!(!is_invalid),
            Err(Error::Invalid { .. }) => assert!(is_invalid),
            other => panic!("{given}: {other:?}"),
        }
    }
}

#[test]
fn what_was_archived_belongs_to_it() {
    let world = World::simple_clock();
    register(&world, &["W1"]);
    let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
    orchestrator.give("W1", "b1");
    w1.ack("W1/inbox/1").unwrap();
    w1.send(words(Subject::Done, &done("b1")));
    for number in 0..retention::KEEP {
        propose(&mail(&world, "W1"), &format!("brief {number}"));
    }
    let archived = retention::archive(&mail(&world, "W1"), &worker("ann"), false).unwrap();
    assert_eq!(archived.len(), 1);
    let thread = messages::thread(&world.fleet(), "epic-1").unwrap();
    assert_eq!(thread.messages.len(), 2);
}
