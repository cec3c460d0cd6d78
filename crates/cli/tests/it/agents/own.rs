//! What a client is started with: its user's login, settings and added options, and nothing of the agent
//! that the run itself was started from.

use std::fs;

use flagpost_testkit::{
    clients::{Client, Login},
    model_server::Step,
};
use serde_json::json;

use super::{
    for_each_client,
    stage::{Stage, report, reports, runs},
};

for_each_client!(what_the_operator_adds_reaches_the_command_line);

const PLAN: &str = "- [ ] Write the parser\n";

fn what_the_operator_adds_reaches_the_command_line(client: Client) {
    let mut stage = or_skip!(Stage::new(client, PLAN));
    let (model, args) = match client {
        Client::Claude => ("claude-haiku-4-5", &["--model", "claude-haiku-4-5"]),
        Client::Codex => ("gpt-5.4", &["--model", "gpt-5.4"]),
        Client::Gemini => ("gemini-2.5-flash", &["--model", "gemini-2.5-flash"]),
        _ => ("n", &["--model", "fake/n"]),
    };
    if client == Client::Opencode {
        // Its user's own configuration, by the variable that takes ours too.
        let config = json!({"provider": {"fake": {"models": {"n": {"tool_call": true}}}}});
        stage.set("OPENCODE_CONFIG_CONTENT", config.to_string());
    }
    let key = format!("run.agents.{client}.args");
    stage
        .world
        .ok([&["config", "set", &key, "--"][..], args].concat());
    let report = match client {
        // A model that it does not know has no tool to write files with.
        Client::Codex => runs(client, "flagpost done 1 Written"),
        _ => reports(client, &report("PASS", "Written")),
    };
    stage.script(1, [report, Step::text("Reported.")]);
    let before = stage.own_files();
    let run = stage.run(&["--agent", client.as_str()]);
    run.came_to(0, &["PASS"]);
    let turns = stage.server.turns("# Task 1: ");
    let told = |turn: &flagpost_testkit::model_server::Request| {
        turn.body["model"] == model || turn.path.contains(model)
    };
    assert!(
        turns.iter().all(told),
        "{:?}",
        turns.iter().map(|it| &it.path).collect::<Vec<_>>()
    );
    for (path, bytes) in before {
        let now = fs::read(&path).unwrap_or_default();
        assert!(
            now == bytes,
            "{path} is not as it was: {}",
            String::from_utf8_lossy(&now)
        );
    }
}

/// Also those that 'codex exec resume' does not know.
#[test]
#[ignore = "the whole client matrix: ./check --all"]
fn a_conversation_of_codex_goes_on_with_what_the_operator_added() {
    let client = Client::Codex;
    let stage = or_skip!(Stage::new(client, PLAN));
    let elsewhere = stage.world.outside().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let (elsewhere, key) = (elsewhere.to_str().unwrap(), "run.agents.codex.args");
    let set = ["config", "set", key, "--", "--add-dir", elsewhere];
    stage.world.ok(set);
    stage.script(
        1,
        [
            runs(client, "flagpost stuck 1 'LL or LR?'"),
            Step::text("I asked."),
            runs(client, &format!("echo LL > {elsewhere}/grammar")),
            runs(client, "flagpost done 1 Written"),
            Step::text("Said."),
        ],
    );
    let args = ["--agent", client.as_str(), "--retries", "1"];
    let first = stage.run(&args);
    assert_eq!(first.fate(1), "stuck", "{}", first.shown);
    stage.world.ok(["answer", "1", "LL"]);
    let second = stage.run(&args);
    assert_eq!(second.ends(1), ["PASS"], "{}", second.shown);
    assert_eq!(first.sessions(1), second.sessions(1), "{}", second.shown);
    let grammar = fs::read_to_string(format!("{elsewhere}/grammar"));
    assert_eq!(grammar.unwrap(), "LL\n", "{}", second.shown);
}

#[test]
#[ignore = "the whole client matrix: ./check --all"]
fn a_subscription_reaches_claude_and_what_ties_it_to_a_parent_does_not() {
    let mut stage = or_skip!(Stage::of(&[(Client::Claude, Login::Subscription)], PLAN));
    // Claude started from within Claude would not work.
    for (name, value) in [
        ("CLAUDECODE", "1"),
        ("CLAUDE_CODE_ENTRYPOINT", "cli"),
        (
            "CLAUDE_CODE_SESSION_ID",
            "6f0c2b1e-8f43-4f7e-9d0c-4f0f8a1b2c3d",
        ),
        ("CLAUDE_CODE_SSE_PORT", "1"),
    ] {
        stage.set(name, value);
    }
    stage.script(
        1,
        [
            runs(Client::Claude, "flagpost done 1 Written"),
            Step::text("Said."),
        ],
    );
    let run = stage.run(&["--agent", "claude"]);
    run.came_to(0, &["PASS"]);
    for turn in stage.server.turns("# Task 1: ") {
        assert_eq!(
            turn.header("authorization"),
            Some("Bearer sk-ant-oat01-fake")
        );
    }
    assert!(
        !run.sessions(1)
            .contains("6f0c2b1e-8f43-4f7e-9d0c-4f0f8a1b2c3d")
    );
}

#[test]
#[ignore = "the whole client matrix: ./check --all"]
fn codex_has_its_task_and_its_path_and_no_parent() {
    let mut stage = or_skip!(Stage::new(Client::Codex, PLAN));
    for name in ["CLAUDECODE", "CODEX_THREAD_ID", "CLAUDE_CODE_SESSION_ID"] {
        stage.set(name, "a-parent");
    }
    stage.script(
        1,
        [
            runs(Client::Codex, "env > environment; flagpost done Written"),
            Step::text("Said."),
        ],
    );
    let run = stage.run(&["--agent", "codex", "--shared"]);
    run.came_to(0, &["PASS"]);
    let environment = fs::read_to_string(stage.world.repository().join("environment")).unwrap();
    assert!(!environment.contains("a-parent"), "{environment}");
    for name in [
        "HOME", "LIST", "TASK", "WORKER", "TOKEN", "REPORT", "BIN", "ATTEMPT",
    ] {
        assert!(
            environment.contains(&format!("\nFLAGPOST_{name}=")),
            "{name} {environment}"
        );
    }
    // No login shell has put the system's path in its place.
    let bin = stage.world.outside().join("bin");
    let path = environment.lines().find(|line| line.starts_with("PATH="));
    assert!(
        path.unwrap().contains(bin.to_str().unwrap()),
        "{environment}"
    );
}
