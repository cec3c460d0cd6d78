//! Decisions, and what follows from them.

use super::*;

fn prints(body: &[u8], sidecar: &[u8]) -> Prints {
    Prints {
        sha256: Hash::of(body),
        envelope: Hash::of(&[sidecar, body].concat()),
    }
}

fn verdict(decision: Decision) -> DecisionRecord {
    let on = prints(b"body", b"sidecar");
    DecisionRecord {
        decision,
        by: "ann".parse().unwrap(),
        at: Timestamp::UNIX_EPOCH,
        sha256: on.sha256,
        envelope: Some(on.envelope),
        via: Via::Cli,
        reason: None,
        rule: None,
        policy: None,
        hand: None,
        line: None,
    }
}

fn decided(decision: Decision) -> DecisionState {
    DecisionState::Decided(Box::new(verdict(decision)))
}

/// One that is older than the binding of envelopes.
fn decided_long_ago(decision: Decision) -> DecisionState {
    DecisionState::Decided(Box::new(DecisionRecord {
        envelope: None,
        ..verdict(decision)
    }))
}

fn every_standing() -> Vec<DecisionState> {
    let flagged = Decision::ALL.iter().map(|it| DecisionState::Flagged(*it));
    let decided = Decision::ALL.iter().map(|it| decided(*it));
    flagged.chain(decided).collect()
}

fn about(worker: &WorkerId, expires_at: Option<Timestamp>) -> BriefSubject<'_> {
    BriefSubject {
        worker,
        seq: "7".parse().unwrap(),
        expires_at,
    }
}

#[test]
fn what_is_decided_is_never_decided_again() {
    let worker: WorkerId = "W1".parse().unwrap();
    let at = |text: &str| -> Timestamp { text.parse().unwrap() };
    let (now, later) = (at("2026-05-13T14:25:00Z"), at("2026-05-13T14:26:00Z"));
    let on = |expires_at| about(&worker, expires_at);
    for standing in every_standing() {
        let refused = decide(Decision::Ratified, &standing, None, on(None), now).unwrap_err();
        let told = refused.to_string();
        let word = standing.decision().unwrap();
        assert!(
            told.starts_with(&format!("brief 0007 of W1 is {word} already")),
            "{told}"
        );
    }
    let wish = Decision::Ratified;
    let pending = |expires_at| decide(wish, &DecisionState::Pending, None, on(expires_at), now);
    assert_eq!(pending(None), Ok(()));
    assert_eq!(pending(Some(later)), Ok(()));
    for at in [now, later] {
        let refused = decide(wish, &DecisionState::Pending, None, on(Some(at)), later);
        assert!(
            matches!(refused, Err(DecisionRefusal::Expired { .. })),
            "{at}"
        );
    }
}

#[test]
fn an_unknown_hand_and_a_decision_on_other_words_stand_in_nobodys_way() {
    let worker: WorkerId = "W1".parse().unwrap();
    let (on, now) = (about(&worker, None), Timestamp::UNIX_EPOCH);
    for (standing, why) in [
        (
            DecisionState::Foreign(Decision::Ratified),
            WithheldReason::Foreign,
        ),
        (
            DecisionState::Foreign(Decision::Rejected),
            WithheldReason::Foreign,
        ),
        (decided(Decision::Ratified), WithheldReason::Decided),
    ] {
        assert_eq!(
            decide(Decision::Ratified, &standing, Some(why), on, now),
            Ok(()),
            "{standing:?}"
        );
    }
}

#[test]
fn past_its_time_what_is_withheld_can_only_be_kept_back() {
    let worker: WorkerId = "W1".parse().unwrap();
    let at = Timestamp::UNIX_EPOCH;
    let on = about(&worker, Some(at));
    let standing = decided(Decision::Ratified);
    for (wish, held, may) in [
        (Decision::Ratified, Some(WithheldReason::Decided), false),
        (Decision::Rejected, Some(WithheldReason::Decided), true),
    ] {
        assert_eq!(decide(wish, &standing, held, on, at).is_ok(), may, "{wish}");
    }
    let waits = decide(Decision::Rejected, &DecisionState::Pending, None, on, at);
    assert!(waits.is_err(), "it waits for nobody");
}

#[test]
fn trap_36_only_the_envelope_that_was_decided_on_is_delivered() {
    let worker: WorkerId = "W1".parse().unwrap();
    let same = prints(b"body", b"sidecar");
    let (body, sidecar) = (prints(b"evil", b"sidecar"), prints(b"body", b"evil"));
    let look = |standing: &DecisionState, now| {
        let held = held(standing, now, None);
        deliverable(standing, held, about(&worker, None)).ok()
    };
    for decision in [Decision::Ratified, Decision::Edited] {
        for (standing, now, expected) in [
            (decided(decision), &same, Some(Delivery::Brief)),
            (decided(decision), &body, None),
            (decided(decision), &sidecar, None),
            (decided_long_ago(decision), &same, Some(Delivery::Brief)),
            (decided_long_ago(decision), &sidecar, Some(Delivery::Brief)),
            (decided_long_ago(decision), &body, None),
            (
                DecisionState::Flagged(decision),
                &body,
                Some(Delivery::Brief),
            ),
            (DecisionState::Foreign(decision), &same, None),
        ] {
            assert_eq!(look(&standing, now), expected, "{standing:?} {now:?}");
        }
    }
    assert_eq!(
        look(&decided(Decision::Rejected), &body),
        Some(Delivery::Rejection)
    );
    assert_eq!(
        look(&DecisionState::Foreign(Decision::Rejected), &same),
        None
    );
    assert_eq!(look(&DecisionState::Pending, &same), None);
}

#[test]
fn what_was_changed_is_decided_on_only_by_its_new_name() {
    let worker: WorkerId = "W1".parse().unwrap();
    let on = about(&worker, None);
    let (then, now) = (prints(b"body", b"sidecar"), prints(b"evil", b"sidecar"));
    let proposed = Some((&then.sha256, Some(&then.envelope)));
    assert_eq!(held(&DecisionState::Pending, &then, proposed), None);
    let why = held(&DecisionState::Pending, &now, proposed);
    for (standing, expected) in [
        (DecisionState::Pending, why),
        (DecisionState::Foreign(Decision::Ratified), why),
        (DecisionState::Flagged(Decision::Ratified), why),
        (DecisionState::Flagged(Decision::Edited), None),
        (DecisionState::Flagged(Decision::Rejected), None),
    ] {
        assert_eq!(held(&standing, &now, proposed), expected, "{standing:?}");
    }
    assert_eq!(why, Some(WithheldReason::Proposed));
    for (held, seen, may) in [
        (None, None, true),
        (None, Some(&now.sha256), true),
        (None, Some(&now.envelope), true),
        (None, Some(&then.sha256), false),
        (why, None, false),
        (why, Some(&then.envelope), false),
        (why, Some(&now.sha256), false),
        (why, Some(&now.envelope), true),
        (Some(WithheldReason::Decided), None, false),
        (Some(WithheldReason::Decided), Some(&now.envelope), true),
        (Some(WithheldReason::Foreign), None, true),
        (Some(WithheldReason::Foreign), Some(&then.sha256), false),
    ] {
        assert_eq!(
            is_seen(held, on, &now, seen).is_ok(),
            may,
            "{held:?} {seen:?}"
        );
    }
}

#[test]
fn of_two_flags_the_one_that_delivers_less_counts() {
    use Decision::{Edited, Ratified, Rejected};
    for (flags, expected) in [
        (&[][..], DecisionState::Pending),
        (&[Ratified], DecisionState::Flagged(Ratified)),
        (&[Ratified, Rejected], DecisionState::Flagged(Rejected)),
        (&[Ratified, Edited], DecisionState::Flagged(Edited)),
    ] {
        assert_eq!(DecisionState::of_flags(flags), expected);
    }
}
