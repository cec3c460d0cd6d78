//! A flag, or a decision file, that the history does not tell of is a hand's that nobody knows.

use flagpost_core::relay::{
    briefs,
    decide::{self, DecisionRequest},
    deliver,
};
use flagpost_model::{
    decision::{Decision, DecisionState, Via, WithheldReason},
    envelope::Direction::Inbox,
};

use super::{
    accept_foreign_flags, mail, one_worker, propose, put, ratify, reject, seq, stages, times,
};
use crate::world::worker;

/// The decision that is on record for one brief, as the decision on another.
fn forged(mail: &flagpost_core::relay::Mail<'_>, body: &str) -> serde_json::Value {
    propose(mail, "decided");
    ratify(mail, 1);
    propose(mail, "proposed");
    put(mail, Inbox, "0002.brief", body);
    let letter = briefs::show(mail, seq(2)).unwrap();
    let text = std::fs::read(mail.dir(Inbox).join(".0001.decision.json")).unwrap();
    let mut decision: serde_json::Value = serde_json::from_slice(&text).unwrap();
    decision["sha256"] = letter.prints.sha256.as_str().into();
    decision["envelope"] = letter.prints.envelope.as_str().into();
    decision
}

#[test]
fn a_flag_by_hand_asks_a_person() {
    let world = one_worker(&["Good"]);
    let w1 = mail(&world, "W1");
    put(&w1, Inbox, "0001.ratified", "");
    for _ in 0..2 {
        assert!(deliver::next(&w1, &worker("W1")).unwrap().is_none());
        assert!(!deliver::is_waiting(&w1).unwrap());
        propose(&w1, "Good");
    }
    let letter = briefs::show(&w1, seq(1)).unwrap();
    assert_eq!(letter.standing, DecisionState::Foreign(Decision::Ratified));
    assert_eq!(letter.held, Some(WithheldReason::Foreign));
    assert_eq!(times(&world, "relay.changed_outside 1"), 1);
    assert_eq!(times(&world, "relay.decided 1"), 0);
    assert!(deliver::ack(&w1, &worker("W1"), seq(1)).is_err());
    ratify(&w1, 1);
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_some());
}

#[test]
fn a_person_overrules_a_flag_by_hand_and_its_flag_comes_down() {
    let world = one_worker(&["Good"]);
    let w1 = mail(&world, "W1");
    put(&w1, Inbox, "0001.ratified", "");
    reject(&w1, 1);
    assert!(!w1.dir(Inbox).join("0001.ratified").exists());
    assert!(w1.dir(Inbox).join("0001.rejected").exists());
    assert_eq!(briefs::show(&w1, seq(1)).unwrap().held, None);
}

#[test]
fn a_flag_by_hand_on_swapped_words_is_not_let_through_by_a_word() {
    for accepts in [false, true] {
        let world = one_worker(&[]);
        if accepts {
            accept_foreign_flags(&world);
        }
        let w1 = mail(&world, "W1");
        propose(&w1, "Good");
        put(&w1, Inbox, "0001.brief", "EVIL");
        put(&w1, Inbox, "0001.ratified", "");
        assert!(deliver::next(&w1, &worker("W1")).unwrap().is_none());
        assert_eq!(
            briefs::show(&w1, seq(1)).unwrap().held,
            Some(WithheldReason::Proposed)
        );
        let wish = DecisionRequest::new(Decision::Ratified, Via::Cli);
        let refused = decide::decide(&w1, &worker("ann"), Some(seq(1)), &wish);
        assert!(refused.is_err(), "accepted: {accepts}");
    }
}

#[test]
fn a_decision_file_by_hand_is_an_unknown_hands() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    let mut decision = forged(&w1, "proposed");
    // With the line of another decision, of none, of one that is not there.
    for line in [decision["line"].clone(), serde_json::Value::Null, 9.into()] {
        decision["line"] = line;
        put(&w1, Inbox, ".0002.decision.json", decision.to_string());
        put(&w1, Inbox, "0002.ratified", "");
        let letter = briefs::show(&mail(&world, "W1"), seq(2)).unwrap();
        assert_eq!(
            letter.standing,
            DecisionState::Foreign(Decision::Ratified),
            "{decision}"
        );
        let offer = deliver::next(&w1, &worker("W1")).unwrap().unwrap();
        assert_eq!(offer.brief.seq, seq(1));
    }
    deliver::ack(&w1, &worker("W1"), seq(1)).unwrap();
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_none());
    assert_eq!(times(&world, "relay.changed_outside 2"), 1);
    ratify(&w1, 2);
    let letter = briefs::show(&w1, seq(2)).unwrap();
    let DecisionState::Decided(verdict) = letter.standing else {
        panic!("a person decided");
    };
    assert_eq!((verdict.via, verdict.by.as_str()), (Via::Cli, "ann"));
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_some());
}

#[test]
fn body_and_decision_changed_together_are_caught_by_the_history() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    let decision = forged(&w1, "EVIL");
    put(&w1, Inbox, ".0002.decision.json", decision.to_string());
    put(&w1, Inbox, "0002.ratified", "");
    let letter = briefs::show(&w1, seq(2)).unwrap();
    assert_eq!(
        letter.held,
        Some(WithheldReason::Proposed),
        "{:?}",
        letter.standing
    );
    deliver::next(&w1, &worker("W1")).unwrap();
    deliver::ack(&w1, &worker("W1"), seq(1)).unwrap();
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_none());
    // The same for one that somebody had decided on.
    let w1 = mail(&world, "W1");
    propose(&w1, "third");
    ratify(&w1, 3);
    put(&w1, Inbox, "0003.brief", "EVIL");
    let prints = briefs::show(&w1, seq(3)).unwrap().prints;
    let path = w1.dir(Inbox).join(".0003.decision.json");
    let mut decision: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    decision["sha256"] = prints.sha256.as_str().into();
    decision["envelope"] = prints.envelope.as_str().into();
    std::fs::write(&path, decision.to_string()).unwrap();
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_none());
}

#[test]
fn where_the_policy_accepts_it_a_flag_by_hand_counts_and_says_so() {
    let world = one_worker(&[]);
    accept_foreign_flags(&world);
    let w1 = mail(&world, "W1");
    propose(&w1, "Good");
    put(&w1, Inbox, "0001.ratified", "");
    assert!(deliver::is_waiting(&w1).unwrap());
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_some());
    let DecisionState::Decided(verdict) = briefs::show(&w1, seq(1)).unwrap().standing else {
        panic!("the flag was not recorded");
    };
    assert_eq!(verdict.via, Via::External);
    assert!(verdict.policy.is_some(), "by which policy");
    assert_eq!(times(&world, "relay.changed_outside 1"), 0);
}

#[test]
fn a_policy_that_cannot_be_read_asks() {
    let world = one_worker(&[]);
    std::fs::write(world.home.root().join("policy.toml"), "foreign_flags = 7").unwrap();
    let w1 = mail(&world, "W1");
    propose(&w1, "Good");
    put(&w1, Inbox, "0001.ratified", "");
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_none());
}

#[test]
fn contradicting_flags_give_way_to_the_decision_on_record() {
    let world = one_worker(&["one"]);
    let w1 = mail(&world, "W1");
    ratify(&w1, 1);
    let flag = |name: &str| w1.dir(Inbox).join(name);
    put(&w1, Inbox, "0001.rejected", "");
    propose(&w1, "two");
    assert!(
        !flag("0001.rejected").exists(),
        "whoever holds the lock next sees to it"
    );
    std::fs::rename(flag("0001.ratified"), flag("0001.rejected")).unwrap();
    let offer = deliver::next(&w1, &worker("W1")).unwrap().unwrap();
    assert_eq!(offer.decision, Decision::Ratified);
    assert!(flag("0001.ratified").exists() && !flag("0001.rejected").exists());
    assert_eq!(times(&world, "relay.changed_outside 1"), 2);
    assert_eq!(stages(&w1).len(), 2);
}
