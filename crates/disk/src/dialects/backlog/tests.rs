//! Task files as Backlog.md writes them, and as nobody should.

use flagpost_model::{
    intake::Draft,
    task::{Priority, State},
};
use serde_json::json;

use super::*;

const TASK: &str = "\u{feff}---\r
id: TASK-4.1\r
title: 'Core: the `type` field'\r
status: In Progress\r
assignee: ['@ann', \"bob\"]\r
created_date: '2026-01-01 23:37'\r
updated_date: 2026-05-11\r
labels:\r
  - core\r
  - 1.10\r
dependencies: [task-2, TASK-3]\r
parent_task_id: TASK-4\r
priority: high\r
milestone: m-1\r
ordinal: 125000\r
references: {pr: 7}\r
empty:\r
---\r
\r
## Description\r
\r
<!-- SECTION:DESCRIPTION:BEGIN -->\r
Add the field.\r
<!-- SECTION:DESCRIPTION:END -->\r
\r
## Acceptance Criteria\r
<!-- AC:BEGIN -->\r
- [ ] #1 It is there <!-- yes -->\r
<!-- AC:END -->\r
";

fn task(text: &str, folder: Folder) -> Draft {
    read("x.md", folder, text).unwrap()
}

#[test]
fn a_file_becomes_a_task() {
    let draft = task(TASK, Folder::Tasks);
    let it = &draft.incoming;
    assert_eq!(it.task.subject, "Core: the `type` field");
    assert_eq!(
        it.task.description,
        "Add the field.\n\n## Acceptance Criteria\n- [ ] #1 It is there <!-- yes -->"
    );
    assert_eq!(it.task.priority, Some(Priority::High));
    assert_eq!(it.task.tags, ["core", "1.10"]);
    assert_eq!(it.task.group.as_deref(), Some("m-1"));
    assert_eq!((it.task.state.clone(), draft.held), (State::Pending, true));
    assert_eq!(it.created.unwrap().to_string(), "2026-01-01T23:37:00Z");
    assert_eq!((&*it.uid, &*draft.key), ("backlog:task-4.1", "task-4.1"));
    assert_eq!(draft.after, ["task-2", "task-3"]);
    assert_eq!(draft.parent.as_deref(), Some("task-4"));
    assert_eq!(
        it.task.metadata["backlog"],
        json!({"ordinal": 125000, "references": {"pr": 7}, "status": "In Progress",
            "updated_date": "2026-05-11", "assignee": ["@ann", "bob"]})
    );
}

#[test]
fn the_folder_and_the_status_say_where_it_stands() {
    let text =
        |status: &str| format!("---\nid: 1\ntitle: a\nstatus: {status}\nassignee: '@ann'\n---\n");
    for (folder, status, state) in [
        (Folder::Tasks, "To Do", State::Pending),
        (Folder::Tasks, "Reviewing", State::Pending),
        (Folder::Tasks, "DONE", State::Completed),
        (Folder::Tasks, "Blocked", State::Stuck),
        (Folder::Completed, "To Do", State::Completed),
        (Folder::Drafts, "To Do", State::Stuck),
    ] {
        let draft = task(&text(status), folder);
        assert_eq!(draft.incoming.task.state, state, "{folder:?} {status}");
        let done = state == State::Completed;
        assert_eq!(draft.incoming.task.owner.as_deref(), done.then_some("@ann"));
    }
}

#[test]
fn what_is_wrong_is_named() {
    let deep = format!("---\nid: 1\nx: {}\n---\n", "[".repeat(40_000));
    let dashes = format!("---\nid: 1\nx:\n  {}\n---\n", "- ".repeat(40_000));
    for (text, expected) in [
        ("", "it does not begin with front matter (---)"),
        ("# Title\n", "it does not begin with front matter (---)"),
        ("---\nid: 1\n", "its front matter never ends (---)"),
        (
            "---\n---\n",
            "id: a task needs one; title: a task needs one",
        ),
        (
            "---\njust words\n---\n",
            "its front matter is no list of keys",
        ),
        ("---\n- a\n---\n", "its front matter is no list of keys"),
        (
            "---\nid: 1\ntitle: [a]\npriority: urgent\ncreated_date: 2026-02-30\n---\n",
            "title: a list is not a text; title: a task needs one; \
          priority: \"urgent\" is none of critical, high, medium, low; \
          created_date: \"2026-02-30\" is not a date that exists, as in 2026-12-01 14:05",
        ),
        (
            "---\na: &x [1]\nb: *x\n---\n",
            "line 3: an alias (*) is not read",
        ),
        ("---\nid: 1\nid: 2\n---\n", "line 3: id is there twice"),
        (&deep, "line 3: recursion limit exceeded"),
        (&dashes, "line 4: it nests too deep"),
    ] {
        assert_eq!(
            read("x.md", Folder::Tasks, text).unwrap_err(),
            expected,
            "{text:.40}"
        );
    }
    assert!(read("x.md", Folder::Tasks, "---\nid: \"1\n---\n").is_err());
}

#[test]
fn which_files_are_tasks() {
    assert!(is_task_name("task-1 - Do it.md"));
    for name in ["README.md", ".x.md", "config.yml", "x.md.bak"] {
        assert!(!is_task_name(name), "{name}");
    }
}
