//! What other programs write is read; what is read is written again; what is broken says why.

use flagpost_model::coordination::{CoordClaim, CoordResult, CoordStatus, NewCoordTask};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use serde_json::json;

use super::*;

const SPECIFICATION: &str = include_str!("../../../../../docs/formats/coordination.md");

/// The samples of the specification, in order: tasks, agents.
fn sample(at: usize) -> &'static str {
    let sample = SPECIFICATION.split("```json\n").nth(at + 1).unwrap();
    sample.split("```").next().unwrap()
}

fn tasks(text: &str) -> TasksFile {
    read_tasks(text.as_bytes(), &TimeZone::UTC).unwrap()
}

fn at(text: &str) -> DateTime {
    text.parse().unwrap()
}

fn written(before: &TasksFile, tasks: &[CoordTask], now: &str) -> String {
    String::from_utf8(write_tasks(before, tasks, at(now))).unwrap()
}

#[test]
fn the_samples_are_read_and_written_as_they_are() {
    let file = tasks(sample(0));
    let all: Vec<CoordTask> = file.contents().cloned().collect();
    assert_eq!(file.faults().count(), 0);
    let now = "2026-05-13T14:25:00.123456";
    assert_eq!(file.last_updated, Some(at(now)));
    assert_eq!(all[0].claim.as_ref().unwrap().by, "terminal-2");
    assert_eq!(all[1].required_capabilities, ["rust"]);
    assert_eq!(written(&file, &all, now), sample(0));
    // And the same without anything to keep, but for when it was made.
    let anew = written(&new_table(), &all, now);
    let made = r#""created_at": "2026-05-13T14:20:00.000000","#;
    let first = format!(r#""created_at": "{now}","#);
    assert_eq!(anew.replacen(&first, made, 1), sample(0));

    let file = read_agents(sample(1).as_bytes(), &TimeZone::UTC).unwrap();
    let all: Vec<_> = file.contents().cloned().collect();
    assert_eq!(all[0].capabilities, ["rust", "sql"]);
    for before in [file, new_table()] {
        let bytes = write_agents(&before, &all);
        assert_eq!(String::from_utf8(bytes).unwrap(), sample(1));
    }
}

/// As a program writes it that names more keys, puts null, and has its own order.
const FOREIGN: &str = r#"{
  "tasks": [
    {
      "status": "available",
      "id": "task-20240115093000-ab12",
      "group_id": null,
      "description": "One",
      "priority": 1.50,
      "result": null,
      "context": {
        "hints": "h",
        "orphaned_from": {
          "worker": "x"
        }
      },
      "estimated_duration": 30
    },
    {
      "id": 7,
      "description": "Two",
      "status": "claimed",
      "claimed_by": "terminal 3",
      "claimed_at": "2026-05-13T14:25:00Z"
    }
  ],
  "session": {
    "b": 1,
    "a": 1.0
  }
}
"#;

#[test]
fn a_change_touches_nothing_that_it_does_not_mean_to() {
    let file = tasks(FOREIGN);
    let mut all: Vec<CoordTask> = file.contents().cloned().collect();
    assert_eq!(all[0].hints.as_deref(), Some("h"));
    assert_eq!(all[1].id.as_str(), "7");
    assert_eq!(all[1].claim.as_ref().unwrap().by, "terminal 3");
    all[0].status = CoordStatus::Done;
    all[0].claim = Some(CoordClaim {
        by: "W1".to_owned(),
        at: Some(at("2026-05-13T14:25:00.000001")),
    });
    all[0].result = CoordResult {
        output: Some("ok".to_owned()),
        ..CoordResult::default()
    };
    let now = written(&file, &all, "2026-05-13T15:00:00");
    let expected = FOREIGN
        .replace(r#""status": "available""#, r#""status": "done""#)
        .replace(
            r#""result": null"#,
            r#""result": {
        "output": "ok",
        "files_modified": [],
        "files_created": []
      }"#,
        )
        .replace(
            r#""estimated_duration": 30"#,
            r#""estimated_duration": 30,
      "claimed_by": "W1",
      "claimed_at": "2026-05-13T14:25:00.000001",
      "dependencies": []"#,
        )
        .replace(
            "    \"a\": 1.0\n  }\n}\n",
            "    \"a\": 1.0\n  },\n  \"version\": \"1.0\",\n  \"created_at\": \"2026-05-13T15:00:00.000000\",\n  \"last_updated\": \"2026-05-13T15:00:00.000000\"\n}\n",
        );
    let order = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(order(&now), order(&expected), "{now}");
    assert!(now.contains("1.50") && now.contains("1.0") && now.contains("orphaned_from"));
}

#[test]
fn trap_24_one_broken_task_hides_no_other_and_stays() {
    let broken = json!({"version": "1.0", "tasks": [
        {"id": "a", "description": "Fine", "status": "available"},
        {"id": "b", "status": "available"},
        {"description": "c", "status": "available"},
        {"id": "../d", "description": "d", "status": "available"},
        {"id": "e", "description": "e", "status": "doing"},
        {"id": "a", "description": "again", "status": "available"},
        {"id": "f", "description": "f", "status": "available", "dependencies": [{}]},
        {"id": "g", "description": "g", "status": "available", "dependencies": ["no id"]},
        null,
        "text",
        {"id": "h", "description": "h", "status": "available", "priority": "high",
         "tags": 7, "context": [], "result": "x", "created_at": "yesterday", "max_retries": -1},
    ]});
    let file = tasks(&broken.to_string());
    let all: Vec<CoordTask> = file.contents().cloned().collect();
    let ids: Vec<_> = all.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["a", "h"]);
    let told: Vec<String> = file
        .faults()
        .map(|(name, why)| format!("{name}: {why}"))
        .collect();
    assert_eq!(
        told,
        [
            "b: it has no description",
            "row 3: it has no id",
            "../d: \"../d\" is not a task id: use 1 to 64 letters, digits, '.', '_' or '-', \
             starting with a letter or digit",
            "e: its status: \"doing\" is none of available, claimed, in_progress, done, failed, \
             cancelled, blocked",
            "a: the id a is another task's",
            "f: its dependencies is no list of words",
            "g: its dependencies: \"no id\" is not a task id: use 1 to 64 letters, digits, '.', \
             '_' or '-', starting with a letter or digit",
            "row 9: it is not a JSON object",
            "row 10: it is not a JSON object",
        ]
    );
    let draft = NewCoordTask {
        description: "New".to_owned(),
        ..NewCoordTask::default()
    };
    let mut more = all.clone();
    more.push(draft.into_task("i".parse().unwrap(), at("2026-05-13T15:00:00")));
    let now: Value = serde_json::from_str(&written(&file, &more, "2026-05-13T15:00:00")).unwrap();
    let rows = now["tasks"].as_array().unwrap();
    assert_eq!(rows[..11], broken["tasks"].as_array().unwrap()[..]);
    assert_eq!(rows[11]["id"], "i");
}

#[test]
fn what_is_no_table_says_so() {
    for (text, expected) in [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("[]", "it is not a JSON object"),
        ("{}", "it has no list of tasks"),
        (r#"{"tasks": {}}"#, "it has no list of tasks"),
        (
            r#"{"tasks": ["#,
            "EOF while parsing a list at line 1 column 11",
        ),
    ] {
        let told = read_tasks(text.as_bytes(), &TimeZone::UTC).unwrap_err();
        assert_eq!(told, expected, "{text}");
    }
    assert!(read_tasks(b"\xef\xbb\xbf{\"tasks\": []}", &TimeZone::UTC).is_ok());
}

#[test]
fn trap_23_times_are_written_local_and_naive_whatever_was_read() {
    let zone = TimeZone::fixed(jiff::tz::offset(-8));
    for (text, expected) in [
        ("2026-05-13T14:25:00", "2026-05-13T14:25:00.000000"),
        ("2026-05-13T14:25:00.5", "2026-05-13T14:25:00.500000"),
        ("2026-05-13 14:25:00.123456", "2026-05-13T14:25:00.123456"),
        ("2026-05-13T14:25:00Z", "2026-05-13T06:25:00.000000"),
        ("2026-05-13T14:25:00+02:00", "2026-05-13T04:25:00.000000"),
    ] {
        let read = time::read(Some(&json!(text)), &zone).unwrap();
        assert_eq!(time_to_text(read), expected, "{text}");
    }
    for text in ["", "yesterday", "14:25"] {
        assert_eq!(time::read(Some(&json!(text)), &zone), None, "{text}");
    }
}

#[test]
fn tasks_to_be_added_are_read_whole_or_not_at_all() {
    let drafts = read_drafts(
        r#"[{"description": "One", "id": "a", "priority": 2},
            {"description": "Two", "dependencies": ["a"], "context": {"files": ["x"], "hints": "y"},
             "required_capabilities": "rust,sql", "max_retries": 3, "tags": ["t"]}]"#,
    )
    .unwrap();
    assert_eq!(drafts[0].id.as_ref().unwrap().as_str(), "a");
    assert_eq!(drafts[1].files, ["x"]);
    assert_eq!(drafts[1].max_retries, 3);
    let told = read_drafts(
        r#"[{}, {"description": "x", "prio": 1}, {"description": "x", "priority": 11},
            {"description": "x", "id": "a b"}, 7]"#,
    );
    assert_eq!(
        told.unwrap_err(),
        "task 1: it has no description; task 2: nobody knows the key prio; \
         task 3: priority: 11 is not a number from 1 to 10; task 4: id: \"a b\" is not an id; \
         task 5: a task is an object, not a number"
    );
}

#[test]
fn a_plan_tells_its_goal_again() {
    let plan = plan("Build a parser\n\nthat is fast\n", Some("Lexer first"));
    let goal = "Build a parser\n\nthat is fast";
    assert_eq!(objective(&plan).as_deref(), Some(goal));
    assert_eq!(objective("# Plan\n\nJust do it\n"), None);
}

#[test]
fn discoveries_of_any_hand_are_told_apart() {
    let by_hand = "# Shared discoveries\n\nWrite here.\n\n## The parser is slow\n\nSee #7.\n";
    let ours = discovery(at("2026-05-13T14:25:00"), "W1", "Use a table\n");
    let found = read_discoveries(&format!("{by_hand}{ours}"), &TimeZone::UTC);
    let told: Vec<_> = found.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(told, ["The parser is slow\n\nSee #7.", "Use a table"]);
    assert_eq!(found[1].by.as_deref(), Some("W1"));
}

#[test]
fn a_log_keeps_to_one_line() {
    let line = log_line(at("2026-05-13T14:25:00"), "DONE", "a\nb\r\n[c]");
    assert_eq!(line, "[2026-05-13T14:25:00.000000] DONE: a b [c]\n");
}

proptest! {
    #[test]
    fn a_discovery_is_read_as_it_was_told(texts in prop::collection::vec("(\\\\{0,2}(## )?[a-z \u{2014}|\\]#]{0,9}\n){0,4}[a-z]", 1..4)) {
        let all: String = texts.iter().map(|it| discovery(at("2026-05-13T14:25:00"), "W1", it)).collect();
        let found = read_discoveries(&all, &TimeZone::UTC);
        let told: Vec<String> = found.into_iter().map(|it| it.text).collect();
        let said: Vec<String> = texts.iter().map(|it| it.trim_matches('\n').to_owned()).collect();
        prop_assert_eq!(told, said);
    }

    #[test]
    fn any_description_is_read_as_it_was_written(text in "\\PC{0,40}[a-z]", by in "\\PC{1,20}x") {
        let draft = NewCoordTask { description: text, ..NewCoordTask::default() };
        let mut task = draft.into_task("a".parse().unwrap(), at("2026-05-13T14:25:00"));
        task.claim = Some(CoordClaim { by, at: None });
        let text = written(&new_table(), std::slice::from_ref(&task), "2026-05-13T14:25:00");
        let file = tasks(&text);
        let read: Vec<_> = file.contents().cloned().collect();
        prop_assert_eq!(read, vec![task]);
    }
}
