//! The reference client of the protocol, on its command line: it checks each answer by the schemas of the
//! protocol. `./check` installs it; where it is not, this is skipped aloud.

use std::{path::PathBuf, process::Command};

use flagpost_testkit::{repository, sealed::World};
use serde_json::Value;

use super::{fleet, names};

/// A program that `./check` installs, with the node that it needs; none where they are not there.
pub(super) fn installed(world: &World, variable: &str, name: &str) -> Option<Command> {
    let bin = repository::root().join("target/agents/node_modules/.bin");
    let named = |variable: &str, name: &str| {
        let named = std::env::var_os(variable).filter(|it| !it.is_empty());
        named.map_or_else(|| bin.join(name), PathBuf::from)
    };
    let variable = format!("FLAGPOST_TEST_{variable}");
    let program = named(&variable, name);
    let node = named("FLAGPOST_TEST_NODE", "node");
    if !program.exists() || !node.exists() {
        eprintln!(
            "skipped: {name} is not installed (./check installs it into target/agents/, or set {variable})"
        );
        return None;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let node = node.parent().unwrap().to_owned();
    let dirs = std::iter::once(node).chain(std::env::split_paths(&path));
    let mut command = world.command_of(program);
    command.env("PATH", std::env::join_paths(dirs).unwrap());
    Some(command)
}

/// The client.
pub(super) fn program(world: &World) -> Option<Command> {
    installed(world, "INSPECTOR", "mcp-inspector")
}

/// The client, which starts the tools on its pipes.
fn inspector(world: &World) -> Option<Command> {
    let mut command = program(world)?;
    command.args(["--cli", env!("CARGO_BIN_EXE_flagpost"), "mcp"]);
    for name in ["HOME", "FLAGPOST_HOME", "FLAGPOST_CLOCK", "USER"] {
        let value = command
            .get_envs()
            .find(|(it, _)| *it == name)
            .unwrap()
            .1
            .unwrap();
        let value = format!("{name}={}", value.to_str().unwrap());
        command.args(["-e", &value]);
    }
    command.args(["-e", "FLAGPOST_WORKER=W1"]);
    Some(command)
}

/// What it prints after this method; it fails where a tool refuses, or where a client may refuse a schema.
fn asked(world: &World, args: &[&str]) -> Option<Value> {
    let ran = world.run(inspector(world)?.arg("--method").args(args));
    assert_eq!(ran.code, 0, "{args:?}: {ran}");
    assert!(!ran.stderr.contains("Warning"), "{args:?}: {ran}");
    Some(serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{args:?}: {ran}")))
}

#[test]
fn the_inspector_lists_and_calls_every_tool() {
    let world = fleet(&["Write the parser"]);
    world.ok(["assign", "12", "W1", "--inline", "Fix the lexer"]);
    world.ok(["ratify", "W1", "1"]);
    let listed = or_skip!(asked(&world, &["tools/list", "--strict"]));
    let tools = listed["tools"].as_array().unwrap();
    let call = |tool: &str, arguments: &[&str]| {
        let mut args = vec!["tools/call", "--tool-name", tool];
        for argument in arguments {
            args.extend(["--tool-arg", argument]);
        }
        asked(&world, &args).unwrap()["structuredContent"].clone()
    };
    assert_eq!(call("inbox", &["limit=1"])["items"][0]["seq"], 1);
    call("ack", &["seq=1"]);
    call("report", &["text=half done", "re=1", "kind=progress"]);
    call("send", &["to=orchestrator", "text=May I?"]);
    call("tasks", &["query=state=pending", "limit=5"]);
    call("task", &["task=1"]);
    let token = call("claim", &["task=1"])["token"].clone();
    call("note", &["task=1", "text=seen"]);
    call("reserve", &["paths=[\"src/**\"]", "minutes=5"]);
    call("release", &["paths=[\"src/**\"]"]);
    let token = format!("token={token}");
    let ended = call("end", &["task=1", &token, "outcome=completed", "text=done"]);
    assert_eq!(ended["state"], "completed");
    assert_eq!(call("add", &["subject=Next", "key=k"])["id"], "2");
    assert_eq!(call("status", &[])["you"], "W1");
    let called = [
        "inbox", "ack", "report", "send", "tasks", "task", "claim", "end", "add", "note",
        "reserve", "release", "status",
    ];
    assert_eq!(names(tools), called);
    let mut refused = inspector(&world).unwrap();
    refused.args(["--method", "tools/call", "--tool-name", "claim"]);
    let refused = world.run(refused.args(["--tool-arg", "task=1"]));
    assert_ne!(refused.code, 0, "{refused}");
    let read = asked(&world, &["resources/read", "--uri", "flagpost://brief/1"]).unwrap();
    assert_eq!(read["contents"][0]["text"], "Fix the lexer");
}
