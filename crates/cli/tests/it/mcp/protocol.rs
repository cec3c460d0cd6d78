//! Handshakes, the list of tools, and clients that break the protocol.

use std::{fs, io::Write};

use flagpost_testkit::background::kill;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{McpClient, fleet, names};
use crate::world;

/// What each tool tells of itself: it reads, or it writes; and whether a second time changes nothing.
const TOOLS: &[(&str, &str)] = &[
    ("inbox", "reads"),
    ("ack", "writes once"),
    ("report", "writes"),
    ("send", "writes"),
    ("tasks", "reads"),
    ("task", "reads"),
    ("claim", "writes"),
    ("end", "writes once"),
    ("add", "writes once"),
    ("note", "writes"),
    ("reserve", "writes once"),
    ("release", "writes once"),
    ("status", "reads"),
];

/// Task 1 as the client is told of it next, whatever it hears before.
fn task_one(client: &mut McpClient) -> Value {
    let ask = json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call",
        "params": {"name": "task", "arguments": {"task": 1}}});
    client.say(&ask.to_string());
    let answer = std::iter::repeat_with(|| client.heard()).find(|it| it["id"] == 77);
    answer.unwrap()["result"]["structuredContent"].clone()
}

#[test]
fn every_version_of_the_protocol_is_spoken() {
    let world = fleet(&[]);
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let (mut client, said) = McpClient::silent(&world, Some("W1"), &[]).shaken(version);
        tells!(said, {"protocolVersion": version, "serverInfo/name": "flagpost"});
        assert_eq!(said["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        let instructions = said["instructions"].as_str().unwrap();
        assert!(instructions.len() <= 400, "{instructions}");
        assert_eq!(names(&client.listed()).len(), TOOLS.len(), "{version}");
        assert_eq!(client.ok("status", &json!({}))["you"], "W1", "{version}");
    }
    // Of one that nobody knows yet, the newest with a handshake is offered.
    let (_, said) = McpClient::silent(&world, Some("W1"), &[]).shaken("2199-01-01");
    assert_eq!(said["protocolVersion"], "2025-11-25");
    // Without a handshake: each request says itself which version it is of.
    let mut client = McpClient::silent(&world, Some("W1"), &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = client.request("server/discover", &json!({"_meta": meta}));
    let versions = found["result"]["supportedVersions"].to_string();
    assert!(versions.contains("2026-07-28"), "{found}");
    let listed = client.request("tools/list", &json!({"_meta": meta}));
    assert_eq!(
        listed["result"]["tools"].as_array().unwrap().len(),
        TOOLS.len()
    );
    let params = json!({"_meta": meta, "name": "status", "arguments": {}});
    let status = client.request("tools/call", &params);
    tells!(status, {"result/structuredContent/you": "W1"});
}

#[test]
fn the_tools_are_few_small_and_say_what_they_do() {
    let world = fleet(&[]);
    let tools = McpClient::of(&world, "W1").listed();
    let told: Vec<(&str, &str)> = tools.iter().map(told).collect();
    assert_eq!(told, TOOLS);
    for tool in &tools {
        let name = &tool["name"];
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{name}");
        let words = tool["description"].as_str().unwrap();
        assert!(words.ends_with('.') && words.len() < 140, "{name}: {words}");
    }
    let bytes = json!({"tools": tools}).to_string();
    assert!(bytes.len() <= 6_200, "{} bytes", bytes.len());
    assert!(!bytes.contains("$schema") && !bytes.contains("uint64"));
    for word in [
        "ratif", "reject", "delete", "remove", "take ", "run", "config", "answer ",
    ] {
        let named = names(&tools);
        assert!(!named.iter().any(|it| it.contains(word.trim())), "{word}");
    }
}

fn told(tool: &Value) -> (&str, &str) {
    let hints = &tool["annotations"];
    let effect = match (
        &hints["readOnlyHint"],
        &hints["destructiveHint"],
        &hints["idempotentHint"],
    ) {
        (Value::Bool(true), Value::Null, Value::Null) => "reads",
        (Value::Null, Value::Bool(false), Value::Null) => "writes",
        (Value::Null, Value::Bool(false), Value::Bool(true)) => "writes once",
        _ => panic!("{tool}"),
    };
    (tool["name"].as_str().unwrap(), effect)
}

#[test]
fn garbage_and_a_line_too_long_harm_nobody() {
    let world = fleet(&["Write the parser"]);
    let mut client = McpClient::of(&world, "W1");
    for line in [
        "",
        "garbage",
        "{",
        "[]",
        "null",
        "{\"jsonrpc\":\"2.0\"}",
        "\u{0}\u{1b}[2J",
    ] {
        client.say(line);
    }
    client.say(&"x".repeat(3 << 20));
    let long = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call",
        "params": {"name": "note", "arguments": {"task": 1, "text": "y".repeat(3 << 20)}}});
    client.say(&long.to_string());
    client
        .stdin
        .as_mut()
        .unwrap()
        .write_all(b"\xff\xfe\n")
        .unwrap();
    let task = task_one(&mut client);
    assert_eq!(task["subject"], "Write the parser");
    assert_eq!(task["notes"], json!([]), "a line that was cut did nothing");
}

#[test]
fn a_hundred_megabytes_harm_nobody_and_are_not_kept() {
    let world = fleet(&["Write the parser"]);
    let mut garbage: Vec<u8> = (0..100_u32 << 20).map(|n| (n % 251) as u8).collect();
    let mut client = McpClient::of(&world, "W1");
    let fed = |client: &mut McpClient, garbage: &[u8]| {
        client.stdin.as_mut().unwrap().write_all(garbage).unwrap();
        client.say("");
        let task = task_one(client);
        assert_eq!(task["subject"], "Write the parser");
    };
    // With a line end now and then, and without any.
    fed(&mut client, &garbage);
    garbage.fill(b'x');
    fed(&mut client, &garbage);
    let status = fs::read_to_string(format!("/proc/{}/status", client.child.id())).unwrap();
    let peak = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let peak: u64 = peak
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    assert!(peak < 60 << 10, "{peak} KiB");
    // Its client dies in the middle of a line.
    client.stdin.as_mut().unwrap().write_all(&garbage).unwrap();
    assert!(client.close().success());
}

#[test]
fn what_the_protocol_does_not_know_is_a_fault_of_the_protocol() {
    let world = fleet(&[]);
    let mut client = McpClient::of(&world, "W1");
    let unknown = client.request("tools/call", &json!({"name": "ratify", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let unknown = client.request("tools/eat", &json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    let unknown = client.request("resources/read", &json!({"uri": "flagpost://secrets"}));
    assert!(unknown["error"].is_object(), "{unknown}");
}

#[test]
fn it_ends_with_its_client_and_when_it_is_told_to_whoever_waits() {
    let world = fleet(&[]);
    assert!(McpClient::silent(&world, Some("W1"), &[]).close().success());
    assert!(McpClient::of(&world, "W1").close().success());
    for closes in [true, false] {
        let mut other = McpClient::of(&world, "W2");
        other.waits();
        let mut client = McpClient::of(&world, "W1");
        client.waits();
        match closes {
            true => drop(client.stdin.take()),
            false => kill(client.child.id(), Signal::TERM),
        }
        let status = client.ended();
        assert!(status.success(), "{closes}: {status}");
        assert!(other.still_waits(), "{closes}: it waited to its end");
    }
}

#[test]
fn all_that_was_asked_is_answered_before_it_ends() {
    let world = fleet(&["Write the parser"]);
    let mut client = McpClient::of(&world, "W1");
    let calls = 1000..1300;
    for id in calls.clone() {
        let note = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "note", "arguments": {"task": 1, "text": format!("note {id}")}}});
        client.say(&note.to_string());
    }
    drop(client.stdin.take());
    assert!(client.ended().success());
    let answers: Vec<Value> = client.lines.iter().map(|it| it.parse().unwrap()).collect();
    let mut answered: Vec<u64> = answers.iter().filter_map(|it| it["id"].as_u64()).collect();
    answered.sort_unstable();
    assert_eq!(answered, Vec::from_iter(calls));
    // So many at once may wait for the list in vain; whoever does not is told and heard.
    let written = answers
        .iter()
        .filter(|it| it["result"]["isError"] != true)
        .count();
    let task = world.json(["show", "1"]).1;
    assert_eq!(task["notes"].as_array().unwrap().len(), written, "{task}");
}

#[test]
fn a_home_that_is_not_there_is_no_fault_of_the_server() {
    let world = world();
    let mut client = McpClient::of(&world, "W1");
    for (tool, arguments) in [
        ("status", json!({})),
        ("inbox", json!({})),
        ("tasks", json!({})),
        ("claim", json!({})),
    ] {
        let refusal = client.refused(tool, &arguments);
        assert_eq!(refusal["kind"], "not_found", "{tool}: {refusal}");
        assert_eq!(refusal["code"], 3, "{tool}: {refusal}");
    }
    // It comes while the client runs.
    world.ok(["init", "--yes"]);
    world.ok(["add", "Write the parser"]);
    assert_eq!(client.ok("tasks", &json!({}))["total"], 1);
}
