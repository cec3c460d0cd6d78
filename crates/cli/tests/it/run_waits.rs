//! A lock that somebody holds for long, in the middle of a run: the run waits for it, its agents go on,
//! and nothing that they did is lost or done again.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process,
    time::{Duration, Instant},
};

use flagpost_testkit::{
    background::{Background, is_alive},
    patience::under_a_limit,
    race::until,
};
use rustix::process::Signal;

use crate::{exits, run_stage::Stage, says};

/// Task 1 ends when it is told to, task 2 goes on until it is told to, task 3 comes after both.
const PLAN: &str = "- [ ] Work\n- [ ] Stay\n- [ ] Next (after: 1, 2)\n";

const AGENT: &str = r#"
trace start
case $task in
    1) mark works; await go ;;
    2) child left; mark stays; await enough ;;
esac
report PASS"#;

const WAITS: &str = "waiting until the lock is free";

/// Holds a lock as another program would, with its note.
fn hold(path: &Path) -> File {
    let mut lock = File::options();
    let lock = lock.write(true).create(true).truncate(true).open(path);
    let lock = lock.unwrap();
    lock.lock().unwrap();
    let pid = process::id();
    let note = format!("pid: {pid}\ncommand: flagpost\nsince: 2026-05-13T14:20:00Z\n");
    fs::write(path, note).unwrap();
    lock
}

fn lock_of_list(stage: &Stage) -> PathBuf {
    stage.world.list("web").join(".lock")
}

fn lock_of_history(stage: &Stage) -> PathBuf {
    stage.mail().with_file_name(".history.lock")
}

/// A run both of whose agents are at work.
fn begun(stage: &Stage) -> Background {
    let run = stage.start(AGENT, &[]);
    stage.await_mark("works");
    stage.await_mark("stays");
    // What is recorded of their beginning is recorded.
    until("both are told of", || {
        run.stderr().matches("  start ").count() == 2
    });
    run
}

fn started(stage: &Stage, task: &str) -> usize {
    let trace = stage.left("trace");
    let start = format!("start {task}");
    trace.lines().filter(|line| **line == start).count()
}

#[test]
fn a_lock_that_is_held_for_long_is_waited_for() {
    let holder = format!("is locked by pid {} (flagpost)", process::id());
    for lock in [lock_of_list, lock_of_history] {
        let stage = Stage::new(PLAN);
        let mut run = begun(&stage);
        let held = hold(&lock(&stage));
        stage.mark("go");
        until("it waits", || run.stderr().contains(WAITS));
        assert!(run.stderr().contains(&holder), "{}", run.stderr());
        assert!(is_alive(stage.pid("left")));
        stage.mark("enough");
        assert!(run.is_running());
        assert_eq!(started(&stage, "3"), 0);
        drop(held);
        let ran = exits(run.end(), 0);
        assert!(ran.stdout.contains("3 of 3 passed"), "{ran}");
        assert_eq!(ran.stderr.matches(WAITS).count(), 1, "{ran}");
        assert_eq!(ran.stderr.matches("going on").count(), 1, "{ran}");
        for task in ["1", "2", "3"] {
            assert_eq!(started(&stage, task), 1, "{ran}");
        }
        let told = |event: &str| stage.events().iter().any(|it| it["event"] == event);
        assert!(told("session.waits") && told("session.goes_on"));
    }
}

#[test]
fn claims_are_renewed_while_it_waits_for_something_else() {
    let stage = Stage::in_world(crate::world().with("FLAGPOST_CLAIM_LEASE", "3s"), PLAN);
    let run = begun(&stage);
    let renewals = || {
        let history = stage.history().into_iter();
        let of_2 = history.filter(|it| it["kind"] == "task.renewed" && it["task"] == "2");
        of_2.count()
    };
    let started = stage.history().into_iter();
    let mut started = started.filter(|it| it["kind"] == "task.started" && it["task"] == "1");
    let worker = started.next().unwrap()["actor"]
        .as_str()
        .unwrap()
        .to_owned();
    let held = hold(&stage.mail().join(worker).join("outbox/.lock"));
    stage.mark("go");
    until("it waits", || run.stderr().contains(WAITS));
    let before = renewals();
    until("a claim is renewed", || renewals() > before);
    assert!(!run.stderr().contains("going on"), "{}", run.stderr());
    drop(held);
    stage.mark("enough");
    exits(run.end(), 0);
}

#[test]
fn ctrl_c_while_it_waits_lets_agents_finish() {
    let stage = Stage::new(PLAN);
    let mut run = begun(&stage);
    let held = hold(&lock_of_history(&stage));
    stage.mark("go");
    until("it waits", || run.stderr().contains(WAITS));
    run.signal(Signal::INT);
    until("it is heard", || run.stderr().contains("ending: running"));
    stage.mark("enough");
    drop(held);
    let ran = exits(run.end(), 1);
    assert!(ran.stdout.contains("interrupted"), "{ran}");
    assert_eq!(stage.states(3), ["completed", "completed", "pending"]);
}

#[test]
fn ctrl_c_twice_while_it_waits_ends_it() {
    let stage = Stage::new(PLAN);
    let mut run = begun(&stage);
    let left = stage.pid("left");
    let held = hold(&lock_of_list(&stage));
    stage.mark("go");
    until("it waits", || run.stderr().contains(WAITS));
    run.signal(Signal::INT);
    until("it is heard", || run.stderr().contains("ending: running"));
    run.signal(Signal::INT);
    let ended = says(
        run.end(),
        5,
        &[
            "is dead, and its agent was stopped",
            "hint: 'flagpost run' goes on with what is left",
        ],
    );
    assert!(!ended.stderr.contains("going on"), "{ended}");
    until("the agents are gone", || !is_alive(left));
    drop(held);
    let ran = exits(stage.run("report PASS", &[]), 0);
    // What task 1 said of itself is heard, and it is not done again.
    assert!(ran.stdout.contains("2 of 2 passed"), "{ran}");
    assert_eq!(stage.states(3), ["completed", "completed", "completed"]);
}

#[test]
fn who_ended_in_time_is_not_late_because_the_run_waited() {
    // Nothing but the exit code speaks for them.
    let agent = AGENT.replace("report PASS", "mark \"ends-$task\"; exit 0");
    let (stage, ran) = under_a_limit(Duration::from_secs(8), |limit| {
        let stage = Stage::new(PLAN);
        let began = Instant::now();
        let run = stage.start(&agent, &["--timeout", &format!("{}s", limit.as_secs())]);
        stage.await_mark("works");
        stage.await_mark("stays");
        let held = hold(&lock_of_list(&stage));
        stage.mark("go");
        stage.mark("enough");
        stage.await_mark("ends-1");
        stage.await_mark("ends-2");
        let took = began.elapsed();
        until("it waits", || run.stderr().contains(WAITS));
        until("their time is over", || began.elapsed() > limit);
        drop(held);
        let ran = run.end();
        (took < limit / 2).then_some((stage, ran))
    });
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(
        [started(&stage, "1"), started(&stage, "2")],
        [1, 1],
        "{ran}"
    );
}

#[test]
fn a_lock_that_is_held_before_anything_runs_ends_it() {
    let stage = Stage::new(PLAN);
    let _held = hold(&lock_of_list(&stage));
    let ran = exits(stage.run("report PASS", &[]), 5);
    assert!(!ran.stderr.contains(WAITS), "{ran}");
}
