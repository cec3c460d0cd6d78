//! Real agents over the Agent Client Protocol: what they want to do is asked, what was refused is read, and they end
//! when they are told to.

use flagpost_testkit::{
    clients::{self, Client},
    model_server::{Call, INPUT, OUTPUT, Step},
};
use serde_json::{Value, json};

use super::{
    for_clients,
    stage::{Stage, report, reports, runs},
};

for_clients! {
    gemini Gemini:
        a_task_passes_and_nobody_is_asked_for_what_every_agent_may,
        what_is_allowed_is_done_and_why_something_is_denied_is_read,
        a_rule_decides_and_what_nobody_decides_is_refused,
        a_reserved_file_is_not_changed,
        who_is_silent_is_asked_how_it_ended,
        who_says_nothing_has_not_passed,
        an_answer_reaches_the_conversation_that_asked,
        who_is_stopped_ends_its_turn;
    opencode Opencode:
        a_report_and_a_word_by_a_tool_count,
        a_task_passes_and_nobody_is_asked_for_what_every_agent_may,
        what_is_allowed_is_done_and_why_something_is_denied_is_read,
        a_rule_decides_and_what_nobody_decides_is_refused,
        a_reserved_file_is_not_changed,
        who_is_silent_is_asked_how_it_ended,
        who_says_nothing_has_not_passed,
        an_answer_reaches_the_conversation_that_asked,
        who_is_stopped_ends_its_turn;
}

const PLAN: &str = "- [ ] Copy the readme\n";

/// A world with an agent that asks for each command and each change.
fn stage(client: Client, wait: &str) -> Option<Stage> {
    let mut stage = Stage::new(client, PLAN)?;
    stage.set("FLAGPOST_GATE_WAIT", wait);
    if client == Client::Opencode {
        let asks = r#"{"permission": {"bash": "ask", "edit": "ask"}}"#;
        stage.set("OPENCODE_CONFIG_CONTENT", asks);
    }
    Some(stage)
}

fn named(client: Client) -> String {
    format!("acp:{client}")
}

/// The lines of the history of this kind.
fn told(stage: &Stage, kind: &str) -> Vec<Value> {
    let mut history = stage.world.history();
    history.retain(|it| it["kind"] == kind);
    history
}

/// The rules by which something was allowed, each once.
fn rules(stage: &Stage) -> Vec<String> {
    let allowed = told(stage, "permission.allowed");
    let rules = allowed
        .iter()
        .filter_map(|it| it["detail"]["rule"].as_str());
    let mut rules: Vec<String> = rules.map(str::to_owned).collect();
    rules.dedup();
    rules
}

/// What the agent does next where its last call was refused: one goes on with its turn, the other begins another.
fn after_a_refusal(client: Client) -> Vec<Step> {
    match client {
        Client::Gemini => vec![Step::text("Then I do not.")],
        _ => Vec::new(),
    }
}

fn a_task_passes_and_nobody_is_asked_for_what_every_agent_may(client: Client) {
    let stage = or_skip!(stage(client, "1h"));
    let written = stage.world.repository().join("notes.md");
    stage.script(
        1,
        [
            Step::calls([clients::write(client, written.to_str().unwrap(), "Noted\n")]),
            runs(client, "git add notes.md"),
            runs(client, "flagpost done 1 'Copied'"),
            Step::text("Said."),
        ],
    );
    let run = stage.run(&["--agent", &named(client), "--retries", "1", "--shared"]);
    run.came_to(0, &["PASS"]);
    assert!(written.is_file(), "{}", run.shown);
    assert_eq!(rules(&stage), ["git add *", "flagpost *"], "{}", run.shown);
    let record = &run.ended(1)["record"];
    assert_eq!(record["agent"], named(client), "{}", run.shown);
    let usage = &record["usage"];
    // opencode tells of the last answer of a turn only.
    let turns = if client == Client::Gemini { 4 } else { 1 };
    let used = [&usage["input"], &usage["output"]].map(Value::as_u64);
    assert_eq!(
        used,
        [Some(turns * INPUT), Some(turns * OUTPUT)],
        "{}",
        run.shown
    );
    let logged = stage.world.ok(["logs", "1"]);
    for part in ["$ flagpost done 1 'Copied'", "Said.", "notes.md"] {
        assert!(logged.contains(part), "{part} is not in {logged}");
    }
    stage.assert_no_process();
}

fn a_report_and_a_word_by_a_tool_count(client: Client) {
    let stage = or_skip!(stage(client, "1h"));
    stage.script(
        1,
        [
            Step::calls([clients::served(
                client,
                "note",
                json!({"task": 1, "text": "It was short"}),
            )]),
            reports(client, &report("PASS", "Copied")),
            Step::text("Said."),
        ],
    );
    let run = stage.run(&["--agent", &named(client), "--retries", "1"]);
    run.came_to(0, &["PASS"]);
    let asked = told(&stage, "permission.asked");
    assert!(asked.is_empty(), "{asked:?}\n{}", run.shown);
    let (_, task) = stage.world.json(["show", "1"]);
    tells!(task, {"result/text": "Copied", "notes/0/text": "It was short"});
}

fn what_is_allowed_is_done_and_why_something_is_denied_is_read(client: Client) {
    let stage = or_skip!(stage(client, "1h"));
    stage.allows_one_and_denies_one(client, &named(client), runs, after_a_refusal(client));
    let words = "The operator denied this: Stay in the project";
    assert!(stage.world.ok(["logs", "1"]).contains(words));
}

fn a_rule_decides_and_what_nobody_decides_is_refused(client: Client) {
    let stage = or_skip!(stage(client, "0s"));
    let place = |name: &str| stage.world.outside().join(name);
    let (allowed, undecided) = (place("allowed.md"), place("undecided.md"));
    let copies = |to: &std::path::Path| format!("cp README.md {}", to.display());
    let beyond = format!("{} && rm README.md", copies(&undecided));
    let steps = [runs(client, &copies(&allowed)), runs(client, &beyond)].into_iter();
    let steps = steps.chain(after_a_refusal(client)).chain([
        runs(client, "flagpost done 1 'Copied'"),
        Step::text("Said."),
    ]);
    stage.script(1, steps);
    let args = ["--retries", "1", "--allow", "cp *"];
    let run = stage.run(&[&["--agent", &named(client)][..], &args].concat());
    run.came_to(0, &["PASS"]);
    assert!(allowed.is_file() && !undecided.exists(), "{}", run.shown);
    assert_eq!(rules(&stage), ["cp *", "flagpost *"], "{}", run.shown);
    assert_eq!(told(&stage, "permission.expired").len(), 1, "{}", run.shown);
    let heard = stage.heard(1);
    let words = "Nobody decided in time";
    assert!(heard.last().unwrap().contains(words), "{}", run.shown);
}

fn a_reserved_file_is_not_changed(client: Client) {
    let stage = or_skip!(stage(client, "1h"));
    stage.world.ok(["worker", "add", "W7"]);
    stage
        .world
        .ok(["reserve", "add", "README.md", "--as", "W7"]);
    let readme = stage.world.repository().join("README.md");
    let write = clients::write(client, readme.to_str().unwrap(), "# Mine\n");
    let file = readme.to_str().unwrap();
    // One of them writes no file that it has not read.
    let read = match client {
        Client::Gemini => Call::new("read_file", json!({"file_path": file})),
        _ => Call::new("read", json!({"filePath": file})),
    };
    let steps = [Step::calls([read]), Step::calls([write])].into_iter();
    let steps = steps.chain(after_a_refusal(client)).chain([
        runs(client, "flagpost done 1 'Left alone'"),
        Step::text("Said."),
    ]);
    stage.script(1, steps);
    let run = stage.run(&["--agent", &named(client), "--retries", "1", "--shared"]);
    run.came_to(0, &["PASS"]);
    assert_eq!(std::fs::read_to_string(&readme).unwrap(), "# Web\n");
    let heard = stage.heard(1);
    let words = "README.md is reserved by W7";
    assert!(heard.last().unwrap().contains(words), "{}", run.shown);
    assert_eq!(told(&stage, "permission.asked").len(), 1, "{}", run.shown);
}

fn who_is_silent_is_asked_how_it_ended(client: Client) {
    let stage = or_skip!(stage(client, "1h"));
    stage.script(
        1,
        [
            Step::text("I think that is all."),
            runs(client, "flagpost done 1 'Copied'"),
            Step::text("Said."),
        ],
    );
    let run = stage.run(&["--agent", &named(client), "--retries", "1"]);
    run.came_to(0, &["PASS"]);
    assert_eq!(run.told("task.unreported").len(), 1, "{}", run.shown);
    // In the same conversation, and the same process.
    let heard = &stage.heard(1)[1];
    for part in ["I think that is all.", "You ended without a report"] {
        assert!(heard.contains(part), "{part} is not in {heard}");
    }
    assert_eq!(run.sessions(1).len(), 1, "{}", run.shown);
}

fn who_says_nothing_has_not_passed(client: Client) {
    let stage = or_skip!(stage(client, "1h"));
    stage.script(1, [Step::text("That is all.").for_ever()]);
    let run = stage.run(&["--agent", &named(client), "--retries", "1"]);
    run.came_to(1, &["STUCK"]);
    assert_eq!(stage.heard(1).len(), 2, "{}", run.shown);
}

fn an_answer_reaches_the_conversation_that_asked(client: Client) {
    let stage = or_skip!(stage(client, "1h"));
    stage.script(
        1,
        [
            runs(client, "flagpost stuck 1 'Which readme?'"),
            Step::text("Asked."),
            runs(client, "flagpost done 1 'That one'"),
            Step::text("Said."),
        ],
    );
    let args = ["--retries", "1", "--wait-for-answers"];
    let mut run = stage.begin(&[&["--agent", &named(client)][..], &args].concat());
    stage.until("it waits for an answer", &mut run, |run| {
        run.stdout().contains("session.stays")
    });
    stage.world.ok(["answer", "1", "The one at the top"]);
    let run = stage.ended(run);
    run.came_to(0, &["STUCK", "PASS"]);
    let heard = &stage.heard(1)[2];
    assert!(heard.contains("The one at the top"), "{heard}");
    // Gemini CLI may know nothing of a conversation of another process: it begins anew then, with the whole prompt.
    let (goes_on, is_anew) = (heard.contains("Asked."), heard.contains("How to report"));
    let begins_anew = client == Client::Gemini && is_anew;
    assert!(goes_on || begins_anew, "{}", run.shown);
}

fn who_is_stopped_ends_its_turn(client: Client) {
    let stage = or_skip!(stage(client, "1h"));
    let mark = stage.world.outside().join("begun");
    let sleeps = format!("touch {} && sleep 600", mark.display());
    stage.script(1, [runs(client, &sleeps), Step::text("Said.")]);
    let args = ["--retries", "1", "--allow", "touch *", "--allow", "sleep *"];
    let mut run = stage.begin(&[&["--agent", &named(client)][..], &args].concat());
    stage.until("it sleeps", &mut run, |_| mark.exists());
    stage.world.ok(["stop", "--now"]);
    let run = stage.ended(run);
    assert_ne!(run.code, 0, "{}", run.shown);
    assert!(run.shown.contains("it was stopped"), "{}", run.shown);
    stage.assert_no_process();
}
