//! `stop`: from another terminal, for one task or the whole run.

use std::fs;

use crate::{
    exits,
    run_stage::{Stage, lines},
    says,
};

/// Says that it runs, and waits until it may go on.
const PATIENT: &str = r#"nth; mark "runs-$task"; await go; report PASS"#;

fn stage() -> Stage {
    Stage::new("- [ ] Task 1\n- [ ] Task 2\n- [ ] Task 3 (after: 1)\n- [ ] Task 4 (after: 2)\n")
}

#[test]
fn one_task_is_stopped_and_not_tried_again_and_the_others_go_on() {
    let stage = stage();
    let run = stage.start(PATIENT, &[]);
    stage.await_mark("runs-1");
    stage.await_mark("runs-2");
    let asked = stage.world.ok(["stop", "1"]);
    assert_eq!(
        asked,
        "session exec-session-20260513-142500 stops 1 Task 1\n"
    );
    flagpost_testkit::race::until("it is stopped", || run.stderr().contains("interrupted 1"));
    stage.mark("go");
    let ended = says(run.end(), 1, &["  stop  1: the operator stopped it\n"]);
    assert!(
        ended.stdout.starts_with("2 of 4 passed, 2 not done\n"),
        "{ended}"
    );
    assert_eq!(
        stage.states(4),
        ["pending", "completed", "pending", "completed"]
    );
    assert_eq!(stage.left("starts-1").len(), 1);
    // Who asked is on record, and the run's own account says what became of it.
    let history = stage.history();
    let told = history.iter().find(|it| it["kind"] == "session.stop_asked");
    let told = told.unwrap();
    tells!(told, {"actor": "ann", "detail/task": "1"});
    let events = stage.events();
    let settled = events
        .iter()
        .find(|it| it["event"] == "task.settled" && it["task"] == "1")
        .unwrap();
    tells!(settled, {"fate": "interrupted", "why": "it was stopped by the operator"});
    // The next run does it.
    assert_eq!(stage.run("report PASS", &[]).code, 0);
    assert_eq!(stage.states(4), ["completed"; 4]);
}

#[test]
fn a_run_that_is_asked_to_end_lets_its_agents_finish() {
    let stage = stage();
    let run = stage.start(PATIENT, &[]);
    stage.await_mark("runs-2");
    let asked = stage.world.ok(["stop"]);
    assert!(
        asked.contains("ends when its running agents have"),
        "{asked}"
    );
    flagpost_testkit::race::until("it drains", || run.stderr().contains("ending: "));
    // To be asked twice is not to be asked to hurry.
    stage.world.ok(["stop"]);
    stage.mark("go");
    let ended = run.end();
    assert!(
        ended
            .stdout
            .starts_with("2 of 4 passed, 2 not done; interrupted"),
        "{ended}"
    );
    assert_eq!(
        stage.states(4),
        ["completed", "completed", "pending", "pending"]
    );
    let left = fs::read_dir(stage.archived()).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name());
    let requests = left.filter(|name| name.to_string_lossy().ends_with(".request"));
    assert!(requests.count() <= 1);
}

#[test]
fn a_run_that_is_asked_to_end_now_stops_its_agents() {
    let stage = stage();
    let run = stage.start(PATIENT, &[]);
    stage.await_mark("runs-2");
    let answer = stage.world.ok(["stop", "--now", "--json"]);
    let answer = &lines(&answer)[0];
    tells!(answer, {
        "schema": "flagpost.stop_asked/1", "now": true, "task": null, "already": false,
    });
    exits(run.end(), 1);
    assert_eq!(stage.states(4), ["pending"; 4]);
    stage.assert_no_process();
}

/// Nothing of it runs that would wake the runner.
#[test]
fn a_run_that_stays_for_answers_is_stopped_too() {
    let stage = Stage::of_equal(1);
    let run = stage.start(
        "flagpost stuck 1 'Which one?' > /dev/null",
        &["--wait-for-answers"],
    );
    flagpost_testkit::race::until("it stays", || run.stderr().contains("the run stays"));
    stage.world.ok(["stop"]);
    let ended = run.end();
    assert!(ended.stdout.starts_with("0 of 1 passed"), "{ended}");
    assert!(
        ended.stdout.contains("flagpost answer 1 'WORDS'\n"),
        "{ended}"
    );
    assert_eq!(stage.states(1), ["stuck"]);
}

#[test]
fn a_request_may_be_made_by_hand() {
    let stage = stage();
    let run = stage.start(PATIENT, &[]);
    stage.await_mark("runs-2");
    fs::write(stage.live().join("stop-task-1.request"), "").unwrap();
    fs::write(stage.live().join("stop-task-..request"), "").unwrap();
    fs::write(stage.live().join("stop-task-77.request"), "\u{0}").unwrap();
    flagpost_testkit::race::until("it is stopped", || run.stderr().contains("interrupted 1"));
    stage.mark("go");
    assert!(run.end().stdout.starts_with("2 of 4 passed"));
}

#[test]
fn what_does_not_run_is_not_stopped() {
    let mut stage = stage();
    let refused = |stage: &Stage, args: &[&str], code: i32, words: &str| {
        let ran = stage.world.flagpost(args);
        assert_eq!(ran.code, code, "{args:?}: {ran}");
        assert!(ran.stderr.contains(words), "{args:?}: {ran}");
    };
    refused(&stage, &["stop"], 3, "no run is under way in ");
    refused(&stage, &["stop", "1"], 3, "no run is under way in ");
    let run = stage.start(PATIENT, &[]);
    stage.await_mark("runs-2");
    refused(&stage, &["stop", "9"], 3, "there is no task 9");
    refused(
        &stage,
        &["stop", "3"],
        4,
        "task 3 does not run in session exec-",
    );
    refused(&stage, &["stop", "1", "--now"], 2, "cannot be used with");
    stage.world.ok(["add", "Elsewhere", "--list", "other"]);
    refused(
        &stage,
        &["stop", "1", "--list", "other"],
        3,
        "no run is under way for list other, in any repository",
    );
    refused(
        &stage,
        &["stop", "--list", "other"],
        3,
        "no run is under way for list other",
    );
    refused(&stage, &["stop", "--list", "nowhere"], 3, "no list nowhere");
    stage.world.set("FLAGPOST_WORKER", "run-1");
    refused(&stage, &["stop"], 4, "run-1 stops nobody");
    refused(&stage, &["stop", "2"], 4, "run-1 stops nobody");
    stage.world.unset("FLAGPOST_WORKER");
    stage.mark("go");
    assert_eq!(run.end().code, 0);
    refused(&stage, &["stop"], 3, "no run is under way in ");
}

#[test]
fn a_run_is_found_by_its_list_from_anywhere() {
    let stage = stage();
    let elsewhere = stage.world.outside().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let mut init = stage.world.command_of("git");
    init.arg("init").current_dir(&elsewhere);
    assert_eq!(stage.world.run(&mut init).code, 0);
    let there = |args: &[&str]| {
        let mut command = stage.world.command();
        stage.world.run(command.args(args).current_dir(&elsewhere))
    };
    assert_eq!(there(&["add", "Theirs"]).code, 0);
    let run = stage.start(PATIENT, &[]);
    stage.await_mark("runs-1");
    stage.await_mark("runs-2");
    exits(there(&["stop"]), 3);
    let asked = there(&["stop", "1", "--list", "web"]);
    assert_eq!(
        asked.stdout,
        "session exec-session-20260513-142500 in [dir]/web stops 1 Task 1\n",
    );
    assert_eq!(there(&["stop", "--now", "--list", "web"]).code, 0);
    let ended = run.end();
    assert!(ended.stdout.starts_with("0 of 4 passed"), "{ended}");
}

#[test]
fn another_programs_run_is_not_asked() {
    let stage = Stage::of_equal(1);
    fs::create_dir_all(stage.live()).unwrap();
    let lock = format!(
        "task_execution_id: theirs-1\ntimestamp: 2026-05-13T14:24:00Z\npid: {}\n",
        std::process::id()
    );
    fs::write(stage.live().join(".lock"), lock).unwrap();
    says(
        stage.world.flagpost(["stop"]),
        4,
        &["session theirs-1 is run by another program"],
    );
}
