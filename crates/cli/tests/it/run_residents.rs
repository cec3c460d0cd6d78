//! A run over resident workers: shells that know `flagpost msg` and nothing else.

use std::{
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use flagpost_testkit::{
    background::Background, patience::under_a_limit, race::until, sealed::World,
};
use serde_json::Value;

use crate::{
    messages_by_agents::{Children, listed, on_the_path, program, worker},
    run_stage::Stage,
};

/// A plan, and workers that were just seen.
pub fn stage(plan: &str, workers: &[&str]) -> Stage {
    let stage = Stage::new(plan);
    on_the_path(&stage.world);
    for worker in workers {
        now(&stage.world, &["worker", "add", worker]);
        now(&stage.world, &["worker", "heartbeat", "--as", worker]);
    }
    stage
}

/// A verb on the machine's own clock: what it prints.
pub fn now(world: &World, args: &[&str]) -> String {
    let mut command = world.command();
    let ran = world.run(command.env_remove("FLAGPOST_CLOCK").args(args));
    assert_eq!(ran.code, 0, "{ran}");
    ran.stdout
}

pub fn run(world: &World, args: &[&str]) -> Command {
    let mut command = program(world, "flagpost");
    command.arg("run").args(args).stderr(Stdio::null());
    command
}

pub fn crew(stage: &Stage, workers: &[&str], command: &[&str]) -> Children {
    let all = workers.iter();
    Children(
        all.map(|name| worker(&stage.world, "dash", name, command))
            .collect(),
    )
}

pub fn success(mut child: Child) -> bool {
    child.wait().unwrap().success()
}

/// How often each of these was recorded.
fn counts<const N: usize>(stage: &Stage, kinds: [&str; N]) -> [usize; N] {
    let history = stage.history();
    kinds.map(|kind| history.iter().filter(|it| it["kind"] == kind).count())
}

pub fn with_subject(stage: &Stage, subject: &str) -> Vec<Value> {
    let mut all = listed(&stage.world);
    all.retain(|it| it["message"]["subject"] == subject);
    all
}

#[test]
fn three_workers_do_what_the_list_says_in_its_order() {
    let plan = "- [ ] Parse\n- [ ] Print\n- [ ] Join (after: 1, 2)\n- [ ] Ship (after: 3)\n";
    let workers = ["W1", "W2", "W3"];
    let stage = stage(plan, &workers);
    let _crew = crew(&stage, &workers, &["cat"]);
    assert!(success(
        run(&stage.world, &["--workers", "W1,W2,W3"])
            .spawn()
            .unwrap()
    ));
    assert_eq!(stage.states(4), ["completed"; 4]);
    let asked = ["task.completed", "message.acked", "session.ended"];
    let [completed, acked, _] = counts(&stage, asked);
    assert_eq!(completed, 4);
    // A TASK by its worker; a PROGRESS and a DONE by the run.
    assert_eq!(acked, 12);
    tells!(stage.task("1"), {"metadata/flagpost/result/text": "Parse"});
    let tasks = with_subject(&stage, "TASK");
    let last = &tasks
        .iter()
        .find(|it| it["message"]["data"]["bead_id"] == "4");
    let body = &last.unwrap()["message"]["data"];
    assert_eq!((&body["bead_num"], &body["total"]), (&4.into(), &4.into()));
    let prior = body["prior_summaries"].as_array().unwrap();
    assert_eq!(prior[0], "3: Join", "what it waited for comes first");
    assert_eq!(prior.len(), 3);
}

#[test]
fn a_worker_that_is_not_there_is_refused_before_anything_starts() {
    let stage = Stage::new("- [ ] One\n");
    stage.world.ok(["worker", "add", "W1"]);
    let later = "2026-05-13T16:00:00Z";
    let mut command = stage.world.command();
    let ran =
        stage.world.run(
            command
                .env("FLAGPOST_CLOCK", later)
                .args(["run", "--workers", "W1"]),
        );
    assert_eq!(ran.code, 4, "{ran}");
    assert!(ran.stderr.contains("worker W1 is not live"), "{ran}");
    stage.world.ok(["worker", "heartbeat", "--as", "W1"]);
    let ran = stage.world.flagpost(["run", "--workers", "W1,W7"]);
    assert_eq!(ran.code, 3, "{ran}");
    let ran = stage.world.flagpost(["run", "--workers", "W1,W1"]);
    assert_eq!(ran.code, 2, "{ran}");
    let ran = stage
        .world
        .flagpost(["run", "--workers", "W1", "--worktrees"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(!stage.live().exists());
    assert_eq!(stage.state("1"), "pending");
}

#[test]
fn a_question_waits_for_the_operators_reply() {
    let stage = stage("- [ ] Do it\n", &["W1"]);
    let agent = r#"read -r line; case $line in
        Do*) echo 'Which one?' >&2; exit 1 ;;
        *) echo "took $line" ;;
    esac"#;
    let _crew = crew(&stage, &["W1"], &["sh", "-c", agent]);
    let ran = run(&stage.world, &["--workers", "W1"]).spawn().unwrap();
    until("it waits for a person", || {
        now(&stage.world, &["status"]).contains("Which one?")
    });
    let status = now(&stage.world, &["status"]);
    assert!(status.contains("flagpost answer 1 'WORDS'"), "{status}");
    now(&stage.world, &["answer", "1", "the first"]);
    assert!(success(ran));
    tells!(stage.task("1"), {"metadata/flagpost/result/text": "took the first"});
    assert!(!now(&stage.world, &["status"]).contains("Which one?"));
}

/// One report of a worker that a person plays: what it is of, and its words.
fn says(stage: &Stage, worker: &str, report: &str, words: &str) {
    let line = format!("msg send --as {worker} --subject {report}");
    let line: Vec<&str> = line.split(' ').chain([words]).collect();
    now(&stage.world, &line);
}

fn completes(stage: &Stage, worker: &str, task: &str, words: &str) {
    says(stage, worker, &format!("DONE --task {task}"), words);
}

/// Waits until the worker has a task, and takes it.
fn takes(stage: &Stage, worker: &str) -> String {
    let line = format!("msg recv --wait --as {worker} --subject TASK --quiet");
    let place = now(&stage.world, &line.split(' ').collect::<Vec<_>>());
    let place = place.trim();
    now(&stage.world, &["msg", "ack", place, "--as", worker]);
    let task = ["msg", "show", place, "--field", "bead_id"];
    now(&stage.world, &task).trim().to_owned()
}

#[test]
fn a_worker_that_says_nothing_is_told_of_and_keeps_its_task() {
    let (stage, run) = under_a_limit(Duration::from_secs(2), stalled_and_resumed);
    completes(&stage, "W1", "1", "written");
    let ran = run.end();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(with_subject(&stage, "TASK").len(), 1, "nobody else got it");
}

/// A run whose worker counted as stalled after this time, and does not since it said a word; none where it
/// was looked at so late that it counts again.
fn stalled_and_resumed(limit: Duration) -> Option<(Stage, Background)> {
    let stage = stage("- [ ] Do it\n", &["W1"]);
    let limit_told = format!("{}s", limit.as_secs());
    let args = ["run", "--workers", "W1", "--stall-after", &limit_told];
    let run = Background::start(program(&stage.world, "flagpost").args(args));
    assert_eq!(takes(&stage, "W1"), "1");
    let stalled = "  stall 1: no message, no output and no changed file of W1 since 20";
    until("it is stalled", || run.stderr().contains(stalled));
    assert!(now(&stage.world, &["status"]).contains("1 Do it: stalled, no sign of work ("));
    let said = Instant::now();
    says(&stage, "W1", "PROGRESS --task 1", "reading");
    until("its word ends it", || {
        run.stderr()
            .contains("  again 1: there is a new sign of W1\n")
    });
    let status = now(&stage.world, &["status"]);
    if said.elapsed() >= limit {
        return None;
    }
    assert!(!status.contains("stalled"), "{status}");
    Some((stage, run))
}

#[test]
fn a_task_that_needs_another_goes_behind_it() {
    let stage = stage("- [ ] Lexer\n- [ ] Parser\n", &["W1"]);
    let ran = run(&stage.world, &["--workers", "W1"]).spawn().unwrap();
    let first = takes(&stage, "W1");
    let other = if first == "1" { "2" } else { "1" };
    let stuck = format!("STUCK --task {first} --needs dependency --depends-on {other}");
    says(&stage, "W1", &stuck, "It needs that");
    for task in [other, first.as_str()] {
        assert_eq!(takes(&stage, "W1"), task);
        let report = format!("DONE --task {task} --commit 4f2a91c");
        says(&stage, "W1", &report, "written");
    }
    assert!(success(ran));
    assert_eq!(stage.states(2), ["completed"; 2]);
    let first = stage.task(&first);
    assert_eq!(first["blockedBy"][0], other);
    let text = &first["metadata"]["flagpost"]["result"]["text"];
    assert_eq!(text, "written\n\ncommit 4f2a91c");
}

#[test]
fn a_worker_that_gives_up_fails_its_task() {
    let stage = stage("- [ ] Square the circle\n", &["W1"]);
    let ran = run(&stage.world, &["--workers", "W1"]).spawn().unwrap();
    takes(&stage, "W1");
    let stuck = "STUCK --task 1 --needs abort";
    says(&stage, "W1", stuck, "It cannot be done");
    assert!(!success(ran));
    assert_eq!(stage.state("1"), "failed");
    assert!(now(&stage.world, &["status"]).contains("It cannot be done"));
}

#[test]
fn the_task_of_a_silent_worker_goes_to_another_and_its_late_word_is_kept() {
    let stage = under_a_limit(Duration::from_secs(6), |lease| {
        let stage = stage("- [ ] One\n", &["W1", "W2"]);
        let mut command = run(&stage.world, &["--workers", "W1,W2"]);
        let told = format!("{}s", lease.as_secs());
        let ran = command.env("FLAGPOST_CLAIM_LEASE", told).spawn().unwrap();
        assert_eq!(takes(&stage, "W1"), "1");
        assert_eq!(takes(&stage, "W2"), "1");
        let taken = Instant::now();
        completes(&stage, "W1", "1", "by the slow one");
        until("the late word is heard", || {
            with_subject(&stage, "DONE")[0]["state"] == "acked"
        });
        completes(&stage, "W2", "1", "by the quick one");
        if taken.elapsed() >= lease / 2 {
            // Its silence was as long as the other one's.
            killed(ran);
            return None;
        }
        assert!(success(ran));
        Some(stage)
    });
    let flagpost = &stage.task("1")["metadata"]["flagpost"];
    tells!(flagpost, {"result/text": "by the quick one", "late/0/text": "by the slow one"});
}

#[test]
fn processes_do_what_the_workers_have_no_hands_for() {
    let stage = stage("- [ ] One\n- [ ] Two\n- [ ] Three\n", &["W1"]);
    let agent = stage.agent("report PASS");
    let args = ["--workers", "W1", "--agent", &agent];
    let ran = run(&stage.world, &args).spawn().unwrap();
    let mine = takes(&stage, "W1");
    let done = || {
        stage
            .states(3)
            .iter()
            .filter(|it| *it == "completed")
            .count()
    };
    until("the processes are done", || done() == 2);
    completes(&stage, "W1", &mine, "by hand");
    assert!(success(ran));
    let by = |id: &str| stage.task(id)["metadata"]["flagpost"]["result"]["by"].clone();
    for id in ["1", "2", "3"] {
        assert_eq!(by(id) == "W1", id == mine, "{id}");
    }
}

#[test]
fn the_second_interrupt_gives_the_tasks_back_and_the_next_run_takes_them_over() {
    let stage = stage("- [ ] One\n", &["W1"]);
    let mut first = run(&stage.world, &["--workers", "W1"]).spawn().unwrap();
    assert_eq!(takes(&stage, "W1"), "1");
    until("it is under way", || stage.state("1") == "in_progress");
    let id = rustix::process::Pid::from_child(&first);
    // To be told to end means at once.
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    assert_eq!(first.wait().unwrap().code(), Some(1));
    assert_eq!(stage.state("1"), "pending");
    let second = run(&stage.world, &["--workers", "W1"]).spawn().unwrap();
    until("W1 still has it", || stage.state("1") == "in_progress");
    completes(&stage, "W1", "1", "after all");
    assert!(success(second));
    assert_eq!(stage.state("1"), "completed");
    assert_eq!(with_subject(&stage, "TASK").len(), 1);
}

/// A runner that dies as `kill -9` kills.
pub fn killed(mut runner: Child) {
    runner.kill().unwrap();
    runner.wait().unwrap();
}

#[test]
fn trap_29_what_was_said_while_no_run_lived_is_processed_once() {
    let stage = stage(
        "- [ ] One\n- [ ] Two (after: 1)\n- [ ] Three\n",
        &["W1", "W2"],
    );
    let runner = run(&stage.world, &["--workers", "W1,W2"]).spawn().unwrap();
    let tasks = [takes(&stage, "W1"), takes(&stage, "W2")];
    killed(runner);
    completes(&stage, "W1", &tasks[0], "done meanwhile");
    // W2 still has its task: it is not given another TASK for it.
    let runner = run(&stage.world, &["--workers", "W1,W2"]).spawn().unwrap();
    until("it is processed", || stage.state(&tasks[0]) == "completed");
    until("the other is W2's again", || {
        stage.state(&tasks[1]) == "in_progress"
    });
    completes(&stage, "W2", &tasks[1], "done at last");
    let next = stage.task("2");
    assert_eq!(next["subject"], "Two");
    let receiver = |worker| {
        let list = ["msg", "recv", "--as", worker, "--quiet"];
        let mut command = stage.world.command();
        let ran = stage
            .world
            .run(command.env_remove("FLAGPOST_CLOCK").args(list));
        (ran.code == 0).then_some(worker)
    };
    let mut who = None;
    until("somebody has the last", || {
        who = ["W1", "W2"].into_iter().find_map(receiver);
        who.is_some()
    });
    completes(&stage, who.unwrap(), "2", "all done");
    assert!(success(runner));
    assert_eq!(stage.states(3), ["completed"; 3]);
    assert_eq!(with_subject(&stage, "TASK").len(), 3, "each was given once");
    assert_eq!(counts(&stage, ["task.completed"]), [3]);
}

#[test]
fn an_attempt_that_failed_while_no_run_lived_is_told_of_by_the_next() {
    let stage = stage("- [ ] Square the circle\n", &["W1"]);
    let runner = run(&stage.world, &["--workers", "W1"]).spawn().unwrap();
    takes(&stage, "W1");
    killed(runner);
    let stuck = "STUCK --task 1 --needs abort";
    says(&stage, "W1", stuck, "It has no corners");
    let mut next = run(&stage.world, &["--workers", "W1"]);
    let next = next.stderr(Stdio::piped()).spawn().unwrap();
    assert_eq!(takes(&stage, "W1"), "1", "it is tried again");
    completes(&stage, "W1", "1", "near enough");
    let ran = next.wait_with_output().unwrap();
    let told = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.success(), "{told}");
    let failed = "\n  failed 1 W1 gave up before this run: It has no corners\n";
    assert_eq!(told.matches(failed).count(), 1, "{told}");
}

#[test]
fn session_recover_hears_what_workers_said() {
    let stage = stage("- [ ] One\n- [ ] Two\n", &["W1", "W2"]);
    let runner = run(&stage.world, &["--workers", "W1,W2"]).spawn().unwrap();
    let tasks = [takes(&stage, "W1"), takes(&stage, "W2")];
    killed(runner);
    completes(&stage, "W1", &tasks[0], "done meanwhile");
    let (code, answer) = stage.world.json(["session", "recover"]);
    assert_eq!(
        (code, &answer["settled"]),
        (0, &serde_json::json!([tasks[0]]))
    );
    assert_eq!(stage.state(&tasks[0]), "completed");
    assert_eq!(stage.state(&tasks[1]), "pending");
    let (_, again) = stage.world.json(["session", "recover"]);
    assert_eq!(again["settled"], serde_json::json!([]));
}

#[test]
fn a_run_killed_again_and_again_does_each_task_once() {
    let workers = ["W1", "W2", "W3"];
    let plan: String = (1..=9).map(|n| format!("- [ ] Task {n}\n")).collect();
    let stage = stage(&plan, &workers);
    let _crew = crew(&stage, &workers, &["cat"]);
    let args = ["--workers", "W1,W2,W3"];
    for done in [1, 3, 5, 7] {
        let runner = run(&stage.world, &args).spawn().unwrap();
        until("some are done", || {
            let states = stage.states(9);
            states.iter().filter(|state| *state == "completed").count() >= done
        });
        killed(runner);
    }
    // Where the last kill came after the last task, there is only to put in order.
    assert!(success(run(&stage.world, &args).spawn().unwrap()));
    assert_eq!(stage.states(9), vec!["completed"; 9]);
    assert_eq!(
        counts(&stage, ["task.completed", "task.late_result"]),
        [9, 0]
    );
    let done = with_subject(&stage, "DONE");
    assert_eq!(done.len(), 9);
    assert!(done.iter().all(|it| it["state"] == "acked"), "{done:?}");
}
