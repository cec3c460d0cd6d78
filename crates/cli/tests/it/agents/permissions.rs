//! What Claude Code may not do by its own rules, and Codex not in its sandbox, is asked: in a run they do what the operator
//! allows, do not what they deny, and read why.

use flagpost_testkit::{
    clients::{Client, shell},
    model_server::{Call, Step},
};
use serde_json::json;

use super::stage::{Stage, runs};

const PLAN: &str = "- [ ] Copy the readme\n";

#[test]
fn what_a_run_gives_claude_in_advance_asks_nobody() {
    let client = Client::Claude;
    let mut stage = or_skip!(Stage::new(client, PLAN));
    stage.set("FLAGPOST_GATE_WAIT", "1h");
    let given = "config set run.agents.claude.args -- --allowedTools".split(' ');
    stage.world.ok(given.chain(["Bash(sh copy.sh)"]));
    let to = stage.world.repository().join("given.md");
    let script = stage.world.repository().join("copy.sh");
    std::fs::write(script, "cp README.md given.md\n").unwrap();
    let copies = shell(client, "sh copy.sh");
    stage.script(
        1,
        [
            Step::calls([copies]),
            runs(client, "flagpost done 1 'Copied'"),
            Step::text("Said."),
        ],
    );
    let run = stage.run(&["--agent", "claude", "--retries", "1", "--shared"]);
    run.came_to(0, &["PASS"]);
    assert!(to.is_file(), "{}", run.shown);
    let asked = stage.world.history();
    assert!(
        asked.iter().all(|it| it["kind"] != "permission.asked"),
        "{}",
        run.shown
    );
}

#[test]
fn what_a_run_allows_asks_nobody_and_what_goes_beyond_it_does() {
    let client = Client::Claude;
    let mut stage = or_skip!(Stage::new(client, PLAN));
    stage.set("FLAGPOST_GATE_WAIT", "1h");
    let to = stage.world.outside().join("copied.md");
    let copies = format!("cp README.md {}", to.display());
    let calls = |command: &str| Step::calls([shell(client, command)]);
    stage.script(
        1,
        [
            calls(&copies),
            calls(&format!("{copies} && rm README.md")),
            runs(client, "flagpost done 1 'Copied'"),
            Step::text("Said."),
        ],
    );
    let mut run = stage.begin(&["--agent", "claude", "--retries", "1", "--allow", "cp *"]);
    stage.until("it asks", &mut run, |_| !stage.waiting().is_empty());
    let [(number, line)] = &stage.waiting()[..] else {
        panic!("one request")
    };
    assert!(line.ends_with("&& rm README.md"), "{line}");
    stage.world.ok(["deny", &number.to_string()]);
    let run = stage.ended(run);
    run.came_to(0, &["PASS"]);
    assert!(to.is_file(), "{}", run.shown);
    let told = stage.world.history();
    let allowed = told.iter().filter(|it| it["kind"] == "permission.allowed");
    let rules: Vec<&str> = allowed
        .filter_map(|it| it["detail"]["rule"].as_str())
        .collect();
    assert_eq!(rules, ["cp *"], "{}", run.shown);
}

#[test]
fn claude_does_what_is_allowed_and_reads_why_something_is_denied() {
    let client = Client::Claude;
    let mut stage = or_skip!(Stage::new(client, PLAN));
    stage.set("FLAGPOST_GATE_WAIT", "1h");
    stage.allows_one_and_denies_one(client, "claude", runs, Vec::new());
}

/// A command of Codex that is to run outside of its sandbox.
fn beyond(_: Client, command: &str) -> Step {
    Step::calls([Call::new(
        "exec_command",
        json!({"cmd": command, "sandbox_permissions": "require_escalated", "justification": "It is needed"}),
    )])
}

#[test]
fn codex_asks_beyond_its_sandbox_and_its_users_settings_stay() {
    let client = Client::Codex;
    let mut stage = or_skip!(Stage::new(client, PLAN));
    stage.set("FLAGPOST_GATE_WAIT", "1h");
    let config = stage.world.outside().join("home/.codex/config.toml");
    let before = std::fs::read_to_string(&config).unwrap();
    stage.allows_one_and_denies_one(client, "codex", beyond, Vec::new());
    assert_eq!(std::fs::read_to_string(&config).unwrap(), before);
    stage.assert_no_process();
}

#[test]
#[ignore = "the whole client matrix: ./check --all"]
fn a_rule_decides_for_codex_and_what_nobody_decides_is_refused() {
    let client = Client::Codex;
    let stage = or_skip!(Stage::new(client, PLAN));
    let place = |name: &str| stage.world.outside().join(name);
    let (allowed, undecided) = (place("allowed.md"), place("undecided.md"));
    let copies = |to: &std::path::Path| format!("cp README.md {}", to.display());
    stage.script(
        1,
        [
            beyond(client, &copies(&allowed)),
            beyond(client, &format!("{} && rm README.md", copies(&undecided))),
            runs(client, "flagpost done 1 'Copied'"),
            Step::text("Said."),
        ],
    );
    let run = stage.run(&["--agent", "codex", "--retries", "1", "--allow", "cp *"]);
    run.came_to(0, &["PASS"]);
    assert!(allowed.is_file() && !undecided.exists(), "{}", run.shown);
    let heard = stage.heard(1);
    let is_read = heard.iter().any(|it| it.contains("Nobody decided in time"));
    assert!(is_read, "{}", run.shown);
}

#[test]
#[ignore = "the whole client matrix: ./check --all"]
fn a_codex_that_is_stopped_while_it_asks_leaves_no_request() {
    let client = Client::Codex;
    let mut stage = or_skip!(Stage::new(client, PLAN));
    stage.set("FLAGPOST_GATE_WAIT", "1h");
    let to = stage.world.outside().join("copied.md");
    let copies = beyond(client, &format!("cp README.md {}", to.display()));
    stage.script(1, [copies, Step::text("Said.")]);
    let mut run = stage.begin(&["--agent", "codex", "--retries", "1"]);
    stage.until("it asks", &mut run, |_| !stage.waiting().is_empty());
    stage.world.ok(["stop", "--now"]);
    let run = stage.ended(run);
    assert_ne!(run.code, 0, "{}", run.shown);
    assert_eq!(stage.waiting(), []);
    assert!(!to.exists(), "{}", run.shown);
    stage.assert_no_process();
}
