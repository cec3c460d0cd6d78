//! `source: "cursor"`, `tags: "urgent"` or a numeric `dueDate` was accepted, and the next load wiped
//! the whole store.

use serde_json::json;

use super::{ask, command};
use crate::world::{World, tasks_of};

#[test]
fn a_bad_field_is_refused_and_costs_no_neighbour() {
    let world = World::with_tasks(&["There before"]);
    let mut cursor = command("source", "create", json!({"title": "a"}));
    cursor["source"] = json!("cursor");
    let answers = ask(
        &world,
        &json!([
            command("first", "create", json!({"title": "First"})),
            cursor,
            command("tags", "create", json!({"title": "a", "tags": "urgent"})),
            command(
                "due",
                "create",
                json!({"title": "a", "dueDate": 1796083200})
            ),
            command("due-2", "update", json!({"taskId": "1", "dueDate": 5})),
            command(
                "bulk",
                "bulk-create",
                json!({"tasks": [{"title": "Good"}, {"title": "Bad", "tags": {}}]})
            ),
            command("last", "create", json!({"title": "Last"})),
        ]),
    );
    let told: Vec<_> = answers
        .iter()
        .map(|it| it["status"].as_str().unwrap())
        .collect();
    assert_eq!(
        told,
        ["ok", "error", "error", "error", "error", "error", "ok"]
    );
    let errors: Vec<_> = answers[1..6]
        .iter()
        .map(|it| it["error"].as_str().unwrap())
        .collect();
    assert_eq!(
        errors,
        [
            "source must be one of claude-code, codex, custom; it is \"cursor\"",
            "payload.tags must be a list of texts; it is \"urgent\"",
            "payload.dueDate must be a date that exists, as in 2026-12-01; it is 1796083200",
            "payload.dueDate must be a date that exists, as in 2026-12-01; it is 5",
            "payload.tasks[1].tags must be a list of texts; it is an object",
        ]
    );
    let subjects: Vec<_> = tasks_of(&world.list())
        .into_values()
        .map(|it| it.subject)
        .collect();
    assert_eq!(subjects, ["There before", "First", "Last"]);
}
