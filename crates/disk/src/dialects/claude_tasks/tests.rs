//! The dialect against files as other programs write them.

use flagpost_model::task::{
    Act, Effort, Note, Origin, Priority, Question, State, StateName, TaskEvent, transition,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const REAL: &str = r#"{
  "id": "12",
  "subject": "Implement user authentication middleware",
  "description": "Add JWT-based auth…",
  "activeForm": "Implementing user authentication middleware",
  "status": "pending",
  "blocks": [
    "13"
  ],
  "blockedBy": [],
  "zeta": 1.50,
  "cost": 1e3,
  "rate": [2E-7, 3e+2, 4E5],
  "metadata": {
    "priority": "high",
    "task_uid": "auth:middleware",
    "task_group": "user-auth",
    "spec_phase": 2,
    "produces_for": [
      "13"
    ],
    "big": 123456789012345678901234567890
  },
  "alpha": {
    "nested": null
  }
}
"#;

fn file(text: &str) -> TaskFile {
    let id = serde_json::from_str::<Value>(text).unwrap()["id"].to_string();
    read(&id.trim_matches('"').parse().unwrap(), text.as_bytes()).unwrap()
}

fn act() -> Act {
    Act {
        actor: "W1".parse().unwrap(),
        token: None,
        at: "2026-05-13T14:25:00Z".parse().unwrap(),
    }
}

fn claimed(file: &TaskFile) -> flagpost_model::task::Task {
    let event = TaskEvent::Claim {
        token: flagpost_model::Token(41),
        lease: flagpost_model::task::DEFAULT_LEASE,
        session: None,
        open: vec![],
    };
    transition(&file.task, &act(), event).unwrap()
}

#[test]
fn unknown_keys_and_exact_numbers_survive_a_rewrite() {
    let before = file(REAL);
    let text = String::from_utf8(before.with(&claimed(&before))).unwrap();
    for kept in [
        "\"zeta\": 1.50",
        "123456789012345678901234567890",
        "\"nested\": null",
        "spec_phase",
    ] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
    let order: Vec<_> = serde_json::from_str::<Value>(&text)
        .unwrap()
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert_eq!(
        order[..7],
        [
            "id",
            "subject",
            "description",
            "activeForm",
            "status",
            "blocks",
            "blockedBy"
        ]
    );
}

#[test]
fn a_claim_is_written_and_read_back() {
    let before = file(REAL);
    let task = claimed(&before);
    let after = read(&task.id, &before.with(&task)).unwrap();
    assert_eq!(after.task, task);
    assert_eq!(after.raw["status"], "pending");
    assert_eq!(
        after.raw["metadata"]["flagpost"]["claim"],
        json!({"by": "W1", "token": 41, "at": "2026-05-13T14:25:00Z", "expires_at": "2026-05-13T14:40:00Z"})
    );
}

#[test]
fn every_state_is_read_back_as_written() {
    let before = file(REAL);
    let claim = claimed(&before).state.claim().unwrap().clone();
    for state in [
        State::Pending,
        State::Claimed(claim.clone()),
        State::InProgress(Some(claim)),
        State::InProgress(None),
        State::Completed,
        State::Failed,
        State::Stuck,
        State::Cancelled,
    ] {
        let task = Task {
            state,
            ..before.task.clone()
        };
        assert_eq!(read(&task.id, &before.with(&task)).unwrap().task, task);
    }
}

#[test]
fn where_status_and_state_disagree_status_wins() {
    let cases = [
        ("completed", "claimed", StateName::Completed),
        ("in_progress", "claimed", StateName::InProgress),
        ("pending", "completed", StateName::Pending),
        ("pending", "in_progress", StateName::Pending),
        ("completed", "stuck", StateName::Completed),
        ("in_progress", "failed", StateName::InProgress),
        ("done", "stuck", StateName::Stuck),
        ("done", "completed", StateName::Pending),
    ];
    for (status, state, expected) in cases {
        let text = json!({"id": "1", "subject": "s", "status": status,
            "metadata": {"flagpost": {"state": state, "claim": {"by": "W1", "token": 4,
            "at": "2026-05-13T14:25:00Z", "expires_at": "2026-05-13T14:40:00Z"}}}});
        let read = file(&text.to_string()).task.state;
        assert_eq!(read.name(), expected, "{status} over {state}");
    }
}

#[test]
fn the_seed_normalises_what_others_write() {
    let task = file(r#"{"id": 7, "subject": "s", "status": "doing", "blocks": "8", "blockedBy": [9, "9", null, "../x"]}"#).task;
    assert_eq!(task.state, State::Pending);
    assert_eq!(task.blocks, ["8".parse().unwrap()]);
    assert_eq!(task.blocked_by, ["9".parse().unwrap()]);
    assert_eq!(task.description, "");
}

#[test]
fn what_is_no_task_says_why() {
    let id = "7".parse().unwrap();
    for (text, why) in [
        ("", "EOF"),
        ("{\"id\": \"7\", \"subject\": \"s\"", "EOF"),
        ("[]", "not a list"),
        ("{\"id\": \"7\"}", "no subject"),
        ("{\"id\": \"7\", \"subject\": 5}", "no subject"),
        ("{\"id\": \"8\", \"subject\": \"s\"}", "its name says 7"),
    ] {
        let error = read(&id, text.as_bytes()).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
    assert!(read(&id, b"{\"id\": \"7\", \"subject\": \"\xff\"}").is_err());
}

#[test]
fn odd_types_in_known_fields_stay_until_they_are_changed() {
    let odd = r#"{"id":"7","subject":"s","owner":5,"blocks":[{"a":1},"8"],"metadata":{"priority":9,"tags":"urgent","due_date":20261201,"parent":3}}"#;
    let before = file(odd);
    assert_eq!(before.task.priority, None);
    assert_eq!(before.task.tags, ["urgent"]);
    let after: Value = serde_json::from_slice(&before.with(&before.task)).unwrap();
    assert_eq!(after["owner"], 5);
    assert_eq!(after["metadata"]["priority"], 9);
    assert_eq!(after["metadata"]["tags"], "urgent");

    let mut task = before.task.clone();
    task.priority = Some(Priority::Low);
    task.blocks = vec!["9".parse().unwrap()];
    let after: Value = serde_json::from_slice(&before.with(&task)).unwrap();
    assert_eq!(after["metadata"]["priority"], "low");
    assert_eq!(after["blocks"], json!([{"a": 1}, "9"]));
}

#[test]
fn metadata_of_another_type_is_kept_beside_ours() {
    let before = file(r#"{"id":"7","subject":"s","metadata":"mine"}"#);
    let after: Value = serde_json::from_slice(&before.with(&before.task)).unwrap();
    assert_eq!(after["metadata"]["was"], "mine");
}

proptest! {
    #[test]
    fn any_text_in_any_field_is_read_back(subject in ".*", description in "(?s).*", group in ".*", tags in proptest::collection::vec(".*", 0..4)) {
        let id: flagpost_model::TaskId = "7".parse().unwrap();
        let mut task = Task::new(id.clone(), subject);
        task.description = description;
        task.group = Some(group);
        task.tags = tags;
        prop_assert_eq!(read(&id, &to_bytes(write(None, &task))).unwrap().task, task);
    }

    #[test]
    fn no_bytes_panic_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&"7".parse().unwrap(), &bytes);
    }
}

/// The bound is that the test ends: comparing each with each takes minutes.
#[test]
fn many_ids_are_read_and_written_in_time() {
    let ids: Vec<String> = (2..100_002).map(|n| n.to_string()).collect();
    let twice = [&ids[..], &ids[..]].concat();
    let before = file(&json!({"id": "1", "subject": "s", "blockedBy": twice}).to_string());
    assert_eq!(before.task.blocked_by.len(), ids.len());
    let mut task = before.task.clone();
    task.blocked_by.pop();
    task.blocked_by.push(1_000_000.into());
    let after = file(&String::from_utf8(before.with(&task)).unwrap());
    assert_eq!(after.task.blocked_by, task.blocked_by);
}

const FULL: &str = r#"{
  "id": "7",
  "subject": "Rotate the keys",
  "status": "pending",
  "metadata": {
    "due_date": "2026-02-28",
    "not_before": "2026-02-01T00:00:00Z",
    "estimate_minutes": 90,
    "notes": [
      "written by hand",
      {"at": "2026-01-30T10:00:00Z", "by": "W1", "text": "Ask first", "mood": "calm"},
      17.50,
      {"text": 5}
    ],
    "spec_phase": 2,
    "flagpost": {
      "tracked_seconds": 75,
      "timer": {"by": "W1", "since": "2026-02-01T09:00:00Z"},
      "added": {"origin": "agent", "by": "W1", "at": "2026-01-01T00:00:00Z"}
    }
  }
}"#;

#[test]
fn every_field_is_read() {
    let task = file(FULL).task;
    assert_eq!(task.not_before.unwrap().to_string(), "2026-02-01T00:00:00Z");
    assert_eq!(task.estimate.unwrap().to_string(), "1h 30m");
    assert_eq!(task.tracked.seconds(), 75);
    assert_eq!(task.timer.unwrap().by.as_str(), "W1");
    assert_eq!(task.provenance.unwrap().origin, Origin::Agent);
    let notes: Vec<_> = task.notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(notes, ["written by hand", "Ask first", "17.50"]);
    assert_eq!(
        task.metadata,
        json!({"spec_phase": 2}).as_object().unwrap().clone()
    );
}

#[test]
fn a_note_is_added_behind_what_others_wrote() {
    let before = file(FULL);
    let mut task = before.task.clone();
    task.notes.push(Note {
        by: Some("alice".to_owned()),
        at: "2026-02-02T00:00:00Z".parse().ok(),
        text: "Done that".to_owned(),
        question: None,
    });
    let after: Value = serde_json::from_slice(&before.with(&task)).unwrap();
    let notes = after["metadata"]["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 5);
    assert_eq!(notes[1]["mood"], "calm");
    assert_eq!(
        notes[4],
        json!({"at": "2026-02-02T00:00:00Z", "by": "alice", "text": "Done that"})
    );
}

const ANSWERED: &str = r#"{"id": "7", "subject": "a", "status": "pending", "metadata": {"notes": [
  {"at": "2026-02-02T00:00:00Z", "by": "ann", "kind": "answer", "mood": "calm", "text": "argparse",
   "question": {"n": 1, "at": "2026-02-01T00:00:00Z", "by": "W1", "text": "Which?", "file": "cli.py"}},
  {"kind": "answer", "question": {"n": 2}, "text": "to what nobody said"},
  {"kind": "answer", "text": "to nothing"},
  {"kind": "verdict", "question": {"n": 3, "text": "Which?"}, "text": "of another program's"}
]}}"#;

#[test]
fn an_answer_is_read_with_its_question_and_what_has_none_as_a_remark() {
    let task = file(ANSWERED).task;
    let (asked, answer) = task.answered().next().unwrap();
    let whole = (asked.n, asked.by.as_deref(), asked.text.as_str());
    assert_eq!(whole, (1, Some("W1"), "Which?"));
    assert_eq!(asked.at.unwrap().to_string(), "2026-02-01T00:00:00Z");
    assert_eq!(answer.text, "argparse");
    let remarks: Vec<_> = task.remarks().map(|it| it.text.as_str()).collect();
    let expected = ["to what nobody said", "to nothing", "of another program's"];
    assert_eq!(remarks, expected);
}

#[test]
fn an_answer_is_written_behind_what_others_wrote_and_read_again() {
    let before = file(ANSWERED);
    let mut task = before.task.clone();
    task.notes.push(Note {
        by: Some("bob".to_owned()),
        at: None,
        text: "click".to_owned(),
        question: Some(Question {
            n: 2,
            by: None,
            at: None,
            text: String::new(),
        }),
    });
    let bytes = before.with(&task);
    let after: Value = serde_json::from_slice(&bytes).unwrap();
    let notes = after["metadata"]["notes"].as_array().unwrap();
    assert_eq!(notes[0]["mood"], "calm");
    assert_eq!(notes[0]["question"]["file"], "cli.py");
    assert_eq!(
        notes[4],
        json!({"by": "bob", "kind": "answer", "question": {"n": 2, "text": ""}, "text": "click"})
    );
    let read = file(&String::from_utf8(bytes).unwrap()).task;
    assert_eq!(read.notes, task.notes);
}

#[test]
fn foreign_metadata_is_set_and_taken_away_by_key_and_never_in_place_of_a_field() {
    let before = file(FULL);
    let mut task = before.task.clone();
    task.metadata.shift_remove("spec_phase");
    task.metadata.insert("ticket".to_owned(), json!({"n": 4}));
    task.metadata.insert("priority".to_owned(), json!("high"));
    let after: Value = serde_json::from_slice(&before.with(&task)).unwrap();
    let metadata = after["metadata"].as_object().unwrap();
    assert_eq!(metadata["ticket"], json!({"n": 4}));
    assert!(!metadata.contains_key("spec_phase") && !metadata.contains_key("priority"));
}

#[test]
fn fields_that_are_taken_away_leave_no_key() {
    let before = file(FULL);
    let bare = flagpost_model::task::Task {
        not_before: None,
        estimate: None,
        timer: None,
        tracked: Effort::default(),
        notes: Vec::new(),
        ..before.task.clone()
    };
    let after: Value = serde_json::from_slice(&before.with(&bare)).unwrap();
    let kept: Vec<_> = after["metadata"].as_object().unwrap().keys().collect();
    assert_eq!(kept, ["due_date", "spec_phase", "flagpost"]);
    assert!(after["metadata"]["flagpost"].get("timer").is_none());
}

#[test]
fn what_was_said_is_kept_for_each_kind_of_source_and_without_one() {
    let text = r#"{"id": "1", "subject": "a", "metadata": {"flagpost": {"said": {"priority": "98", "csv": {"group": "76"}, "odd": 7}}}}"#;
    let read = file(text);
    let said: Vec<_> = read.task.said.iter().collect();
    assert_eq!(said, [("", "priority", "98"), ("csv", "group", "76")]);
    let mut task = read.task.clone();
    task.subject = "b".to_owned();
    let raw = write(Some(&read), &task);
    let said = &raw["metadata"]["flagpost"]["said"];
    assert_eq!(
        said,
        &serde_json::json!({"priority": "98", "csv": {"group": "76"}})
    );
}

#[test]
fn a_task_that_claude_code_is_removing_is_not_wanted() {
    let read = file(r#"{"id": "1", "subject": "a", "status": "deleted"}"#);
    assert_eq!(read.task.state, State::Cancelled);
}
