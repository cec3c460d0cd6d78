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
    let first = list.next();
    assert_eq!(
        (&*first.name, &first.data),
        ("connected", &serde_json::json!({}))
    );
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
    assert_eq!(stream.next().name, "connected");
    fs::write(live.join("progress.md"), "Status: Executing\n").unwrap();
    let event = stream.next();
    assert_eq!(event.name, "execution:updated");
    assert_eq!(event.data["taskListId"], "web");
}

#[test]
fn a_session_of_a_repository_that_nobody_registered() {
    let place = Place::below_a_home();
    let list = place.home.tasks_root().join("theirs");
    let live = place.beside("elsewhere/.claude/sessions/__live_session__");
    fs::create_dir_all(&list).unwrap();
    fs::write(list.join("1.json"), r#"{"id":"1","subject":"One"}"#).unwrap();
    let pointer = format!("{}/\n", live.display());
    fs::write(list.join("execution_pointer.md"), pointer).unwrap();
    fs::write(live.join("task_log.md"), "log").unwrap();
    let served = place.serve();
    let told = served.get("/api/execution-context/theirs").json();
    let context = &told["executionContext"];
    let dir = live.canonicalize().unwrap();
    assert_eq!(context["executionDir"], dir.display().to_string());
    assert_eq!(context["artifacts"][0]["content"], "log");
    let mut stream = Listening::to(&served, "/api/events?taskListId=theirs");
    assert_eq!(stream.next().name, "connected");
    fs::write(live.join("progress.md"), "Status: Executing\n").unwrap();
    assert_eq!(stream.next().name, "execution:updated");
}

#[test]
fn lists_that_only_another_program_could_name() {
    let place = Place::new();
    let root = place.home.tasks_root();
    let theirs = ["日本", "my list", "_x", ".hidden", "a:b", "a\nb"];
    for name in theirs.iter().chain(&["empty!"]) {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    for name in theirs {
        fs::write(
            root.join(name).join("1.json"),
            r#"{"id":"1","subject":"One"}"#,
        )
        .unwrap();
    }
    std::os::unix::fs::symlink("/etc", root.join("out side")).unwrap();
    let before = fs::read_dir(root.join("日本")).unwrap().count();
    let served = place.serve();
    let told = served.get("/api/task-lists").json();
    let names = told["taskLists"].as_array().unwrap().iter();
    let names: Vec<_> = names.map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(names, [".hidden", "_x", "a\nb", "a:b", "my list", "日本"]);
    for path in [
        "%E6%97%A5%E6%9C%AC",
        "my%20list",
        "_x",
        ".hidden",
        "a%3Ab",
        "a%0Ab",
    ] {
        let told = served.get(&format!("/api/tasks/{path}")).json();
        assert_eq!(told["tasks"][0]["subject"], "One", "{path}");
    }
    for path in ["a%2Fb", "coord%3A%2Fetc", "%2E%2E", "a%00b"] {
        let status = served.get(&format!("/api/tasks/{path}")).status;
        assert!([400, 404, 422].contains(&status), "{path}: {status}");
    }
    let mut stream = Listening::to(&served, "/api/events?taskListId=%E6%97%A5%E6%9C%AC");
    assert_eq!(stream.next().name, "connected");
    fs::write(root.join("日本/2.json"), r#"{"id":"2","subject":"Two"}"#).unwrap();
    let event = stream.next();
    assert_eq!(
        (&*event.name, &event.data["taskListId"]),
        ("task:created", &"日本".into())
    );
    // Nothing of ours is left among their files.
    assert_eq!(fs::read_dir(root.join("日本")).unwrap().count(), before + 1);
}

#[test]
fn without_a_list_the_changes_of_all_are_told() {
    let place = Place::new();
    let dir = |name: &str| place.home.tasks_root().join(name);
    fs::create_dir_all(dir("here")).unwrap();
    let served = place.serve();
    let mut stream = Listening::to(&served, "/api/events");
    assert_eq!(stream.next().name, "connected");
    // A list that did not exist when the listening began.
    fs::create_dir_all(dir("later")).unwrap();
    for (list, id) in [("here", "1"), ("later", "2")] {
        let task = format!(r#"{{"id":"{id}","subject":"New"}}"#);
        fs::write(dir(list).join(format!("{id}.json")), task).unwrap();
        let event = stream.next();
        assert_eq!(event.name, "task:created");
        assert_eq!(
            (&event.data["taskListId"], &event.data["taskId"]),
            (&list.into(), &id.into())
        );
    }
}
