//! The sixteen commands with the payloads of the protocol.

use flagpost_model::task::State;
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{ask, ask_one, command};
use crate::{
    account,
    world::{World, id, tasks_of},
};

fn titles(tasks: &Value) -> Vec<&str> {
    tasks
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["title"].as_str().unwrap())
        .collect()
}

#[test]
fn tasks_are_added_one_by_one_and_many_at_once() {
    let world = World::real();
    let task = ask_one(
        &world,
        "create",
        json!({
            "title": "Fix login bug", "description": "It **fails**", "priority": "urgent",
            "project": "web", "tags": ["api", "auth"], "dueDate": "2026-12-01",
        }),
    );
    let task = task.unwrap();
    tells!(task, {
        "id": "1", "title": "Fix login bug", "description": "It **fails**", "status": "todo",
        "priority": "urgent", "project": "web", "tags": ["api", "auth"], "dueDate": "2026-12-01",
    });
    let part = ask_one(
        &world,
        "create-subtask",
        json!({"parentId": "1", "title": "Look", "priority": "low"}),
    );
    tells!(part.unwrap(), {"id": "2", "parentId": "1"});
    let tasks = json!([{"title": "a"}, {"title": "b", "project": "dev", "tags": ["api"]}]);
    let bulk = ask_one(&world, "bulk-create", json!({"tasks": tasks})).unwrap();
    assert_eq!(
        (&bulk["created"], titles(&bulk["tasks"])),
        (&json!(2), vec!["a", "b"])
    );
    let shown = ask_one(&world, "show", json!({"taskId": 1})).unwrap();
    assert_eq!(shown["subtaskIds"], json!(["2"]));
    assert_eq!(
        ask_one(&world, "list-projects", json!({})).unwrap(),
        json!(["dev", "web"])
    );
    assert_eq!(
        ask_one(&world, "list-tags", json!({})).unwrap(),
        json!(["api", "auth"])
    );
    let added = tasks_of(&world.list());
    let provenance = added[&id(1)].provenance.clone().unwrap();
    assert_eq!(
        (provenance.by.as_str(), provenance.origin.as_str()),
        ("codex", "agent")
    );
    account::agrees(&world);
}

#[test]
fn a_beginning_of_an_id_is_enough_where_it_fits_one_task() {
    let world = World::real();
    let tasks: Value = (0..11).map(|n| json!({"title": format!("t{n}")})).collect();
    ask_one(&world, "bulk-create", json!({"tasks": tasks})).unwrap();
    for name in ["deadbeef", "deaf"] {
        world.put(
            &format!("{name}.json"),
            json!({"id": name, "subject": name, "status": "pending"}).to_string(),
        );
    }
    let show = |given: &str| ask_one(&world, "show", json!({"taskId": given}));
    assert_eq!(show("1").unwrap()["id"], "1", "an exact id wins");
    assert_eq!(show("deadb").unwrap()["id"], "deadbeef");
    assert_eq!(
        show("dea").unwrap_err(),
        "dea could be any of deadbeef, deaf"
    );
    assert_eq!(show("99").unwrap_err(), "there is no task 99 in list repo");
    for verb in ["complete", "delete"] {
        let data = ask_one(&world, verb, json!({"taskId": "deadb"})).unwrap();
        assert_eq!(data["id"], "deadbeef", "{verb}");
    }
    assert!(
        show("../x")
            .unwrap_err()
            .starts_with("\"../x\" is not a task id")
    );
}

#[test]
fn every_status_is_reached_from_every_other() {
    const ALL: [&str; 4] = ["todo", "in_progress", "done", "archived"];
    let world = World::real();
    for from in ALL {
        for to in ALL {
            let task = ask_one(&world, "create", json!({"title": "x"})).unwrap();
            let id = task["id"].clone();
            for status in [from, to] {
                let update = json!({"taskId": id, "status": status, "title": status});
                let data = ask_one(&world, "update", update).unwrap();
                tells!(data, {"status": status, "title": status});
            }
        }
    }
    account::agrees(&world);
}

#[test]
fn a_refused_move_changes_no_field_either() {
    let world = World::real();
    ask_one(&world, "create", json!({"title": "Whole"})).unwrap();
    ask_one(
        &world,
        "create-subtask",
        json!({"parentId": "1", "title": "Part"}),
    )
    .unwrap();
    let lines = world.history().len();
    for (verb, payload) in [
        ("complete", json!({"taskId": "1"})),
        (
            "update",
            json!({"taskId": "1", "status": "done", "title": "New", "tags": ["x"]}),
        ),
    ] {
        let error = ask_one(&world, verb, payload).unwrap_err();
        assert_eq!(error, "task 1 has parts that are not done: 2");
    }
    assert_eq!(tasks_of(&world.list())[&id(1)].subject, "Whole");
    assert_eq!(world.history().len(), lines);
    ask_one(&world, "complete", json!({"taskId": "2"})).unwrap();
    ask_one(&world, "complete", json!({"taskId": "1"})).unwrap();
    tells!(ask_one(&world, "uncomplete", json!({"taskId": "1"})).unwrap(), {"status": "todo"});
}

#[test]
fn fields_are_set_and_taken_away() {
    let world = World::real();
    let create = json!({"title": "a", "description": "d", "priority": "high", "project": "p", "tags": ["t"], "dueDate": "2026-12-01"});
    ask_one(&world, "create", create).unwrap();
    let update = json!({"taskId": "1", "description": null, "priority": "none", "project": "", "tags": [], "dueDate": null});
    let data = ask_one(&world, "update", update).unwrap();
    tells!(data, {
        "title": "a", "description": "", "priority": "none", "project": null, "tags": [],
        "dueDate": null,
    });
    let lines = world.history().len();
    ask_one(&world, "update", json!({"taskId": "1", "title": "a"})).unwrap();
    assert_eq!(world.history().len(), lines, "nothing changed");
}

#[test]
fn a_query_takes_one_value_or_several() {
    let world = World::real();
    let tasks = json!([
        {"title": "a", "priority": "high", "project": "web", "tags": ["api"]},
        {"title": "b", "priority": "low", "project": "web"},
        {"title": "c", "priority": "urgent"},
        {"title": "d"},
        {"title": "e", "tags": ["api", "x"]},
    ]);
    ask_one(&world, "bulk-create", json!({"tasks": tasks})).unwrap();
    for (task, status) in [
        (2, "done"),
        (3, "in_progress"),
        (4, "archived"),
        (5, "done"),
    ] {
        ask_one(&world, "update", json!({"taskId": task, "status": status})).unwrap();
    }
    ask_one(&world, "update", json!({"taskId": 5, "status": "archived"})).unwrap();
    ask_one(
        &world,
        "add-note",
        json!({"taskId": 3, "content": "look at the Parser"}),
    )
    .unwrap();
    for (query, found) in [
        (json!({"status": "todo"}), vec!["a"]),
        (json!({"status": ["done", "in_progress"]}), vec!["b", "c"]),
        (json!({"status": "archived"}), vec!["d", "e"]),
        (json!({"priority": ["high", "urgent"]}), vec!["a", "c"]),
        (json!({"priority": "none"}), vec!["d", "e"]),
        (json!({"project": "web"}), vec!["a", "b"]),
        (json!({"project": "web", "tag": "api"}), vec!["a"]),
        (json!({"search": "parser"}), vec!["c"]),
        (json!({"search": "WEB"}), vec!["a", "b"]),
        (json!({"search": "Api"}), vec!["a", "e"]),
        (
            json!({"project": "", "tag": "", "search": ""}),
            vec!["a", "b", "c", "d", "e"],
        ),
        (json!({"status": []}), vec![]),
        (json!({"priority": []}), vec![]),
        (json!({"limit": 0}), vec!["a", "b", "c", "d", "e"]),
        (json!({"limit": -1}), vec!["a", "b", "c", "d", "e"]),
        (json!({}), vec!["a", "b", "c", "d", "e"]),
    ] {
        let data = ask_one(&world, "query", query.clone()).unwrap();
        assert_eq!(titles(&data), found, "{query}");
    }
    let cut = ask(&world, &command("cut", "list", json!({"limit": 2})))
        .pop()
        .unwrap();
    assert_eq!(
        (titles(&cut["data"]), &cut["total"]),
        (vec!["a", "b"], &json!(5))
    );
    let whole = ask(&world, &command("whole", "list", json!({})))
        .pop()
        .unwrap();
    assert_eq!(
        (titles(&whole["data"]).len(), &whole["total"]),
        (5, &Value::Null)
    );
    let stats = ask_one(&world, "stats", json!({})).unwrap();
    tells!(stats, {
        "byStatus": {"todo": 1, "in_progress": 1, "done": 1, "archived": 2},
        "byPriority": {"none": 2, "low": 1, "medium": 0, "high": 1, "urgent": 1},
    });
    tells!(stats, {"total": 5, "open": 2});
}

#[test]
fn what_another_holds_is_left_alone() {
    let world = World::real();
    crate::world::add(&world.list(), "Mine", &[]);
    flagpost_core::claims::claim(&world.list(), &crate::world::terms("W1"), &id(1)).unwrap();
    for (verb, payload) in [
        ("complete", json!({"taskId": "1"})),
        ("delete", json!({"taskId": "1"})),
        ("update", json!({"taskId": "1", "status": "in_progress"})),
        ("uncomplete", json!({"taskId": "1"})),
    ] {
        let error = ask_one(&world, verb, payload).unwrap_err();
        assert!(error.starts_with("task 1 is held by W1"), "{verb}: {error}");
    }
    // An edit of the fields is anybody's, as it is on the command line.
    ask_one(&world, "update", json!({"taskId": "1", "title": "Yours"})).unwrap();
    assert!(matches!(
        tasks_of(&world.list())[&id(1)].state,
        State::Claimed(_)
    ));
}

#[test]
fn a_command_may_name_its_list() {
    let world = World::real();
    let mut there = command("1", "create", json!({"title": "a"}));
    there["list"] = json!("nowhere");
    let mut here = command("2", "create", json!({"title": "b"}));
    here["list"] = json!("repo");
    let answers = ask(&world, &json!([there, here]));
    tells!(answers, {"0/error": "there is no list nowhere", "1/data/title": "b"});
}

#[test]
fn a_timer_measures_while_nobody_runs() {
    let world = World::real();
    ask_one(
        &world,
        "bulk-create",
        json!({"tasks": [{"title": "a"}, {"title": "b"}]}),
    )
    .unwrap();
    ask_one(&world, "start-timer", json!({"taskId": "1"})).unwrap();
    world.pass(SignedDuration::from_mins(5));
    let started = ask_one(&world, "start-timer", json!({"taskId": "2"})).unwrap();
    assert_ne!(started["timerStartedAt"], Value::Null);
    let first = ask_one(&world, "show", json!({"taskId": "1"})).unwrap();
    tells!(first, {"timeSpentSeconds": 300, "timerStartedAt": null});
    assert_eq!(
        ask_one(&world, "stop-timer", json!({"taskId": "1"})).unwrap_err(),
        "no timer runs on task 1"
    );
}
