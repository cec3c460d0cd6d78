//! What the clients of the Kanban bus are answered.

use super::*;

/// Field for field as they are documented.
#[test]
fn the_kanban_bus() {
    let place = furnished();
    let served = place.serve();
    let list = place.home.list_dir(&"web".parse().unwrap());
    let raw = r#"{"id": 7, "subject": "Odd", "status": "deleted", "blocks": "1", "activeForm": 3, "extra": {"a": 1}}"#;
    fs::write(list.join("7.json"), raw).unwrap();
    fs::write(list.join("8.json"), "{").unwrap();
    let lists = got(&served, "/api/task-lists");
    assert_eq!(
        lists,
        json!({"taskLists": [{"id": "web", "name": "web", "taskCount": 4}]})
    );
    let tasks = got(&served, "/api/tasks/web");
    let tasks = tasks["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 3);
    assert_eq!(tasks[0]["subject"], "Write the parser");
    let odd = &tasks[2];
    assert_eq!(
        (
            &odd["id"],
            &odd["status"],
            &odd["description"],
            &odd["blocks"],
            &odd["blockedBy"]
        ),
        (
            &json!("7"),
            &json!("pending"),
            &json!(""),
            &json!(["1"]),
            &json!([])
        )
    );
    assert_eq!(
        (&odd["extra"], odd.get("activeForm")),
        (&json!({"a": 1}), None)
    );
    assert_eq!(got(&served, "/api/tasks/none"), json!({"tasks": []}));
    assert_eq!(
        got(&served, "/api/execution-context/none"),
        json!({"executionContext": null})
    );

    let live = place.top().join(".claude/sessions/__live_session__");
    fs::create_dir_all(&live).unwrap();
    let pointer = list.join("execution_pointer.md");
    fs::write(&pointer, format!("{}/\n", live.display())).unwrap();
    let progress = "# Execution Progress\nStatus: Executing\nWave: 1 of 2\nMax Parallel: 5\n\
        Updated: 2026-05-13T14:25:00Z\n\n## Active Tasks\n- [1] Write — Working\n\n\
        ## Completed This Session\n- [2] Test — PASS (3s)\n";
    for (name, text) in [
        ("progress.md", progress),
        ("task_log.md", "log"),
        ("execution_context.md", "context"),
        ("context-task-1.md", "not shown"),
        ("notes.txt", "not shown"),
    ] {
        fs::write(live.join(name), text).unwrap();
    }
    let context = got(&served, "/api/execution-context/web")["executionContext"].clone();
    let names = context["artifacts"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["execution_context", "task_log", "progress"]);
    assert!(context["artifacts"][0]["lastModified"].as_u64().unwrap() > 1_700_000_000_000);
    assert_eq!(
        context["progress"],
        json!({
            "status": "Executing", "wave": 1, "totalWaves": 2, "maxParallel": 5,
            "updated": "2026-05-13T14:25:00Z",
            "activeTasks": [{"id": "1", "subject": "Write", "phase": "Working"}],
            "completedTasks": [{"id": "2", "subject": "Test", "result": "PASS (3s)"}],
        })
    );
}

#[test]
fn the_kanban_bus_takes_what_its_clients_add_to_a_path() {
    let place = furnished();
    let served = place.serve();
    let plain = got(&served, "/api/task-lists");
    for path in [
        "/api/task-lists?x=1",
        "/api/task-lists/",
        "/api/task-lists/?t=1&t=2",
    ] {
        assert_eq!(got(&served, path), plain, "{path}");
    }
    assert_eq!(
        got(&served, "/api/tasks/web/?_=5"),
        got(&served, "/api/tasks/web")
    );
    assert_eq!(served.get("/v1/tasks?x=1").status, 400);
}

#[test]
fn a_session_in_other_words_is_passed_on_as_it_is() {
    let place = furnished();
    let served = place.serve();
    let list = place.home.list_dir(&"web".parse().unwrap());
    let live = place.top().join(".claude/sessions/__live_session__");
    fs::create_dir_all(&live).unwrap();
    let pointer = format!("{}/\n", live.display());
    fs::write(list.join("execution_pointer.md"), pointer).unwrap();
    let context = || got(&served, "/api/execution-context/web")["executionContext"].clone();
    assert_eq!(context(), json!(null), "an empty directory is no session");
    fs::write(live.join("progress.md"), "We are nearly there.\n").unwrap();
    let told = context();
    assert_eq!(told["progress"], json!(null));
    assert_eq!(told["artifacts"][0]["content"], "We are nearly there.\n");
    let words = "Status: Warming up\nUpdated: 2026-05-13T14:25:00\n";
    fs::write(live.join("progress.md"), words).unwrap();
    let progress = context()["progress"].clone();
    assert_eq!(progress["status"], "Warming up");
    assert_eq!(progress["updated"], "2026-05-13T14:25:00");
    assert_eq!(
        (&progress["wave"], &progress["totalWaves"]),
        (&json!(1), &json!(1))
    );
    // A word of ours in another spelling, and a time with a zone.
    let words = "Status: executing (almost)\nUpdated: 2026-05-13T14:25:00.5+02:00\n";
    fs::write(live.join("progress.md"), words).unwrap();
    let progress = context()["progress"].clone();
    assert_eq!(progress["status"], "executing (almost)");
    assert_eq!(progress["updated"], "2026-05-13T14:25:00.5+02:00");
}

#[test]
fn a_relative_pointer_begins_at_the_users_home() {
    let place = Place::below_a_home();
    let list = place.home.list_dir(&"web".parse().unwrap());
    fs::create_dir_all(&list).unwrap();
    let served = place.serve();
    let live = place.top().join(".claude/sessions/__live_session__");
    let user_home = place.home.environment().user_home.clone().unwrap();
    let theirs = user_home.join("elsewhere/live");
    for dir in [&live, &theirs] {
        fs::create_dir_all(dir).unwrap();
        fs::write(dir.join("task_log.md"), "log").unwrap();
        let named = dir.strip_prefix(&user_home).unwrap().display();
        fs::write(list.join("execution_pointer.md"), format!("{named}/\n")).unwrap();
        let told = got(&served, "/api/execution-context/web");
        let told = &told["executionContext"]["executionDir"];
        assert_eq!(told, &dir.canonicalize().unwrap().display().to_string());
    }
    for named in ["../../etc", "..", "."] {
        fs::write(list.join("execution_pointer.md"), named).unwrap();
        let told = got(&served, "/api/execution-context/web");
        assert_eq!(told, json!({"executionContext": null}), "{named}");
    }
}

#[test]
fn a_number_is_spelt_as_its_file_spells_it() {
    let place = furnished();
    let served = place.serve();
    let dir = place.home.list_dir(&"numbers".parse().unwrap());
    std::fs::create_dir_all(&dir).unwrap();
    let text = r#"{"id":"1","subject":"a","status":"pending","cost":1e3,"metadata":{"x":[1E-3]}}"#;
    std::fs::write(dir.join("1.json"), text).unwrap();
    let told = served.get("/api/tasks/numbers").text;
    assert!(told.contains(r#""cost":1e3"#), "{told}");
    assert!(told.contains("1E-3"), "{told}");
}
