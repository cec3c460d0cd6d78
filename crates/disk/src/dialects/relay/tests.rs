//! What the seed shows is read; what is read is written again; what is broken says why.

use flagpost_model::{
    Seq, WorkerId,
    decision::{Decision, DecisionRecord, ProcessIdentity, Via},
    envelope::{Brief, BriefKind, Direction, Extras, Hash, Key, Report, ReportKind},
    worker::{Worker, WorkerStatus},
};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const SPECIFICATION: &str = include_str!("../../../../../docs/formats/relay.md");

fn w1() -> WorkerId {
    "W1".parse().unwrap()
}

fn seq(number: u64) -> Seq {
    Seq::try_from(number).unwrap()
}

/// The samples of the specification, in order: sidecar, report, decision, worker, lease.
fn sample(at: usize) -> &'static str {
    let sample = SPECIFICATION.split("```json\n").nth(at + 1).unwrap();
    sample.split("```").next().unwrap()
}

#[test]
fn the_seeds_samples_are_read_and_written_as_they_are() {
    let brief = read_brief(&w1(), seq(7), sample(0).as_bytes()).unwrap();
    assert_eq!(brief.content.kind, BriefKind::Dispatch);
    assert_eq!(brief.content.target_ticket.as_deref(), Some("1192"));
    assert_eq!(
        String::from_utf8(write_brief(Some(&brief), &brief.content)).unwrap(),
        sample(0)
    );
    assert_eq!(
        String::from_utf8(write_brief(None, &brief.content)).unwrap(),
        sample(0)
    );

    let report = read_report(&w1(), seq(1), sample(1).as_bytes()).unwrap();
    assert_eq!(report.content.kind, ReportKind::Cycle);
    assert_eq!(report.content.pr_number, Some(1192));
    assert_eq!(
        String::from_utf8(write_report(None, &report.content)).unwrap(),
        sample(1)
    );

    let verdict = read_verdict(sample(2).as_bytes()).unwrap();
    assert_eq!(
        (verdict.decision, verdict.via),
        (Decision::Ratified, Via::Cli)
    );
    assert_eq!(
        String::from_utf8(write_verdict(&verdict)).unwrap(),
        sample(2)
    );

    let lease = read_lease(sample(4).as_bytes()).unwrap().unwrap();
    assert_eq!((lease.by.as_str(), lease.count), ("W1", 2));
    assert_eq!(String::from_utf8(write_lease(&lease)).unwrap(), sample(4));
    assert_eq!(read_lease(b""), Ok(None), "a mark by hand");
    assert!(read_lease(b"{}").is_err());

    let worker = read_worker(&w1(), sample(3).as_bytes()).unwrap();
    let expected: Value = serde_json::from_str(sample(3)).unwrap();
    let written: Value = serde_json::from_slice(&write_worker(None, &worker.content)).unwrap();
    assert_eq!(written, expected);
}

#[test]
fn unknown_keys_survive_a_rewrite_in_value_and_order() {
    let text = sample(0).replace(
        "\"version\": 1,",
        "\"x\": 1.50000000000000000001,\n  \"version\": 1,\n  \"y\": [null, {\"é\": 1e400}],",
    );
    let file = read_brief(&w1(), seq(7), text.as_bytes()).unwrap();
    let mut changed = file.content.clone();
    changed.summary = "Another".to_owned();
    let written = String::from_utf8(write_brief(Some(&file), &changed)).unwrap();
    assert!(
        written.contains("\"x\": 1.50000000000000000001,\n"),
        "{written}"
    );
    assert!(written.contains("1e+400"), "{written}");
    let back = read_brief(&w1(), seq(7), written.as_bytes()).unwrap();
    assert_eq!(back.content, changed);
    let keys = |raw: &serde_json::Map<String, Value>| raw.keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&back.raw), keys(&file.raw));
}

#[test]
fn foreign_spellings_keep_theirs_unless_their_meaning_changes() {
    let text = r#"{"seq":"7","version":1,"kind":"freeform","submitted_at":"2026-05-13T16:25:00+02:00",
        "controller_session_id":"s","target_worker":"W1","target_ticket":1192,"summary":"x",
        "idempotency_key":"ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0="}"#;
    let file = read_brief(&w1(), seq(7), text.as_bytes()).unwrap();
    assert_eq!(file.content.target_ticket.as_deref(), Some("1192"));
    assert_eq!(file.content.idempotency_key, Key::of("abc"));
    let written: Value = serde_json::from_slice(&write_brief(Some(&file), &file.content)).unwrap();
    assert_eq!(written, serde_json::from_str::<Value>(text).unwrap());
}

#[test]
fn an_envelope_without_a_key_it_must_have_says_which() {
    let without = |at: usize, key: &str| {
        let mut raw: Map<String, Value> = serde_json::from_str(sample(at)).unwrap();
        raw.remove(key);
        to_bytes(raw)
    };
    let required = [
        "seq",
        "version",
        "kind",
        "submitted_at",
        "controller_session_id",
        "target_worker",
        "target_ticket",
        "summary",
        "idempotency_key",
    ];
    for key in required {
        let error = read_brief(&w1(), seq(7), &without(0, key)).unwrap_err();
        assert_eq!(error, format!("it has no {key}"));
    }
    let required = [
        "seq",
        "version",
        "kind",
        "produced_at",
        "worker_id",
        "ticket_id",
        "claude_session_id",
        "body",
        "idempotency_key",
    ];
    for key in required {
        let error = read_report(&w1(), seq(1), &without(1, key)).unwrap_err();
        assert!(error.starts_with(&format!("it has no {key}")), "{error}");
    }
    for key in ["expires_at", "in_reply_to"] {
        assert!(read_brief(&w1(), seq(7), &without(0, key)).is_ok(), "{key}");
    }
    for key in ["pr_number", "next_action", "in_reply_to"] {
        assert!(
            read_report(&w1(), seq(1), &without(1, key)).is_ok(),
            "{key}"
        );
    }
}

#[test]
fn an_envelope_that_contradicts_its_place_or_itself_is_none() {
    for (key, value, told) in [
        ("seq", json!(8), "its seq is 0008, its place says 0007"),
        ("seq", json!(0), "its seq: "),
        (
            "target_worker",
            json!("W2"),
            "its target_worker is W2, its place says W1",
        ),
        ("target_worker", json!("../W2"), "its target_worker: "),
        (
            "kind",
            json!("order"),
            "its kind: \"order\" is none of dispatch_brief",
        ),
        ("submitted_at", json!("today"), "its submitted_at: "),
        ("idempotency_key", json!("abc"), "its idempotency_key: "),
        ("summary", json!({"a": 1}), "its summary is neither"),
        ("version", json!(0), "its version is 0"),
    ] {
        let mut raw: Map<String, Value> = serde_json::from_str(sample(0)).unwrap();
        raw.insert(key.to_owned(), value);
        let error = read_brief(&w1(), seq(7), &to_bytes(raw)).unwrap_err();
        assert!(error.starts_with(told), "{error}");
    }
    for text in ["", "{", "[]", "null", "\"x\"", "{\"seq\": 7}", "\0"] {
        assert!(
            read_brief(&w1(), seq(7), text.as_bytes()).is_err(),
            "{text:?}"
        );
    }
}

#[test]
fn trap_35_names_have_four_digits_and_then_more() {
    use Direction::{Inbox, Outbox};
    for (direction, name, expected) in [
        (Inbox, body(seq(7)), EnvelopePart::Body),
        (Inbox, sidecar(seq(9999)), EnvelopePart::Sidecar),
        (Inbox, decision(seq(10_000)), EnvelopePart::Decision),
        (
            Inbox,
            flag(seq(7), Decision::Edited),
            EnvelopePart::Flag(Decision::Edited),
        ),
        (Inbox, offered(seq(7)), EnvelopePart::Offered),
        (Outbox, offered(seq(7)), EnvelopePart::Offered),
        (Inbox, read_flag(seq(7)), EnvelopePart::Read),
        (Outbox, report(seq(12_345)), EnvelopePart::Report),
        (
            Outbox,
            flag(seq(1), Decision::Ratified),
            EnvelopePart::Flag(Decision::Ratified),
        ),
    ] {
        assert_eq!(parse(direction, &name).unwrap().1, expected, "{name}");
    }
    assert_eq!(body(seq(9999)), "9999.brief");
    assert_eq!(body(seq(10_000)), "10000.brief");
    for foreign in [
        "7.brief",
        "00007.brief",
        "0000.brief",
        "0007",
        "0007.",
        "0007.brief.tmp",
        "x.brief",
        ".0007.brief",
        "0007.decision.json",
        "0007.json",
        ".lock",
        ".seq",
        "quarantine",
        "+007.brief",
        ".0007.brief.tmp-12-00000000000000000000000000000000",
    ] {
        assert_eq!(parse(Inbox, foreign), None, "{foreign}");
    }
}

fn any_extras() -> impl Strategy<Value = Extras> {
    let text = || proptest::option::of(".{0,12}");
    (
        text(),
        text(),
        text(),
        text(),
        text(),
        proptest::option::of(any::<i32>()),
    )
        .prop_map(|(id, subject, thread_id, party, by, data)| Extras {
            id,
            subject,
            thread_id,
            party,
            by,
            data: data.map(|n| json!({"n": n})),
        })
}

fn any_time() -> impl Strategy<Value = Timestamp> {
    (0_i64..4_000_000_000_000).prop_map(|ms| Timestamp::from_millisecond(ms).unwrap())
}

fn any_seq() -> impl Strategy<Value = Seq> {
    (1_u64..30_000).prop_map(seq)
}

proptest! {
    #[test]
    fn every_brief_comes_back(
        (n, at, expires, reply) in (any_seq(), any_time(), proptest::option::of(any_time()), proptest::option::of(any_seq())),
        (session, summary, ticket, body) in (".{0,20}", ".{0,40}", "[0-9]{1,6}", ".{0,40}"),
        kind in proptest::sample::select(BriefKind::ALL),
        extras in any_extras(),
    ) {
        let brief = Brief {
            seq: n, version: 1, kind, submitted_at: at, controller_session_id: session,
            target_worker: w1(), target_ticket: Some(ticket), expires_at: expires, summary,
            in_reply_to: reply, idempotency_key: Key::of(&body), extras,
        };
        let bytes = write_brief(None, &brief);
        let back = read_brief(&w1(), n, &bytes).unwrap();
        prop_assert_eq!(back.prints("x"), new_brief(&brief).prints("x"));
        prop_assert_eq!(&back.content, &brief);
        prop_assert_eq!(write_brief(Some(&back), &back.content), bytes);
    }

    #[test]
    fn every_report_comes_back(
        (n, at, pr, reply) in (any_seq(), any_time(), proptest::option::of(any::<u32>()), proptest::option::of(any_seq())),
        (session, body, ticket, next) in (".{0,20}", "(?s).{0,60}", proptest::option::of("[0-9]{1,6}"), proptest::option::of(".{0,9}")),
        kind in proptest::sample::select(ReportKind::ALL),
        extras in any_extras(),
    ) {
        let report = Report {
            seq: n, version: 1, kind, produced_at: at, worker_id: w1(), ticket_id: ticket,
            claude_session_id: session, idempotency_key: Key::of(&body), body,
            pr_number: pr.map(u64::from), next_action: next, in_reply_to: reply, extras,
        };
        let bytes = write_report(None, &report);
        let back = read_report(&w1(), n, &bytes).unwrap();
        prop_assert_eq!(&back.content, &report);
        prop_assert_eq!(write_report(Some(&back), &back.content), bytes);
    }

    #[test]
    fn every_decision_comes_back(
        at in any_time(), body in ".{0,20}",
        (reason, rule) in (proptest::option::of(".{0,20}"), proptest::option::of(".{0,20}")),
        decision in proptest::sample::select(Decision::ALL),
        via in proptest::sample::select(Via::ALL),
        known in any::<bool>(),
    ) {
        let verdict = DecisionRecord {
            decision, by: w1(), at, sha256: Hash::of(body.as_bytes()), via, reason, rule,
            envelope: known.then(|| Hash::of(b"all")), policy: known.then(|| Hash::of(b"rules")),
            hand: known.then(|| ProcessIdentity { uid: 7, pid: 4711, tty: None, parent: Some("zsh".into()) }),
            line: known.then_some(41),
        };
        prop_assert_eq!(read_verdict(&write_verdict(&verdict)).unwrap(), verdict);
    }

    #[test]
    fn every_worker_comes_back(
        (registered_at, last_seen) in (any_time(), proptest::option::of(any_time())),
        (agent, tmux, worktree) in (proptest::option::of(".{0,9}"), proptest::option::of(".{0,9}"), proptest::option::of(".{0,9}")),
        capabilities in proptest::collection::vec(".{0,9}", 0..3),
        pid in proptest::option::of(any::<u32>()),
        (standing, token) in (proptest::sample::select(WorkerStatus::ALL), proptest::option::of(".{0,9}")),
    ) {
        let token = token.map(|it| Hash::of(it.as_bytes()));
        let worker = Worker { id: w1(), agent, capabilities, registered_at, last_seen, pid, tmux, worktree, standing, token };
        let back = read_worker(&w1(), &write_worker(None, &worker)).unwrap();
        prop_assert_eq!(back.content, worker);
    }
}
