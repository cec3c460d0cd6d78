//! What is written by hand is honoured where it is whole, and kept aside where it is not.

use std::sync::atomic::{AtomicUsize, Ordering};

use flagpost_core::{
    Error,
    history::Kind,
    relay::{
        briefs::{self, BriefStatus},
        decide, deliver,
        observe::MailWatch,
    },
};
use flagpost_model::{
    decision::{Decision, DecisionState, Via},
    envelope::Direction::{Inbox, Outbox},
};
use jiff::SignedDuration;

use super::{
    accept_foreign_flags, mail, one_worker, propose, put, ratify, register, report, seq, stages,
    told,
};
use crate::world::{World, worker};

fn sidecar(number: u64) -> String {
    format!(
        r#"{{"seq":{number},"version":1,"kind":"freeform","submitted_at":"2026-05-13T14:25:00Z",
        "controller_session_id":"s","target_worker":"W1","target_ticket":null,"summary":"by hand",
        "idempotency_key":"ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"}}"#
    )
}

#[test]
fn a_brief_and_a_flag_by_hand_are_honoured_and_recorded() {
    let world = one_worker(&[]);
    accept_foreign_flags(&world);
    let w1 = mail(&world, "W1");
    put(&w1, Inbox, "0004.brief.meta.json", sidecar(4));
    put(&w1, Inbox, "0004.brief", "abc");
    assert_eq!(stages(&w1), [(4, BriefStatus::Pending)]);
    assert_eq!(
        propose(&w1, "ours").brief.seq,
        seq(5),
        "the number is taken"
    );
    put(&w1, Inbox, "0004.ratified", "");
    let offer = deliver::next(&w1, &worker("W1")).unwrap().unwrap();
    assert_eq!((offer.brief.seq, offer.body.as_str()), (seq(4), "abc"));
    let DecisionState::Decided(verdict) = briefs::show(&w1, seq(4)).unwrap().standing else {
        panic!("the flag was not recorded");
    };
    assert_eq!(
        (verdict.via, verdict.by.as_str()),
        (Via::External, "external")
    );
    put(&w1, Inbox, "0004.brief", "evil");
    assert!(
        deliver::next(&w1, &worker("W1")).unwrap().is_none(),
        "bound from then on"
    );
    let lines = told(&world);
    let expected = [
        "relay.brief_proposed 4",
        "relay.decided 4",
        "relay.delivered 4",
    ];
    assert_eq!(lines[2..5], expected);
}

#[test]
fn nothing_of_ours_looks_foreign_to_a_watch_that_begins_meanwhile() {
    let world = World::real();
    // Many, so that looking at all of them takes longer than some of what the first ones are sent.
    let names: Vec<String> = (1..=250).map(|n| format!("W{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    register(&world, &names);
    let open = AtomicUsize::new(4);
    std::thread::scope(|scope| {
        for name in &names[..4] {
            scope.spawn(|| {
                for n in 0..60 {
                    propose(&mail(&world, name), &format!("brief {n}"));
                }
                open.fetch_sub(1, Ordering::Relaxed);
            });
        }
        while open.load(Ordering::Relaxed) > 0 {
            let mut watch = MailWatch::begin(&world.fleet()).unwrap();
            let recorded = watch.look(&world.fleet(), &worker("operator")).unwrap();
            assert_eq!(recorded, 0);
        }
    });
    let lines = world.history().into_iter();
    let told = lines.filter(|line| line.entry.kind == Kind::BriefProposed);
    assert_eq!(told.count(), 240);
}

#[test]
fn of_two_flags_by_hand_the_stricter_counts() {
    let world = one_worker(&[]);
    accept_foreign_flags(&world);
    let w1 = mail(&world, "W1");
    propose(&w1, "one");
    put(&w1, Inbox, "0001.ratified", "");
    put(&w1, Inbox, "0001.rejected", "");
    assert_eq!(stages(&w1), [(1, BriefStatus::Decided(Decision::Rejected))]);
}

#[test]
fn a_decision_without_its_flag_gets_it() {
    let world = one_worker(&["one"]);
    let w1 = mail(&world, "W1");
    ratify(&w1, 1);
    let flag = w1.dir(Inbox).join("0001.ratified");
    std::fs::remove_file(&flag).unwrap();
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_some());
    assert!(flag.is_file());
}

#[test]
fn half_a_brief_is_moved_aside_once_it_is_a_minute_old() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    put(&w1, Inbox, "0003.brief", "half");
    propose(&w1, "one");
    assert!(w1.body_path(seq(3)).is_file(), "its sidecar may still come");
    assert_eq!(briefs::list(&w1).unwrap().1.len(), 1);
    world.pass(SignedDuration::from_secs(120));
    propose(&w1, "two");
    assert!(!w1.body_path(seq(3)).exists());
    let kept = flagpost_disk::fsx::kept(world.home.fs(), &w1.dir(Inbox)).unwrap();
    assert_eq!(
        (kept[0].name.as_str(), kept[0].reason.as_str()),
        ("0003.brief", "it has no sidecar")
    );
    assert!(told(&world).contains(&"relay.quarantined".to_owned()));
    std::fs::remove_file(w1.dir(Inbox).join(".seq")).unwrap();
    assert_eq!(propose(&w1, "three").brief.seq, seq(6));
}

#[test]
fn malformed_messages_are_kept_told_once_and_hide_none_of_their_neighbours() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    put(&w1, Inbox, "0001.brief.meta.json", "{");
    put(&w1, Inbox, "0001.brief", "x");
    put(&w1, Inbox, "0002.brief.meta.json", sidecar(2));
    put(&w1, Inbox, "0002.brief", b"\xff");
    put(&w1, Inbox, "0003.brief.meta.json", sidecar(7));
    put(&w1, Inbox, "0003.brief", "x");
    put(&w1, Inbox, "0003.ratified", "");
    put(&w1, Inbox, ".0004.decision.json", "{}");
    put(&w1, Inbox, "0004.brief.meta.json", sidecar(4));
    put(&w1, Inbox, "0004.brief", "x");
    std::fs::create_dir(w1.dir(Inbox).join("0005.brief")).unwrap();
    put(&w1, Inbox, "notes.txt", "mine");
    put(&w1, Outbox, "0001.json", "[]");
    propose(&w1, "good");
    report(&w1, "good");
    let (letters, skipped) = briefs::list(&w1).unwrap();
    assert_eq!(letters.len(), 1);
    assert_eq!(skipped.len(), 5, "{skipped:?}");
    let decided = decide::ratify_listed(&w1, &worker("ann"), &super::every(), Via::Cli).unwrap();
    assert_eq!((decided.0.len(), decided.1.len()), (1, 0));
    assert_eq!(
        deliver::next(&w1, &worker("W1"))
            .unwrap()
            .unwrap()
            .brief
            .seq,
        seq(6)
    );
    let unreadable = deliver::ack(&w1, &worker("W1"), seq(9));
    assert!(matches!(unreadable, Err(Error::NotFound { .. })));
    let told = told(&world);
    let quarantined = told.iter().filter(|it| *it == "relay.quarantined").count();
    assert_eq!(quarantined, 5, "{told:?}");
    assert!(
        w1.dir(Inbox).join("0001.brief").is_file(),
        "left as they are"
    );
}

/// A change waits for no hundred thousand of them.
#[test]
fn of_many_malformed_messages_each_change_keeps_some() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    for number in 1..=150 {
        put(&w1, Inbox, &format!("{number:04}.brief.meta.json"), "{");
        put(&w1, Inbox, &format!("{number:04}.brief"), "x");
    }
    let kept = || {
        propose(&w1, "good");
        let lines = world.history().into_iter();
        let kept = lines.filter(|line| line.entry.kind == Kind::EnvelopeQuarantined);
        kept.count()
    };
    assert_eq!([kept(), kept(), kept(), kept()], [64, 128, 150, 150]);
}
