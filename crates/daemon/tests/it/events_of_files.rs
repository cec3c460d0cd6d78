//! Clients of the Kanban bus are told what changes in the files of a list, whoever writes them.

use std::fs;

use crate::{listening::Listening, served::Place};

#[test]
fn files_that_come_change_and_go() {
    let place = Place::new();
    let dir = place.home.tasks_root().join("theirs");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("1.json"), r#"{"id":"1","subject":"Before"}"#).unwrap();
    let served = place.serve();
    let mut list = Listening::to(&served, "/api/events?taskListId=theirs");
    fs::write(
        dir.join("2.json"),
        r#"{"id":2,"subject":"New","status":"odd"}"#,
    )
    .unwrap();
    let event = list.next();
    assert_eq!(
        (event.name.as_str(), event.id.as_str()),
        ("task:created", "")
    );
    let api = served.get("/api/tasks/theirs").json();
    assert_eq!(event.data["task"], api["tasks"][1]);
    assert_eq!(event.data["taskListId"], "theirs");
    assert_eq!(event.data["type"], "task:created");
    fs::write(
        dir.join("1.json"),
        r#"{"id":"1","subject":"After","status":"completed"}"#,
    )
    .unwrap();
    let event = list.next();
    assert_eq!(event.name, "task:updated");
    assert_eq!(event.data["task"]["status"], "completed");
    // What is no task says nothing, and costs nobody anything.
    fs::write(dir.join("3.json"), "{").unwrap();
    fs::remove_file(dir.join("1.json")).unwrap();
    let event = list.next();
    assert_eq!(
        (event.name.as_str(), &event.data["taskId"]),
        ("task:deleted", &"1".into())
    );
}

#[test]
fn a_session_that_writes() {
    let place = Place::new();
    let list = place.home.tasks_root().join("web");
    let live = place.top().join(".claude/sessions/__live_session__");
    fs::create_dir_all(&live).unwrap();
    fs::create_dir_all(&list).unwrap();
    fs::write(list.join("1.json"), r#"{"id":"1","subject":"One"}"#).unwrap();
    fs::write(
        list.join("execution_pointer.md"),
        live.display().to_string(),
    )
    .unwrap();
    let served = place.serve();
    let mut stream = Listening::to(&served, "/api/events?taskListId=web");
    fs::write(live.join("progress.md"), "Status: Executing\n").unwrap();
    let event = stream.next();
    assert_eq!(event.name, "execution:updated");
    assert_eq!(event.data["taskListId"], "web");
}
