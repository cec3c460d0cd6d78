//! Others who work on the list while it is run: people, agents, programs that know nothing of us.

use std::fs;

use flagpost_testkit::race::until;
use serde_json::json;

use crate::{exits, run_stage::Stage, says};

/// Marks that it runs, waits for what the test does, and reports success.
const PATIENT: &str = r#"nth; mark "runs-$task"; await go; report PASS "the run's""#;

#[test]
fn a_claim_that_was_taken_away_is_not_taken_back() {
    let stage = Stage::new("- [ ] A\n- [ ] B (after: 1)\n- [ ] C\n");
    let run = stage.start(PATIENT, &[]);
    stage.await_mark("runs-1");
    stage.world.ok(["task", "release", "1", "--force"]);
    // Under the very name that the run's agent has.
    stage.world.ok(["claim", "1", "--as", "run-1"]);
    stage.mark("go");
    let ended = exits(run.end(), 1);
    assert!(
        ended.stdout.contains("1 of 3 passed, 1 failed, 1 not done"),
        "{ended}"
    );
    assert_eq!(stage.states(3), ["claimed", "pending", "completed"]);
    let task = stage.task("1");
    assert_eq!(task["owner"], "run-1");
    // What the run's agent said is not lost.
    assert!(task.to_string().contains("the run's"), "{task}");
    assert_eq!(stage.left("starts-1").len(), 1);
}

#[test]
fn a_task_that_somebody_else_completed_meanwhile_counts_as_done() {
    let stage = Stage::new("- [ ] A\n- [ ] B (after: 1)\n");
    let run = stage.start(
        r#"nth; mark "runs-$task"; await go; exit 3"#,
        &["--retries", "2"],
    );
    stage.await_mark("runs-1");
    // As a program does that knows only the first of the fields.
    let path = stage.world.list("web").join("1.json");
    let mut task = stage.task("1");
    task["status"] = json!("completed");
    let beside = path.with_file_name(".1.foreign");
    fs::write(&beside, task.to_string()).unwrap();
    fs::rename(beside, &path).unwrap();
    stage.mark("go");
    says(run.end(), 1, &["passed 1 A"]);
    assert_eq!(
        [stage.left("starts-1").len(), stage.left("starts-2").len()],
        [1, 2]
    );
    assert_eq!(stage.task("1")["status"], "completed");
}

#[test]
fn an_acknowledged_end_stands_though_the_file_is_taken_away() {
    let stage = Stage::new("- [ ] A\n- [ ] B (after: 1)\n");
    let list = stage.world.list("web");
    let body = format!(
        r#"nth; flagpost done ok; [ $task != 1 ] || rm "{}/1.json""#,
        list.display()
    );
    exits(stage.run(&body, &[]), 0);
    assert_eq!(stage.left("starts-2").len(), 1);
    assert_eq!(stage.task("2")["status"], "completed");
}

#[test]
fn who_wants_to_cancel_a_task_that_runs_is_told_how_to_stop_it() {
    let stage = Stage::of_equal(1);
    let run = stage.start(PATIENT, &[]);
    stage.await_mark("runs-1");
    says(
        stage.world.flagpost(["task", "cancel", "1"]),
        4,
        &["'flagpost stop 1' ends the run's agent that has this one"],
    );
    stage.world.ok(["stop", "1"]);
    until("it is stopped", || run.stderr().contains("interrupted 1"));
    stage.world.ok(["task", "cancel", "1"]);
    run.end();
    assert_eq!(stage.states(1), ["cancelled"]);
}

/// Each way to lose a task is told as what it is.
#[test]
fn a_task_that_is_not_the_runs_any_more_says_why() {
    let stage = Stage::new("- [ ] A\n- [ ] B (after: 1)\n- [ ] C (after: 1)\n- [ ] D (after: 1)\n");
    let path = |id: &str| stage.world.list("web").join(format!("{id}.json"));
    let run = stage.start(PATIENT, &[]);
    stage.await_mark("runs-1");
    fs::write(path("2"), "no task").unwrap();
    fs::remove_file(path("3")).unwrap();
    stage.world.ok(["task", "cancel", "4"]);
    until("all is told", || {
        run.stderr().matches("skipped").count() == 3
    });
    fs::remove_file(path("1")).unwrap();
    stage.mark("go");
    let ended = exits(run.end(), 1);
    let file = path("2").display().to_string();
    for told in [
        "failed 1 A (0 s): somebody removed the task while it ran\n",
        &format!("skipped 2 B: its file cannot be read: {file} is malformed: "),
        "skipped 3 C: somebody removed it\n",
        "skipped 4 D: somebody cancelled it\n",
    ] {
        assert!(ended.stderr.contains(told), "{told}: {ended}");
    }
}

#[test]
fn a_task_that_its_agent_cancels_is_not_tried_again() {
    let stage = Stage::new("- [ ] A\n- [ ] B\n");
    says(
        stage.run(r#"nth; [ $task = 2 ] || flagpost task cancel 1"#, &[]),
        1,
        &["the task was cancelled while it ran"],
    );
    assert_eq!(stage.left("starts-1").len(), 1);
    assert_eq!(stage.states(2), ["cancelled", "completed"]);
}

#[test]
fn a_task_that_was_done_before_its_turn_is_not_done_again() {
    let stage = Stage::new("- [ ] A\n- [ ] B\n");
    let run = stage.start(PATIENT, &["--max-parallel", "1"]);
    stage.await_mark("runs-1");
    stage.world.ok(["done", "2", "by hand"]);
    stage.mark("go");
    exits(run.end(), 0);
    assert_eq!(stage.left("starts-2"), "");
    let said = &stage.task("2")["metadata"]["flagpost"]["result"]["text"];
    assert_eq!(said, "by hand");
}

#[test]
fn a_task_that_somebody_holds_is_left_to_them() {
    let stage = Stage::new("- [ ] A\n- [ ] B\n- [ ] C (after: 1)\n");
    stage.world.ok(["claim", "1", "--as", "W3"]);
    let ran = exits(stage.run("nth", &[]), 1);
    assert!(ran.stdout.contains("1 of 3 passed, 2 not done"), "{ran}");
    assert!(ran.stderr.contains("W3"), "{ran}");
    assert_eq!(stage.states(3), ["claimed", "completed", "pending"]);
}

#[test]
fn tasks_that_are_added_meanwhile_are_left_for_the_next_run() {
    let stage = Stage::of_equal(1);
    let run = stage.start(
        r#"nth; [ $task != 1 ] || flagpost add "More" > /dev/null"#,
        &[],
    );
    assert_eq!(run.end().code, 0);
    assert_eq!(stage.states(2), ["completed", "pending"]);
    assert_eq!(stage.run("exit 0", &[]).code, 0);
    assert_eq!(stage.states(2), ["completed"; 2]);
}

#[test]
fn a_list_that_is_locked_for_a_while_is_waited_for() {
    let stage = Stage::of_equal(2);
    let run = stage.start(PATIENT, &[]);
    stage.await_mark("runs-2");
    until("both have begun", || run.stderr().contains("start 2"));
    let lock = fs::File::open(stage.world.list("web").join(".lock")).unwrap();
    lock.lock().unwrap();
    stage.mark("go");
    // They end while the list is locked.
    let log = stage.live().join("result-task-2.md");
    until("one has reported", || log.exists());
    lock.unlock().unwrap();
    exits(run.end(), 0);
}

#[test]
fn an_agent_that_cleans_the_repository_ends_nobody_else() {
    let stage = Stage::new("- [ ] A\n- [ ] B\n- [ ] C (after: 2)\n");
    let ended = stage.run(
        r#"if [ "$task" = 1 ]; then await runs-2; git clean -fdxq; mark cleaned; exit 0; fi
           mark "runs-$task"; await cleaned; mkdir -p "$session"; report PASS "the work of $task""#,
        &[],
    );
    assert_eq!(ended.code, 0, "{ended}");
    assert!(ended.stderr.contains("begun anew"), "{ended}");
    assert_eq!(stage.states(3), ["completed", "completed", "completed"]);
    let log = stage.session_file("task_log.md");
    assert!(log.contains("| 3 | C | PASS |"), "{log}");
}
