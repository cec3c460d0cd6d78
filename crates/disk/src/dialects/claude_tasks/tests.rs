//! The dialect against files as other programs write them.

use flagpost_model::task::{Act, Event, Priority, State, StateName, transition};
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
    let event = Event::Claim {
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
        prop_assert_eq!(read(&id, &write(None, &task)).unwrap().task, task);
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
    let after = file(&String::from_utf8(write(Some(&before), &task)).unwrap());
    assert_eq!(after.task.blocked_by, task.blocked_by);
}
