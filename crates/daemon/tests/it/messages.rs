//! The verbs on messages over HTTP: the same rules and shapes as those of the commands.

use std::{io::Write, thread, time::Duration};

use flagpost_core::relay::{
    Fleet,
    workers::{self, Traits},
};
use flagpost_testkit::race::ended;
use serde_json::{Value, json};

use crate::served::{Place, Served, Told, exchange};

pub fn with_workers(ids: &[&str]) -> Place {
    let place = Place::new();
    let fleet = Fleet::of(&place.home, &place.repository().id);
    for id in ids {
        let (ann, id) = ("ann".parse().unwrap(), id.parse().unwrap());
        workers::register(&fleet, &ann, &id, Traits::default()).unwrap();
        workers::heartbeat(&fleet.mail(&id).unwrap(), Traits::default()).unwrap();
    }
    place
}

/// What this agent is told, which says that it is one.
pub fn by(served: &Served, agent: &str, line: &str, body: &str) -> Told {
    let request = format!(
        "{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nFlagpost-Worker: {agent}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    exchange(served.socket(), request.as_bytes())
}

fn sent(told: &Told) -> Value {
    assert_eq!(told.status, 200, "{told:?}");
    told.json()["message"].clone()
}

fn task() -> String {
    let body = json!({"bead_id": "b1", "title": "Parser", "prompt": "Write it"});
    json!({"subject": "TASK", "to": "W1", "thread": "epic", "body": body.to_string(), "ratify": true})
        .to_string()
}

#[test]
fn a_question_is_answered_by_a_person_alone() {
    let place = with_workers(&["W1"]);
    let served = place.serve();
    let subject = json!({"subject": "Choose"}).to_string();
    assert_eq!(served.post("/v1/tasks", &subject).status, 200);
    let list = place.repository().name;
    let path = |verb: &str| format!("/v1/tasks/{list}/1/{verb}");
    let so = json!({"text": "The first"}).to_string();
    let early = served.post(&path("answer"), &so);
    assert_eq!(early.status, 409, "{early:?}");
    for (verb, body) in [("start", "{}"), ("stuck", r#"{"text": "Which?"}"#)] {
        let post = format!("POST {}", path(verb));
        assert_eq!(by(&served, "W1", &post, body).status, 200);
    }
    let post = format!("POST {}", path("answer"));
    let refused = by(&served, "W1", &post, &so);
    assert_eq!(refused.status, 409, "{refused:?}");
    let told = served.post(&path("answer"), &so);
    assert_eq!(told.status, 200, "{told:?}");
    let told = told.json();
    assert_eq!(told["schema"], "flagpost.answered/1");
    assert_eq!(
        (&told["task"]["state"], &told["question"]["text"]),
        (&json!("pending"), &json!("Which?"))
    );
    assert_eq!(served.post(&path("answer"), &so).status, 409);
    let again = json!({"text": "Or the other", "again": true}).to_string();
    assert_eq!(
        served.post(&path("answer"), &again).json()["reopened"],
        false
    );
}

#[test]
fn a_persons_reply_waits_for_nobody_and_an_agents_does() {
    let place = with_workers(&["W1"]);
    let served = place.serve();
    let query = json!({"subject": "QUERY", "body": "Which?"}).to_string();
    sent(&by(&served, "W1", "POST /v1/messages", &query));
    let reply =
        |body: &str| json!({"subject": "REPLY", "re": "W1/outbox/1", "body": body}).to_string();
    let told = served.post("/v1/messages", &reply("The first")).json();
    assert_eq!(told["verdict"]["via"], "api");
    let told = by(&served, "orchestrator", "POST /v1/messages", &reply("So")).json();
    assert_eq!(told["verdict"], json!(null));
}

#[test]
fn a_task_goes_there_and_its_end_comes_back() {
    let place = with_workers(&["W1"]);
    let served = place.serve();
    let message = sent(&served.post("/v1/messages?as=orchestrator", &task()));
    assert_eq!(
        (&message["place"], &message["by"]),
        (&json!("W1/inbox/1"), &json!("ann"))
    );
    let worker = place.home.repository_dir(&place.repository().id);
    let verdict = worker.join("workers/W1/inbox/.0001.decision.json");
    let verdict: Value = serde_json::from_slice(&std::fs::read(verdict).unwrap()).unwrap();
    assert_eq!(verdict["via"], "api");
    let taken = by(&served, "W1", "POST /v1/messages/receive?lease=90s", "").json();
    assert_eq!(taken["schema"], "flagpost.message_received/1");
    assert_eq!(taken["message"]["data"]["prompt"], "Write it");
    let again = by(&served, "W1", "POST /v1/messages/receive", "").json();
    assert_eq!(again["schema"], "flagpost.message_none/1");
    let acked = by(&served, "W1", "POST /v1/messages/W1/inbox/1/ack", "").json();
    assert_eq!(acked["already"], false);
    let open = served.get("/v1/messages/open").json();
    assert_eq!(open["messages"][0]["next"], "await");
    let body = json!({"bead_id": "b1", "summary": "Written"}).to_string();
    let done = json!({"subject": "DONE", "body": body}).to_string();
    let done = sent(&by(&served, "W1", "POST /v1/messages", &done));
    assert_eq!(
        (&done["thread"], &done["by"]),
        (&json!("epic"), &Value::Null)
    );
    let thread = served.get("/v1/threads/epic").json();
    let places: Vec<&Value> = thread["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["message"]["place"])
        .collect();
    assert_eq!(places, ["W1/inbox/1", "W1/outbox/1"]);
    let newest = served.get("/v1/messages?limit=1").json();
    assert_eq!(
        (&newest["total"], &newest["truncated"]),
        (&json!(2), &json!(true))
    );
}

#[test]
fn who_waits_is_told_at_once_and_holds_up_nobody() {
    let place = with_workers(&["W1"]);
    let served = place.serve();
    thread::scope(|scope| {
        // More than there are threads for operations.
        let waiting: Vec<_> = (0..40)
            .map(|_| {
                let ask = "GET /v1/messages/waiting?wait=1m";
                scope.spawn(|| by(&served, "W1", ask, "").json())
            })
            .collect();
        let receiving =
            scope.spawn(|| by(&served, "W1", "POST /v1/messages/receive?wait=1m", "").json());
        assert_eq!(served.get("/v1/daemon").status, 200);
        sent(&served.post("/v1/messages?as=orchestrator", &task()));
        let received = receiving.join().unwrap();
        assert_eq!(received["message"]["place"], "W1/inbox/1", "{received}");
        // Some saw it before it was taken; the others wait until its lease is over.
        drop(waiting);
        by(&served, "W1", "POST /v1/messages/W1/inbox/1/ack", "");
        let reply = json!({"subject": "QUERY", "to": "W1", "body": "And now?", "ratify": true});
        sent(&served.post("/v1/messages", &reply.to_string()));
    });
}

#[test]
fn nobody_waits_longer_than_was_said_nor_than_the_daemon_lives() {
    let place = with_workers(&["W1"]);
    let served = place.serve();
    let none = by(&served, "W1", "POST /v1/messages/receive?wait=30ms", "").json();
    assert_eq!(
        none,
        json!({"schema": "flagpost.message_none/1", "waited": true})
    );
    let none = by(&served, "W1", "POST /v1/messages/receive", "").json();
    assert_eq!(none["waited"], false);
    let mut waiting = served.socket();
    let head = "GET /v1/messages/waiting?wait=5m HTTP/1.1\r\nHost: x\r\n\r\n";
    waiting.write_all(head.as_bytes()).unwrap();
    thread::sleep(Duration::from_millis(50));
    ended("the daemon ends beside who waits", || drop(served));
    drop(waiting);
}

#[test]
fn trap_29_an_agent_speaks_for_itself_only() {
    let place = with_workers(&["W1", "W2"]);
    let served = place.serve();
    let query = json!({"subject": "QUERY", "body": "Which?"}).to_string();
    let told = by(&served, "W1", "POST /v1/messages?as=W2", &query);
    assert_eq!(
        (told.status, &told.json()["kind"]),
        (409, &json!("conflict")),
        "{told:?}"
    );
    sent(&by(&served, "W1", "POST /v1/messages?as=W1", &query));
    // Whoever does not say which worker it is, is the operator, and is seen to be.
    let seen = sent(&served.post("/v1/messages?as=W2", &query));
    assert_eq!((&seen["from"], &seen["by"]), (&json!("W2"), &json!("ann")));
    // To receive and to acknowledge is the recipient's alone.
    sent(&served.post("/v1/messages?as=orchestrator", &task()));
    let told = by(&served, "W2", "POST /v1/messages/W1/inbox/1/ack", "");
    assert_eq!(told.status, 409, "{told:?}");
    // Whatever it does, it does as itself.
    sent(&served.post(
        "/v1/messages?as=W2",
        &json!({"subject": "QUERY", "body": "And?"}).to_string(),
    ));
    for line in [
        "POST /v1/workers?as=W2",
        "POST /v1/workers/W2/heartbeat",
        "POST /v1/relay/outbox/W2/1/read?as=W2",
        "POST /v1/controller/dispatch?as=W2",
    ] {
        let body = match line.contains("dispatch") {
            true => r#"{"command":"/assign #1 W1 --inline=x"}"#,
            false if line.contains("heartbeat") || line.contains("read") => "",
            false => r#"{"id":"W3"}"#,
        };
        let told = by(&served, "W1", line, body);
        assert_eq!(told.status, 409, "{line}: {told:?}");
    }
    // Nor does an agent let anything through.
    for (line, body) in [
        ("POST /v1/messages", task()),
        (
            "POST /v1/relay/outbox/ratify",
            r#"{"scope":"all"}"#.to_owned(),
        ),
        (
            "POST /v1/controller/dispatch",
            r#"{"command":"/ratify all"}"#.to_owned(),
        ),
    ] {
        let told = by(&served, "W1", line, &body);
        assert_eq!(
            (told.status, &told.json()["kind"]),
            (409, &json!("conflict"))
        );
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let place = with_workers(&["W1"]);
    let served = place.serve();
    for (line, status) in [
        ("POST /v1/messages/receive?wait=-1s", 422),
        ("POST /v1/messages/receive?wait=soon", 422),
        ("POST /v1/messages/receive?lease=0s", 422),
        ("POST /v1/messages/receive?lease=-5m", 422),
        ("GET /v1/messages/W1/inbox/9", 404),
        ("GET /v1/messages/W9/inbox/1", 404),
        ("GET /v1/messages/W1/sideways/1", 422),
        ("GET /v1/threads/none", 404),
        ("GET /v1/messages?subject=NEWS", 422),
    ] {
        let told = by(&served, "W1", line, "");
        assert_eq!(told.status, status, "{line}: {told:?}");
    }
    for (line, body, said) in [
        (
            "receive?wait=soon",
            "",
            r#"wait must be a time, as in 30s, 5m or 2h, not \"soon\""#,
        ),
        (
            "receive?lease=long",
            "",
            r#"lease must be a time from one second to 30 days, as in 90s, 15m or 2h, not \"long\""#,
        ),
        (
            "receive",
            r#"{"subject": "DONE"}"#,
            r#"there is no \"subject\" here; it goes behind the question mark of the path"#,
        ),
        (
            "W1/inbox/1/ack",
            r#"{"token": 7}"#,
            r#"there is no \"token\" here; nothing goes there"#,
        ),
    ] {
        let told = by(&served, "W1", &format!("POST /v1/messages/{line}"), body);
        assert!((400..500).contains(&told.status), "{told:?}");
        assert!(told.text.contains(said), "{told:?}");
    }
    for body in [
        json!({"subject": "TASK", "to": "W1", "body": "no JSON"}),
        json!({"subject": "DONE", "body": "{}"}),
    ] {
        let told = served.post("/v1/messages", &body.to_string());
        assert!((400..500).contains(&told.status), "{told:?}");
    }
}
