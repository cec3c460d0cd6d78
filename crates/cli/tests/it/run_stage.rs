//! Where the tests of `run` take place: a world, a plan, scripts for agents.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use flagpost_testkit::{
    agents,
    background::{self, Background},
    patience::under_a_limit,
    race,
    sealed::{Ran, World},
};
use rustix::process::Signal;
use serde_json::Value;

/// A world with a plan in its list, and a place for what agents leave.
pub struct Stage {
    pub world: World,
    pub place: PathBuf,
}

impl Stage {
    /// A world with this plan, a line per task.
    pub fn new(plan: &str) -> Self {
        Self::in_world(crate::world(), plan)
    }

    pub fn in_world(world: World, plan: &str) -> Self {
        let place = world.outside().join("place");
        fs::create_dir(&place).unwrap();
        let stage = Self { world, place };
        stage.import(plan);
        stage
    }

    /// A plan of so many tasks that wait for nothing.
    pub fn of_equal(tasks: usize) -> Self {
        let plan: String = (1..=tasks).map(|n| format!("- [ ] Task {n}\n")).collect();
        Self::new(&plan)
    }

    pub fn import(&self, plan: &str) {
        let path = self.world.outside().join("PLAN.md");
        fs::write(&path, plan).unwrap();
        self.world.ok(["task", "import", path.to_str().unwrap()]);
    }

    /// The command line of an agent that does this.
    pub fn agent(&self, body: &str) -> String {
        let n = fs::read_dir(&self.place).unwrap().count();
        agents::script(&self.place, &format!("agent-{n}.sh"), body)
    }

    /// Runs the list with an agent that does this.
    pub fn run(&self, body: &str, args: &[&str]) -> Ran {
        let agent = self.agent(body);
        let all = ["run", "--agent", &agent]
            .into_iter()
            .chain(args.iter().copied());
        self.world.flagpost(all)
    }

    /// Runs a plan of so many equal tasks with a time limit of some hundred milliseconds, in which an agent
    /// gets as far as to mark that it is `ready`.
    pub fn run_under_a_limit(tasks: usize, body: &str, args: &[&str]) -> (Self, Ran) {
        under_a_limit(Duration::from_millis(300), |limit| {
            let stage = Self::of_equal(tasks);
            let limit = format!("{}ms", limit.as_millis());
            let ran = stage.run(body, &[args, &["--timeout", &limit]].concat());
            stage.marked("ready").then_some((stage, ran))
        })
    }

    /// Begins the same in the background.
    pub fn start(&self, body: &str, args: &[&str]) -> Background {
        let agent = self.agent(body);
        let mut command = self.world.command_of("env");
        // Whoever runs the tests in the background has their Ctrl-C ignored, and they inherit that.
        command
            .arg("--default-signal=INT,HUP,TERM")
            .arg(env!("CARGO_BIN_EXE_flagpost"))
            .args(["run", "--agent", &agent])
            .args(args);
        Background::start(&mut command)
    }

    pub fn marked(&self, name: &str) -> bool {
        self.place.join(name).exists()
    }

    pub fn mark(&self, name: &str) {
        fs::write(self.place.join(name), "").unwrap();
    }

    /// Waits for an agent's mark.
    pub fn await_mark(&self, name: &str) {
        race::until(name, || self.marked(name));
    }

    /// What agents left under this name.
    pub fn left(&self, name: &str) -> String {
        fs::read_to_string(self.place.join(name)).unwrap_or_default()
    }

    /// The process id that an agent left under this name.
    pub fn pid(&self, name: &str) -> u32 {
        race::until(name, || self.left(name).ends_with('\n'));
        self.left(name).trim().parse().unwrap()
    }

    /// A task as its file says.
    pub fn task(&self, id: &str) -> Value {
        let path = self.world.list("web").join(format!("{id}.json"));
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    }

    pub fn state(&self, id: &str) -> String {
        let task = self.task(id);
        let state = &task["metadata"]["flagpost"]["state"];
        state.as_str().unwrap_or("pending").to_owned()
    }

    /// The states of tasks 1, 2 and so on.
    pub fn states(&self, tasks: usize) -> Vec<String> {
        (1..=tasks).map(|n| self.state(&n.to_string())).collect()
    }

    /// The record, line by line.
    pub fn history(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.kept().join("history.jsonl")).unwrap();
        // A line without its end is being written.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole
            .lines()
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}")))
            .collect()
    }

    /// What the home keeps of the repository.
    fn kept(&self) -> PathBuf {
        let repositories = fs::read_dir(self.world.home().join("repos")).unwrap();
        repositories.last().unwrap().unwrap().path()
    }

    /// Where the workers' mail is.
    pub fn mail(&self) -> PathBuf {
        self.kept().join("workers")
    }

    pub fn sessions(&self) -> PathBuf {
        self.world.repository().join(".claude/sessions")
    }

    pub fn live(&self) -> PathBuf {
        self.sessions().join("__live_session__")
    }

    /// A session of another program, a minute old, whose lock names no process; the lock.
    pub fn put_unsure_session(&self) -> PathBuf {
        fs::create_dir_all(self.live()).unwrap();
        let lock = self.live().join(".lock");
        let text = "task_execution_id: a-1\ntimestamp: 2026-05-13T14:24:00Z\npid: orchestrator\n";
        fs::write(&lock, text).unwrap();
        lock
    }

    /// The directories of sessions that ended, by name.
    pub fn ended(&self) -> Vec<PathBuf> {
        let names = fs::read_dir(self.sessions())
            .into_iter()
            .flatten()
            .flatten();
        let mut dirs: Vec<PathBuf> = names
            .map(|entry| entry.path())
            .filter(|path| path.is_dir() && *path != self.live())
            .collect();
        dirs.sort();
        dirs
    }

    /// The one session that was archived.
    pub fn archived(&self) -> PathBuf {
        let ended = self.ended();
        assert_eq!(ended.len(), 1, "{ended:?}");
        ended.into_iter().next().unwrap()
    }

    pub fn session_file(&self, name: &str) -> String {
        read(&self.archived().join(name))
    }

    /// The events of the one session that was archived.
    pub fn events(&self) -> Vec<Value> {
        let text = self.session_file("progress.jsonl");
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Every process that was started in this world and lives.
    pub fn processes(&self) -> Vec<u32> {
        let home = format!("FLAGPOST_HOME={}", self.world.home().display());
        background::with_in_environment(&home)
    }

    /// No agent of any session lives.
    pub fn assert_no_process(&self) {
        // Who is killed takes a moment to go; who was forgotten would stay for ever.
        race::until("no process is left", || self.processes().is_empty());
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for pid in self.processes() {
            background::kill(pid, Signal::KILL);
        }
    }
}

pub fn read(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The lines of a stream, each one object.
pub fn lines(stdout: &str) -> Vec<Value> {
    crate::schemas::check(&["--json".as_ref()], stdout);
    let line = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
    stdout.lines().map(line).collect()
}
