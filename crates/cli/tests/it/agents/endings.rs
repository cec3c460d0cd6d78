//! Attempts that end badly: a client that gives up, and one whose time is up.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use flagpost_testkit::{
    clients::{self, Client},
    model_server::Step,
};
use serde_json::json;

use crate::land_yard::executable;

use super::{
    for_clients,
    stage::{Stage, runs},
    time::{Silences, limited},
};

for_clients! {
    claude Claude: a_client_that_gives_up_is_tried_again,
        who_runs_out_of_time_goes_on_with_the_conversation,
        a_client_that_stays_after_its_report_is_ended,
        a_client_that_stays_after_its_report_is_shown,
        who_left_work_uncommitted_is_asked_for_it_once,
        a_script_that_waits_for_the_end_of_its_input_gets_it;
    codex Codex: a_client_that_gives_up_is_tried_again,
        who_runs_out_of_time_goes_on_with_the_conversation,
        a_client_that_stays_after_its_report_is_ended,
        who_left_work_uncommitted_is_asked_for_it_once;
    gemini Gemini: a_client_that_gives_up_is_tried_again,
        who_runs_out_of_time_goes_on_with_the_conversation,
        a_client_that_stays_after_its_report_is_ended;
    opencode Opencode: a_client_that_gives_up_is_tried_again,
        who_runs_out_of_time_goes_on_with_the_conversation,
        a_client_that_stays_after_its_report_is_ended,
        who_left_work_uncommitted_is_asked_for_it_once;
}

const PLAN: &str = "- [ ] Write the parser\n";

/// A model that refuses the prompt of the first attempt, until the client gives up, and does the task in the
/// second.
pub fn gives_up_at_first(client: Client, task: u32) -> Step {
    let body = json!({"type": "error", "error": {
        "type": "invalid_request_error",
        "message": "The prompt is bad",
        "code": 400,
        "status": "INVALID_ARGUMENT",
    }});
    let second = format!("/{task}-2/out/report.md");
    let said = AtomicBool::new(false);
    let step = Step::by(move |request| {
        if request.path_ending(&second).is_none() {
            return Step::status(400, body.clone());
        }
        match said.swap(true, Ordering::Relaxed) {
            false => runs(client, &format!("flagpost done {task} Written")),
            true => Step::text("Said."),
        }
    });
    step.for_ever()
}

fn a_client_that_gives_up_is_tried_again(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    stage.script(1, [gives_up_at_first(client, 1)]);
    let run = stage.run(&["--agent", client.as_str()]);
    run.came_to(0, &["FAIL", "PASS"]);
    let first = run.told("task.ended")[0];
    assert!(
        first["words"]
            .as_str()
            .unwrap()
            .contains("The prompt is bad"),
        "{}",
        run.shown
    );
    // It begins anew, and is told why.
    assert_eq!(run.sessions(1).len(), 2, "{}", run.shown);
    assert!(
        stage
            .heard(1)
            .last()
            .unwrap()
            .contains("it exited with code")
    );
}

fn who_runs_out_of_time_goes_on_with_the_conversation(client: Client) {
    let stage = || {
        let mut stage = Stage::new(client, PLAN)?;
        stage.set(clients::NO_RELAUNCH, "");
        Some(stage)
    };
    let play = |stage: &Arc<Stage>, silences: &Silences| {
        stage.script(
            1,
            [
                runs(client, "flagpost task note 1 'Half of it'"),
                silences.of_attempt(1),
                runs(client, "flagpost done 1 Written"),
                Step::text("Said."),
            ],
        );
    };
    let (stage, run) = or_skip!(limited(client, stage, play));
    run.came_to(0, &["FAIL", "PASS"]);
    assert_eq!(run.sessions(1).len(), 1, "{}", run.shown);
    let heard = stage.heard(1);
    let last = heard.last().unwrap();
    assert!(
        last.contains("Half of it") && last.contains("Your time was up"),
        "{last}"
    );
}

/// Has the agent `wrapped` be this script around a client; `$client` starts the client itself.
fn wrap(stage: &Stage, client: Client, at_work: &str) {
    let path = stage.world.outside().join("wrapped");
    executable(
        &path,
        &format!(
            "client={client}; if [ -n \"$FLAGPOST_TASK\" ]; then {at_work}; fi; exec \"$client\" \"$@\""
        ),
    );
    for (key, value) in [
        ("like", client.as_str()),
        ("command", path.to_str().unwrap()),
    ] {
        let key = format!("run.agents.wrapped.{key}");
        stage.world.ok(["config", "set", &key, value]);
    }
}

/// As where a server that the agent started holds its client.
fn a_client_that_stays_after_its_report_is_ended(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    stage.script(
        1,
        [runs(client, "flagpost done 1 Written"), Step::text("Said.")],
    );
    wrap(&stage, client, "\"$client\" \"$@\"; exec sleep 600");
    stage.world.ok(["config", "set", "run.grace", "2s"]);
    let run = stage.run(&["--agent", "wrapped"]);
    run.came_to(0, &["PASS"]);
    let told = "task 1 is over and its client still runs";
    assert!(run.shown.contains(told), "{}", run.shown);
}

fn a_client_that_stays_after_its_report_is_shown(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    stage.script(
        1,
        [runs(client, "flagpost done 1 Written"), Step::text("Said.")],
    );
    wrap(
        &stage,
        client,
        "\"$client\" \"$@\"; until flagpost status > \"$0.seen\"; grep still \"$0.seen\"; do sleep 0.1; done; exit",
    );
    stage.world.ok(["config", "set", "run.grace", "10m"]);
    stage.run(&["--agent", "wrapped"]).came_to(0, &["PASS"]);
    let seen = fs::read_to_string(stage.world.outside().join("wrapped.seen")).unwrap();
    let row = "1 Write the parser: completed, its client still runs";
    assert!(seen.contains(row), "{seen}");
}

fn a_script_that_waits_for_the_end_of_its_input_gets_it(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    stage.script(
        1,
        [runs(client, "flagpost done 1 Written"), Step::text("Said.")],
    );
    let at_work = "cat > \"$HOME/input\"; exec \"$client\" \"$@\" < \"$HOME/input\"";
    wrap(&stage, client, at_work);
    stage.world.ok(["config", "set", "run.start_timeout", "2s"]);
    let run = stage.run(&["--agent", "wrapped"]);
    run.came_to(0, &["PASS"]);
    let told = "its client has not said that it is there for 2 s";
    assert!(run.shown.contains(told), "{}", run.shown);
    // One that reports, never speaks and does not end is ended, as one is that spoke.
    let stage = or_skip!(Stage::new(client, PLAN));
    let at_work = "cat > /dev/null; flagpost done 1 Written; exec sleep 1000";
    wrap(&stage, client, at_work);
    stage.world.ok(["config", "set", "run.start_timeout", "2s"]);
    stage.world.ok(["config", "set", "run.grace", "1s"]);
    stage.run(&["--agent", "wrapped"]).came_to(0, &["PASS"]);
}

fn who_left_work_uncommitted_is_asked_for_it_once(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    stage.script(
        1,
        [
            runs(client, "touch parser; flagpost done 1 Written"),
            Step::text("Said."),
            runs(client, "git add parser && git commit -qm mine"),
            Step::text("Committed."),
        ],
    );
    let run = stage.run(&["--agent", client.as_str(), "--worktrees"]);
    run.came_to(0, &["PASS"]);
    assert_eq!(run.sessions(1).len(), 1, "{}", run.shown);
    let heard = stage.heard(1);
    let asked = |it: &&String| it.contains("these files of your worktree are in no commit");
    assert!(heard.iter().any(|it| asked(&it)), "{}", run.shown);
    let commits = stage.git(&["log", "--format=%s", "--branches=flagpost/*", "-1"]);
    assert_eq!(commits.trim(), "mine", "{}", run.shown);
}
