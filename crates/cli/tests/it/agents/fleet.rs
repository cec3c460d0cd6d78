//! Claude Code and Codex side by side on one plan, with everything that happens to a run in a day: a limit,
//! questions, a refusal, a run that is killed and one that goes on. In the end each task was completed once.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use flagpost_testkit::{
    background::Background,
    clients::{self, Client, Login},
    model_server::{Request, Step, usage_limit},
    patience::under_a_limit,
};
use rustix::process::Signal;

use super::{
    stage::{Stage, report, reports, runs},
    time::{SHORT, moment, rests_until},
};

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

/// What an agent is told whose run was killed.
const DIED: &str = "The run that started you died";

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
    let said = Mutex::new(BTreeSet::new());
    let step = Step::by(move |request| {
        // The words of who cannot write the home are taken up by the run, later. Who was told to say
        // them in this attempt, whose place its newest prompt names, has said them.
        let attempt = request.path_ending("/out/report.md").unwrap();
        let has_said = said.lock().unwrap().contains(&attempt);
        if has_said || there.state(&task.to_string()) == "completed" {
            return Step::text("Said.");
        }
        left(&there, request).unwrap_or_else(|| {
            said.lock().unwrap().insert(attempt);
            let says = format!("flagpost done {task} 'Done {task}'");
            runs(speaks(request), &says)
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
    until_done(stage, 9, |_, request| {
        if !request.says("Half of it") {
            Some(runs(client(9), "flagpost task note 9 'Half of it'"))
        } else if !request.says(DIED) {
            Some(Step::hang())
        } else {
            None
        }
    });
}

/// Answers what is asked until this holds.
fn answer_until(stage: &Stage, run: &mut Background, enough: impl Fn(&Background) -> bool) {
    let mut answered = BTreeSet::new();
    stage.until("the run gets there", run, |run| {
        for task in [3, 4] {
            if stage.state(&task.to_string()) == "stuck" && answered.insert(task) {
                let answer = format!("This way in {task}");
                stage.world.ok(["answer", &task.to_string(), &answer]);
            }
        }
        enough(run)
    });
}

#[test]
#[ignore = "the whole client matrix: ./check --all"]
fn whatever_happens_to_a_run_each_task_ends_once() {
    // The account works again before the run dies.
    let killed = under_a_limit(SHORT, |time| {
        let Some(fleet) = Fleet::new() else {
            return Some(None);
        };
        let until = moment(time);
        let mut first = fleet.begin(&["--park-until", &until]);
        let has_said = |run: &Background| run.stdout().contains("agent.parked");
        answer_until(&fleet.stage, &mut first, has_said);
        rests_until(&first, &until).then(|| Some((fleet.kill(first, "agent.open"), fleet)))
    });
    let (told, fleet) = or_skip!(killed);
    let second = fleet.begin(&[]);
    fleet.must_end_each_once(second, &told);
}

#[test]
#[ignore = "the whole client matrix: ./check --all"]
fn so_it_does_where_the_run_dies_while_an_account_rests() {
    let fleet = or_skip!(Fleet::new());
    let first = fleet.begin(&["--park-until", "1h"]);
    let told = fleet.kill(first, "PARKED");
    let second = under_a_limit(SHORT, |time| {
        let until = moment(time);
        let mut second = fleet.begin(&["--park-until", &until]);
        let has_said = |run: &Background| run.stdout().contains("agent.parked");
        answer_until(&fleet.stage, &mut second, has_said);
        rests_until(&second, &until).then_some(second)
    });
    fleet.must_end_each_once(second, &told);
}

/// The plan, and those who work at it.
struct Fleet {
    stage: Arc<Stage>,
    /// What the clients' user had before.
    own: Vec<(String, Vec<u8>)>,
}

impl Fleet {
    /// `None` where a client is not installed.
    fn new() -> Option<Self> {
        let both = [(Client::Claude, Login::Key), (Client::Codex, Login::Key)];
        let stage = Stage::of(&both, "- [ ] Do 1\n")?;
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
        Some(Self { stage, own })
    }

    fn begin(&self, args: &[&str]) -> Background {
        let own = [
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
        ];
        self.stage.begin(&[&own[..], args].concat())
    }

    /// Kills a run when an agent is in the middle of a task and the run has told this; all that it told.
    fn kill(&self, mut run: Background, said: &str) -> String {
        answer_until(&self.stage, &mut run, |run| {
            self.stage.heard(9).len() == 2 && run.stdout().contains(said)
        });
        assert!(run.is_running(), "{}\n{}", run.stdout(), run.stderr());
        run.signal(Signal::KILL);
        run.end().stdout
    }

    /// The run that goes on completes each task once, with what the first had done, as it told.
    fn must_end_each_once(self, mut second: Background, told: &str) {
        let Self { stage, own } = self;
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
        for task in [2, 5] {
            let left = stage.server.left(&format!("# Task {task}: "));
            assert_eq!(left, 0, "{task}\n{told}\n{}", run.shown);
        }
        // Who was at work when the run died goes on with what was said.
        let last = stage.heard(9);
        let last = last.last().unwrap();
        assert!(last.contains("Half of it") && last.contains(DIED), "{last}");
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
}
