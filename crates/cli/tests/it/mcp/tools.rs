//! Each tool, beside what the command line says of the same.

use std::{
    thread,
    time::{Duration, Instant},
};

use flagpost_testkit::race::until;
use serde_json::{Value, json};

use super::{McpClient, fleet, json_of};

#[test]
fn a_brief_is_shown_acknowledged_and_reported_on() {
    let world = fleet(&[]);
    for n in ["12", "13", "14"] {
        let words = format!("Fix lexer {n}");
        world.ok(["assign", n, "W1", "--inline", &words]);
    }
    world.ok(["ratify", "all"]);
    let mut client = McpClient::of(&world, "W1");
    let inbox = client.ok("inbox", &json!({"limit": 2}));
    assert_eq!(inbox["more"], true);
    let offer = json_of(&world, &["worker", "next", "--as", "W1"]);
    let first = &inbox["items"][0];
    assert_eq!(first["seq"], offer["brief"]["seq"]);
    assert_eq!(first["id"], offer["brief"]["id"]);
    tells!(first, {"subject": offer["brief"]["summary"], "decision": "ratified"});
    let body = std::fs::read_to_string(first["path"].as_str().unwrap()).unwrap();
    assert_eq!(
        (body.as_str(), &first["bytes"]),
        ("Fix lexer 12", &json!(body.len()))
    );
    assert_eq!(first["sha256"].as_str().unwrap().len(), 64);
    let rest = client.ok("inbox", &json!({"after": "2"}));
    tells!(rest, {"items/0/seq": 3, "more": false});

    let acked = client.ok("ack", &json!({"seq": 1}));
    assert_eq!((&acked["seq"], &acked["again"]), (&json!(1), &json!(false)));
    assert!(acked["acked_at"].is_string(), "{acked}");
    assert_eq!(
        client.ok("ack", &json!({"seq": "1"})),
        json!({"seq": 1, "again": true})
    );
    let again = json_of(&world, &["worker", "ack", "1", "--as", "W1"]);
    assert_eq!(again["already"], true);

    let said = client.ok("report", &json!({"text": "half done", "re": 1}));
    assert_eq!(said, json!({"seq": 1, "bytes": 9}));
    client.ok(
        "report",
        &json!({"text": "which lexer?", "kind": "question"}),
    );
    let reports = json_of(&world, &["outbox"]);
    let reports: Vec<&Value> = reports["reports"].as_array().unwrap().iter().collect();
    assert_eq!(reports[0]["report"]["in_reply_to"], 1);
    tells!(reports, {"0/report/kind": "cycle_report", "1/report/kind": "blocked"});
}

#[test]
fn a_message_to_the_orchestrator_goes_at_once_and_one_to_a_worker_waits() {
    let world = fleet(&[]);
    let mut client = McpClient::of(&world, "W1");
    let said = client.ok(
        "send",
        &json!({"to": "orchestrator", "text": "May I?", "thread": "t1"}),
    );
    assert_eq!(said["state"], "delivered");
    let messages = json_of(&world, &["msg", "list"]);
    tells!(messages, {"messages/0/message/id": said["id"], "messages/0/message/thread": "t1"});
    let said = client.ok(
        "send",
        &json!({"to": "W2", "text": "Leave the lexer to me."}),
    );
    assert_eq!(said["state"], "waits_for_person");
    assert!(said["id"].is_string(), "{said}");
    let nothing = json!({"items": [], "more": false});
    assert_eq!(McpClient::of(&world, "W2").ok("inbox", &json!({})), nothing);
    assert_eq!(client.ok("status", &json!({}))["waits_for_person"], 1);
    world.ok(["ratify", "W2", "1"]);
    let inbox = McpClient::of(&world, "W2").ok("inbox", &json!({}));
    tells!(inbox, {"items/0/from": "W1", "items/0/id": said["id"]});
}

#[test]
fn who_waits_is_told_as_soon_as_a_person_decides() {
    let world = fleet(&[]);
    world.ok(["assign", "12", "W1", "--inline", "Fix the lexer"]);
    let mut client = McpClient::of(&world, "W1");
    let begun = Instant::now();
    let nothing = client.ok("inbox", &json!({"wait_s": 1}));
    assert_eq!(nothing["items"], json!([]));
    assert!(begun.elapsed() >= Duration::from_secs(1));
    let mut other = McpClient::of(&world, "W2");
    other.waits();
    // It is not in the way of others.
    client.waits();
    world.ok(["ratify", "W1", "1"]);
    let answer = client.heard();
    tells!(answer, {"result/structuredContent/items/0/seq": 1});
    assert!(other.still_waits(), "it waited to its end");
}

#[test]
fn tasks_are_listed_shown_and_claimed() {
    let world = fleet(&["Write the parser", "Write the lexer", "Join them"]);
    world.ok(["task", "edit", "2", "--priority", "high", "--tag", "front"]);
    world.ok(["task", "dep", "add", "3", "1"]);
    let mut client = McpClient::of(&world, "W1");
    let ready = client.ok("tasks", &json!({}));
    let theirs = json_of(&world, &["ready"]);
    assert_eq!(ready["total"], theirs["total"]);
    for at in 0..2 {
        for key in ["id", "subject", "state", "owner", "priority"] {
            assert_eq!(ready["tasks"][at][key], theirs["tasks"][at][key], "{key}");
        }
        assert_eq!(ready["tasks"][at]["ready"], true);
    }
    let all = client.ok("tasks", &json!({"query": "sort=id", "limit": 1}));
    assert_eq!(
        (&all["total"], all["tasks"].as_array().unwrap().len()),
        (&json!(3), 1)
    );
    let waits = client.ok("tasks", &json!({"query": "id=3"}));
    assert_eq!(waits["tasks"][0]["ready"], false, "{waits}");

    tells!(client.ok("task", &json!({"task": "2"})), {"schema": "flagpost.task/1"});
    let claimed = client.ok("claim", &json!({"query": "tag=front"}));
    tells!(claimed, {"task": "2", "subject": "Write the lexer"});
    let shown = json_of(&world, &["show", "2"]);
    tells!(claimed, {"token": shown["claim"]["token"], "until": shown["claim"]["expires_at"]});
    tells!(client.refused("claim", &json!({"query": "tag=front"})), {"kind": "not_found"});
    assert_eq!(client.ok("claim", &json!({}))["task"], "1");
    assert_eq!(client.refused("claim", &json!({}))["kind"], "not_found");
}

#[test]
fn a_claim_ends_in_each_of_its_ways() {
    let world = fleet(&["a", "b", "c"]);
    let mut client = McpClient::of(&world, "W1");
    for (n, outcome) in [("1", "completed"), ("2", "failed"), ("3", "stuck")] {
        let claimed = client.ok("claim", &json!({"task": n}));
        // Models send numbers as texts, and texts as numbers.
        let token = claimed["token"].to_string();
        let id: u64 = n.parse().unwrap();
        let end = json!({"task": id, "token": token, "outcome": outcome, "text": "because"});
        let ended = client.ok("end", &end);
        assert_eq!(ended, json!({"task": n, "state": outcome, "late": false}));
        let shown = json_of(&world, &["show", n]);
        tells!(shown, {"state": outcome, "result/by": "W1", "result/text": "because"});
    }
    assert_eq!(
        client.ok("status", &json!({}))["waits_for_person"],
        1,
        "the question"
    );
}

#[test]
fn a_task_is_added_once_under_a_key_and_remarked_on() {
    let world = fleet(&["Write the parser"]);
    let mut client = McpClient::of(&world, "W1");
    let new = json!({"subject": "Test it", "description": "All of it.", "after": [1],
        "priority": "high", "key": "k1"});
    let added = client.ok("add", &new);
    assert_eq!(added, json!({"id": "2", "existed": false}));
    assert_eq!(client.ok("add", &new), json!({"id": "2", "existed": true}));
    let part = client.ok("add", &json!({"subject": "A part", "parent": 2}));
    assert_eq!(part["existed"], false, "{part}");
    let shown = json_of(&world, &["show", "2"]);
    tells!(shown, {
        "blocked_by": ["1"], "priority": "high", "uid": "k1", "provenance/by": "W1",
        "provenance/origin": "agent",
    });
    assert_eq!(
        client.ok("note", &json!({"task": 2, "text": "seen"})),
        json!({"task": "2", "n": 1})
    );
    assert_eq!(json_of(&world, &["show", "2"])["notes"][0]["text"], "seen");
    tells!(client.ok("task", &json!({"task": 2})), {"notes/0/by": "W1"});
}

#[test]
fn paths_are_held_refused_and_given_back() {
    let world = fleet(&["Write the parser"]);
    let (mut one, mut two) = (McpClient::of(&world, "W1"), McpClient::of(&world, "W2"));
    let paths =
        json!({"paths": ["src/parser/**", "README.md"], "minutes": 30, "reason": "new lexer"});
    let held = one.ok("reserve", &paths);
    assert_eq!(
        (held["held"].as_array().unwrap().len(), &held["refused"]),
        (2, &json!([]))
    );
    let listed = json_of(&world, &["reserve", "list"]);
    assert_eq!(listed["reservations"][0]["path"], held["held"][0]["path"]);
    assert_eq!(listed["reservations"][0]["until"], held["held"][0]["until"]);
    let refusal = two.refused(
        "reserve",
        &json!({"paths": ["src/parser/lexer.rs", "docs"]}),
    );
    tells!(refusal, {
        "kind": "conflict", "holder": "W1", "refused/0/path": "src/parser/lexer.rs", "held": [],
    });
    let claimed = two.ok("claim", &json!({"task": 1}));
    let others = claimed["paths_held_by_others"].as_array().unwrap();
    assert_eq!(others.len(), 2, "{claimed}");
    let status = two.ok("status", &json!({}));
    tells!(status, {"reservations/0/worker": "W1", "workers/1/id": "W2"});
    assert_eq!(
        status["workers"][1]["liveness"],
        json_of(&world, &["worker", "show", "W2"])["liveness"]
    );
    assert!(status["session"].is_null());
    assert_eq!(
        one.ok("release", &json!({"paths": ["README.md"]})),
        json!({"released": ["README.md"]})
    );
    assert_eq!(
        one.ok("release", &json!({})),
        json!({"released": ["src/parser/**"]})
    );
    assert_eq!(one.ok("release", &json!({})), json!({"released": []}));
}

#[test]
fn resources_say_what_the_tools_say() {
    let world = fleet(&["Write the parser"]);
    let mut client = McpClient::of(&world, "W1");
    let read = |client: &mut McpClient, uri: &str| {
        let answer = client.request("resources/read", &json!({"uri": uri}));
        let text = answer["result"]["contents"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{answer}"));
        serde_json::from_str::<Value>(text).unwrap()
    };
    let task = client.ok("task", &json!({"task": 1}));
    assert_eq!(read(&mut client, "flagpost://task/1"), task);
    assert_eq!(read(&mut client, "flagpost://inbox")["items"], json!([]));
    let listed = client.request("resources/list", &json!({}));
    assert_eq!(
        listed["result"]["resources"].as_array().unwrap().len(),
        2,
        "{listed}"
    );
    let listed = client.request("resources/templates/list", &json!({}));
    assert_eq!(
        listed["result"]["resourceTemplates"]
            .as_array()
            .unwrap()
            .len(),
        2,
        "{listed}"
    );
}

#[test]
fn a_named_list_is_worked_on_from_anywhere() {
    let world = fleet(&["Write the parser"]);
    world.ok(["add", "Elsewhere", "--list", "other"]);
    let client = McpClient::silent(&world, Some("W1"), &["--list", "other"]);
    let mut client = McpClient::shaken(client, "2025-06-18").0;
    tells!(client.ok("tasks", &json!({})), {"tasks/0/subject": "Elsewhere"});
    assert_eq!(client.ok("claim", &json!({}))["subject"], "Elsewhere");
    assert_eq!(json_of(&world, &["show", "1"])["state"], "pending");
}

#[test]
fn among_ten_thousand_tasks_a_claim_is_answered() {
    let world = fleet(&[]);
    let plan: Vec<Value> = (1..=10_000)
        .map(|n| json!({"id": n.to_string(), "subject": format!("Task {n}")}))
        .collect();
    let plan = json!({"tasks": plan}).to_string();
    std::fs::write(world.repository().join("plan.json"), plan).unwrap();
    world.ok(["import", "plan.json"]);
    let mut client = McpClient::of(&world, "W1");
    // The first look fills the cache.
    client.ok("tasks", &json!({}));
    let claimed = client.ok("claim", &json!({}));
    let claimed = claimed["task"].as_str().unwrap().to_owned();
    until("the claim is on disk", || {
        thread::sleep(Duration::from_millis(1));
        json_of(&world, &["show", &claimed])["owner"] == "W1"
    });
    let listed = client.ok("tasks", &json!({"query": "state=pending", "limit": 100}));
    assert_eq!(
        (&listed["total"], listed["tasks"].as_array().unwrap().len()),
        (&json!(9_999), 100)
    );
}
