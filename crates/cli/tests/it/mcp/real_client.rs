//! A real client with these tools, aimed at a server that plays its model.

use std::path::Path;

use flagpost_testkit::{
    clients::{Client, Installed, aim},
    model_server::{ModelServer, Request, Step},
    sealed::World,
};
use serde_json::{Value, json};

use super::json_of;

const BINARY: &str = env!("CARGO_BIN_EXE_flagpost");
const PROMPT: &str = "Take the next task and do it";

#[test]
fn claude_code_is_shown_the_tools_and_works_a_task_with_them() {
    let found = or_skip!(Installed::find(Client::Claude));
    let (server, world) = scene(&found);
    world.ok(["worker", "add", "W1"]);
    world.ok(["add", "Write the parser"]);
    let steps = [
        Step::tool("mcp__flagpost__claim", json!({})),
        Step::by(|request| {
            let end = json!({"task": 1, "token": token(request), "outcome": "completed",
                "text": "Parser written"});
            Step::tool("mcp__flagpost__end", end)
        }),
        Step::text("Done."),
    ];
    server.script(PROMPT, steps);
    let config = world.outside().join("mcp.json");
    let told = json!({"mcpServers": {"flagpost": {"type": "stdio", "command": BINARY,
        "args": ["mcp"], "env": {"FLAGPOST_WORKER": "W1"}, "alwaysLoad": true}}});
    std::fs::write(&config, told.to_string()).unwrap();
    let mut claude = world.command_of("claude");
    claude.args([
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        "--allowedTools",
    ]);
    claude.args(["mcp__flagpost", "--mcp-config"]).arg(&config);
    let ran = world.run(claude.args(["--", PROMPT]));
    assert_eq!(ran.code, 0, "{ran}");
    let turns = server.turns(PROMPT);
    let first: &Value = &turns[0].body;
    let tools = first["tools"].as_array().unwrap().iter();
    let ours = tools.filter(|it| it["name"].as_str().unwrap().starts_with("mcp__flagpost__"));
    assert_eq!(ours.count(), 13, "{first}");
    assert!(turns[0].says("End every claim with `end`"), "{first}");
    let task = json_of(&world, &["show", "1"]);
    tells!(task, {"state": "completed", "owner": "W1", "result/text": "Parser written"});
}

#[test]
fn the_plugin_of_claude_code_brings_hooks_and_tools() {
    let found = or_skip!(Installed::find(Client::Claude));
    let (server, world) = scene(&found);
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/claude");
    let mut validate = world.command_of("claude");
    let valid = world.run(validate.args(["plugin", "validate"]).arg(&plugin));
    assert_eq!(valid.code, 0, "{valid}");
    world.ok(["worker", "add", "W1"]);
    server.script(PROMPT, [Step::text("Done.")]);
    let mut claude = world.command_of("claude");
    claude.env("FLAGPOST_WORKER", "W1");
    claude.args(["-p", "--plugin-dir"]).arg(&plugin);
    let ran = world.run(claude.args(["--", PROMPT]));
    assert_eq!(ran.code, 0, "{ran}");
    let first = &server.turns(PROMPT)[0];
    for said in ["You are worker W1", "mcp__plugin_flagpost_flagpost__"] {
        assert!(first.says(said), "{said} is not in {}", first.body);
    }
}

/// A world in which Claude Code finds itself and this program, aimed at a server.
fn scene(found: &Installed) -> (ModelServer, World) {
    let (server, mut world) = scene_of(found);
    let home = world.outside().join("home");
    for (name, value) in aim(Client::Claude, &server, &home) {
        world.set(name, value);
    }
    (server, world)
}

/// A server, and a world in which a client finds itself and this program.
pub(super) fn scene_of(found: &Installed) -> (ModelServer, World) {
    let server = ModelServer::start();
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut world = World::below(tmp, BINARY, crate::schemas::check);
    world.set("FLAGPOST_CLOCK", "");
    let own = Path::new(BINARY).parent().unwrap().to_owned();
    let clients = found.path(world.outside());
    let path = std::env::split_paths(&clients).chain([own]);
    world.set("PATH", std::env::join_paths(path).unwrap());
    (server, world)
}

/// The token that a claim was answered with.
pub(super) fn token(request: &Request) -> u64 {
    let text = request.body.to_string().replace('\\', "");
    let at = text.find("\"token\":").expect("the claim was answered") + 8;
    let digits: String = text[at..]
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().expect("a token is a number")
}
