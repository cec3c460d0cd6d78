//! Acknowledgements by somebody else, a second DONE, words in another's mouth.

use flagpost_core::{Error, messages::NewMessage};
use flagpost_model::message::{MessageRefusal, Speaker, Subject};

use super::{Side, done, place, words};
use crate::{
    relay::{one_worker, register},
    world::{World, worker},
};

fn refusal<T>(answer: Result<T, Error>) -> MessageRefusal {
    match answer {
        Err(Error::Speech(refusal)) => refusal,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it was allowed"),
    }
}

#[test]
fn trap_29_only_the_recipient_acknowledges() {
    let world = World::real();
    register(&world, &["W1", "W2"]);
    let orchestrator = Side::of(&world, "orchestrator");
    let (w1, w2, ann) = (
        Side::of(&world, "W1"),
        Side::of(&world, "W2"),
        Side::of(&world, "ann"),
    );
    orchestrator.give("W1", "b1");
    w1.send(words(Subject::Done, &done("b0")));
    for (side, at) in [
        (&w2, "W1/inbox/1"),
        (&orchestrator, "W1/inbox/1"),
        (&w1, "W1/outbox/1"),
        (&w2, "W1/outbox/1"),
        (&ann, "W1/outbox/1"),
    ] {
        let refusal = refusal(side.ack(at));
        assert!(
            matches!(refusal, MessageRefusal::NotForYou { .. }),
            "{refusal}"
        );
    }
    for (side, at) in [(&w1, "W1/inbox/1"), (&orchestrator, "W1/outbox/1")] {
        assert!(!side.ack(at).unwrap().already);
        assert!(side.ack(at).unwrap().already, "and says so again in peace");
    }
    assert!(matches!(w1.ack("W1/inbox/9"), Err(Error::NotFound { .. })));
}

#[test]
fn trap_29_a_second_done_is_answered_with_the_first() {
    let world = one_worker(&[]);
    let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
    orchestrator.give("W1", "b1");
    let first = w1.send(words(Subject::Done, &done("b1")));
    assert_eq!(first.message.answers, Some(place("W1/inbox/1")));
    assert_eq!(first.message.thread.as_deref(), Some("epic-1"));
    orchestrator.ack("W1/outbox/1").unwrap();
    world.pass(jiff::SignedDuration::from_hours(1));
    let words_of_another_kind = r#"{"bead_id":"b1","summary":"Really did b1"}"#;
    let second = w1.send(words(Subject::Done, words_of_another_kind));
    assert!(second.replay);
    assert_eq!(second.message, first.message);
    // The task is given out once more: that is another DONE.
    let anew = NewMessage {
        to: Some(worker("W1")),
        id: Some("a-second-attempt".to_owned()),
        thread: Some("epic-1".to_owned()),
        ..words(Subject::Task, &super::task("b1"))
    };
    assert!(!orchestrator.send(anew).replay);
    let third = w1.send(words(Subject::Done, &done("b1")));
    assert!(!third.replay);
    assert_eq!(third.message.answers, Some(place("W1/inbox/2")));
}

#[test]
fn trap_29_each_side_says_only_what_is_its_to_say() {
    let world = World::real();
    register(&world, &["W1", "W2"]);
    let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
    let to = |name: &str, words: NewMessage| NewMessage {
        to: Some(worker(name)),
        ..words
    };
    let stuck = r#"{"bead_id":"b1","reason":"x","needs":"abort"}"#;
    for (side, words) in [
        (&orchestrator, to("W1", words(Subject::Stuck, stuck))),
        (&orchestrator, to("W1", words(Subject::Done, &done("b1")))),
        (
            &w1,
            to("orchestrator", words(Subject::Task, &super::task("b1"))),
        ),
    ] {
        let refusal = refusal(side.try_send(words));
        assert!(
            matches!(refusal, MessageRefusal::NotYours { .. }),
            "{refusal}"
        );
    }
    let refused = refusal(w1.try_send(to("W2", words(Subject::Query, "Ready?"))));
    assert!(matches!(refused, MessageRefusal::BetweenWorkers { .. }));
    let nobody = orchestrator.try_send(to("W9", words(Subject::Query, "Ready?")));
    fails!(nobody, Error::NotFound { what: "worker", .. });
    let nobody = orchestrator.try_send(words(Subject::Query, "Ready?"));
    assert!(matches!(nobody, Err(Error::Invalid { .. })));
    let elsewhere = NewMessage {
        answers: Some(place("W1/inbox/1")),
        ..to("W1", words(Subject::Reply, "Yes"))
    };
    orchestrator.give("W1", "b1");
    let wrong = orchestrator.try_send(elsewhere);
    assert!(matches!(wrong, Err(Error::Invalid { .. })), "its own words");
}

#[test]
fn trap_29_who_speaks_in_anothers_name_is_on_record() {
    let world = one_worker(&[]);
    let ann_as_w1 = Side {
        fleet: world.fleet(),
        speaker: Speaker {
            name: worker("W1"),
            by: Some(worker("ann")),
        },
    };
    Side::of(&world, "orchestrator").give("W1", "b1");
    ann_as_w1.receive().unwrap();
    ann_as_w1.ack("W1/inbox/1").unwrap();
    let sent = ann_as_w1.send(words(Subject::Done, &done("b1")));
    assert_eq!(sent.message.by.as_deref(), Some("ann"));
    let lines = world.history();
    let by: Vec<(&str, Option<&str>)> = lines
        .iter()
        .filter(|it| it.entry.kind.as_str().starts_with("message."))
        .map(|it| {
            let by = it.entry.detail.get("by").and_then(|by| by.as_str());
            (it.entry.kind.as_str(), by)
        })
        .collect();
    let expected = [
        ("message.sent", None),
        ("message.received", Some("ann")),
        ("message.acked", Some("ann")),
        ("message.sent", Some("ann")),
    ];
    assert_eq!(by, expected);
}
