//! How agents and runs are ended: by their time, by the operator, by a kill.

use std::fs;

use flagpost_testkit::{background::is_alive, race::until};
use rustix::process::Signal;

use crate::{
    exits,
    run_stage::{Stage, lines},
    says,
};

/// Three tasks, two at once; each marks that it runs and waits to be let go.
const PATIENT: &str = r#"nth; mark "runs-$task"; await go; report PASS"#;
const TWO: &[&str] = &["--max-parallel", "2"];

#[test]
fn what_an_agent_leaves_in_its_group_ends_with_it() {
    let stage = Stage::of_equal(1);
    assert_eq!(stage.run("child left; report PASS", &[]).code, 0);
    let left = stage.pid("left");
    until("the child is gone", || !is_alive(left));
    stage.assert_no_process();
}

#[test]
fn when_its_time_is_up_the_whole_group_is_ended() {
    let (stage, ran) = Stage::run_under_a_limit(
        1,
        "(child grandchild; sleep 600) & child own; await grandchild; nth; [ $n = 2 ] && mark ready; sleep 600",
        &["--retries", "2"],
    );
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("stop  1: its time is up"), "{ran}");
    let said = stage.task("1")["metadata"]["flagpost"]["result"]["text"].clone();
    assert_eq!(said, "it did not end in time");
    assert!(stage.session_file("task_log.md").contains("| FAIL | 2/2 |"));
    for name in ["own", "grandchild"] {
        let pid = stage.pid(name);
        until("it is gone", || !is_alive(pid));
    }
    stage.assert_no_process();
}

#[test]
fn who_does_not_end_when_asked_is_killed() {
    let (stage, ran) = Stage::run_under_a_limit(
        1,
        "trap 'echo no >> \"$place/asked\"' TERM; mark ready; while :; do sleep 0.05; done",
        &["--retries", "1"],
    );
    assert_eq!(ran.code, 1, "{ran}");
    assert_eq!(stage.left("asked"), "no\n");
    assert_eq!(stage.state("1"), "failed");
    stage.assert_no_process();
}

#[test]
fn who_reports_while_being_ended_is_believed() {
    let (_, ran) = Stage::run_under_a_limit(
        1,
        "trap 'report PASS; exit 0' TERM; mark ready; while :; do sleep 0.05; done",
        &["--retries", "1"],
    );
    assert_eq!(ran.code, 0, "{ran}");
}

#[test]
fn interrupted_once_it_lets_running_agents_finish() {
    let stage = Stage::of_equal(3);
    let mut run = stage.start(PATIENT, TWO);
    stage.await_mark("runs-1");
    stage.await_mark("runs-2");
    run.signal(Signal::INT);
    until("it says so", || {
        run.stderr().contains("ending: running agents may finish")
    });
    stage.mark("go");
    let ended = exits(run.end(), 1);
    assert!(
        ended
            .stdout
            .contains("2 of 3 passed, 1 not done; interrupted: run again"),
        "{ended}"
    );
    assert_eq!(stage.states(3), ["completed", "completed", "pending"]);
    assert!(!stage.marked("runs-3"));
    assert!(
        stage
            .session_file("session_summary.md")
            .contains("| 1 | Task 1 | PASS |")
    );
    assert_eq!(stage.run(PATIENT, TWO).code, 0);
    assert_eq!(stage.states(3), ["completed"; 3]);
    assert_eq!(stage.left("starts-1").len(), 1);
}

#[test]
fn interrupted_once_it_does_not_try_again_what_fails_meanwhile() {
    let stage = Stage::of_equal(2);
    let mut run = stage.start(r#"nth; mark "runs-$task"; await go; exit 1"#, TWO);
    stage.await_mark("runs-1");
    stage.await_mark("runs-2");
    run.signal(Signal::INT);
    until("it says so", || run.stderr().contains("ending:"));
    stage.mark("go");
    assert_eq!(run.end().code, 1);
    assert_eq!(stage.states(2), ["pending"; 2]);
    assert_eq!(stage.task("1")["owner"], serde_json::Value::Null);
    assert_eq!(stage.left("starts-1").len(), 1);
}

/// Sends signals while two of three agents run; they are ended, and the next run does all three.
fn stopped_by(signals: &[Signal]) {
    let stage = Stage::of_equal(3);
    let body = r#"nth
        if ! [ -e "$place/again" ]; then child "child-$task"; mark "runs-$task"; sleep 600; fi"#;
    let mut run = stage.start(body, &["--max-parallel", "2", "--json"]);
    stage.await_mark("runs-1");
    stage.await_mark("runs-2");
    for signal in signals {
        run.signal(*signal);
        // Two signals of one kind that come at once are one.
        until("it says so", || run.stdout().contains("session.draining"));
    }
    let ended = exits(run.end(), 1);
    let last = lines(&ended.stdout).pop().unwrap();
    assert_eq!(last["interrupted"], true, "{ended}");
    assert_eq!(
        [&last["passed"], &last["failed"], &last["skipped"]],
        [0, 0, 3]
    );
    assert_eq!(stage.states(3), ["pending"; 3]);
    stage.archived();
    stage.assert_no_process();
    let told = stage.world.ok(["session", "list"]);
    assert!(told.contains("2 stopped, 1 never begun"), "{told}");
    stage.mark("again");
    exits(stage.run(body, TWO), 0);
    let starts = ["starts-1", "starts-2", "starts-3"].map(|name| stage.left(name).len());
    assert_eq!(starts, [2, 2, 1]);
}

#[test]
fn interrupted_twice_it_ends_the_agents() {
    stopped_by(&[Signal::INT, Signal::INT]);
}

#[test]
fn told_to_end_or_left_by_its_terminal_it_ends_the_agents_at_once() {
    stopped_by(&[Signal::TERM]);
    stopped_by(&[Signal::HUP]);
}

#[test]
fn a_run_that_is_to_outlive_its_terminal_does() {
    let stage = Stage::of_equal(1);
    let agent = stage.agent(PATIENT);
    let mut command = stage.world.command_of("env");
    command
        .args([
            "--ignore-signal=HUP,INT",
            env!("CARGO_BIN_EXE_flagpost"),
            "run",
            "--agent",
        ])
        .arg(&agent);
    let mut run = flagpost_testkit::background::Background::start(&mut command);
    stage.await_mark("runs-1");
    run.signal(Signal::HUP);
    run.signal(Signal::INT);
    stage.mark("go");
    exits(run.end(), 0);
}

#[test]
fn killed_it_is_recovered_by_the_next_run_with_nothing_left_running() {
    let stage = Stage::of_equal(3);
    let body = r#"nth; [ $n = 1 ] || exit 0; child "child-$task"; mark "runs-$task"; sleep 600"#;
    let mut run = stage.start(body, TWO);
    stage.await_mark("runs-1");
    stage.await_mark("runs-2");
    run.signal(Signal::KILL);
    assert_eq!(run.end().code, -1);
    assert_eq!(stage.states(3), ["in_progress", "in_progress", "pending"]);
    let left = [stage.pid("child-1"), stage.pid("child-2")];
    says(
        stage.run("nth; exit 0", TWO),
        0,
        &["recovered a dead session: 2 tasks given back"],
    );
    assert_eq!(stage.states(3), ["completed"; 3]);
    for pid in left {
        until("it is gone", || !is_alive(pid));
    }
    stage.assert_no_process();
    let interrupted = stage.ended().into_iter().filter(|dir| {
        dir.file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with("interrupted-")
    });
    assert_eq!(interrupted.count(), 1);
}

#[test]
fn killed_after_its_last_task_it_is_put_in_order_by_the_next_run() {
    let stage = Stage::of_equal(2);
    // The other agent outlives the runner and completes its task by its own word.
    let body = r#"nth
        if [ $task = 1 ]; then await other; kill -9 "$(runner)"; sleep 600; fi
        mark other; report PASS; mark over"#;
    exits(stage.start(body, TWO).end(), -1);
    stage.await_mark("over");
    for id in ["1", "2"] {
        if stage.state(id) != "completed" {
            stage.world.ok(["task", "release", id, "--force"]);
            stage.world.ok(["done", id]);
        }
    }
    let ran = exits(stage.run("exit 0", TWO), 0);
    assert!(ran.stdout.contains("nothing to run"), "{ran}");
    let left = fs::read_dir(stage.live()).into_iter().flatten();
    let left: Vec<_> = left.map(|it| it.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
    stage.assert_no_process();
}

#[test]
fn agents_of_a_session_before_the_last_are_ended_too() {
    let stage = Stage::of_equal(1);
    let mut first = stage.start("mark runs; child old; sleep 600", &[]);
    stage.await_mark("runs");
    let old = stage.pid("old");
    first.signal(Signal::KILL);
    first.end();
    // Moved away, as by a runner that died before it ended them.
    let away = stage.sessions().join("interrupted-20260513-142500-4f2a");
    fs::rename(stage.live(), away).unwrap();
    fs::create_dir(stage.live()).unwrap();
    assert!(is_alive(old));
    assert_eq!(stage.run("exit 0", &[]).code, 0);
    until("it is gone", || !is_alive(old));
    stage.assert_no_process();
}

#[test]
fn agents_of_another_repository_are_left_alone_though_their_session_has_the_same_name() {
    let (ours, theirs) = (Stage::of_equal(1), Stage::of_equal(1));
    let mut their_run = theirs.start(PATIENT, &[]);
    theirs.await_mark("runs-1");
    let mut our_run = ours.start(PATIENT, &[]);
    ours.await_mark("runs-1");
    our_run.signal(Signal::KILL);
    our_run.end();
    assert_eq!(ours.run("exit 0", &[]).code, 0);
    assert!(their_run.is_running());
    theirs.mark("go");
    exits(their_run.end(), 0);
    assert_eq!(theirs.left("starts-1").len(), 1);
}

#[test]
fn of_a_killed_run_every_task_is_accounted_for_and_what_was_said_is_found() {
    let mut stage = Stage::new("- [ ] A\n- [ ] B\n- [ ] C\n- [ ] D (after: 2, 3)\n");
    stage.world.set("COLUMNS", "160");
    let body = r#"
        if [ "$task" = 1 ]; then report PASS; exit 0; fi
        child "child-$task"; mark "runs-$task"; sleep 600"#;
    let mut run = stage.start(body, &[]);
    stage.await_mark("runs-2");
    stage.await_mark("runs-3");
    let told = |words: &str| stage.world.ok(["session", "list"]).contains(words);
    until("the first has ended", || {
        told("live") && told("1 ended, 2 active, 1 not begun yet")
    });
    run.signal(Signal::KILL);
    run.end();
    assert!(stage.processes().len() >= 2, "its agents outlive it");
    let told_then = stage.world.ok(["session", "recover"]);
    // Who asks wants to know of agents, not of what they had started.
    assert!(told_then.contains("ended 2 agents\n"), "{told_then}");
    stage.assert_no_process();
    let counts = "1 ended, 2 broken off, 1 never begun";
    assert!(told(counts), "{}", stage.world.ok(["session", "list"]));

    let (_, all) = stage.world.json(["session", "list"]);
    let session = &all["sessions"][0];
    let (name, thread) = (&session["id"], &session["thread"]);
    let [name, thread] = [name, thread].map(|it| it.as_str().unwrap());
    assert!(name.starts_with("interrupted-"), "{name}");
    let shown = stage.world.ok(["session", "show", name]);
    assert!(shown.contains(&format!("  thread {thread}\n")), "{shown}");
    assert!(shown.contains("  broken off 2 B (try 1 of 3)\n"), "{shown}");
    let said = stage.world.ok(["msg", "thread", thread]);
    assert_eq!(said.matches(" TASK ").count(), 3, "{said}");
    assert_eq!(stage.world.ok(["msg", "thread", name]), said);
    assert_eq!(stage.world.flagpost(["msg", "thread", "epic-9"]).code, 3);
}

#[test]
fn what_was_reported_to_a_run_that_died_counts_and_is_kept() {
    let stage = Stage::of_equal(2);
    let body = r#"
        [ "$task" = 1 ] && report PASS || report FAIL
        mark "said-$task"; sleep 600"#;
    let mut run = stage.start(body, TWO);
    stage.await_mark("said-1");
    stage.await_mark("said-2");
    run.signal(Signal::KILL);
    run.end();
    stage.world.ok(["session", "recover"]);
    stage.assert_no_process();
    assert_eq!(stage.states(2), ["completed", "pending"]);
    for (task, said) in [(1, "PASS"), (2, "FAIL")] {
        let ended = stage.ended().pop().unwrap();
        let kept = fs::read_to_string(ended.join(format!("result-task-{task}.md"))).unwrap();
        assert!(kept.contains(said), "{kept}");
    }
}

#[test]
fn what_an_agent_leaves_running_outside_its_group_is_ended_with_its_attempt() {
    let stage = Stage::new("- [ ] A\n- [ ] B\n");
    // It is out of the group before the agent ends.
    let body = r#"setsid sh -c 'echo $$ > "$0.new"; mv "$0.new" "$0"; exec sleep 600' "$place/left-$task" \
            > /dev/null 2>&1 &
        await "left-$task"; report PASS"#;
    let ran = stage.run(body, &[]);
    assert_eq!(ran.code, 0, "{ran}");
    for task in ["1", "2"] {
        let told = format!("task {task}: what its agent left running was ended");
        assert!(ran.stderr.contains(&told), "{ran}");
        let left = stage.pid(&format!("left-{task}"));
        until("it is gone", || !is_alive(left));
    }
}
