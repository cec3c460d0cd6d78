//! Agents' tools over HTTP: who comes in at `/mcp`, as whom, and what becomes of who does not.

use std::{
    collections::BTreeSet,
    io::{Read, Write},
    net::TcpStream,
    thread,
    time::Duration,
};

use flagpost_core::relay::{
    Fleet,
    workers::{self, Traits, tokens},
};
use flagpost_model::{WorkerId, envelope::Direction};
use serde_json::{Value, json};

use crate::served::{Place, Served, Told, exchange};

const HOST: &str = "Host: 127.0.0.1:[port]";
const JSON: &str = "Content-Type: application/json";
const ACCEPT: &str = "Accept: application/json, text/event-stream";
const VERSION: &str = "MCP-Protocol-Version: 2025-11-25";
/// More at once than the daemon has threads for operations.
const MANY: usize = 40;

fn ann() -> WorkerId {
    "ann".parse().unwrap()
}

/// A place with these workers, and the token of each.
fn fleet(names: &[&str]) -> (Place, Vec<String>) {
    let place = Place::new();
    let tokens = names.iter().map(|name| {
        join(&place, name);
        issue(&place, name)
    });
    let tokens = tokens.collect();
    (place, tokens)
}

fn join(place: &Place, name: &str) {
    let fleet = Fleet::of(&place.home, &place.repository().id);
    workers::register(&fleet, &ann(), &name.parse().unwrap(), Traits::default()).unwrap();
}

fn issue(place: &Place, name: &str) -> String {
    let fleet = Fleet::of(&place.home, &place.repository().id);
    let mail = fleet.mail(&name.parse().unwrap()).unwrap();
    let token = tokens::issue(&mail, &ann()).unwrap().token;
    format!("Authorization: Bearer {token}")
}

/// What a tool is called with.
fn call(tool: &str, arguments: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
}

fn asked(served: &Served, token: &str, body: &str) -> Told {
    served.loopback(
        "POST /mcp",
        &[HOST, token, JSON, ACCEPT, VERSION, "Sec-Fetch-Mode: cors"],
        body,
    )
}

/// What a tool answers.
fn answered(served: &Served, token: &str, tool: &str, arguments: &Value) -> Value {
    let told = asked(served, token, &call(tool, arguments));
    assert_eq!(told.status, 200, "{told:?}");
    let result = &told.json()["result"];
    assert_eq!(result["isError"], false, "{told:?}");
    result["structuredContent"].clone()
}

/// A call on a connection of its own that is not waited for.
fn begun(served: &Served, token: &str, body: &str) -> TcpStream {
    let mut stream = served.tcp();
    let (port, length) = (served.port(), body.len());
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{token}\r\n{JSON}\r\n\
         {ACCEPT}\r\n{VERSION}\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

/// Many calls of a worker that wait for its inbox.
fn waiting(served: &Served, token: &str) -> Vec<TcpStream> {
    let wait = call("inbox", &json!({"wait_s": 50}));
    (0..MANY).map(|_| begun(served, token, &wait)).collect()
}

#[test]
fn nobody_comes_in_without_the_token_of_a_worker() {
    let (place, tokens) = fleet(&["W3", "W7"]);
    let served = place.serve();
    let body = call("status", &json!({}));
    let (right, other) = (tokens[0].as_str(), tokens[1].as_str());
    let shown = right.strip_prefix("Authorization: Bearer ").unwrap();
    let parts: Vec<&str> = shown.split('~').collect();
    let (repo, secret) = (parts[1], parts[2]);
    let of_w7 = other.rsplit('~').next().unwrap();
    let forged = [
        "Authorization: Bearer [token]".to_owned(),
        "Authorization: Bearer ".to_owned(),
        "Authorization: Basic Vzc6".to_owned(),
        format!("Authorization: Bearer {secret}"),
        format!("Authorization: Bearer W7~{repo}~{secret}"),
        format!("Authorization: Bearer W3~{repo}~{of_w7}"),
        format!("Authorization: Bearer W9~{repo}~{secret}"),
        format!("Authorization: Bearer W3~00000000-0000-4000-8000-000000000000~{secret}"),
        format!("Authorization: Bearer ../W3~{repo}~{secret}"),
        format!("Authorization: Bearer W3~{repo}~"),
        format!("Authorization: Bearer {shown}0"),
        format!("Authorization: Bearer {}", "~".repeat(10_000)),
        // Two say nothing.
        format!("{right}\r\n{other}"),
        "X: y".to_owned(),
        format!(
            "Flagpost-Worker: W3\r\nCookie: flagpost-{}=x",
            served.port()
        ),
    ];
    for header in &forged {
        let told = asked(&served, header, &body);
        assert_eq!(told.status, 401, "{header}: {told:?}");
        assert_eq!(told.header("www-authenticate"), Some("bearer"), "{told:?}");
        let error = told.json();
        assert_eq!(error["schema"], "flagpost.error/1", "{error}");
        assert!(error["hint"].as_str().unwrap().contains("worker token"));
        assert!(!told.text.contains(secret) && !told.text.contains(&served.token));
    }
    // The socket is for our user; as whom it comes is still for the token to say.
    let told = served.post("/mcp", &body);
    assert_eq!(told.status, 401, "{told:?}");
    let told = exchange(
        served.socket(),
        format!(
            "POST /mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{right}\r\n{JSON}\r\n{ACCEPT}\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .as_bytes(),
    );
    assert_eq!(told.json()["result"]["structuredContent"]["you"], "W3");
    assert_eq!(answered(&served, right, "status", &json!({}))["you"], "W3");
    assert_eq!(answered(&served, other, "status", &json!({}))["you"], "W7");
}

#[test]
fn a_workers_token_opens_nothing_else() {
    let (place, tokens) = fleet(&["W3"]);
    let served = place.serve();
    for (line, status) in [
        ("GET /v1/daemon", 401),
        ("GET /v1/relay/inbox", 401),
        ("POST /v1/relay/outbox/ratify", 401),
        ("POST /v1/links", 401),
        ("GET /v1/events", 401),
        ("GET /api/task-lists", 401),
        ("GET /", 401),
        ("POST /mcp/", 401),
        ("POST /mcp/x", 401),
        ("GET /mcp", 405),
        ("DELETE /mcp", 405),
        ("PUT /mcp", 405),
        ("OPTIONS /mcp", 405),
    ] {
        let told = served.loopback(line, &[HOST, &tokens[0], JSON], "");
        assert_eq!(told.status, status, "{line}: {told:?}");
        let allowed = (status == 405).then_some("post");
        assert_eq!(told.header("allow"), allowed, "{line}: {told:?}");
    }
}

#[test]
fn pages_of_other_origins_and_names_of_other_hosts_do_not_come_in() {
    let (place, tokens) = fleet(&["W3"]);
    let served = place.serve();
    let body = call("status", &json!({}));
    let token = tokens[0].as_str();
    for (headers, status) in [
        (&[HOST][..], 200),
        (&[HOST, "Origin: http://127.0.0.1:[port]"], 200),
        (&[HOST, "Origin: http://evil.example"], 403),
        (&[HOST, "Origin: http://localhost:[port]"], 403),
        (&[HOST, "Origin: null"], 403),
        (&[HOST, "Sec-Fetch-Site: cross-site"], 403),
        (&["Host: evil.example"], 421),
        (&["Host: evil.example:[port]"], 421),
        (&["Host: 127.0.0.1:1"], 421),
        (&[], 421),
    ] {
        let headers = [headers, &[token, JSON, ACCEPT]].concat();
        let told = served.loopback("POST /mcp", &headers, &body);
        assert_eq!(told.status, status, "{headers:?}: {told:?}");
    }
}

#[test]
fn requests_that_are_none_are_answered() {
    let (place, tokens) = fleet(&["W3"]);
    let served = place.serve();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let ended = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    for (headers, body, status) in [
        (&[JSON, ACCEPT][..], list.as_str(), 200),
        (&[JSON, ACCEPT, VERSION], &list, 200),
        (&[JSON, ACCEPT, VERSION], &ended, 202),
        (
            &[JSON, ACCEPT, "MCP-Protocol-Version: 2199-01-01"],
            &list,
            400,
        ),
        (&[JSON, ACCEPT, "MCP-Protocol-Version: x"], &list, 400),
        (&[JSON, ACCEPT, "MCP-Session-Id: x"], &list, 200),
        (&[JSON], &list, 406),
        (&["Content-Type: text/plain", ACCEPT], &list, 415),
        (&[ACCEPT], &list, 415),
        (&[JSON, ACCEPT, "Content-Encoding: gzip"], &list, 415),
        (&[JSON, ACCEPT], "", 400),
        (&[JSON, ACCEPT], "{", 400),
        (&[JSON, ACCEPT], "{}", 400),
        (&[JSON, ACCEPT], "[]", 400),
        (
            &[JSON, ACCEPT],
            r#"{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "tools/list"}"#,
            400,
        ),
        (
            &[JSON, ACCEPT],
            r#"{"jsonrpc": "2.0", "id": 1, "method": "x/y"}"#,
            200,
        ),
        (&[JSON, ACCEPT], &deep, 400),
    ] {
        let headers = [&[HOST, tokens[0].as_str()], headers].concat();
        let told = served.loopback("POST /mcp", &headers, body);
        let shown: String = body.chars().take(60).collect();
        assert_eq!(told.status, status, "{headers:?} {shown}: {told:?}");
        assert_eq!(told.header("cache-control"), Some("no-store"));
    }
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2199-01-01", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"},
    }});
    let told = served.loopback(
        "POST /mcp",
        &[HOST, &tokens[0], JSON, ACCEPT],
        &initialize.to_string(),
    );
    assert_eq!(told.json()["result"]["protocolVersion"], "2025-11-25");
}

#[test]
fn a_hundred_megabytes_are_not_read() {
    let (place, tokens) = fleet(&["W3"]);
    let served = place.serve();
    let told = asked(&served, &tokens[0], &"x".repeat(100 << 20));
    // What is too large may be cut off before the answer is heard.
    assert!([0, 413].contains(&told.status), "{told:?}");
    assert_eq!(
        answered(&served, &tokens[0], "status", &json!({}))["you"],
        "W3"
    );
    // Whoever is not in is not listened to at all.
    let told = asked(&served, "X: y", &"x".repeat(100 << 20));
    assert!([0, 401].contains(&told.status), "{told:?}");
}

#[test]
fn a_new_token_voids_the_one_before_and_one_outlives_the_daemon() {
    let (place, tokens) = fleet(&["W3"]);
    {
        let served = place.serve();
        assert_eq!(
            answered(&served, &tokens[0], "status", &json!({}))["you"],
            "W3"
        );
    }
    let served = place.serve();
    let you = |token: &str| {
        let told = asked(&served, token, &call("status", &json!({})));
        (told.status == 200).then(|| told.json()["result"]["structuredContent"]["you"].clone())
    };
    assert_eq!(you(&tokens[0]), Some(json!("W3")));
    let next = issue(&place, "W3");
    assert_eq!((you(&tokens[0]), you(&next)), (None, Some(json!("W3"))));
    // A sign of life, which writes the worker's file, changes nothing.
    let repo = place.repository().id;
    let fleet = Fleet::of(&place.home, &repo);
    let worker = "W3".parse().unwrap();
    workers::heartbeat(&fleet.mail(&worker).unwrap(), Traits::default()).unwrap();
    assert_eq!(you(&next), Some(json!("W3")));
    workers::retire(&fleet, &ann(), &worker, false).unwrap();
    assert_eq!(you(&next), None);
    // One that comes back begins without.
    join(&place, "W3");
    assert_eq!(you(&next), None);
    let again = issue(&place, "W3");
    assert_eq!((you(&next), you(&again)), (None, Some(json!("W3"))));
}

#[test]
fn two_at_once_do_not_speak_as_each_other() {
    let (place, tokens) = fleet(&["W3", "W7"]);
    let served = place.serve();
    let add = json!({"subject": "Write the parser"});
    answered(&served, &tokens[0], "add", &add);
    thread::scope(|scope| {
        for (worker, token) in ["W3", "W7"].iter().zip(&tokens) {
            let served = &served;
            scope.spawn(move || {
                for n in 0..20 {
                    let note = json!({"task": 1, "text": format!("{worker} {n}")});
                    answered(served, token, "note", &note);
                    assert_eq!(
                        answered(served, token, "status", &json!({}))["you"],
                        *worker
                    );
                }
            });
        }
    });
    let told = served.get("/v1/tasks/web/1").json();
    let notes = told["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 40);
    for note in notes {
        let text = note["text"].as_str().unwrap();
        assert_eq!(note["by"], text.split(' ').next().unwrap(), "{note}");
    }
}

/// Lets a brief through to a worker.
fn brief(served: &Served, worker: &str) {
    let body = json!({"worker": worker, "text": "Fix the lexer", "ticket": "12"});
    for (path, body) in [
        ("/v1/relay/propose", body),
        ("/v1/relay/outbox/ratify", json!({"scope": "all"})),
    ] {
        let told = served.post(path, &body.to_string());
        assert_eq!(told.status, 200, "{told:?}");
    }
}

#[test]
fn many_that_wait_for_their_inbox_hold_nobody_up() {
    let (place, tokens) = fleet(&["W3", "W7"]);
    let served = place.serve();
    let waiting = waiting(&served, &tokens[0]);
    assert_eq!(
        answered(&served, &tokens[1], "status", &json!({}))["you"],
        "W7"
    );
    brief(&served, "W3");
    for mut stream in waiting {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert!(text.contains("200 OK") && text.contains("brief"), "{text}");
    }
}

#[test]
fn who_waits_and_hangs_up_is_offered_nothing() {
    let (place, tokens) = fleet(&["W3", "W7"]);
    let served = place.serve();
    let waiting = waiting(&served, &tokens[0]);
    // Whoever came later was answered: they are heard by now, and their end is too.
    answered(&served, &tokens[1], "status", &json!({}));
    drop(waiting);
    for _ in 0..3 {
        answered(&served, &tokens[1], "status", &json!({}));
    }
    brief(&served, "W3");
    thread::sleep(Duration::from_secs(2));
    let repo = place.repository().id;
    let fleet = Fleet::of(&place.home, &repo);
    let inbox = fleet.mail(&"W3".parse().unwrap()).unwrap();
    let names = std::fs::read_dir(inbox.dir(Direction::Inbox)).unwrap();
    let names: BTreeSet<_> = names.map(|it| it.unwrap().file_name()).collect();
    let offered = names
        .iter()
        .any(|it| it.to_string_lossy().ends_with(".offered"));
    assert!(!offered, "{names:?}");
    let found = answered(&served, &tokens[0], "inbox", &json!({}));
    assert_eq!(found["items"][0]["seq"], 1, "{found}");
}

#[test]
fn who_waits_with_a_token_that_becomes_void_is_offered_nothing() {
    let (place, tokens) = fleet(&["W3", "W7"]);
    let served = place.serve();
    let wait = call("inbox", &json!({"wait_s": 50}));
    let mut waiting = begun(&served, &tokens[0], &wait);
    answered(&served, &tokens[1], "status", &json!({}));
    let next = issue(&place, "W3");
    brief(&served, "W3");
    let mut text = String::new();
    waiting.read_to_string(&mut text).unwrap();
    assert!(
        text.contains("is void") && !text.contains("lexer"),
        "{text}"
    );
    let found = answered(&served, &next, "inbox", &json!({}));
    assert_eq!(found["items"][0]["seq"], 1, "{found}");
}

#[test]
fn the_end_of_the_daemon_answers_who_waits() {
    let (place, tokens) = fleet(&["W3"]);
    let served = place.serve();
    let mut waiting = begun(&served, &tokens[0], &call("inbox", &json!({"wait_s": 50})));
    answered(&served, &tokens[0], "status", &json!({}));
    drop(served);
    let mut text = String::new();
    waiting.read_to_string(&mut text).unwrap();
    assert!(text.contains("\"items\":[]"), "{text}");
}
