//! What Claude Code may not do by its own rules is asked: in a run it does what the operator allows, does not what
//! they deny, and reads why.

use flagpost_testkit::{
    clients::{Client, shell},
    model_server::Step,
};

use super::stage::{Stage, runs};

const PLAN: &str = "- [ ] Copy the readme\n";

/// The requests that wait: their numbers, and what they are about.
fn waiting(stage: &Stage) -> Vec<(u64, String)> {
    let (_, shown) = stage.world.json(["permission", "list"]);
    let requests = shown["requests"].as_array().unwrap();
    let each = requests.iter().map(|it| {
        let line = it["line"].as_str().unwrap().to_owned();
        (it["request"].as_u64().unwrap(), line)
    });
    each.collect()
}

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
    stage.until("it asks", &mut run, |_| !waiting(&stage).is_empty());
    let [(number, line)] = &waiting(&stage)[..] else {
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
    let place = |name: &str| stage.world.outside().join(name);
    let (allowed, denied) = (place("allowed.md"), place("denied.md"));
    let copies = |to: &std::path::Path| {
        Step::calls([shell(client, &format!("cp README.md {}", to.display()))])
    };
    stage.script(
        1,
        [
            copies(&allowed),
            copies(&denied),
            runs(client, "flagpost done 1 'Copied'"),
            Step::text("Said."),
        ],
    );
    let mut run = stage.begin(&["--agent", "claude", "--retries", "1"]);
    for (name, words) in [
        ("allowed.md", None),
        ("denied.md", Some("Stay in the project")),
    ] {
        stage.until("it asks", &mut run, |_| {
            waiting(&stage).iter().any(|(_, line)| line.ends_with(name))
        });
        let number = waiting(&stage)[0].0.to_string();
        match words {
            None => stage.world.ok(["allow", &number]),
            Some(words) => stage.world.ok(["deny", &number, words]),
        };
    }
    let run = stage.ended(run);
    run.came_to(0, &["PASS"]);
    assert!(allowed.is_file(), "{}", run.shown);
    assert!(!denied.exists(), "{}", run.shown);
    let heard = stage.heard(1);
    assert!(
        heard
            .iter()
            .any(|it| it.contains("The operator denied this: Stay in the project")),
        "{}",
        run.shown
    );
    let shown = stage.world.ok(["show", "1"]);
    assert!(shown.contains("Its client refused:"), "{shown}");
    assert!(
        shown.contains("flagpost run --allow 'cp README.md "),
        "{shown}"
    );
    let record = run.ended(1)["record"]["denied"].to_string();
    assert!(
        record.contains("denied.md") && !record.contains("allowed.md"),
        "{record}"
    );
}
