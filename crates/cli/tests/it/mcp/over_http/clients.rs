//! Real clients with the daemon's tools, told of them as docs/mcp.md says, each by its own command.

use std::path::Path;

use flagpost_testkit::{
    clients::{Client, Installed, aim, served},
    model_server::{ModelServer, Step},
    sealed::World,
};
use serde_json::{Value, json};

use super::Door;
use crate::mcp::{
    json_of,
    real_client::{scene_of, token},
};

const PROMPT: &str = "Take the next task and do it";
/// Where the token is while the client runs: in no file.
const VARIABLE: &str = "FLAGPOST_MCP_TOKEN";

/// Has a client that was told of the tools at an address work a task with them; `ask` is how it is started.
fn works_a_task(client: Client, told: impl Fn(&World, &str), ask: &[&str]) {
    let found = or_skip!(Installed::find(client));
    let (server, mut world) = scene_of(&found);
    world.ok(["worker", "add", "W1"]);
    world.ok(["add", "Write the parser"]);
    let home = world.outside().join("home");
    for (name, value) in aim(client, &server, &home) {
        world.set(name, value);
    }
    let door = Door::of(&world);
    let call = |tool, input| Step::calls([served(client, tool, input)]);
    let steps = [
        call("claim", json!({})),
        Step::by(move |request| {
            let end = json!({"task": 1, "token": token(request), "outcome": "completed",
                "text": "Parser written"});
            Step::calls([served(client, "end", end)])
        }),
        Step::text("Done."),
    ];
    server.script(PROMPT, steps);
    told(&world, &door.url());
    let mut command = world.command_of(client.as_str());
    let ran = world.run(command.env(VARIABLE, &door.token).args(ask).arg(PROMPT));
    assert_eq!(ran.code, 0, "{ran}");
    let task = json_of(&world, &["show", "1"]);
    assert_eq!(
        (&task["state"], &task["owner"]),
        (&json!("completed"), &json!("W1")),
        "{ran}\n{task}\n{}",
        bodies(&server)
    );
    assert_eq!(task["result"]["text"], "Parser written");
    assert!(!says(&home, &door.token), "the token is in a file");
}

fn bodies(server: &ModelServer) -> Value {
    server
        .turns(PROMPT)
        .iter()
        .map(|it| it.body.clone())
        .collect()
}

/// Whether a file below this directory has this in it.
fn says(dir: &Path, text: &str) -> bool {
    std::fs::read_dir(dir).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        match path.symlink_metadata().unwrap() {
            it if it.is_dir() => says(&path, text),
            it if it.is_file() => {
                let bytes = std::fs::read(&path).unwrap();
                bytes.windows(text.len()).any(|it| it == text.as_bytes())
            }
            _ => false,
        }
    })
}

/// Tells a client of the tools by a command of its own.
fn tell(world: &World, client: Client, words: &[&str]) {
    let mut command = world.command_of(client.as_str());
    let ran = world.run(command.args(["mcp", "add"]).args(words));
    assert_eq!(ran.code, 0, "{ran}");
}

#[test]
fn claude_code_works_a_task_over_http() {
    let told = |world: &World, url: &str| {
        let header = format!("Authorization: Bearer ${{{VARIABLE}}}");
        let words = ["--transport", "http", "flagpost", url, "--header", &header];
        tell(world, Client::Claude, &words);
    };
    let ask = ["-p", "--allowedTools", "mcp__flagpost", "--"];
    works_a_task(Client::Claude, told, &ask);
}

#[test]
fn codex_works_a_task_over_http() {
    let told = |world: &World, url: &str| {
        let words = ["flagpost", "--url", url, "--bearer-token-env-var", VARIABLE];
        tell(world, Client::Codex, &words);
    };
    works_a_task(Client::Codex, told, &["exec"]);
}

#[test]
fn gemini_cli_works_a_task_over_http() {
    let told = |world: &World, url: &str| {
        let header = format!("Authorization: Bearer ${VARIABLE}");
        let words = [
            "-s",
            "user",
            "--transport",
            "http",
            "-H",
            &header,
            "flagpost",
            url,
        ];
        tell(world, Client::Gemini, &words);
    };
    let ask = ["--skip-trust", "--approval-mode", "yolo", "-p"];
    works_a_task(Client::Gemini, told, &ask);
}

#[test]
fn opencode_works_a_task_over_http() {
    let told = |world: &World, url: &str| {
        let header = format!("Bearer {{env:{VARIABLE}}}");
        let server = json!({"type": "remote", "url": url, "headers": {"Authorization": header}});
        let config = json!({"mcp": {"flagpost": server}});
        let path = world.repository().join("opencode.json");
        std::fs::write(path, config.to_string()).unwrap();
    };
    works_a_task(Client::Opencode, told, &["run"]);
}
