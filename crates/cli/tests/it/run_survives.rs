//! Whoever is killed at whatever step of a run, what comes of it is the same: each task's DONE is
//! applied once, the history tells of every message, and the index is what a new one would be.
//!
//! A seed says who is killed at which step; a step is a line of the history. A dozen of them are
//! tried, or as many as `FLAGPOST_SEEDS` says; or those that `FLAGPOST_SEED` names, as in `17,17,53`:
//! what else happens is not the seed's, so one may have to be tried again. A seed that fails is named
//! with the place where its files are kept.

use std::{
    collections::{BTreeMap, BTreeSet},
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use flagpost_testkit::race::until;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use crate::{
    messages_by_agents::{listed, on_the_path, program},
    run_stage::Stage,
};

const TASKS: usize = 6;

/// About so many lines a run has.
const STEPS: u64 = 120;

/// Who can be killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    Runner,
    Daemon,
    Worker(&'static str),
}

/// Everybody who takes part: each in a process group of its own.
struct Cast<'s> {
    stage: &'s Stage,
    run: Vec<String>,
    alive: BTreeMap<Who, Child>,
}

impl Cast<'_> {
    fn start(&mut self, who: Who) {
        let world = &self.stage.world;
        let contrib = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contrib/msg-worker.sh");
        let mut command = match who {
            Who::Runner => {
                let mut run = program(world, "flagpost");
                // Who was killed over a task and does not come back is silent soon.
                run.arg("run")
                    .args(&self.run)
                    .env("FLAGPOST_CLAIM_LEASE", "20s");
                run
            }
            Who::Daemon => {
                let mut daemon = program(world, "flagpost");
                daemon.args(["up", "--foreground"]);
                daemon
            }
            Who::Worker(name) => {
                let mut worker = program(world, "sh");
                worker.args([contrib, "cat"]).env("FLAGPOST_WORKER", name);
                worker
            }
        };
        let child = command.stderr(Stdio::null()).process_group(0).spawn();
        self.alive.insert(who, child.unwrap());
    }

    /// As `kill -9` kills, with all that it started in its group.
    fn kill(&mut self, who: Who) {
        if let Some(mut child) = self.alive.remove(&who) {
            let _ended = kill_process_group(Pid::from_child(&child), Signal::KILL);
            child.wait().unwrap();
        }
    }

    /// How the run ended, if it did.
    fn ended(&mut self) -> Option<bool> {
        let run = self.alive.get_mut(&Who::Runner)?;
        Some(run.try_wait().unwrap()?.success())
    }
}

impl Drop for Cast<'_> {
    fn drop(&mut self) {
        let all: Vec<Who> = self.alive.keys().copied().collect();
        all.into_iter().for_each(|who| self.kill(who));
    }
}

/// Numbers that look like chance and are the same for the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

fn now(stage: &Stage, args: &[&str]) -> Command {
    let mut command = stage.world.command();
    command.env_remove("FLAGPOST_CLOCK").args(args);
    command
}

fn rows(stage: &Stage) -> String {
    let args = [
        "index",
        "sql",
        "SELECT * FROM messages ORDER BY id",
        "--json",
    ];
    let ran = stage.world.run(&mut now(stage, &args));
    assert_eq!(ran.code, 0, "{ran}");
    ran.stdout
}

fn try_seed(seed: u64) {
    let plan = "- [ ] One\n- [ ] Two\n- [ ] Three (after: 1)\n- [ ] Four\n- [ ] Five (after: 2)\n- [ ] Six\n";
    let mut stage = Stage::new(plan);
    stage.world.keep_if_it_fails(format!("seed {seed}"));
    on_the_path(&stage.world);
    // Every other seed has two workers, and processes beside them.
    let workers = if seed.is_multiple_of(2) {
        &["W1", "W2", "W3"][..]
    } else {
        &["W1", "W2"]
    };
    for worker in workers {
        for args in [
            &["worker", "add", worker][..],
            &["worker", "heartbeat", "--as", worker],
        ] {
            assert_eq!(stage.world.run(&mut now(&stage, args)).code, 0);
        }
    }
    let mut args = vec!["--workers".to_owned(), workers.join(",")];
    if seed % 2 == 1 {
        let agent = stage.agent(r#"sleep 0.05; report PASS "$task by a process""#);
        args.extend([
            "--agent".to_owned(),
            agent,
            "--max-parallel".to_owned(),
            "3".to_owned(),
        ]);
    }
    let mut cast = Cast {
        stage: &stage,
        run: args,
        alive: BTreeMap::new(),
    };
    let mut victims = vec![Who::Runner, Who::Runner, Who::Daemon];
    victims.extend(workers.iter().copied().map(Who::Worker));
    for who in victims.iter().skip(1) {
        cast.start(*who);
    }
    let mut chance = Chance(seed);
    // The first kill goes through all the steps, one seed after another; the others are chance.
    let mut kills = vec![(
        seed * 7 % STEPS,
        victims[chance.below(victims.len() as u64) as usize],
    )];
    for _ in 0..3 {
        let who = victims[chance.below(victims.len() as u64) as usize];
        kills.push((chance.below(STEPS), who));
    }
    kills.sort();
    let began = stage.history().len() as u64;
    let mut kills = kills.into_iter().peekable();
    let written = || stage.history().len() as u64;
    loop {
        let so_far = written();
        if let Some((_, who)) = kills.next_if(|(step, _)| so_far >= began + step) {
            cast.kill(who);
            // The index is kept up while all this goes on.
            rows(&stage);
            cast.start(who);
            continue;
        }
        let mut ended = None;
        until(&format!("seed {seed} goes on"), || {
            ended = cast.ended();
            ended.is_some() || written() > so_far
        });
        match ended {
            Some(true) => break,
            // It found a session that lived, or a worker that had said nothing yet.
            Some(false) => cast.start(Who::Runner),
            None => {}
        }
    }
    // What the run's last word set off ends as well: whoever said it too late says it in vain.
    let all = cast.alive.keys().copied().collect::<Vec<_>>();
    all.into_iter().for_each(|who| cast.kill(who));
    let ran = stage.world.run(&mut now(&stage, &["session", "recover"]));
    assert_eq!(ran.code, 0, "seed {seed}: {ran}");
    check(&stage, seed);
}

fn check(stage: &Stage, seed: u64) {
    assert_eq!(stage.states(TASKS), vec!["completed"; TASKS], "seed {seed}");
    let history = stage.history();
    let voided: BTreeSet<u64> = history
        .iter()
        .filter(|it| it["kind"] == "history.void")
        .filter_map(|it| it["detail"]["n"].as_u64())
        .collect();
    let told = |kind: &str| {
        let is_void = |it: &Value| {
            let op = it["detail"]["op"].as_u64();
            [it["n"].as_u64(), op]
                .into_iter()
                .flatten()
                .any(|n| voided.contains(&n))
        };
        let is = |it: &&Value| it["kind"] == kind && !is_void(it);
        history.iter().filter(is).collect::<Vec<_>>()
    };
    // Each DONE is applied once.
    let completed: Vec<_> = told("task.completed")
        .iter()
        .map(|it| it["task"].clone())
        .collect();
    let each: BTreeSet<String> = completed.iter().map(ToString::to_string).collect();
    assert_eq!((completed.len(), each.len()), (TASKS, TASKS), "seed {seed}");
    // The audit is complete: a line for each message that is there, and none besides.
    let place = |it: &Value| {
        format!(
            "{}/{}/{}",
            it["worker"].as_str().unwrap(),
            it["detail"]["direction"].as_str().unwrap(),
            it["seq"]
        )
    };
    let messages = listed(&stage.world);
    let there = |state: Option<&str>| -> Vec<String> {
        let of = messages
            .iter()
            .filter(|it| state.is_none_or(|state| it["state"] == state));
        let mut all: Vec<String> = of
            .map(|it| it["message"]["place"].as_str().unwrap().to_owned())
            .collect();
        all.sort();
        all
    };
    let lines = |kind: &str| {
        let mut all: Vec<String> = told(kind).into_iter().map(place).collect();
        all.sort();
        all
    };
    assert_eq!(lines("message.sent"), there(None), "seed {seed}");
    assert_eq!(
        lines("message.withdrawn"),
        there(Some("withdrawn")),
        "seed {seed}"
    );
    let (acked, there) = (lines("message.acked"), there(Some("acked")));
    assert!(
        there.iter().all(|it| acked.contains(it)),
        "seed {seed}: {there:?} {acked:?}"
    );
    let once: BTreeSet<&String> = acked.iter().collect();
    assert_eq!(once.len(), acked.len(), "seed {seed}");
    // Nothing is left open.
    let (_, open) = stage.world.json(["msg", "unacked"]);
    assert_eq!(open["messages"], serde_json::json!([]), "seed {seed}");
    // The index as it was kept, and as it is made anew.
    let kept = rows(stage);
    assert_eq!(
        stage.world.run(&mut now(stage, &["index", "rebuild"])).code,
        0
    );
    assert_eq!(kept, rows(stage), "seed {seed}");
}

/// The seeds to try.
fn seeds() -> Vec<u64> {
    let set = |name| std::env::var(name).ok();
    match set("FLAGPOST_SEED") {
        Some(named) => named.split(',').map(|it| it.parse().unwrap()).collect(),
        None => (0..set("FLAGPOST_SEEDS").map_or(12, |it| it.parse().unwrap())).collect(),
    }
}

#[test]
fn whoever_is_killed_each_done_is_applied_once_and_the_audit_is_complete() {
    let seeds = seeds();
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if std::panic::catch_unwind(|| try_seed(*seed)).is_err() {
                        failed.lock().unwrap().push(*seed);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "FLAGPOST_SEED={failed:?}, as told above");
}
