//! A refusal is an answer, of the kind that the command line gives it.

use serde_json::{Value, json};

use super::{McpClient, fleet, json_of};

#[test]
fn a_refusal_has_the_kind_and_the_words_of_the_command_line() {
    let world = fleet(&["Write the parser", "Write the lexer"]);
    let mut client = McpClient::of(&world, "W2");
    let claimed = McpClient::of(&world, "W1").ok("claim", &json!({"task": 1}));
    let claimed = claimed["token"].as_u64().unwrap();
    let token = claimed + 1000;
    let cases: &[(&str, Value, &[&str])] = &[
        ("claim", json!({"task": 1}), &["claim", "1"]),
        ("claim", json!({"task": 99}), &["claim", "99"]),
        ("task", json!({"task": 99}), &["show", "99"]),
        (
            "note",
            json!({"task": "99", "text": "x"}),
            &["task", "note", "99", "x"],
        ),
        ("ack", json!({"seq": 9}), &["worker", "ack", "9"]),
        (
            "end",
            json!({"task": 2, "token": token, "outcome": "completed", "text": "x"}),
            &["done", "2", "x", "--token", &token.to_string()],
        ),
        (
            "reserve",
            json!({"paths": ["/etc"]}),
            &["reserve", "add", "/etc"],
        ),
        ("tasks", json!({"query": "due=="}), &["list", "due=="]),
        (
            "report",
            json!({"text": "x", "re": 7}),
            &["worker", "report", "x", "--re", "7"],
        ),
        (
            "add",
            json!({"subject": "x", "parent": 77}),
            &["add", "x", "--parent", "77"],
        ),
    ];
    for (tool, arguments, typed) in cases {
        let refusal = client.refused(tool, arguments);
        let mut command = world.command();
        command
            .args(*typed)
            .arg("--json")
            .env("FLAGPOST_WORKER", "W2");
        let ran = world.run(&mut command);
        let error: Value = serde_json::from_str(&ran.stdout)
            .or_else(|_| serde_json::from_str(&ran.stderr))
            .unwrap_or_else(|_| panic!("{tool}: {ran}"));
        for (ours, theirs) in [("kind", "kind"), ("code", "exit_code"), ("hint", "hint")] {
            assert_eq!(refusal[ours], error[theirs], "{tool}: {refusal} {error}");
        }
    }
    let held = client.refused("claim", &json!({"task": 1}));
    assert_eq!(held["holder"], "W1");
    for (tool, arguments, kind) in [
        ("claim", json!({"task": 1, "query": "tag=a"}), "invalid"),
        ("inbox", json!({"limit": 51}), "invalid"),
        ("inbox", json!({"wait_s": 51}), "invalid"),
        (
            "end",
            json!({"task": 1, "outcome": "completed", "text": "x"}),
            "usage",
        ),
        (
            "end",
            json!({"task": 1, "token": 1, "outcome": "fine", "text": "x"}),
            "invalid",
        ),
        ("add", json!({}), "usage"),
        ("add", json!({"subject": 7}), "invalid"),
        ("task", json!({"task": [1]}), "invalid"),
        ("task", json!({"task": "../../etc"}), "invalid"),
        ("send", json!({"to": "../x", "text": "x"}), "invalid"),
    ] {
        let refusal = client.refused(tool, &arguments);
        assert_eq!(refusal["kind"], kind, "{tool} {arguments}: {refusal}");
    }
}

#[test]
fn a_result_that_comes_too_late_is_kept_and_says_so() {
    let mut world = fleet(&["Write the parser"]);
    let claimed = McpClient::of(&world, "W1").ok("claim", &json!({"task": 1}));
    world.set("FLAGPOST_CLOCK", "2027-12-01T12:00:00Z");
    McpClient::of(&world, "W2").ok("claim", &json!({"task": 1}));
    let end = json!({"task": 1, "token": claimed["token"], "outcome": "completed", "text": "done"});
    let refusal = McpClient::of(&world, "W1").refused("end", &end);
    tells!(refusal, {"kind": "conflict", "late": true});
    assert_eq!(json_of(&world, &["show", "1"])["owner"], "W2");
}

/// Also one whose client began before.
#[test]
fn a_worker_that_was_taken_off_the_fleet_is_refused_until_it_is_back() {
    let world = fleet(&["Write the parser"]);
    world.ok(["worker", "add", "W9"]);
    let mut client = McpClient::of(&world, "W9");
    client.ok("status", &json!({}));
    world.ok(["worker", "rm", "W9"]);
    for (tool, arguments) in [
        ("note", json!({"task": 1, "text": "x"})),
        ("reserve", json!({"paths": ["x"]})),
        ("report", json!({"text": "x"})),
        ("add", json!({"subject": "x"})),
    ] {
        let refusal = client.refused(tool, &arguments);
        assert_eq!(refusal["message"], "this worker was taken off the fleet");
    }
    world.ok(["worker", "add", "W9"]);
    client.ok("note", &json!({"task": 1, "text": "x"}));
}
