//! What scripts that were written for the original program read out of `data`, and what they mean by
//! asking for it.

use flagpost_core::claims;
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{answers, ask_one, bridge, command, pass, put};
use crate::{
    account,
    world::{World, id, tasks_of, terms},
};

#[test]
fn a_dry_run_of_a_delete_says_what_would_go_and_removes_nothing() {
    let world = World::real();
    ask_one(&world, "create", json!({"title": "whole"})).unwrap();
    let part = json!({"parentId": "1", "title": "part"});
    ask_one(&world, "create-subtask", part).unwrap();
    let lines = world.history().len();
    let dry = json!({"taskId": "1", "dryRun": true});
    let data = ask_one(&world, "delete", dry.clone()).unwrap();
    tells!(data, {"removed": ["1", "2"], "dryRun": true, "deleted": null});
    assert_eq!(
        (tasks_of(&world.list()).len(), world.history().len()),
        (2, lines)
    );
    claims::claim(&world.list(), &terms("W1"), &id(2)).unwrap();
    let error = ask_one(&world, "delete", dry).unwrap_err();
    assert!(error.contains("held"), "{error}");
    let wrong = json!({"taskId": "1", "dryRun": "yes"});
    assert!(
        ask_one(&world, "delete", wrong)
            .unwrap_err()
            .contains("dryRun")
    );
    assert_eq!(tasks_of(&world.list()).len(), 2);
}

#[test]
fn a_deleted_task_takes_its_parts_with_it() {
    let world = World::real();
    ask_one(&world, "create", json!({"title": "Whole"})).unwrap();
    for (parent, title) in [("1", "Part"), ("2", "Part of a part"), ("1", "Other part")] {
        let part = json!({"parentId": parent, "title": title});
        ask_one(&world, "create-subtask", part).unwrap();
    }
    ask_one(&world, "create", json!({"title": "Neighbour"})).unwrap();
    let data = ask_one(&world, "delete", json!({"taskId": "1"})).unwrap();
    tells!(data, {"deleted": true, "title": "Whole", "id": "1", "removed": ["1", "2", "4", "3"]});
    let left: Vec<_> = tasks_of(&world.list()).into_keys().collect();
    assert_eq!(left, [id(5)]);
    account::agrees(&world);
}

#[test]
fn a_part_that_somebody_holds_keeps_the_whole() {
    let world = World::real();
    ask_one(&world, "create", json!({"title": "Whole"})).unwrap();
    let part = json!({"parentId": "1", "title": "Part"});
    ask_one(&world, "create-subtask", part).unwrap();
    flagpost_core::claims::claim(&world.list(), &crate::world::terms("W1"), &id(2)).unwrap();
    let error = ask_one(&world, "delete", json!({"taskId": "1"})).unwrap_err();
    assert!(error.starts_with("task 2 is held by W1"), "{error}");
    assert_eq!(tasks_of(&world.list()).len(), 2);
}

#[test]
fn a_task_that_is_done_already_is_no_error() {
    let world = World::real();
    ask_one(&world, "create", json!({"title": "a"})).unwrap();
    let done = ask_one(&world, "complete", json!({"taskId": "1"})).unwrap();
    tells!(done, {"status": "done", "message": null});
    let lines = world.history().len();
    let again = ask_one(&world, "complete", json!({"taskId": "1"})).unwrap();
    tells!(again, {"status": "done", "message": "Task already done"});
    tells!(again["task"], {"id": "1", "status": "done"});
    assert_eq!(world.history().len(), lines, "nothing changed");
}

#[test]
fn an_archived_task_is_not_reopened_by_uncomplete() {
    let world = World::real();
    for before in ["todo", "done"] {
        let task = ask_one(&world, "create", json!({"title": "a"})).unwrap();
        for status in [before, "archived"] {
            let update = json!({"taskId": task["id"], "status": status});
            ask_one(&world, "update", update).unwrap();
        }
        let lines = world.history().len();
        let same = ask_one(&world, "uncomplete", json!({"taskId": task["id"]})).unwrap();
        tells!(same, {"status": "archived", "message": "Task is not done"});
        tells!(same["task"], {"id": task["id"], "status": "archived"});
        assert_eq!(world.history().len(), lines, "nothing changed");
    }
}

#[test]
fn a_note_is_answered_with_itself() {
    let world = World::real();
    ask_one(&world, "create", json!({"title": "a"})).unwrap();
    for content in ["first", "second"] {
        let note = json!({"taskId": "1", "content": content});
        let data = ask_one(&world, "add-note", note).unwrap();
        tells!(data, {"taskId": "1", "title": "a"});
        tells!(data["note"], {"content": content, "source": "codex"});
        assert_ne!(data["note"]["createdAt"], Value::Null);
    }
    let shown = ask_one(&world, "show", json!({"taskId": "1"})).unwrap();
    let ids: Vec<_> = shown["notes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["id"])
        .collect();
    assert_eq!(ids, ["1-1", "1-2"]);
}

#[test]
fn a_timer_begins_its_task_and_stops_without_a_name() {
    let world = World::real();
    ask_one(&world, "create", json!({"title": "a"})).unwrap();
    let started = ask_one(&world, "start-timer", json!({"taskId": "1"})).unwrap();
    tells!(started, {"taskId": "1", "message": "Timer started", "status": "in_progress"});
    world.pass(SignedDuration::from_secs(90));
    let stopped = ask_one(&world, "stop-timer", json!({})).unwrap();
    tells!(stopped, {
        "id": "1", "elapsed": 2, "message": "Timer stopped (2 minutes logged)", "timeSpentSeconds": 90,
    });
    let error = ask_one(&world, "stop-timer", json!({})).unwrap_err();
    assert_eq!(error, "payload.taskId: no timer of codex runs; name a task");
}

#[test]
fn a_timer_runs_on_a_task_that_cannot_begin_and_says_why() {
    let world = World::real();
    crate::world::add(&world.list(), "First", &[]);
    crate::world::add(&world.list(), "Then", &[1]);
    let started = ask_one(&world, "start-timer", json!({"taskId": "2"})).unwrap();
    assert_eq!(started["status"], "todo");
    assert_ne!(started["timerStartedAt"], Value::Null);
    let message = started["message"].as_str().unwrap();
    assert!(
        message.starts_with("Timer started; the task was not begun: task 2 "),
        "{message}"
    );
}

#[test]
fn a_shown_task_has_its_parts_and_the_originals_fields() {
    let world = World::real();
    let fields = flagpost_core::tasks::Fields {
        uid: Some("web#7".to_owned()),
        ..crate::world::subject("Whole")
    };
    flagpost_core::tasks::add(&world.list(), &crate::world::worker("ann"), &fields, &[]).unwrap();
    for title in ["a", "b"] {
        let part = json!({"parentId": "1", "title": title});
        ask_one(&world, "create-subtask", part).unwrap();
    }
    ask_one(&world, "complete", json!({"taskId": "2"})).unwrap();
    let shown = ask_one(&world, "show", json!({"taskId": "1"})).unwrap();
    let parts: Vec<_> = shown["subtasks"].as_array().unwrap().iter().collect();
    tells!(parts[0], {"id": "2", "title": "a", "status": "done"});
    tells!(parts[1], {"id": "3", "title": "b", "status": "todo"});
    assert_eq!(shown["progress"], json!({"done": 1, "total": 2}));
    tells!(shown, {
        "order": 1, "estimateMinutes": null, "actualMinutes": 0, "externalId": "web#7",
        "externalSource": "person",
    });
    assert_eq!(shown["updatedAt"], json!(world.home.now()));
}

#[test]
fn numbers_stand_where_the_original_has_them() {
    let world = World::real();
    for _ in 0..3 {
        ask_one(&world, "create", json!({"title": "a"})).unwrap();
    }
    for (task, status) in [(1, "done"), (2, "in_progress")] {
        ask_one(&world, "update", json!({"taskId": task, "status": status})).unwrap();
    }
    let stats = ask_one(&world, "stats", json!({})).unwrap();
    tells!(stats, {"total": 3, "todo": 1, "inProgress": 1, "done": 1});
}

#[test]
fn a_list_is_in_short_and_the_outbox_stays_small() {
    let world = World::real();
    let long = "x".repeat(20_000);
    let tasks: Value = (0..100)
        .map(|n| json!({"title": format!("t{n}"), "description": long}))
        .collect();
    ask_one(&world, "bulk-create", json!({"tasks": tasks})).unwrap();
    bridge(&world.home).clear().unwrap();
    for verb in ["list", "query"] {
        let data = ask_one(&world, verb, json!({})).unwrap();
        assert_eq!(data.as_array().unwrap().len(), 100);
        tells!(data[0], {
            "id": "1", "title": "t0", "status": "todo", "description": null, "notes": null,
            "metadata": null,
        });
    }
    let bytes = std::fs::metadata(bridge(&world.home).outbox_path())
        .unwrap()
        .len();
    assert!(bytes < 256 << 10, "{bytes}");
    put(
        &world.home,
        command("whole", "show", json!({"taskId": "1"})).to_string(),
    );
    pass(&world.home);
    assert_eq!(answers(&world.home)[2]["data"]["description"], json!(long));
}
