//! Of several decisions on a brief the last one counts, whatever lies in its place.

use std::{collections::BTreeMap, fs};

use flagpost_core::{
    history::Kind,
    relay::{
        Mail, briefs,
        decide::{self, DecisionRequest},
        deliver,
        observe::MailWatch,
    },
};
use flagpost_model::{
    decision::{Decision, DecisionState, Delivery, Via, WithheldReason},
    envelope::Direction::Inbox,
};
use jiff::SignedDuration;

use super::{
    accept_foreign_flags, go_on, mail, one_worker, proposal, propose, put, ratify, register,
    reject, seq, times,
};
use crate::world::{World, worker};

/// All files of brief 1, as they are now.
fn files(mail: &Mail<'_>) -> BTreeMap<String, Vec<u8>> {
    let names = fs::read_dir(mail.dir(Inbox)).unwrap();
    let names = names.map(|it| it.unwrap().file_name().into_string().unwrap());
    let of_it = names.filter(|it| it.trim_start_matches('.').starts_with("0001."));
    of_it
        .map(|name| {
            let bytes = fs::read(mail.dir(Inbox).join(&name)).unwrap();
            (name, bytes)
        })
        .collect()
}

/// Puts brief 1 back as it was.
fn put_back(mail: &Mail<'_>, then: &BTreeMap<String, Vec<u8>>) {
    for name in files(mail).keys() {
        fs::remove_file(mail.dir(Inbox).join(name)).unwrap();
    }
    for (name, bytes) in then {
        put(mail, Inbox, name, bytes);
    }
}

fn remove(mail: &Mail<'_>, names: &[&str]) {
    for name in names {
        fs::remove_file(mail.dir(Inbox).join(name)).unwrap();
    }
}

fn has(mail: &Mail<'_>, name: &str) -> bool {
    mail.dir(Inbox).join(name).exists()
}

fn decision(mail: &Mail<'_>) -> Option<Decision> {
    briefs::show(mail, seq(1)).unwrap().standing.decision()
}

/// A brief that was ratified, was changed, and was rejected then; its files as they were ratified.
fn overruled(world: &World) -> BTreeMap<String, Vec<u8>> {
    register(world, &["W1"]);
    let w1 = mail(world, "W1");
    propose(&w1, "Good");
    ratify(&w1, 1);
    let then = files(&w1);
    put(&w1, Inbox, "0001.brief", "changed");
    reject(&w1, 1);
    then
}

#[test]
fn an_earlier_decision_that_is_put_back_delivers_nothing() {
    for is_far in [false, true] {
        let world = World::real();
        let then = overruled(&world);
        if is_far {
            // So much that nobody looks there for nothing.
            go_on(&world, 6_000);
        }
        put_back(&mail(&world, "W1"), &then);
        let w1 = mail(&world, "W1");
        let offer = deliver::next(&w1, &worker("W1")).unwrap().unwrap();
        assert_eq!(offer.delivery, Delivery::Rejection, "far: {is_far}");
        assert_eq!(decision(&mail(&world, "W1")), Some(Decision::Rejected));
        assert!(!has(&w1, "0001.ratified") && has(&w1, "0001.rejected"));
        let record = fs::read_to_string(w1.dir(Inbox).join(".0001.decision.json")).unwrap();
        assert!(record.contains("rejected"), "{record}");
        assert_eq!(times(&world, "relay.decided 1"), 2, "nobody's word is void");
        assert_eq!(times(&world, "history.void 1"), 0);
    }
}

#[test]
fn words_that_were_replaced_by_their_hash_do_not_come_back() {
    let world = one_worker(&["Good"]);
    let w1 = mail(&world, "W1");
    ratify(&w1, 1);
    let then = files(&w1);
    put(&w1, Inbox, "0001.brief", "Better");
    let mut wish = DecisionRequest::new(Decision::Ratified, Via::Cli);
    wish.seen = Some(briefs::show(&w1, seq(1)).unwrap().prints.envelope);
    decide::decide(&w1, &worker("ann"), Some(seq(1)), &wish).unwrap();
    put_back(&w1, &then);
    assert_eq!(
        briefs::show(&w1, seq(1)).unwrap().held,
        Some(WithheldReason::Decided)
    );
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_none());
}

#[test]
fn a_decision_whose_file_is_taken_away_stands_and_gets_it_back() {
    for gone in [
        &[".0001.decision.json", "0001.rejected"][..],
        &[".0001.decision.json"],
        &[".0001.decision.json", "0001.rejected", ".0001.words.json"],
    ] {
        let world = one_worker(&["Good"]);
        let w1 = mail(&world, "W1");
        reject(&w1, 1);
        remove(&w1, gone);
        assert_eq!(decision(&w1), Some(Decision::Rejected), "{gone:?}");
        // Somebody else writes next.
        propose(&w1, "another");
        assert!(has(&w1, ".0001.decision.json"), "{gone:?}");
        assert!(has(&w1, "0001.rejected"), "{gone:?}");
        assert_eq!(times(&world, "history.void 1"), 0, "{gone:?}");
        let DecisionState::Decided(verdict) = briefs::show(&w1, seq(1)).unwrap().standing else {
            panic!("{gone:?}");
        };
        assert_eq!((verdict.by.as_str(), verdict.via), ("ann", Via::Cli));
        let again = DecisionRequest::new(Decision::Ratified, Via::Cli);
        assert!(decide::decide(&w1, &worker("ann"), Some(seq(1)), &again).is_err());
    }
}

#[test]
fn a_decision_whose_files_were_taken_away_is_delivered_before_anybody_else_writes() {
    let world = one_worker(&["Good"]);
    let w1 = mail(&world, "W1");
    ratify(&w1, 1);
    remove(&w1, &[".0001.decision.json", "0001.ratified"]);
    assert!(deliver::is_waiting(&w1).unwrap());
    let offer = deliver::next(&w1, &worker("W1")).unwrap().unwrap();
    assert_eq!(offer.body, "Good");
    assert!(has(&w1, "0001.ratified") && has(&w1, ".0001.decision.json"));
}

#[test]
fn a_decision_whose_words_were_taken_away_too_is_not_void() {
    let world = one_worker(&["Good"]);
    let w1 = mail(&world, "W1");
    reject(&w1, 1);
    let then = files(&w1);
    remove(&w1, &["0001.brief", ".0001.decision.json", "0001.rejected"]);
    propose(&w1, "another");
    assert_eq!(times(&world, "history.void 1"), 0);
    put(&w1, Inbox, "0001.brief", &then["0001.brief"]);
    assert_eq!(decision(&w1), Some(Decision::Rejected));
}

#[test]
fn a_flag_by_hand_does_not_overrule_a_person_where_the_policy_accepts_flags() {
    let world = one_worker(&[]);
    accept_foreign_flags(&world);
    let w1 = mail(&world, "W1");
    propose(&w1, "Good");
    reject(&w1, 1);
    remove(&w1, &[".0001.decision.json", "0001.rejected"]);
    put(&w1, Inbox, "0001.ratified", "");
    let offer = deliver::next(&w1, &worker("W1")).unwrap().unwrap();
    assert_eq!(offer.delivery, Delivery::Rejection);
    assert_eq!(times(&world, "relay.decided 1"), 1);
    assert!(!has(&w1, "0001.ratified"));
}

#[test]
fn a_flag_by_hand_comes_too_late_for_an_expired_brief() {
    let world = one_worker(&[]);
    accept_foreign_flags(&world);
    let w1 = mail(&world, "W1");
    let mut brief = proposal("Good");
    brief.expires_at = Some(world.home.now() + SignedDuration::from_secs(60));
    briefs::propose(&w1, &worker("controller"), brief).unwrap();
    world.pass(SignedDuration::from_secs(120));
    put(&w1, Inbox, "0001.ratified", "");
    assert!(!deliver::is_waiting(&w1).unwrap());
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_none());
    let letter = briefs::show(&w1, seq(1)).unwrap();
    assert_eq!(letter.held, Some(WithheldReason::Foreign));
    assert_eq!(
        letter.resolving_command().unwrap(),
        "flagpost reject W1 1",
        "nothing else is possible any more"
    );
    reject(&w1, 1);
    assert_eq!(briefs::show(&w1, seq(1)).unwrap().held, None);
}

#[test]
fn what_is_withheld_and_expired_can_be_rejected() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    let mut brief = proposal("Good");
    brief.expires_at = Some(world.home.now() + SignedDuration::from_secs(60));
    briefs::propose(&w1, &worker("controller"), brief).unwrap();
    ratify(&w1, 1);
    put(&w1, Inbox, "0001.brief", "EVIL");
    world.pass(SignedDuration::from_secs(120));
    let letter = briefs::show(&w1, seq(1)).unwrap();
    assert_eq!(letter.held, Some(WithheldReason::Decided));
    assert_eq!(letter.resolving_command().unwrap(), "flagpost reject W1 1");
    reject(&w1, 1);
    let letter = briefs::show(&w1, seq(1)).unwrap();
    assert_eq!(
        (letter.held, decision(&w1)),
        (None, Some(Decision::Rejected))
    );
}

#[test]
fn a_decision_that_was_cut_short_is_finished() {
    let world = one_worker(&["Good"]);
    let w1 = mail(&world, "W1");
    let before = files(&w1);
    ratify(&w1, 1);
    // The line is durable, and its file never came.
    put_back(&w1, &before);
    let w1 = mail(&world, "W1");
    assert_eq!(decision(&w1), Some(Decision::Ratified));
    propose(&w1, "another");
    assert!(has(&w1, "0001.ratified") && has(&w1, ".0001.decision.json"));
    assert!(!has(&w1, ".0001.foreign"), "it is nobody else's");
    let kinds = world.history();
    let is_strange = kinds.iter().any(|it| it.entry.kind == Kind::ChangedOutside);
    assert!(!is_strange, "a crash is no foreign hand");
    let offer = deliver::next(&w1, &worker("W1")).unwrap().unwrap();
    assert_eq!(offer.body, "Good");
}

#[test]
fn a_brief_that_was_away_for_a_while_is_not_proposed_anew() {
    let world = one_worker(&["Good"]);
    let w1 = mail(&world, "W1");
    let mut watch = MailWatch::begin(&world.fleet()).unwrap();
    watch.look(&world.fleet(), &worker("operator")).unwrap();
    let then = files(&w1);
    remove(&w1, &["0001.brief"]);
    watch.look(&world.fleet(), &worker("operator")).unwrap();
    put_back(&w1, &then);
    put(&w1, Inbox, "0001.brief", "EVIL");
    watch.look(&world.fleet(), &worker("operator")).unwrap();
    assert_eq!(times(&world, "relay.brief_proposed 1"), 1);
    let held = briefs::show(&mail(&world, "W1"), seq(1)).unwrap().held;
    assert_eq!(held, Some(WithheldReason::Proposed));
}
