//! In which form reports are kept.

use serde_json::{Value, json};

use super::*;

fn report(operation: &str, arguments: Value) -> KeptReport {
    serde_json::from_value(json!({
        "form": FORM,
        "id": "0190c6f0-0000-7000-8000-000000000000",
        "said_at": "2026-05-13T14:25:00Z",
        "after": 7,
        "operation": operation,
        "actor": "W3",
        "by": null,
        "arguments": arguments,
    }))
    .unwrap()
}

#[test]
fn a_kept_file_is_a_report_or_damaged_or_of_a_newer_version() {
    let written = report("task.done", json!({"id": "7", "token": 12, "text": "Done"}));
    let bytes = serde_json::to_vec(&written).unwrap();
    assert_eq!(KeptFile::read(&bytes), KeptFile::Report(Box::new(written)));
    let newer = br#"{"form": 2, "says": "what nobody knows yet"}"#;
    assert_eq!(KeptFile::read(newer), KeptFile::Newer);
    for damaged in [&b""[..], b"{", b"[1]", br#"{"form": 1}"#, &bytes[..40]] {
        let read = KeptFile::read(damaged);
        assert!(matches!(read, KeptFile::Damaged(_)), "{read:?}");
    }
}

#[test]
fn the_same_words_of_the_same_one_are_one_report() {
    let done = report("task.done", json!({"id": "7"}));
    let again = KeptReport {
        id: "another".to_owned(),
        after: 9,
        ..done.clone()
    };
    assert!(again.says_as(&done));
    let others = [
        report("task.fail", json!({"id": "7"})),
        report("task.done", json!({"id": "8"})),
        KeptReport {
            actor: "W4".parse().unwrap(),
            ..done.clone()
        },
        KeptReport {
            by: Some("ann".parse().unwrap()),
            ..done.clone()
        },
    ];
    for other in others {
        assert!(!other.says_as(&done), "{other:?}");
    }
}

#[test]
fn a_report_has_one_name_and_what_a_hand_puts_beside_it_is_none() {
    for (text, read) in [
        ("000001.json", Some(1)),
        ("1234567.json", Some(1_234_567)),
        ("1.json", None),
        ("+00001.json", None),
        ("000001.json~", None),
        (".000001.json.tmp-7", None),
        ("quarantine", None),
        (".lock", None),
    ] {
        assert_eq!(number(text), read, "{text}");
    }
}
