//! Real clients with the daemon's tools, told of them as docs/mcp.md says, each by its own command.

use std::path::Path;

use flagpost_testkit::{
    clients::{Client, Installed, aim, served},
    model_server::{ModelServer, Step},
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

/// Has a client told of the tools work a task with them; `tell` says how it is told, `ask` how it is started.
fn works_a_task(client: Client, tell: impl Fn(&Door<'_>) -> Vec<String>, ask: &[&str]) {
    let Some(found) = Installed::find(client) else {
        return;
    };
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
    let mut told = world.command_of(client.as_str());
    let ran = world.run(told.args(tell(&door)));
    assert_eq!(ran.code, 0, "{ran}");
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

#[test]
fn claude_code_works_a_task_over_http() {
    let tell = |door: &Door<'_>| {
        let url = door.url();
        let header = format!("Authorization: Bearer ${{{VARIABLE}}}");
        let words = [
            "mcp",
            "add",
            "--transport",
            "http",
            "flagpost",
            &url,
            "--header",
            &header,
        ];
        words.map(str::to_owned).to_vec()
    };
    works_a_task(
        Client::Claude,
        tell,
        &["-p", "--allowedTools", "mcp__flagpost", "--"],
    );
}

#[test]
fn codex_works_a_task_over_http() {
    let tell = |door: &Door<'_>| {
        let url = door.url();
        let words = [
            "mcp",
            "add",
            "flagpost",
            "--url",
            &url,
            "--bearer-token-env-var",
            VARIABLE,
        ];
        words.map(str::to_owned).to_vec()
    };
    works_a_task(Client::Codex, tell, &["exec", "--skip-git-repo-check"]);
}
