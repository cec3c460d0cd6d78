//! Somebody takes a number between our look and our rename.

use flagpost_model::{
    decision::{Decision, DecisionRecord, Via},
    envelope::{Brief, BriefKind, Extras, Hash, Key, VERSION},
};

use super::{publication::Appears, *};
use crate::{Repository, sequencer::Transaction};

fn brief(seq: Seq) -> Brief {
    Brief {
        seq,
        version: VERSION,
        kind: BriefKind::Freeform,
        submitted_at: Timestamp::UNIX_EPOCH,
        controller_session_id: "ann".to_owned(),
        target_worker: "W1".parse().unwrap(),
        target_ticket: None,
        expires_at: None,
        summary: "ours".to_owned(),
        in_reply_to: None,
        idempotency_key: Key::of("ours"),
        extras: Extras::default(),
    }
}

#[test]
fn trap_33_a_taken_number_is_a_conflict_and_on_record() {
    let scratch = flagpost_testkit::scratch::scratch();
    let root = scratch.path().join("home");
    let home = Home::at(root);
    let ann: WorkerId = "ann".parse().unwrap();
    let repository = Repository::register(&home, scratch.path(), &ann).unwrap();
    let fleet = Fleet::of(&home, &repository.id);
    let w1: WorkerId = "W1".parse().unwrap();
    workers::register(&fleet, &ann, &w1, workers::Traits::default()).unwrap();
    let mail = fleet.mail(&w1).unwrap();
    let _open = Transaction::begin();
    let locked = mail.lock(Direction::Inbox).unwrap();
    let verdict = DecisionRecord {
        decision: Decision::Ratified,
        by: ann.clone(),
        at: Timestamp::UNIX_EPOCH,
        sha256: Hash::of(b"ours"),
        envelope: None,
        via: Via::Run,
        reason: None,
        rule: None,
        policy: None,
        hand: None,
        line: None,
    };
    let mut tried = Vec::new();
    let published = locked.under_a_new_number(|seq, batch| {
        let taken = match tried.len() {
            0 => Some(layout::body(seq)),
            1 => Some(layout::sidecar(seq)),
            _ => None,
        };
        if let Some(name) = taken {
            let path = mail.dir(Direction::Inbox).join(name);
            fsx::replace(home.fs(), &path, b"theirs").unwrap();
        }
        tried.push(seq.get());
        let appears = Appears::Decided(&verdict);
        locked.publish(&ann, &brief(seq), ("ours", appears), batch)
    });
    published.unwrap();
    assert_eq!(tried, [1, 2, 3]);
    let read = |name: &str| std::fs::read_to_string(mail.dir(Direction::Inbox).join(name)).ok();
    assert_eq!(read("0001.brief").as_deref(), Some("theirs"));
    for ours in ["0001.brief.meta.json", ".0001.decision.json"] {
        assert_eq!(read(ours), None, "ours does not speak for theirs");
    }
    assert_eq!(read("0002.brief.meta.json").as_deref(), Some("theirs"));
    assert_eq!(read("0002.brief"), None);
    assert_eq!(read("0003.brief").as_deref(), Some("ours"));
    let told: Vec<String> = mail
        .history()
        .since(0)
        .unwrap()
        .iter()
        .filter_map(|line| Some(format!("{} {}", line.entry.kind.as_str(), line.entry.seq?)))
        .collect();
    let attempt = |n| {
        [
            "relay.brief_proposed",
            "relay.decided",
            "history.void",
            "history.void",
            "relay.contract_violation",
        ]
        .map(|kind| format!("{kind} 000{n}"))
    };
    let third = ["relay.brief_proposed 0003", "relay.decided 0003"].map(str::to_owned);
    assert_eq!(told, [&attempt(1)[..], &attempt(2), &third].concat());
}
