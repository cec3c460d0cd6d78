//! Documents as task-master writes them, and as nobody should.

use flagpost_model::{
    intake::{Format, assemble},
    task::{Priority, State},
};
use serde_json::json;

use super::*;

const TASKS: &str = r#"{
  "master": {
    "tasks": [
      {"id": 1, "title": "Set up", "description": "A repository.", "details": "git init", "testStrategy": "It builds.", "status": "done", "priority": "high", "dependencies": [], "subtasks": []},
      {"id": 2, "title": "Log in", "status": "in-progress", "priority": "medium", "dependencies": [1], "complexity": 7, "metadata": {"issue": 42},
       "subtasks": [
         {"id": 1, "title": "Form", "status": "done", "dependencies": []},
         {"id": 2, "title": "Session", "status": "pending", "dependencies": [1, "3.1"], "parentTaskId": 2}
       ]},
      {"id": "3", "title": "Later", "status": "deferred", "dependencies": ["2.2"], "subtasks": [{"id": 1, "title": "Look", "status": "review", "dependencies": [2]}]}
    ],
    "metadata": {"created": "2025-06-13T08:37:25.000Z"}
  },
  "feature": {"tasks": [{"id": 1, "title": "Another one", "status": "cancelled", "dependencies": []}]}
}"#;

#[test]
fn tasks_and_subtasks_become_tasks() {
    let intake = assemble(Format::Taskmaster, read(TASKS).unwrap()).unwrap();
    assert_eq!((intake.broken.len(), intake.held), (0, 1));
    let told: Vec<_> = intake
        .tasks
        .iter()
        .map(|it| {
            (
                &*it.uid,
                it.task.state.name().as_str(),
                &it.after[..],
                it.parent,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("taskmaster:master:1", "completed", &[][..], None),
            ("taskmaster:master:2", "pending", &[0], None),
            ("taskmaster:master:2.1", "completed", &[], Some(1)),
            ("taskmaster:master:2.2", "pending", &[2, 5], Some(1)),
            ("taskmaster:master:3", "stuck", &[3], None),
            ("taskmaster:master:3.1", "stuck", &[1], Some(4)),
            ("taskmaster:feature:1", "cancelled", &[], None),
        ]
    );
    let first = &intake.tasks[0].task;
    assert_eq!(
        first.description,
        "A repository.\n\n## Details\n\ngit init\n\n## Test strategy\n\nIt builds."
    );
    assert_eq!(first.priority, Some(Priority::High));
    let second = &intake.tasks[1].task;
    assert_eq!(second.complexity.as_deref(), Some("7"));
    assert_eq!(
        second.metadata["taskmaster"],
        json!({"metadata": {"issue": 42}, "status": "in-progress", "tag": "master"})
    );
    assert_eq!(intake.tasks[6].task.group.as_deref(), Some("feature"));
    assert_eq!(intake.tasks[6].task.state, State::Cancelled);
}

#[test]
fn the_older_form_is_the_list_master() {
    let text = r#"{"meta": {"projectName": "x"}, "tasks": [{"id": 1, "title": "a"}]}"#;
    let read = read(text).unwrap();
    assert_eq!(read.drafts[0].incoming.uid, "taskmaster:master:1");
    let is = |text: &str| {
        is_document(
            serde_json::from_str::<serde_json::Value>(text)
                .unwrap()
                .as_object()
                .unwrap(),
        )
    };
    assert!(is(text) && is(TASKS));
    assert!(!is(r#"{"tasks": [{"subject": "a"}]}"#) && !is("{}") && !is(r#"{"subject": "a"}"#));
}

#[test]
fn every_broken_task_is_named() {
    let text = r#"{"tasks": [{"id": 1}, 7, {"title": "a", "priority": "urgent"}, {"id": 2, "title": "b", "subtasks": [{"id": 1, "dependencies": {}}]}]}"#;
    let read = read(text).unwrap();
    let told: Vec<_> = read
        .broken
        .iter()
        .map(|it| format!("{}: {}", it.place, it.reason))
        .collect();
    assert_eq!(read.drafts.len(), 1);
    assert_eq!(
        told,
        [
            "master, task 1: title: a task needs one",
            "master, task 2: a task is an object, not a number",
            "master, task 3: id: a task needs one; priority: \"urgent\" is none of critical, high, medium, low",
            "master, task 4, subtask 1: title: a task needs one; dependencies: an object is not a list of texts",
        ]
    );
    for text in ["[]", "{\"a\": 7}", "{\"tasks\": 7}", "{"] {
        assert!(super::read(text).is_err(), "{text}");
    }
}
