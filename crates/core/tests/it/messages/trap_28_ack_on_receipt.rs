//! To receive is not to acknowledge: what its receiver died over is given out again, and a task
//! that was acknowledged by somebody who then fell silent is reported.

use std::{thread, time::Duration};

use flagpost_core::{
    Error,
    messages::{self, Ask, NewMessage},
    relay::{
        decide::Gate,
        deliver, reports,
        workers::{self, Traits},
    },
};
use flagpost_disk::fsx::{self, Rank, RealFs};
use flagpost_model::{
    decision::DecisionRefusal,
    envelope::{Direction, Extras},
    message::{MessageStatus, Subject},
};
use jiff::SignedDuration;

use super::{Side, at, done, task, words};
use crate::{
    relay::{mail, one_worker},
    world::{start, worker},
};

fn minutes(count: i64) -> SignedDuration {
    SignedDuration::from_mins(count)
}

#[test]
fn trap_28_a_message_is_given_out_again_once_its_lease_is_over() {
    let world = one_worker(&[]);
    let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
    orchestrator.give("W1", "b1");
    let first = w1.receive().unwrap();
    assert!(!first.redelivered);
    assert_eq!(first.lease.as_ref().unwrap().count, 1);
    assert!(w1.receive().is_none());
    assert_eq!(w1.steps(), ["W1/inbox/1 await"]);
    world.pass(minutes(5));
    assert_eq!(w1.steps(), ["W1/inbox/1 offer"]);
    let again = w1.receive().unwrap();
    assert!(again.redelivered);
    assert_eq!(again.lease.unwrap().count, 2);
    assert_eq!(again.message.id, first.message.id, "the same message");
    w1.ack("W1/inbox/1").unwrap();
    world.pass(minutes(60));
    assert!(w1.receive().is_none(), "it has it");
}

#[test]
fn a_lease_begins_when_it_is_granted_however_long_others_had_the_lock() {
    let world = one_worker(&[]);
    let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
    orchestrator.give("W1", "b1");
    let lock = mail(&world, "W1").dir(Direction::Inbox).join(".lock");
    let held = fsx::lock(&RealFs, &lock, Rank::Direction, fsx::DEFAULT_WAIT, start()).unwrap();
    let received = thread::scope(|scope| {
        let receiving = scope.spawn(|| w1.receive().unwrap());
        // Should it not wait yet, it proves nothing and fails nobody.
        thread::sleep(Duration::from_millis(200));
        world.pass(minutes(60));
        drop(held);
        receiving.join().unwrap()
    });
    assert!(received.lease.unwrap().is_live(world.home.now()));
}

#[test]
fn trap_28_a_task_that_was_acknowledged_and_never_ended_is_reported() {
    let world = one_worker(&[]);
    let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
    orchestrator.give("W1", "b1");
    w1.receive().unwrap();
    w1.ack("W1/inbox/1").unwrap();
    assert_eq!(w1.steps(), ["W1/inbox/1 await"]);
    world.pass(minutes(5));
    assert_eq!(w1.steps(), ["W1/inbox/1 reassign"]);
    w1.send(words(Subject::Done, &done("b1")));
    assert_eq!(
        w1.steps(),
        ["W1/outbox/1 process"],
        "better late than never"
    );
    orchestrator.ack("W1/outbox/1").unwrap();
    assert_eq!(w1.steps(), [""; 0]);
}

#[test]
fn nobody_speaks_of_a_task_that_waits_for_a_decision() {
    let world = one_worker(&[]);
    let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
    let party = orchestrator.party();
    let asked = NewMessage {
        to: Some(worker("W1")),
        ..words(Subject::Task, &task("b1"))
    };
    messages::send(&party, asked, Gate::Policy).unwrap();
    fails!(
        w1.try_send(words(Subject::Done, &done("b1"))),
        Error::Gate(DecisionRefusal::Undecided { .. })
    );
    assert_eq!(w1.steps(), ["W1/inbox/1 decide"]);
}

#[test]
fn a_word_of_the_worker_renews_its_lease_and_asking_for_more_does_not() {
    let world = one_worker(&[]);
    let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
    for id in ["b1", "b2"] {
        orchestrator.give("W1", id);
        w1.receive().unwrap();
    }
    let held = |expected: [&str; 2]| assert_eq!(w1.steps()[..2], expected.map(str::to_owned));
    world.pass(minutes(3));
    let progress = r#"{"bead_id":"b1","status":"testing"}"#;
    w1.send(words(Subject::Progress, progress));
    assert!(w1.receive().is_none());
    world.pass(minutes(3));
    held(["W1/inbox/1 await", "W1/inbox/2 offer"]);
    workers::heartbeat(&mail(&world, "W1"), Traits::default()).unwrap();
    world.pass(minutes(3));
    held(["W1/inbox/1 await", "W1/inbox/2 offer"]);
    world.pass(minutes(3));
    held(["W1/inbox/1 reassign", "W1/inbox/2 offer"]);
}

#[test]
fn who_starts_anew_gets_what_the_one_before_held() {
    let world = one_worker(&[]);
    let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
    w1.send(words(Subject::Done, &done("b1")));
    assert!(orchestrator.receive().is_some());
    assert!(orchestrator.receive().is_none());
    let ask = Ask {
        restart: true,
        ..Ask::default()
    };
    let again = messages::receive(&orchestrator.party(), &ask).unwrap();
    assert!(again.unwrap().redelivered);
}

#[test]
fn who_reports_on_a_task_has_it() {
    let world = one_worker(&[]);
    let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
    orchestrator.give("W1", "b1");
    w1.send(words(
        Subject::Progress,
        r#"{"bead_id":"b1","status":"at it"}"#,
    ));
    assert_eq!(w1.steps(), ["W1/inbox/1 await"]);
    assert!(w1.receive().is_none());
}

/// It wrote its report by hand, and acknowledged nothing.
#[test]
fn who_answers_a_task_has_it() {
    let stuck = r#"{"bead_id":"b1","reason":"I give up","needs":"abort"}"#;
    for (subject, body) in [
        (Subject::Done, done("b1")),
        (Subject::Stuck, stuck.to_owned()),
    ] {
        let world = one_worker(&[]);
        let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
        orchestrator.give("W1", "b1");
        assert!(w1.receive().is_some());
        let acked = || {
            let told = crate::relay::told(&world).into_iter();
            let told = told.filter(|it| it.starts_with("message.acked"));
            told.count()
        };
        let by_hand = reports::NewReport {
            kind: subject.report_kind(),
            ticket: None,
            body,
            pr: None,
            next_action: None,
            in_reply_to: None,
            session: None,
            extras: Extras {
                subject: Some(subject.to_string()),
                thread_id: Some("epic-1".to_owned()),
                ..Extras::default()
            },
        };
        reports::publish(&mail(&world, "W1"), &worker("W1"), by_hand).unwrap();
        world.pass(minutes(6));
        assert_eq!(w1.steps(), ["W1/outbox/1 process"], "{subject}");
        orchestrator.ack("W1/outbox/1").unwrap();
        assert_eq!(acked(), 2, "the TASK with its answer");
        assert!(w1.receive().is_none());
        // Given once more it is another TASK, which nobody has answered.
        orchestrator.give("W1", "b1");
        assert_eq!(at(w1.receive().as_ref()).unwrap(), "W1/inbox/2");
    }
}

#[test]
fn who_answered_a_task_is_not_given_it_again() {
    let world = one_worker(&[]);
    let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
    let given = orchestrator.give("W1", "b1").message;
    let by_hand = reports::NewReport {
        kind: Subject::Done.report_kind(),
        ticket: None,
        body: done("b1"),
        pr: None,
        next_action: None,
        in_reply_to: Some(given.place.seq),
        session: None,
        extras: Extras {
            subject: Some(Subject::Done.to_string()),
            ..Extras::default()
        },
    };
    reports::publish(&mail(&world, "W1"), &worker("W1"), by_hand).unwrap();
    assert!(w1.receive().is_none());
    let seen = messages::show(&world.fleet(), &given.place).unwrap();
    assert_eq!(seen.state, MessageStatus::Acked);
}

/// `flagpost outbox` and the relay's own verbs know of messages as well.
#[test]
fn who_looks_over_a_shoulder_acknowledges_nothing() {
    let world = one_worker(&[]);
    let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
    w1.send(words(Subject::Done, &done("b1")));
    let seq = super::place("W1/outbox/1").seq;
    reports::read(&mail(&world, "W1"), &worker("ann"), None, seq).unwrap();
    assert_eq!(at(orchestrator.receive().as_ref()).unwrap(), "W1/outbox/1");
    reports::read(&mail(&world, "W1"), &worker("orchestrator"), None, seq).unwrap();
    assert_eq!(w1.steps(), [""; 0]);

    orchestrator.give("W1", "b2");
    let offer = deliver::next(&mail(&world, "W1"), &worker("W1")).unwrap();
    let first = offer.unwrap().brief.seq;
    assert!(w1.receive().unwrap().redelivered, "it was offered before");
    deliver::ack(&mail(&world, "W1"), &worker("W1"), first).unwrap();
    assert_eq!(w1.steps(), ["W1/inbox/1 await"], "it is at work on it");
    let kinds: Vec<String> = crate::relay::told(&world)
        .into_iter()
        .filter(|it| it.starts_with("message.acked"))
        .collect();
    assert_eq!(kinds, ["message.acked 1", "message.acked 1"]);
}

#[test]
fn progress_needs_no_acknowledgement() {
    let world = one_worker(&[]);
    let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
    w1.send(words(Subject::Progress, r#"{"bead_id":"b1","status":"x"}"#));
    assert_eq!(w1.steps(), [""; 0]);
    let received = orchestrator.receive().unwrap();
    assert_eq!(received.lease, None);
    world.pass(minutes(60));
    assert!(orchestrator.receive().is_none());
}
