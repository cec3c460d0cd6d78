//! A brief that was swapped before anybody decided is decided on only by its new name.

use flagpost_core::{
    Error,
    relay::{
        brief_snapshots, briefs,
        decide::{self, DecisionRequest},
        deliver,
    },
};
use flagpost_model::{
    decision::{Decision, DecisionRefusal, Via, WithheldReason},
    envelope::{Direction::Inbox, Hash},
};
use serde_json::json;

use super::{go_on, mail, one_worker, put, ratify, rewrite, seq, times};
use crate::world::{World, worker};

fn decide(
    mail: &flagpost_core::relay::Mail<'_>,
    decision: Decision,
    seen: Option<Hash>,
) -> Result<(), Error> {
    let mut wish = DecisionRequest::new(decision, Via::Cli);
    wish.seen = seen;
    decide::decide(mail, &worker("ann"), Some(seq(1)), &wish).map(|_| ())
}

fn is_withheld(decided: &Result<(), Error>) -> bool {
    matches!(
        decided,
        Err(Error::Gate(DecisionRefusal::Withheld {
            held: WithheldReason::Proposed,
            ..
        }))
    )
}

#[test]
fn words_that_were_swapped_before_the_decision_are_let_through_only_by_their_hash() {
    let world = one_worker(&["benign words"]);
    let w1 = mail(&world, "W1");
    put(&w1, Inbox, "0001.brief", "EVIL");
    let letter = briefs::show(&w1, seq(1)).unwrap();
    assert_eq!(letter.held, Some(WithheldReason::Proposed));
    let before = brief_snapshots::before(&w1, &letter).unwrap().unwrap();
    assert_eq!(
        (before.body.as_str(), before.changes.len()),
        ("benign words", 1)
    );
    for _ in 0..2 {
        assert!(is_withheld(&decide(&w1, Decision::Ratified, None)));
    }
    let body = Hash::of(b"EVIL");
    let seen = Some(body.clone());
    assert!(is_withheld(&decide(&w1, Decision::Ratified, seen)));
    let (done, failed) =
        decide::ratify_listed(&w1, &worker("ann"), &super::every(), Via::Cli).unwrap();
    assert_eq!((done.len(), failed.len()), (0, 1));
    let edited = decide::edit(&w1, &worker("ann"), seq(1), &body, "x", Via::Cli);
    assert!(is_withheld(&edited.map(|_| ())));
    assert_eq!(
        times(&world, "relay.changed_outside 1"),
        1,
        "once for each change"
    );
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_none());
    put(&w1, Inbox, "0001.brief", "EVIL AGAIN");
    assert!(is_withheld(&decide(
        &w1,
        Decision::Ratified,
        Some(letter.prints.envelope)
    )));
    assert_eq!(times(&world, "relay.changed_outside 1"), 2);
    let now = briefs::show(&w1, seq(1)).unwrap().prints.envelope;
    decide(&w1, Decision::Ratified, Some(now)).unwrap();
    let offer = deliver::next(&w1, &worker("W1")).unwrap().unwrap();
    assert_eq!(offer.body, "EVIL AGAIN", "a person named it");
}

#[test]
fn a_swapped_brief_can_be_rejected_as_it_is() {
    let world = one_worker(&["benign words"]);
    let w1 = mail(&world, "W1");
    rewrite(&w1, 1, "kind", json!("merge_go"));
    decide(&w1, Decision::Rejected, None).unwrap();
    let letter = briefs::show(&w1, seq(1)).unwrap();
    assert_eq!(
        (letter.held, letter.standing.decision()),
        (None, Some(Decision::Rejected))
    );
}

#[test]
fn a_swap_is_seen_though_all_that_points_at_the_proposal_was_changed_too() {
    let world = one_worker(&["benign words"]);
    let w1 = mail(&world, "W1");
    // So far back that nobody looks there for nothing.
    go_on(&world, 9_000);
    put(&w1, Inbox, "0001.brief", "EVIL");
    rewrite(&w1, 1, "submitted_at", json!("2026-05-13T15:00:00Z"));
    let w1 = mail(&world, "W1");
    let held = briefs::show(&w1, seq(1)).unwrap().held;
    assert_eq!(
        held,
        Some(WithheldReason::Proposed),
        "the kept words name the line"
    );
    std::fs::remove_file(w1.dir(Inbox).join(".0001.words.json")).unwrap();
    let w1 = mail(&world, "W1");
    assert!(
        is_withheld(&decide(&w1, Decision::Ratified, None)),
        "whoever decides looks through all"
    );
    ratify_by_its_hash(&world);
}

fn ratify_by_its_hash(world: &World) {
    let w1 = mail(world, "W1");
    let now = briefs::show(&w1, seq(1)).unwrap().prints.envelope;
    decide(&w1, Decision::Ratified, Some(now)).unwrap();
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_some());
}

#[test]
fn a_brief_by_hand_is_bound_from_the_first_decision_that_is_tried() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    let sidecar = r#"{"seq":1,"version":1,"kind":"freeform","submitted_at":"2026-05-13T14:25:00Z",
        "controller_session_id":"s","target_worker":"W1","target_ticket":null,"summary":"by hand",
        "idempotency_key":"ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"}"#;
    put(&w1, Inbox, "0001.brief.meta.json", sidecar);
    put(&w1, Inbox, "0001.brief", "by hand");
    assert_eq!(briefs::show(&w1, seq(1)).unwrap().held, None);
    let refused = decide(&w1, Decision::Ratified, Some(Hash::of(b"another")));
    fails!(refused, Error::Gate(DecisionRefusal::Changed { .. }));
    assert_eq!(times(&world, "relay.brief_proposed 1"), 1);
    put(&w1, Inbox, "0001.brief", "swapped");
    assert!(is_withheld(&decide(&w1, Decision::Ratified, None)));
    put(&w1, Inbox, "0001.brief", "by hand");
    ratify(&w1, 1);
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_some());
}
