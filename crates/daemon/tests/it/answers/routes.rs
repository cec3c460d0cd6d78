//! Every route answers as its description says: a walk over the whole table.

use std::{collections::BTreeSet, fs};

use flagpost_core::permissions::NewRequest;
use flagpost_model::client::Client;
use jiff::SignedDuration;

use super::*;

/// W1 asks whether it may run this; the number of the request, for which this process waits.
fn asks(place: &Place, command: &str) -> u64 {
    let new = NewRequest {
        worker: worker("W1"),
        task: None,
        client: Client::Claude,
        session: None,
        tool: "Bash".to_owned(),
        input: json!({"command": command}),
        dir: None,
        rules: None,
    };
    let fleet = Fleet::of(&place.home, &place.repository().id);
    let asked = fleet.permissions().ask(&new, SignedDuration::from_mins(30));
    asked.unwrap().n
}

#[test]
fn every_route_keeps_to_its_description() {
    let place = furnished();
    let [first, second] = ["make", "make test"].map(|command| asks(&place, command));
    let of_first = format!("/v1/permissions/{first}");
    let [allow, deny] =
        [(first, "allow"), (second, "deny")].map(|(n, verb)| format!("/v1/permissions/{n}/{verb}"));
    let served = place.serve();
    let live = place
        .top()
        .join(".claude/sessions/exec-session-20260513-142500");
    fs::create_dir_all(live.join("logs")).unwrap();
    let begun = r#"{"cursor":1,"event":"task.started","at":"2026-05-13T14:25:00Z","task":"1","subject":"Parse","attempt":1,"attempts":3}"#;
    fs::write(live.join(layout::PROGRESS_EVENTS), format!("{begun}\n")).unwrap();
    let log = layout::attempt_log(&"1".parse().unwrap(), 1);
    fs::write(live.join(layout::LOGS).join(log), "begun\n").unwrap();
    fs::write(live.join("execution_plan.md"), "# Plan\n").unwrap();
    let described = got(&served, "/v1/openapi.json");
    let mut seen = BTreeSet::new();
    for (method, path, body) in [
        ("get", "/v1/daemon", ""),
        ("get", "/v1/operations", ""),
        ("get", "/v1/repositories", ""),
        ("get", "/v1/status", ""),
        ("get", "/v1/status?list=web", ""),
        ("get", "/v1/needs", ""),
        ("get", "/v1/needs?all=true", ""),
        ("get", "/v1/config", ""),
        ("get", "/v1/doctor", ""),
        ("get", "/v1/search?text=parser", ""),
        ("post", "/v1/links", ""),
        ("get", "/v1/browsers", ""),
        ("post", "/v1/sign-out", ""),
        ("get", "/v1/tasks?query=sort%3D-id&limit=1", ""),
        ("get", "/v1/tasks/web/1", ""),
        (
            "post",
            "/v1/tasks",
            r#"{"subject":"Ship it","priority":"high","due":"2026-12-01","parent":"1","tags":["a","b"]}"#,
        ),
        (
            "post",
            "/v1/tasks/web/3/edit",
            r#"{"group":"release","subject":null}"#,
        ),
        (
            "post",
            "/v1/tasks/web/3/blockers",
            r#"{"add":["1","2"],"remove":["1"]}"#,
        ),
        ("get", "/v1/graph?root=2&open=true", ""),
        ("post", "/v1/tasks/web/3/blockers", r#"{"remove":["2"]}"#),
        ("post", "/v1/tasks/web/3/note", r#"{"text":"Ask first"}"#),
        ("get", "/v1/tasks/web/3/history?limit=2", ""),
        ("get", "/v1/tasks/web/1/log?from=0", ""),
        ("post", "/v1/claims?list=web&as=W1", ""),
        ("post", "/v1/tasks/web/1/claim?as=W1", r#"{"lease":"1h"}"#),
        ("post", "/v1/tasks/web/1/start?as=W1", "{}"),
        ("post", "/v1/tasks/web/1/renew?as=W1", ""),
        (
            "post",
            "/v1/tasks/web/1/stuck?as=W1",
            r#"{"text":"Which?"}"#,
        ),
        ("post", "/v1/tasks/web/1/answer", r#"{"text":"The first"}"#),
        (
            "post",
            "/v1/tasks/web/1/answer",
            r#"{"text":"Or not","again":true}"#,
        ),
        ("post", "/v1/tasks/web/1/cancel", ""),
        ("post", "/v1/tasks/web/1/reopen", ""),
        ("post", "/v1/tasks/web/2/start?as=W2", ""),
        ("post", "/v1/tasks/web/2/release", r#"{"force":true}"#),
        ("post", "/v1/tasks/web/2/start?as=W2", ""),
        (
            "post",
            "/v1/tasks/web/2/fail?as=W2",
            r#"{"text":"No such call"}"#,
        ),
        ("post", "/v1/tasks/web/2/cancel", ""),
        ("post", "/v1/tasks/web/undo", r#"{"dry_run":true}"#),
        (
            "post",
            "/v1/tasks/web/3/done?as=W1",
            r#"{"text":"Done","force":true}"#,
        ),
        ("post", "/v1/tasks/web/3/remove", ""),
        (
            "post",
            "/v1/workers",
            r#"{"id":"W9","agent":"shell","pid":1,"capabilities":["rust"]}"#,
        ),
        ("post", "/v1/workers/W9/heartbeat", r#"{"tmux":"main.1"}"#),
        ("get", "/v1/workers?all=true", ""),
        ("get", "/v1/workers/W1", ""),
        (
            "post",
            "/v1/relay/allocate-seq?worker=W1&direction=outbox",
            "",
        ),
        ("post", "/v1/relay/next?as=W1", r#"{"limit":1}"#),
        ("post", "/v1/relay/report?as=W1", r#"{"text":"Half of it"}"#),
        (
            "post",
            "/v1/relay/propose",
            r#"{"worker":"W1","text":"And the docs"}"#,
        ),
        ("get", "/v1/relay/inbox?worker=W1", ""),
        ("get", "/v1/relay/inbox/W1/1", ""),
        ("get", "/v1/relay/outbox?unread=true", ""),
        ("post", "/v1/relay/outbox/W1/1/read?as=ben", ""),
        ("post", "/v1/relay/outbox/ratify", r#"{"scope":"W{2,3}"}"#),
        ("post", "/v1/relay/ack?as=W2", r#"{"seq":1}"#),
        (
            "post",
            "/v1/controller/dispatch?repo=web",
            r#"{"command":"/inbox"}"#,
        ),
        (
            "post",
            "/v1/messages",
            r#"{"subject":"QUERY","to":"W2","body":"How far?","thread":"t","ratify":true}"#,
        ),
        ("get", "/v1/messages?thread=t&limit=5", ""),
        ("get", "/v1/messages/open?to=W2", ""),
        ("get", "/v1/messages/waiting?as=W2&thread=t", ""),
        ("post", "/v1/messages/receive?as=W2&thread=t&lease=1m", ""),
        ("get", "/v1/messages/waiting?as=W2&thread=t&wait=1ms", ""),
        ("get", "/v1/messages/W2/inbox/2", ""),
        ("post", "/v1/messages/W2/inbox/2/ack?as=W2", ""),
        ("get", "/v1/threads/t", ""),
        ("get", "/v1/permissions?all=true", ""),
        ("get", &of_first, ""),
        ("post", &allow, r#"{"identical":true}"#),
        ("post", &deny, r#"{"reason":"Not now"}"#),
        ("get", "/v1/reservations?repo=web", ""),
        (
            "post",
            "/v1/reservations?as=W1",
            r#"{"paths":["src/**"],"shared":true,"lease":"5m","reason":"the parser"}"#,
        ),
        (
            "post",
            "/v1/reservations/release?as=W1",
            r#"{"paths":["src/**"]}"#,
        ),
        ("get", "/v1/sessions", ""),
        ("get", "/v1/sessions/exec", ""),
        ("get", "/v1/sessions/exec/timeline", ""),
        ("get", "/v1/sessions/exec/documents", ""),
        ("get", "/v1/history?since=1&limit=2", ""),
        ("get", "/v1/openapi.json", ""),
        ("get", "/api/health", ""),
        ("get", "/api/task-lists", ""),
        ("get", "/api/tasks/web", ""),
        ("get", "/api/execution-context/web", ""),
    ] {
        let told = match method {
            "get" => served.get(path),
            _ => served.post(path, body),
        };
        assert_eq!(told.status, 200, "{path}: {told:?}");
        let route = path.split('?').next().unwrap();
        let paths = described["paths"].as_object().unwrap();
        let (template, _) = paths
            .iter()
            .find(|(template, it)| fits(template, route) && it[method].is_object())
            .unwrap_or_else(|| panic!("{path} is not described"));
        let schema = &described["paths"][template][method]["responses"]["200"]["content"]["application/json"]
            ["schema"];
        if let Some(name) = told.json()["schema"].as_str() {
            let name = name.trim_start_matches("flagpost.").trim_end_matches("/1");
            let name = format!("#/components/schemas/{name}");
            let told = schema["oneOf"].as_array();
            let is_told = told.is_some_and(|all| all.iter().any(|it| it["$ref"] == *name));
            assert!(is_told || schema["$ref"] == *name, "{path}: {schema}");
        }
        seen.insert(format!("{method} {template}"));
    }
    let all = described["paths"].as_object().unwrap().iter();
    let all = all.flat_map(|(path, it)| {
        // Streams do not end; they are listened to elsewhere.
        let stream =
            |it: &Value| it["responses"]["200"]["content"]["text/event-stream"].is_object();
        let verbs = it.as_object().unwrap().iter();
        let verbs = verbs.filter(move |(_, it)| !stream(it));
        verbs.map(move |(verb, _)| format!("{verb} {path}"))
    });
    let unseen: Vec<String> = all.filter(|it| !seen.contains(it)).collect();
    // Pages, and the way to them.
    let pages = [
        "get /",
        "get /app/{version}/{file}",
        "get /inbox/{worker}/{seq}",
        "get /lists/{list}",
        "get /lists/{list}/tasks/{id}",
        "get /login/",
        "get /login/{code}",
        "get /runs/{session}",
        "post /login",
        // No run is there to stop, and no git to land with.
        "get /v1/landing",
        "post /v1/landing",
        "get /v1/tasks/{list}/{id}/diff",
        "post /v1/tasks/{list}/{id}/approve",
        "post /v1/tasks/{list}/{id}/return",
        "post /v1/stop",
    ];
    assert_eq!(
        unseen.into_iter().collect::<BTreeSet<_>>(),
        pages.map(str::to_owned).into()
    );
}

fn fits(template: &str, path: &str) -> bool {
    let (one, other) = (template.split('/'), path.split('/'));
    one.clone().count() == other.clone().count()
        && one.zip(other).all(|(a, b)| a == b || a.starts_with('{'))
}
