//! What was changed after it was let through is acknowledged by nobody, and where it was all the same,
//! that is told.

use flagpost_core::{
    Error, messages,
    relay::{
        brief_snapshots,
        briefs::{self, BriefStatus},
        deliver, fleet,
    },
};
use flagpost_model::{
    decision::{
        Decision, DecisionRefusal, Delivery,
        WithheldReason::{Decided, Foreign, Marked, Proposed},
    },
    envelope::{BriefKind, Direction::Inbox},
    message::NextStep,
};

use super::{mail, one_worker, propose, put, ratify, reject, rewrite, seq, times};
use crate::world::worker;

#[test]
fn an_acknowledgement_of_other_words_is_refused() {
    let world = one_worker(&["Good"]);
    let w1 = mail(&world, "W1");
    ratify(&w1, 1);
    put(&w1, Inbox, "0001.brief", "EVIL");
    for _ in 0..2 {
        let refused = deliver::ack(&w1, &worker("W1"), seq(1)).unwrap_err();
        let Error::Gate(refusal) = refused else {
            panic!("{refused}");
        };
        assert!(matches!(
            refusal,
            DecisionRefusal::Unacknowledged { held: Decided, .. }
        ));
    }
    assert!(!w1.dir(Inbox).join("0001.read").exists());
    assert_eq!(times(&world, "worker.read 1"), 0);
    assert_eq!(times(&world, "relay.changed_outside 1"), 1);
    put(&w1, Inbox, "0001.brief", b"\xff");
    fails!(deliver::ack(&w1, &worker("W1"), seq(1)), Error::Disk(_));
    put(&w1, Inbox, "0001.brief", "Good");
    assert!(!deliver::ack(&w1, &worker("W1"), seq(1)).unwrap());
}

#[test]
fn what_was_changed_waits_for_a_decision_and_is_not_to_be_offered() {
    let world = one_worker(&["Good"]);
    let w1 = mail(&world, "W1");
    ratify(&w1, 1);
    let next = || messages::unacked(&world.fleet()).unwrap().0[0].next;
    assert_eq!(next(), NextStep::Offer);
    put(&w1, Inbox, "0001.brief", "EVIL");
    assert_eq!(next(), NextStep::Decide);
    put(&w1, Inbox, "0001.brief", "Good");
    assert_eq!(next(), NextStep::Offer);
}

#[test]
fn what_was_acknowledged_by_hand_and_changed_comes_first_of_all_that_waits() {
    let world = one_worker(&["waits longest", "Good"]);
    let w1 = mail(&world, "W1");
    ratify(&w1, 2);
    put(&w1, Inbox, "0002.brief", "EVIL");
    put(&w1, Inbox, "0002.read", "");
    let waiting = fleet::pending(&world.fleet()).unwrap().0;
    let first = &waiting[0];
    assert_eq!(first.brief.seq, seq(2));
    assert!(first.is_misread());
    assert_eq!(first.stage, BriefStatus::Read(Decision::Ratified));
    let why = first.why_withheld().unwrap();
    assert!(why.contains("acknowledged"), "{why}");
    reject(&w1, 2);
    let waiting = fleet::pending(&world.fleet()).unwrap().0;
    assert_eq!(waiting.len(), 1, "it is settled");
    let offer = deliver::next(&w1, &worker("W1")).unwrap().unwrap();
    assert_eq!(offer.delivery, Delivery::Rejection, "the worker is told");
}

#[test]
fn what_a_worker_read_before_anybody_decided_reaches_it_all_the_same() {
    let world = one_worker(&["Good"]);
    let w1 = mail(&world, "W1");
    put(&w1, Inbox, "0001.read", "");
    let letter = briefs::show(&w1, seq(1)).unwrap();
    assert_eq!(letter.held, Some(Marked));
    assert_eq!(letter.resolving_command().unwrap(), "flagpost ratify W1 1");
    ratify(&w1, 1);
    assert_eq!(briefs::show(&w1, seq(1)).unwrap().held, None);
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_some());
}

#[test]
fn what_an_unknown_hand_takes_back_is_a_finding_that_a_decision_settles() {
    for (is_decided, settled_by) in [
        (false, "flagpost ratify W1 1"),
        (true, "flagpost ratify W1 1"),
    ] {
        let world = one_worker(&["Good"]);
        let w1 = mail(&world, "W1");
        if is_decided {
            ratify(&w1, 1);
        }
        put(&w1, Inbox, "0001.withdrawn", "");
        assert!(deliver::next(&w1, &worker("W1")).unwrap().is_none());
        let letter = briefs::show(&w1, seq(1)).unwrap();
        assert_eq!(letter.held, Some(Marked), "{is_decided}");
        assert_eq!(letter.resolving_command().unwrap(), settled_by);
        ratify(&w1, 1);
        assert_eq!(briefs::show(&w1, seq(1)).unwrap().held, None);
        assert!(deliver::next(&w1, &worker("W1")).unwrap().is_some());
    }
}

#[test]
fn a_mark_that_was_made_ahead_hides_nothing() {
    let world = one_worker(&["Good"]);
    let w1 = mail(&world, "W1");
    put(&w1, Inbox, ".0001.foreign", "");
    assert_eq!(briefs::show(&w1, seq(1)).unwrap().held, Some(Marked));
    put(&w1, Inbox, "0001.ratified", "");
    assert_eq!(briefs::show(&w1, seq(1)).unwrap().held, Some(Foreign));
    ratify(&w1, 1);
    assert!(!w1.dir(Inbox).join(".0001.foreign").exists());
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_some());
}

#[test]
fn a_time_that_was_put_into_the_past_is_a_finding() {
    let world = one_worker(&["Good"]);
    let w1 = mail(&world, "W1");
    rewrite(&w1, 1, "expires_at", "2020-01-01T00:00:00Z".into());
    let letter = briefs::show(&w1, seq(1)).unwrap();
    assert_eq!(letter.held, Some(Proposed));
    assert_eq!(letter.resolving_command().unwrap(), "flagpost reject W1 1");
    reject(&w1, 1);
    assert_eq!(briefs::show(&w1, seq(1)).unwrap().held, None);
}

#[test]
fn a_worker_never_sees_the_words_of_a_forged_brief_that_was_rejected() {
    let world = one_worker(&["Good", "Fair"]);
    let w1 = mail(&world, "W1");
    put(&w1, Inbox, "0001.brief", "EVIL");
    rewrite(&w1, 1, "summary", "EVIL".into());
    rewrite(&w1, 1, "target_ticket", "EVIL".into());
    reject(&w1, 1);
    reject(&w1, 2);
    let offer = deliver::next(&w1, &worker("W1")).unwrap().unwrap();
    assert_eq!(offer.delivery, Delivery::Rejection);
    assert!(!format!("{offer:?}").contains("EVIL"), "{offer:?}");
    deliver::ack(&w1, &worker("W1"), seq(1)).unwrap();
    let offer = deliver::next(&w1, &worker("W1")).unwrap().unwrap();
    assert_eq!(
        offer.body, "Fair",
        "what was proposed is what it is told of"
    );
}

#[test]
fn the_words_of_a_brief_that_was_rewritten_after_its_rejection_are_told_and_shown_beside_it() {
    let world = one_worker(&["Good"]);
    let w1 = mail(&world, "W1");
    reject(&w1, 1);
    assert!(!briefs::show(&w1, seq(1)).unwrap().is_rewritten());
    put(&w1, Inbox, "0001.brief", "EVIL");
    rewrite(&w1, 1, "kind", "redirect".into());
    let (letter, before) = brief_snapshots::show(&w1, seq(1)).unwrap();
    assert!(letter.is_rewritten());
    assert_eq!(letter.held, None, "no word of it can reach its worker");
    assert_eq!(before.unwrap().body, "Good");
    let offer = deliver::next(&w1, &worker("W1")).unwrap().unwrap();
    assert_eq!(offer.delivery, Delivery::Rejection);
    assert_eq!(offer.brief.kind, BriefKind::Freeform);
    assert!(!format!("{offer:?}").contains("EVIL"), "{offer:?}");
    deliver::ack(&w1, &worker("W1"), seq(1)).unwrap();
    assert_eq!(times(&world, "relay.changed_outside 1"), 1);
}

#[test]
fn an_acknowledgement_by_another_hand_does_not_make_other_words_acknowledged() {
    let world = one_worker(&["Good"]);
    let w1 = mail(&world, "W1");
    put(&w1, Inbox, "0001.read", "");
    fails!(
        deliver::ack(&w1, &worker("W1"), seq(1)),
        Error::Gate(DecisionRefusal::Undecided { .. })
    );
    ratify(&w1, 1);
    put(&w1, Inbox, "0001.brief", "EVIL");
    put(&w1, Inbox, "0001.read", "");
    fails!(
        deliver::ack(&w1, &worker("W1"), seq(1)),
        Error::Gate(DecisionRefusal::Unacknowledged { .. })
    );
    assert_eq!(times(&world, "worker.read 1"), 0);
}

#[test]
fn a_directory_in_the_place_of_a_mark_is_none() {
    for name in [
        "0001.read",
        "0001.withdrawn",
        "0001.rejected",
        ".0001.foreign",
    ] {
        let world = one_worker(&["Good"]);
        let w1 = mail(&world, "W1");
        ratify(&w1, 1);
        std::fs::create_dir(w1.dir(Inbox).join(name)).unwrap();
        let letter = briefs::show(&w1, seq(1)).unwrap();
        assert_eq!(
            (letter.held, letter.stage),
            (None, BriefStatus::Decided(Decision::Ratified)),
            "{name}"
        );
        let offer = deliver::next(&w1, &worker("W1")).unwrap().unwrap();
        assert_eq!(offer.body, "Good", "{name}");
    }
}

#[test]
fn an_acknowledgement_that_was_taken_away_is_remembered() {
    let world = one_worker(&["Good"]);
    let w1 = mail(&world, "W1");
    ratify(&w1, 1);
    deliver::next(&w1, &worker("W1")).unwrap();
    deliver::ack(&w1, &worker("W1"), seq(1)).unwrap();
    propose(&w1, "another");
    std::fs::remove_file(w1.dir(Inbox).join("0001.read")).unwrap();
    assert!(!deliver::is_waiting(&w1).unwrap());
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_none());
    assert!(w1.dir(Inbox).join("0001.read").exists());
    assert_eq!(times(&world, "history.void 1"), 0);
}
