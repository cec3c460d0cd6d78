//! What is delivered is what was decided on: the sidecar too.

use flagpost_core::relay::{brief_snapshots, briefs, decide, deliver};
use flagpost_model::{
    decision::{Decision, DecisionState, Via, WithheldReason},
    envelope::Direction::Inbox,
};
use serde_json::json;

use super::{mail, one_worker, propose, put, ratify, rewrite, seq, times};
use crate::world::worker;

#[test]
fn a_sidecar_changed_after_the_decision_withholds_its_brief() {
    for (key, value) in [
        ("kind", json!("merge_go")),
        ("target_ticket", json!("1193")),
        ("controller_session_id", json!("somebody else")),
        ("in_reply_to", json!(4)),
        ("summary", json!("something else")),
        ("expires_at", json!("2030-01-01T00:00:00Z")),
        ("pr_number", json!(77)),
        ("subject", json!("TASK")),
    ] {
        let world = one_worker(&["Good"]);
        let w1 = mail(&world, "W1");
        ratify(&w1, 1);
        rewrite(&w1, 1, key, value);
        for _ in 0..2 {
            assert!(
                deliver::next(&w1, &worker("W1")).unwrap().is_none(),
                "{key}"
            );
            assert!(!deliver::is_waiting(&w1).unwrap(), "{key}");
        }
        assert_eq!(times(&world, "relay.withheld 1"), 1, "{key}");
        assert_eq!(times(&world, "relay.changed_outside 1"), 1, "{key}");
        let letter = briefs::show(&w1, seq(1)).unwrap();
        assert_eq!(letter.held, Some(WithheldReason::Decided), "{key}");
        let before = brief_snapshots::before(&w1, &letter).unwrap().unwrap();
        let parts: Vec<_> = before.changes.iter().map(|it| it.part.as_str()).collect();
        assert_eq!((parts, before.body.as_str()), (vec![key], "Good"));
    }
}

#[test]
fn a_sidecar_that_says_the_same_in_other_words_is_the_same() {
    let world = one_worker(&["Good"]);
    let w1 = mail(&world, "W1");
    ratify(&w1, 1);
    rewrite(&w1, 1, "kind", json!("dispatch_brief"));
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_some());
}

#[test]
fn a_brief_that_was_edited_is_bound_as_it_was_edited() {
    let world = one_worker(&["Good"]);
    let w1 = mail(&world, "W1");
    let seen = briefs::show(&w1, seq(1)).unwrap().prints.sha256;
    decide::edit(&w1, &worker("ann"), seq(1), &seen, "Better", Via::Cli).unwrap();
    let letter = briefs::show(&w1, seq(1)).unwrap();
    assert_eq!(letter.standing.decision(), Some(Decision::Edited));
    assert_eq!(letter.held, None);
    put(&w1, Inbox, "0001.brief", "Worse");
    let letter = briefs::show(&w1, seq(1)).unwrap();
    assert_eq!(letter.held, Some(WithheldReason::Decided));
    let before = brief_snapshots::before(&w1, &letter).unwrap().unwrap();
    assert_eq!(before.body, "Better", "the words that were decided on");
    put(&w1, Inbox, "0001.brief", "Better");
    let offer = deliver::next(&w1, &worker("W1")).unwrap().unwrap();
    assert_eq!(offer.body, "Better");
}

#[test]
fn a_decision_from_before_envelopes_were_bound_still_binds_the_body() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    for (number, body) in [(1, "One"), (2, "Two"), (3, "Three")] {
        propose(&w1, body);
        ratify(&w1, number);
    }
    // As the versions before wrote them.
    let history = world
        .home
        .repository_dir(&world.repository.id)
        .join("history.jsonl");
    let lines = std::fs::read_to_string(&history).unwrap();
    let old: String = lines
        .lines()
        .map(|line| {
            let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
            let detail = line["detail"].as_object_mut().unwrap();
            for key in ["envelope", "hand"] {
                detail.remove(key);
            }
            format!("{line}\n")
        })
        .collect();
    std::fs::write(&history, old).unwrap();
    for number in 1..=3 {
        let path = w1
            .dir(Inbox)
            .join(format!(".{}.decision.json", seq(number)));
        let text = std::fs::read(&path).unwrap();
        let mut decision: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let keys = decision.as_object_mut().unwrap();
        for key in ["envelope", "hand", "line"] {
            keys.remove(key);
        }
        std::fs::write(&path, decision.to_string()).unwrap();
        std::fs::remove_file(w1.dir(Inbox).join(format!(".{}.words.json", seq(number)))).unwrap();
    }
    let w1 = mail(&world, "W1");
    put(&w1, Inbox, "0001.brief", "Evil");
    rewrite(&w1, 2, "summary", json!("another"));
    for number in [2, 3] {
        let offer = deliver::next(&w1, &worker("W1")).unwrap().unwrap();
        assert_eq!(offer.brief.seq, seq(number));
        deliver::ack(&w1, &worker("W1"), seq(number)).unwrap();
    }
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_none());
    let DecisionState::Decided(verdict) = briefs::show(&w1, seq(1)).unwrap().standing else {
        panic!("the old decision does not count any more");
    };
    assert_eq!(verdict.envelope, None);
}
