//! Whoever restarts asks the files, as often as it likes, and does each thing once.

use flagpost_core::{
    messages::{self, NewMessage},
    relay::{
        briefs,
        decide::{self, DecisionRequest, Gate},
        fleet,
    },
};
use flagpost_model::{
    decision::{Decision, Via},
    message::{MessageStatus, Subject},
};
use jiff::SignedDuration;

use super::{Side, done, place, words};
use crate::{
    relay::{one_worker, register},
    world::World,
};

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
    orchestrator.send(NewMessage {
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
fn what_was_taken_back_is_offered_to_nobody_and_a_late_word_about_it_is_kept() {
    let world = one_worker(&[]);
    let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
    let withdraw = |at| messages::withdraw(&orchestrator.party(), &place(at), "no need").unwrap();
    for id in ["b1", "b2", "b3"] {
        orchestrator.give("W1", id);
    }
    w1.receive().unwrap();
    w1.receive().unwrap();
    w1.ack("W1/inbox/1").unwrap();
    for at in ["W1/inbox/1", "W1/inbox/2", "W1/inbox/3"] {
        assert!(withdraw(at), "{at}");
        assert!(!withdraw(at), "{at} a second time");
    }
    world.pass(SignedDuration::from_mins(6));
    assert_eq!(orchestrator.steps(), [""; 0]);
    assert!(w1.receive().is_none());
    // One that comes back over it hears so, and whatever it did is not lost.
    let refused = w1.ack("W1/inbox/2").unwrap_err().to_string();
    assert_eq!(refused, "brief 0002 of W1 was taken back");
    let late = w1.send(words(Subject::Done, &done("b2")));
    assert_eq!(late.message.answers, Some(place("W1/inbox/2")));
    assert_eq!(orchestrator.steps(), ["W1/outbox/1 process"]);
    let states = messages::all(&world.fleet()).unwrap().messages;
    let withdrawn = states
        .iter()
        .filter(|it| it.state == MessageStatus::Withdrawn);
    assert_eq!(withdrawn.count(), 3);
}

#[test]
fn a_task_that_nobody_decided_on_can_be_taken_back_too() {
    let world = one_worker(&[]);
    let orchestrator = Side::of(&world, "orchestrator");
    let undecided = NewMessage {
        to: Some(crate::world::worker("W1")),
        ..words(Subject::Query, "Well?")
    };
    messages::send(&orchestrator.party(), undecided, Gate::Policy).unwrap();
    messages::withdraw(&orchestrator.party(), &place("W1/inbox/1"), "no need").unwrap();
    assert_eq!(orchestrator.steps(), [""; 0]);
    assert!(fleet::pending(&world.fleet()).unwrap().0.is_empty());
    let (mail, ann) = (
        crate::relay::mail(&world, "W1"),
        crate::world::worker("ann"),
    );
    assert!(briefs::newest_pending(&mail).is_err());
    let wish = DecisionRequest::new(Decision::Ratified, Via::Cli);
    let seq = Some(place("W1/inbox/1").seq);
    assert!(decide::decide(&mail, &ann, seq, &wish).is_err());
}

#[test]
fn a_task_that_is_still_with_its_worker_is_never_archived() {
    let world = one_worker(&[]);
    let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
    for id in ["b1", "b2", "b3", "b4"] {
        orchestrator.give("W1", id);
        let received = w1.receive().unwrap().message.place.to_string();
        w1.ack(&received).unwrap();
    }
    // The first is open, the second done, over the third it asks, the fourth is taken back.
    w1.send(words(Subject::Done, &done("b2")));
    let stuck = r#"{"bead_id":"b3","reason":"Which?","needs":"guidance"}"#;
    w1.send(words(Subject::Stuck, stuck));
    messages::withdraw(&orchestrator.party(), &place("W1/inbox/4"), "no need").unwrap();
    for n in 0..100 {
        orchestrator.send(NewMessage {
            to: Some(crate::world::worker("W1")),
            ..words(Subject::Query, &format!("Question {n}"))
        });
    }
    world.pass(SignedDuration::from_mins(60));
    let mail = crate::relay::mail(&world, "W1");
    let ann = crate::world::worker("ann");
    let archived = flagpost_core::relay::retention::archive(&mail, &ann, false).unwrap();
    let seqs: Vec<u64> = archived[0].seqs.iter().map(|seq| seq.get()).collect();
    assert_eq!(seqs, [2, 4]);
}

#[test]
fn a_done_that_was_archived_still_answers_its_task() {
    let world = one_worker(&[]);
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
