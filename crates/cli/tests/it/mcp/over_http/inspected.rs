//! The reference client of the protocol, over HTTP.

use std::process::Command;

use flagpost_testkit::sealed::World;
use serde_json::Value;

use super::{Door, token};
use crate::mcp::{fleet, inspector::program, json_of, names};

fn asked(world: &World, door: &Door<'_>, token: &str, args: &[&str]) -> Option<Command> {
    let mut command = program(world)?;
    command.args(["--cli", &door.url(), "--transport", "http"]);
    command.args(["--header", &format!("Authorization: Bearer {token}")]);
    command.arg("--method").args(args);
    Some(command)
}

fn answered(world: &World, door: &Door<'_>, args: &[&str]) -> Option<Value> {
    let ran = world.run(&mut asked(world, door, &door.token, args)?);
    assert_eq!(ran.code, 0, "{args:?}: {ran}");
    Some(serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{args:?}: {ran}")))
}

#[test]
fn the_inspector_works_a_task_and_reads_a_brief_over_http() {
    let mut world = fleet(&["Write the parser"]);
    world.set("FLAGPOST_CLOCK", "");
    world.ok(["worker", "heartbeat", "W1"]);
    world.ok(["assign", "12", "W1", "--inline", "Fix the lexer"]);
    world.ok(["ratify", "W1", "1"]);
    let door = Door::of(&world);
    let listed = or_skip!(answered(&world, &door, &["tools/list", "--strict"]));
    assert_eq!(names(listed["tools"].as_array().unwrap()).len(), 13);
    let call = |tool: &str, arguments: &[&str]| {
        let mut args = vec!["tools/call", "--tool-name", tool];
        for argument in arguments {
            args.extend(["--tool-arg", argument]);
        }
        answered(&world, &door, &args).unwrap()["structuredContent"].clone()
    };
    assert_eq!(call("status", &[])["you"], "W1");
    assert_eq!(call("inbox", &["wait_s=5"])["items"][0]["seq"], 1);
    let uri = ["resources/read", "--uri", "flagpost://brief/1"];
    let read = answered(&world, &door, &uri).unwrap();
    assert_eq!(read["contents"][0]["text"], "Fix the lexer");
    call("ack", &["seq=1"]);
    let claim = format!("token={}", call("claim", &["task=1"])["token"]);
    let ended = call("end", &["task=1", &claim, "outcome=completed", "text=done"]);
    assert_eq!(ended["state"], "completed");
    assert_eq!(json_of(&world, &["show", "1"])["owner"], "W1");
    let void = door.token.clone();
    token(&world, "W1");
    let mut refused = asked(&world, &door, &void, &["tools/list"]).unwrap();
    let refused = world.run(&mut refused);
    assert_ne!(refused.code, 0, "{refused}");
    assert!(refused.stderr.contains("auth_required"), "{refused}");
    // What clients do is no news of the daemon; that W2 fell silent is.
    let log = std::fs::read_to_string(world.home().join("run/daemon.log")).unwrap();
    let is_own = |line: &str| {
        [" ready ", "recorded what others"]
            .iter()
            .any(|it| line.contains(it))
    };
    assert!(log.lines().all(is_own), "{log}");
}
