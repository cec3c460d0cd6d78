//! Claude Code and Codex side by side on one plan, with everything that happens to a run in a day: a limit,
//! questions, a refusal, a run that is killed and one that goes on. In the end each task was completed once.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use flagpost_testkit::{
    background::Background,
    clients::{self, Client, Login},
    model_server::{Request, Step, usage_limit},
    race,
};
use rustix::process::Signal;

use super::stage::{Stage, report, reports, runs};

/// The tasks: who does each, and after which others; nobody in particular does the last two.
const PLAN: [(&str, &str); 12] = [
    ("claude", ""),
    ("codex", ""),
    ("claude", ""),
    ("codex", ""),
    ("claude", "1"),
    ("codex", "2"),
    ("claude", "3"),
    ("codex", "4"),
    ("claude", "5"),
    ("codex", "6"),
    ("", "7,8"),
    ("", "9,10,11"),
];

/// When the limit would end by itself.
const RESETS_AT: i64 = 4_102_444_800;

fn client(task: u32) -> Client {
    match PLAN[task as usize - 1].0 {
        "codex" => Client::Codex,
        _ => Client::Claude,
    }
}

/// Whose words these are; the last two tasks may be done by either.
fn speaks(request: &Request) -> Client {
    match request.api {
        Some(api) if api == clients::api(Client::Codex) => Client::Codex,
        _ => Client::Claude,
    }
}

/// Does the first of these things that is left to do, then says by the verb that it is done. An agent may be
/// killed with any of its orders in hand, so each turn looks at what is.
fn until_done(
    stage: &Arc<Stage>,
    task: u32,
    left: impl Fn(&Stage, &Request) -> Option<Step> + Send + Sync + 'static,
) {
    let there = Arc::clone(stage);
    let step = Step::by(move |request| {
        // The run takes up the words of who cannot write the home, a moment later.
        if request.says(&format!("flagpost done {task} 'Done")) {
            let deadline = Instant::now() + Duration::from_secs(5);
            while there.state(&task.to_string()) != "completed" && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(10));
            }
        }
        if there.state(&task.to_string()) == "completed" {
            return Step::text("Said.");
        }
        left(&there, request).unwrap_or_else(|| {
            let said = format!("flagpost done {task} 'Done {task}'");
            runs(speaks(request), &said)
        })
    });
    stage.script(task, [step.for_ever()]);
}

/// Writes a file and commits it.
fn commit(stage: &Stage, task: u32) -> Option<Step> {
    let place = stage.place_of(task);
    let path = place.join("notes.md");
    let status = stage.git(&["-C", place.to_str().unwrap(), "status", "--porcelain"]);
    let log = ["-C", place.to_str().unwrap(), "log", "--format=%s"];
    if !path.exists() {
        let path = path.to_str().unwrap();
        Some(Step::calls([clients::write(client(task), path, "Noted\n")]))
    } else if status.contains("?? notes.md") {
        Some(runs(client(task), "git add notes.md"))
    } else if !stage.git(&log).contains("Add the notes") {
        Some(runs(client(task), "git commit --quiet -m 'Add the notes'"))
    } else {
        None
    }
}

fn play(stage: &Arc<Stage>) {
    for task in [1, 8, 10, 11, 12] {
        until_done(stage, task, |_, _| None);
    }
    let text = report("PASS", "Done 2");
    stage.script(2, [reports(client(2), &text), Step::text("Reported.")]);
    for task in [3, 4] {
        until_done(stage, task, move |stage, request| {
            let asked = stage.state(&task.to_string()) == "stuck";
            let answered = request.says(&format!("This way in {task}"));
            let asks = || {
                let asks = format!("flagpost stuck {task} 'Which way in {task}?'");
                runs(client(task), &asks)
            };
            (!answered).then(|| {
                if asked {
                    Step::text("I asked.")
                } else {
                    asks()
                }
            })
        });
    }
    let there = Arc::clone(stage);
    let refused = Step::by(move |_| {
        let path = there.place_of(5).join(".claude/mine.md");
        Step::calls([clients::write(
            Client::Claude,
            path.to_str().unwrap(),
            "x\n",
        )])
    });
    let done = runs(client(5), "flagpost done 5 'Done 5'");
    stage.script(5, [refused, done, Step::text("Said.")]);
    let limit = usage_limit(clients::api(client(6)), RESETS_AT);
    let met = AtomicBool::new(false);
    until_done(stage, 6, move |_, _| {
        (!met.swap(true, Ordering::Relaxed)).then(|| limit.clone())
    });
    until_done(stage, 7, |stage, _| commit(stage, 7));
    // It is at work when its run is killed.
    stage.script(
        9,
        [
            runs(client(9), "flagpost task note 9 'Half of it'"),
            Step::hang(),
            runs(client(9), "flagpost done 9 'Done 9'"),
            Step::text("Said."),
        ],
    );
}

/// Answers what is asked until this holds.
fn answer_until(stage: &Stage, run: &mut Background, enough: impl Fn(&Background) -> bool) {
    let mut answered = BTreeSet::new();
    race::until("the run gets there", || {
        for task in [3, 4] {
            if stage.state(&task.to_string()) == "stuck" && answered.insert(task) {
                let answer = format!("This way in {task}");
                stage.world.ok(["answer", &task.to_string(), &answer]);
            }
        }
        enough(run) || !run.is_running()
    });
}

#[test]
fn whatever_happens_to_a_run_each_task_ends_once() {
    run_and_kill("1s");
}

#[test]
fn so_it_does_where_the_run_dies_while_an_account_rests() {
    run_and_kill("1h");
}

/// With the time for which the first run leaves an account alone that is at its limit.
fn run_and_kill(park: &str) {
    let both = [(Client::Claude, Login::Key), (Client::Codex, Login::Key)];
    let Some(stage) = Stage::of(&both, "- [ ] Do 1\n") else {
        return;
    };
    for (n, (agent, after)) in (1..).zip(PLAN) {
        let (subject, agent) = (format!("Do {n}"), format!("agent={agent}"));
        let mut add = vec!["add", &subject];
        if agent != "agent=" {
            add.extend(["--meta", &agent]);
        }
        if !after.is_empty() {
            add.extend(["--after", after]);
        }
        if n == 1 {
            add = vec!["task", "edit", "1", "--meta", &agent];
        }
        stage.world.ok(add);
    }
    let stage = Arc::new(stage);
    play(&stage);
    let own = stage.own_files();
    let args = [
        "--agent",
        "claude",
        "--agent",
        "codex",
        "--worktrees",
        "--wait-for-answers",
        "--max-parallel",
        "4",
        "--schedule",
        "eager",
        "--park-until",
    ];
    let mut first = stage.begin(&[&args[..], &[park]].concat());
    answer_until(&stage, &mut first, |run| {
        stage.heard(9).len() == 2 && run.stdout().contains("PARKED")
    });
    assert!(first.is_running(), "{}\n{}", first.stdout(), first.stderr());
    first.signal(Signal::KILL);
    let told = first.end().stdout;

    let mut second = stage.begin(&[&args[..], &["2s"]].concat());
    answer_until(&stage, &mut second, |_| {
        stage.states(12).iter().all(|it| it == "completed")
    });
    let run = stage.ended(second);
    assert_eq!(run.code, 0, "{}", run.shown);
    assert_eq!(stage.states(12), ["completed"; 12], "{}", run.shown);

    let history = stage.history();
    let void: BTreeSet<u64> = history
        .iter()
        .filter(|line| line["kind"] == "history.void")
        .filter_map(|line| line["detail"]["n"].as_u64())
        .collect();
    let mut completed: BTreeMap<&str, usize> = BTreeMap::new();
    for line in &history {
        if line["kind"] == "task.completed" && !void.contains(&line["n"].as_u64().unwrap()) {
            *completed.entry(line["task"].as_str().unwrap()).or_default() += 1;
        }
    }
    let each: BTreeMap<String, usize> = (1..=12).map(|n| (n.to_string(), 1)).collect();
    let completed: BTreeMap<String, usize> = completed
        .into_iter()
        .map(|(id, n)| (id.to_owned(), n))
        .collect();
    assert_eq!(completed, each, "{told}\n{}", run.shown);
    // Nothing was left out.
    for task in [2, 5, 9] {
        let left = stage.server.left(&format!("# Task {task}: "));
        assert_eq!(left, 0, "{task}\n{told}\n{}", run.shown);
    }
    // Who was at work when the run died goes on with what was said.
    let last = stage.heard(9);
    let last = last.last().unwrap();
    assert!(
        last.contains("Half of it") && last.contains("The run that started you died"),
        "{last}"
    );
    let refused = history
        .iter()
        .find(|line| line["kind"] == "task.attempted" && line["task"] == "5");
    let denied = refused.unwrap()["detail"]["record"]["denied"].to_string();
    assert!(denied.contains("mine.md"), "{denied}");
    // What was committed, before or after, is what the last one builds on.
    let log = stage.git(&["log", "--format=%s", "--glob=refs/heads/flagpost/*/12"]);
    assert!(
        log.lines().any(|line| line == "Add the notes"),
        "{log}\n{told}\n{}",
        run.shown
    );
    for (path, bytes) in own {
        assert!(std::fs::read(&path).is_ok_and(|now| now == bytes), "{path}");
    }
    stage.assert_no_process();
}
