//! A fleet in a sealed world: its workers, their directories, what its history says of them.
//!
//! Owns the processes that play the workers. Each ends by itself once the fleet is stopped, and is
//! killed by its id where a test fails before.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use flagpost_testkit::{background::Background, race::until, sealed::World};
use serde_json::Value;

use crate::world;

/// Workers `W1`, `W2`, … of one repository.
pub struct Fleet {
    pub world: World,
    pub workers: Vec<String>,
    dir: PathBuf,
}

/// How a worker gets its briefs.
#[derive(Debug, Clone, Copy)]
pub enum Way {
    /// With `contrib/poller.sh`, which looks twice a second.
    Poller,
    /// With `flagpost worker next --wait`.
    Waiting,
}

impl Fleet {
    /// So many workers.
    pub fn of(count: usize) -> Self {
        let world = world();
        let home = world.home();
        Self::on_disk(world, &home, count)
    }

    /// The same where the world's home lies elsewhere.
    pub fn on_disk(world: World, home: &Path, count: usize) -> Self {
        let workers: Vec<String> = (1..=count).map(|n| format!("W{n}")).collect();
        for worker in &workers {
            world.ok(["worker", "add", worker]);
            world.ok(["worker", "heartbeat", "--as", worker]);
        }
        let repositories = fs::read_dir(home.join("repos")).unwrap();
        let dir = repositories.map(|it| it.unwrap().path()).next().unwrap();
        Self {
            world,
            workers,
            dir,
        }
    }

    /// Says in the home's policy that flags by hand count, and accepts it.
    pub fn accept_foreign_flags(&self) {
        let policy = self.world.home().join("policy.toml");
        fs::write(policy, "foreign_flags = \"accept\"\n").unwrap();
        self.world.ok(["policy", "accept", "--yes"]);
    }

    /// A worker's directory.
    pub fn of_worker(&self, worker: &str) -> PathBuf {
        self.dir.join("workers").join(worker)
    }

    /// Where a worker's briefs are.
    pub fn inbox(&self, worker: &str) -> PathBuf {
        self.of_worker(worker).join("inbox")
    }

    /// Gives each worker a brief about this ticket.
    pub fn assign_each(&self, ticket: usize) {
        let ticket = ticket.to_string();
        for worker in &self.workers {
            let brief = format!("Do {ticket}");
            self.world
                .ok(["assign", &ticket, worker, "--inline", &brief]);
        }
    }

    /// The lines of the history that stand.
    pub fn history(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.dir.join("history.jsonl")).unwrap();
        // What a killed writer left of a line is none.
        let lines: Vec<Value> = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        let voids = lines.iter().filter(|line| line["kind"] == "history.void");
        let void: BTreeSet<u64> = voids
            .map(|line| line["detail"]["n"].as_u64().unwrap())
            .collect();
        let stands = |line: &Value| !void.contains(&line["n"].as_u64().unwrap());
        lines.into_iter().filter(stands).collect()
    }

    /// Which messages the history tells this of, in its order.
    pub fn told(&self, kind: &str) -> Vec<(String, u64)> {
        let lines = self.history().into_iter();
        let of_kind = lines.filter(|line| line["kind"] == kind);
        of_kind
            .map(|line| {
                let worker = line["worker"].as_str().unwrap().to_owned();
                (worker, line["seq"].as_u64().unwrap())
            })
            .collect()
    }

    /// The same where none may be told of twice.
    pub fn told_once(&self, kind: &str) -> BTreeSet<(String, u64)> {
        let told = self.told(kind);
        let once: BTreeSet<_> = told.iter().cloned().collect();
        assert_eq!(once.len(), told.len(), "{kind} twice: {told:?}");
        once
    }

    /// Starts the binary.
    pub fn start(&self, args: &[&str]) -> Background {
        Background::start(self.world.command().args(args))
    }

    /// Starts a worker that reports on each brief it gets, and then acknowledges it.
    pub fn work(&self, worker: &str, way: Way) -> Background {
        let hand = self.hand(worker);
        let stop = self.stop_file().display().to_string();
        let mut command = match way {
            Way::Poller => {
                // Its one look at a time, so that it ends when it should.
                let script = format!(
                    "while ! test -e '{stop}'; do sh '{}' '{}' --once; sleep 0.5; done",
                    poller().display(),
                    self.of_worker(worker).display()
                );
                let mut command = self.world.command_of("sh");
                command.args(["-c", &script]).env("FLAGPOST_HAND", &hand);
                command
            }
            Way::Waiting => {
                let script = format!(
                    "while ! test -e '{stop}'; do \
                     seq=$('{binary}' worker next --wait --timeout 1s --quiet) || continue; \
                     '{hand}' - - \"$seq\" && '{binary}' worker ack \"$seq\"; done",
                    binary = env!("CARGO_BIN_EXE_flagpost"),
                    hand = hand.display()
                );
                let mut command = self.world.command_of("sh");
                command.args(["-c", &script]).env("FLAGPOST_WORKER", worker);
                command
            }
        };
        Background::start(command.stderr(Stdio::null()))
    }

    /// What a worker does with a brief: a program that takes body, decision and number.
    fn hand(&self, worker: &str) -> PathBuf {
        let path = self.world.outside().join(format!("hand-{worker}"));
        let text = format!(
            "#!/bin/sh\nexec '{}' worker report \"done $3\" --re \"$3\" --as {worker} --quiet\n",
            env!("CARGO_BIN_EXE_flagpost")
        );
        write_program(&path, &text);
        path
    }

    /// Lets every worker end, and waits until they have.
    pub fn stop(&self, workers: Vec<Background>) {
        fs::write(self.stop_file(), "").unwrap();
        for mut worker in workers {
            until("the worker ends", || !worker.is_running());
        }
    }

    fn stop_file(&self) -> PathBuf {
        self.world.outside().join("stop")
    }
}

/// The poller that comes with Flagpost.
pub fn poller() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/poller.sh")
}

/// A program of a few lines.
pub fn write_program(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
