//! The files by their bytes.

use flagpost_model::{
    TaskId,
    bridge::{Addressee, CommandOutcome, Reply},
    task::{Ending, Note, Priority, State, Task, TaskResult},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn only_a_name_that_we_give_is_an_inbox_that_was_taken_in() {
    assert_eq!(processing_number(&processing(7)), Some(7));
    for other in [
        ".agent-inbox.07.processing",
        ".agent-inbox..processing",
        ".agent-inbox.-1.processing",
        "agent-inbox.7.processing",
        ".agent-inbox.lock",
    ] {
        assert_eq!(processing_number(other), None, "{other}");
    }
    let now = at("2026-05-13T14:25:00.5Z");
    assert_eq!(
        rejected(now, 0),
        "agent-inbox.json.rejected-20260513T142500Z"
    );
    assert_eq!(
        rejected(now, 2),
        "agent-inbox.json.rejected-20260513T142500Z-2"
    );
}

#[test]
fn an_inbox_is_a_list_or_one_value() {
    let items = |text: &str| inbox(text.as_bytes());
    assert_eq!(items("[1, null]").unwrap(), [json!(1), Value::Null]);
    assert_eq!(items(" {\"id\": 1}\n").unwrap(), [json!({"id": 1})]);
    assert_eq!(items("\u{feff}[]").unwrap(), [json!(null); 0]);
    assert_eq!(items("null").unwrap(), [Value::Null]);
    for bad in ["", "[1,", "{\"id\": 1} {\"id\": 2}", "\u{0}"] {
        assert!(items(bad).is_err(), "{bad:?}");
    }
    assert!(inbox(b"[\"\xff\"]").is_err());
    assert!(is_idle(b" []\n") && is_idle(b"") && !is_idle(b"[ 1 ]"));
    assert_eq!(outbox(b"").unwrap(), [json!(null); 0]);
}

#[test]
fn what_is_no_json_is_told_in_our_words_with_its_place() {
    for (text, told) in [
        (
            "[{\"id\": 1, ",
            "it ends at line 1, column 10, in the middle of a value",
        ),
        ("not JSON", "a JSON value was expected at line 1, column 2"),
        (
            "[1]\n[2]",
            "nothing behind the one value; several stand in a list was expected at line 2, column 1",
        ),
        (
            "[{\"a\": 1 \"b\"}]",
            "a comma or the end of an object was expected at line 1, column 10",
        ),
        (
            "[1,]",
            "a value behind the comma, or no comma was expected at line 1, column 4",
        ),
        (
            "{id: 1}",
            "a key in double quotes was expected at line 1, column 2",
        ),
    ] {
        assert_eq!(inbox(text.as_bytes()).unwrap_err(), told, "{text}");
    }
    assert_eq!(
        inbox(b"[\"\xff\"]").unwrap_err(),
        "UTF-8 was expected at byte 2"
    );
}

#[test]
fn a_ledger_gives_back_what_was_written_and_skips_what_was_cut_off() {
    let answer = |to: Addressee, outcome: CommandOutcome| Reply {
        to,
        outcome,
        at: at("2026-05-13T14:25:00Z"),
    };
    let done = reply(&answer(
        Addressee::Command("c".to_owned()),
        CommandOutcome::done(json!({"batch": 9, "id": "1"})),
    ));
    let bad = reply(&answer(
        Addressee::Item(3),
        CommandOutcome::Refused("no".to_owned()),
    ));
    let entry = |item, id: Option<&str>, answer| LedgerEntry {
        batch: 2,
        item,
        id: id.map(str::to_owned),
        print: id.map(|_| "0f".to_owned()),
        answer,
    };
    let entries = [
        entry(Some(0), Some("c"), KnownAnswer::Reply(done)),
        entry(Some(3), None, KnownAnswer::Reply(bad)),
        entry(Some(4), Some("d"), KnownAnswer::Shown),
        entry(
            None,
            None,
            KnownAnswer::Reply(json!({"commandId": null, "status": "error"})),
        ),
    ];
    let mut bytes: Vec<u8> = entries.iter().flat_map(super::entry).collect();
    bytes.extend(b"{\"batch\": 2, \"it");
    assert_eq!(ledger(&bytes).collect::<Vec<_>>(), entries);
}

#[test]
fn a_ledger_from_before_prints_were_kept_is_read() {
    let old = b"{\"batch\":1,\"item\":0,\"commandId\":\"c\",\"status\":\"ok\",\"data\":1}\n";
    let [entry] = ledger(old).collect::<Vec<_>>().try_into().unwrap();
    assert_eq!((entry.id.as_deref(), entry.print), (Some("c"), None));
    let reply = json!({"commandId": "c", "status": "ok", "data": 1});
    assert_eq!(entry.answer, KnownAnswer::Reply(reply));
}

#[test]
fn a_task_is_shown_in_the_words_of_the_protocol() {
    let now = at("2026-05-13T14:25:00Z");
    let mut it = Task::new(TaskId::from(7), "Fix bug");
    it.state = State::Completed;
    it.priority = Some(Priority::Critical);
    it.due = Some("2026-12-01".parse().unwrap());
    it.metadata.insert("archived".to_owned(), true.into());
    it.metadata.insert("k".to_owned(), 1.into());
    it.notes.push(Note {
        by: Some("codex".to_owned()),
        at: Some(now),
        text: "n".to_owned(),
        question: None,
    });
    it.result = Some(TaskResult {
        ending: Ending::Completed,
        text: String::new(),
        by: "codex".parse().unwrap(),
        at: now,
        token: None,
    });
    assert_eq!(
        task(&it, &[TaskId::from(8)], now),
        json!({
            "id": "7", "title": "Fix bug", "description": "", "status": "archived",
            "priority": "urgent", "project": null, "tags": [], "dueDate": "2026-12-01",
            "createdAt": null, "completedAt": "2026-05-13T14:25:00Z", "parentId": null,
            "subtaskIds": ["8"],
            "notes": [{"id": "7-1", "source": "codex", "content": "n", "by": "codex", "createdAt": "2026-05-13T14:25:00Z"}],
            "recurrence": null, "timeSpentSeconds": 0, "timerStartedAt": null,
            "state": "completed", "owner": null, "blockedBy": [], "blocks": [],
            "metadata": {"k": 1}, "updatedAt": "2026-05-13T14:25:00Z", "order": 7,
            "estimateMinutes": null, "actualMinutes": 0, "externalId": null,
            "externalSource": null,
        })
    );
    it.state = State::Pending;
    let open = task(&it, &[], now);
    // A mark and a result that an earlier completion left.
    assert_eq!(
        (&open["status"], &open["completedAt"]),
        (&json!("todo"), &Value::Null)
    );
}
