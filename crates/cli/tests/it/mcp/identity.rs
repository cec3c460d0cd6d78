//! Who an agent is: the worker of its process, and nobody else.

use serde_json::json;

use super::{McpClient, fleet, json_of, names};

#[test]
fn who_has_no_name_only_reads() {
    let world = fleet(&["Write the parser"]);
    let mut client = McpClient::of_nobody(&world);
    assert_eq!(names(&client.listed()), ["tasks", "task", "status"]);
    assert!(client.ok("status", &json!({}))["you"].is_null());
    assert_eq!(client.ok("tasks", &json!({}))["total"], 1);
    for (tool, arguments) in [
        ("inbox", json!({})),
        ("claim", json!({})),
        ("add", json!({"subject": "x"})),
        ("note", json!({"task": 1, "text": "x"})),
        ("send", json!({"to": "W1", "text": "x"})),
    ] {
        let refusal = client.refused(tool, &arguments);
        assert_eq!(refusal["kind"], "conflict", "{tool}");
        assert!(
            refusal["hint"]
                .as_str()
                .unwrap()
                .contains("FLAGPOST_WORKER")
        );
    }
    assert_eq!(json_of(&world, &["list"])["total"], 1);
}

#[test]
fn nobody_acts_for_another() {
    let world = fleet(&["Write the parser"]);
    let mut client = McpClient::of(&world, "W1");
    for (tool, arguments) in [
        ("claim", json!({"task": 1, "as": "W2"})),
        ("inbox", json!({"worker": "W2"})),
        ("report", json!({"text": "x", "worker": "W2"})),
        ("note", json!({"task": 1, "text": "x", "list": "other"})),
    ] {
        let refusal = client.refused(tool, &arguments);
        assert_eq!(refusal["kind"], "usage", "{tool}: {refusal}");
    }
    let claimed = client.ok("claim", &json!({"task": 1}));
    assert_eq!(json_of(&world, &["show", "1"])["owner"], "W1");
    let end = json!({"task": 1, "token": claimed["token"], "outcome": "completed", "text": "done"});
    let refusal = McpClient::of(&world, "W2").refused("end", &end);
    assert_eq!(refusal["kind"], "conflict", "{refusal}");
    let ran = world.run(world.command().args(["mcp", "--as", "W2"]));
    assert_eq!(ran.code, 2, "{ran}");
    let ran = world.run(world.command().arg("mcp").env("FLAGPOST_WORKER", ""));
    assert_eq!(ran.code, 6, "{ran}");
}

#[test]
fn a_brief_reaches_its_worker_only_when_a_person_let_it_through() {
    let world = fleet(&[]);
    world.ok(["assign", "12", "W1", "--inline", "Fix the lexer"]);
    let mut client = McpClient::of(&world, "W1");
    let nothing = json!({"items": [], "more": false});
    assert_eq!(client.ok("inbox", &json!({})), nothing);
    let read =
        |client: &mut McpClient, uri: &str| client.request("resources/read", &json!({"uri": uri}));
    let early = read(&mut client, "flagpost://brief/1");
    assert!(early["error"].is_object(), "{early}");
    assert!(!early.to_string().contains("lexer"), "{early}");
    tells!(client.refused("ack", &json!({"seq": 1})), {"kind": "conflict"});
    world.ok(["ratify", "W1", "1"]);
    let item = client.ok("inbox", &json!({}))["items"][0].clone();
    assert_eq!(item["seq"], 1);
    let text = read(&mut client, "flagpost://brief/1");
    let text = &text["result"]["contents"][0];
    tells!(text, {"mimeType": "text/markdown", "text": "Fix the lexer"});
    // Another's is nobody's business.
    assert_eq!(McpClient::of(&world, "W2").ok("inbox", &json!({})), nothing);
    // What is changed afterwards is not what was let through.
    std::fs::write(item["path"].as_str().unwrap(), "rm -rf everything").unwrap();
    assert_eq!(client.ok("inbox", &json!({})), nothing);
    let changed = read(&mut client, "flagpost://brief/1");
    assert!(changed["error"].is_object(), "{changed}");
    assert!(!changed.to_string().contains("everything"), "{changed}");
    tells!(client.refused("ack", &json!({"seq": 1})), {"kind": "conflict"});
}
