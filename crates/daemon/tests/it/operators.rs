//! Who may ask for what over the interface: the same table as for commands.

use flagpost_core::operations::{self, Access, Operation as Op};
use serde_json::{Value, json};

use crate::messages::{by, with_workers};

/// Requests of operations that are not everybody's, and some that are.
fn requests(list: &str) -> Vec<(Op, String, String)> {
    let line = |path: &str| format!("POST {}", path.replace("LIST", list));
    [
        (
            Op::BriefRatify,
            "/v1/relay/outbox/ratify",
            json!({"worker": "W1"}),
        ),
        (
            Op::BriefReject,
            "/v1/relay/outbox/ratify",
            json!({"worker": "W1", "decision": "rejected"}),
        ),
        (
            Op::BriefRatify,
            "/v1/relay/outbox/ratify",
            json!({"scope": "all"}),
        ),
        (
            Op::BriefRatify,
            "/v1/controller/dispatch",
            json!({"command": "/ratify all"}),
        ),
        (
            Op::BriefReject,
            "/v1/controller/dispatch",
            json!({"command": "/reject W1"}),
        ),
        (
            Op::BriefEdit,
            "/v1/controller/dispatch",
            json!({"command": "/edit W1", "text": "x"}),
        ),
        (
            Op::BriefRatify,
            "/v1/messages",
            json!({"subject": "QUERY", "to": "W1", "body": "x", "ratify": true}),
        ),
        (
            Op::TaskAnswer,
            "/v1/tasks/LIST/1/answer",
            json!({"text": "x"}),
        ),
        (
            Op::TaskTake,
            "/v1/tasks/LIST/1/release",
            json!({"force": true}),
        ),
        (Op::TaskRemove, "/v1/tasks/LIST/1/remove", json!({})),
        (Op::WorkerAdd, "/v1/workers", json!({"id": "W7"})),
        (Op::DaemonLink, "/v1/links", json!({})),
        (Op::DaemonLink, "/v1/sign-out", json!({})),
        (Op::WorkerJoin, "/v1/workers", json!({"id": "W1"})),
        (Op::WorkerHeartbeat, "/v1/workers/W1/heartbeat", json!({})),
        (
            Op::BriefList,
            "/v1/controller/dispatch",
            json!({"command": "/inbox"}),
        ),
        (Op::TaskAdd, "/v1/tasks", json!({"subject": "x"})),
    ]
    .into_iter()
    .map(|(operation, path, body)| (operation, line(path), body.to_string()))
    .collect()
}

#[test]
fn a_worker_that_says_so_does_what_the_table_leaves_to_it() {
    let place = with_workers(&["W1"]);
    let served = place.serve();
    for (operation, line, body) in requests(place.repository().name.as_str()) {
        let told = by(&served, "W1", &line, &body);
        let denied = matches!(
            operation.access(),
            Access::Controller(_) | Access::Operator(_)
        );
        let words = told.text.contains(": only the operator does");
        assert_eq!(words, denied, "{operation}: {line} {body}: {told:?}");
        assert!(!denied || told.status == 409, "{operation}: {told:?}");
    }
}

/// A value that fits a parameter: the first task, and the worker of that name.
fn value(name: &str, schema: &Value) -> Value {
    let words = schema["enum"].get(0);
    match name {
        "seq" => json!(1),
        _ => words.cloned().unwrap_or_else(|| json!("1")),
    }
}

/// A request of an entry of the table, made of what is published of it.
fn request(described: &Value, name: &str, list: &str) -> (String, String) {
    let paths = described["paths"].as_object().unwrap();
    let verbs = paths
        .iter()
        .flat_map(|(path, verbs)| verbs.as_object().unwrap().iter().map(move |it| (path, it)));
    let mut all = verbs.filter(|(_, (_, it))| it["operationId"] == name);
    let (path, (verb, operation)) = all.next().unwrap_or_else(|| panic!("{name} has no route"));
    assert!(all.next().is_none(), "{name} has two routes");
    let mut line = format!("{} {path}?", verb.to_uppercase());
    for it in operation["parameters"].as_array().unwrap() {
        let name = it["name"].as_str().unwrap();
        let value = value(name, &it["schema"]);
        let text = value
            .as_str()
            .map_or("1", |it| if name == "list" { list } else { it });
        line = line.replace(&format!("{{{name}}}"), text);
        if it["in"] == "query" && it["required"] == true {
            line += &format!("{name}={text}&");
        }
    }
    let sent = &operation["requestBody"]["content"]["application/json"]["schema"];
    let form = sent["oneOf"].get(0).unwrap_or(sent);
    let needed = form["required"].as_array().into_iter().flatten();
    let needed = needed.map(|it| it.as_str().unwrap());
    let body = needed.map(|it| (it, value(it, &form["properties"][it])));
    (
        line,
        json!(body.collect::<std::collections::BTreeMap<_, _>>()).to_string(),
    )
}

#[test]
fn every_entry_of_the_table_is_refused_to_a_worker_as_the_table_says() {
    let place = with_workers(&["1"]);
    let served = place.serve();
    let described = served.get("/v1/openapi.json").json();
    let published = served.get("/v1/operations").json();
    let published = published["operations"].as_array().unwrap().iter();
    let published: Vec<&str> = published.map(|it| it["name"].as_str().unwrap()).collect();
    let names: Vec<&str> = operations::all().map(|it| it.name()).collect();
    assert_eq!(published, names);
    for entry in operations::all() {
        let list = place.repository().name;
        let (line, body) = request(&described, entry.name(), list.as_str());
        let told = by(&served, "1", &line, &body);
        let denied = matches!(
            entry.operation.access(),
            Access::Controller(_) | Access::Operator(_)
        );
        let words = told.text.contains(": only the operator does");
        assert_eq!(words, denied, "{}: {line} {body}: {told:?}", entry.name());
        assert!(
            ![400, 405, 500].contains(&told.status),
            "{line} {body}: {told:?}"
        );
    }
}

#[test]
fn a_worker_that_says_nothing_in_its_header_is_no_person() {
    let place = with_workers(&["W1"]);
    let served = place.serve();
    for (operation, line, body) in requests(place.repository().name.as_str()) {
        for name in ["", " ", "a b"] {
            let told = by(&served, name, &line, &body);
            assert_eq!(told.status, 422, "{operation}: {name:?}: {told:?}");
        }
    }
}

#[test]
fn a_slash_command_tells_each_line_as_it_comes() {
    let place = with_workers(&["W1", "W2"]);
    let served = place.serve();
    let stream = |command: &str| {
        let body = json!({"command": command}).to_string();
        served.post("/v1/controller/stream", &body)
    };
    for worker in ["W1", "W2"] {
        let command = format!("/assign 7 {worker} --inline=Do");
        let body = json!({"command": command}).to_string();
        assert_eq!(served.post("/v1/controller/dispatch", &body).status, 200);
    }
    let told = stream("/ratify all");
    assert_eq!(told.status, 200, "{told:?}");
    assert!(told.head.contains("text/event-stream"), "{told:?}");
    let expected = [
        "event: line\ndata: RATIFIED #7 Do → W1\n\n",
        "event: line\ndata: RATIFIED #7 Do → W2\n\n",
        "event: done\ndata: {\"exit_status\":2}\n\n",
    ];
    let mut rest = told.text.as_str();
    for event in expected {
        let at = rest
            .find(event)
            .unwrap_or_else(|| panic!("{event}: {told:?}"));
        rest = &rest[at + event.len()..];
    }
    let told = stream("/ratify W1");
    assert!(told.text.contains("event: fault"), "{told:?}");
    assert!(told.text.contains("\"exit_status\":1"), "{told:?}");
    assert_eq!(stream("/inbox").status, 200);
    assert_eq!(stream("no command").status, 422);
    let body = json!({"command": "/ratify all"}).to_string();
    let refused = by(&served, "W1", "POST /v1/controller/stream", &body);
    assert_eq!(refused.status, 409, "{refused:?}");
}
