//! Where real clients are run: a world that no sandbox takes for a temporary directory, with a model
//! server that they are aimed at.
//!
//! Owns how a run with them is started, and the words in which a script lets an agent report.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    ops::Deref,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use flagpost_testkit::{
    background::Background,
    clients::{self, Client, Installed, Login},
    model_server::{ModelServer, Step},
    patience::patience,
    sealed::World,
};
use serde_json::Value;

use crate::{exits, run_stage};

/// A world with clients, and the server that plays their model.
pub struct Stage {
    stage: run_stage::Stage,
    pub server: ModelServer,
}

/// A run that has ended.
pub struct Run {
    pub code: i32,
    /// What it told, in order.
    pub events: Vec<Value>,
    /// All that it printed and said, for a test that fails.
    pub shown: String,
}

/// How often to look at a run that is waited for.
const LOOK: Duration = Duration::from_millis(10);

/// What the clients' user has of their own.
const USERS: &[(&str, &str)] = &[
    (".claude/settings.json", "{\"env\": {\"MINE\": \"1\"}}\n"),
    (".claude/CLAUDE.md", "Be brief.\n"),
    (".codex/AGENTS.md", "Be brief.\n"),
    (".gemini/GEMINI.md", "Be brief.\n"),
];

impl Deref for Stage {
    type Target = run_stage::Stage;

    fn deref(&self) -> &run_stage::Stage {
        &self.stage
    }
}

/// How many of a client work at once in these tests. Two first starts of opencode in one home make its
/// database twice, and one of them dies of it.
pub fn side_by_side(client: Client) -> &'static str {
    match client {
        Client::Opencode => "1",
        _ => "2",
    }
}

impl Stage {
    /// A world with this client and a plan; `None` where it is not installed.
    pub fn new(client: Client, plan: &str) -> Option<Self> {
        Self::of(&[(client, Login::Key)], plan)
    }

    /// The same with several, and how each logs in.
    pub fn of(wanted: &[(Client, Login)], plan: &str) -> Option<Self> {
        let found = wanted.iter().map(|(client, _)| Installed::find(*client));
        let found: Vec<Installed> = found.collect::<Option<_>>()?;
        let server = ModelServer::start();
        let mut world = World::below(
            Path::new(env!("CARGO_TARGET_TMPDIR")),
            env!("CARGO_BIN_EXE_flagpost"),
            crate::schemas::check,
        );
        // Limits end at a real time.
        world.set("FLAGPOST_CLOCK", "");
        let (outside, home) = (world.outside().to_owned(), world.outside().join("home"));
        let tmp = outside.join("tmp");
        fs::create_dir(&tmp).unwrap();
        world.set("TMPDIR", tmp);
        let compiled = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled");
        world.set(clients::COMPILE_CACHE, compiled);
        for it in &found {
            world.set("PATH", it.path(&outside));
        }
        // What a client refuses is refused at once: nobody sits there to be asked.
        world.set("FLAGPOST_GATE_WAIT", "0s");
        for (client, login) in wanted {
            for (name, value) in clients::aim_as(*client, *login, &server, &home) {
                world.set(name, value);
            }
        }
        for (path, text) in USERS {
            let path = home.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let stage = run_stage::Stage::in_world(world, plan);
        let stage = Self { stage, server };
        // Two that begin in a new home at once trip over each other there.
        if wanted.iter().any(|(client, _)| *client == Client::Opencode) {
            let mut warm = stage.world.command_of("opencode");
            exits(stage.world.run(warm.args(["session", "list"])), 0);
        }
        fs::write(stage.world.repository().join("README.md"), "# Web\n").unwrap();
        stage.git(&["add", "README.md"]);
        stage.git(&["commit", "--quiet", "-m", "Begin"]);
        Some(stage)
    }

    /// A script for a task.
    pub fn script(&self, task: u32, steps: impl IntoIterator<Item = Step>) {
        self.server.script(&marker(task), steps);
    }

    /// Runs the list to its end.
    pub fn run(&self, args: &[&str]) -> Run {
        self.ended(self.begin(args))
    }

    /// Waits until this holds of a run. It may take as long as it likes while it goes on: patience begins
    /// anew with whatever it prints, and with each request of its clients.
    #[track_caller]
    pub fn until(
        &self,
        what: &str,
        run: &mut Background,
        mut holds: impl FnMut(&mut Background) -> bool,
    ) {
        let progress = |run: &Background| (run.stdout().len(), self.server.count());
        let mut seen = progress(run);
        let mut deadline = Instant::now() + patience();
        while !holds(run) {
            let now = progress(run);
            if now != seen {
                (seen, deadline) = (now, Instant::now() + patience());
            }
            let goes_on = run.is_running() && Instant::now() < deadline;
            // It may have come to it as its last act.
            assert!(
                goes_on || holds(run),
                "in vain until {what}\n{}\n{}",
                run.stdout(),
                run.stderr()
            );
            thread::sleep(LOOK);
        }
    }

    /// Waits for the end of a run, and looks at what its clients printed.
    #[track_caller]
    pub fn ended(&self, mut run: Background) -> Run {
        self.until("it ends", &mut run, |run| !run.is_running());
        let ended = run.end();
        let mut shown = ended.to_string();
        let mut logs = Vec::new();
        walk(&self.sessions(), &mut logs);
        logs.sort();
        for (path, bytes) in logs.iter().filter(|(path, _)| path.ends_with(".log")) {
            let from = bytes.len().saturating_sub(6000);
            shown += &format!("\n== {path}\n{}", String::from_utf8_lossy(&bytes[from..]));
        }
        Run {
            code: ended.code,
            events: run_stage::lines(&ended.stdout),
            shown,
        }
    }

    /// The requests that wait: their numbers, and what they are about.
    pub fn waiting(&self) -> Vec<(u64, String)> {
        let (_, shown) = self.world.json(["permission", "list"]);
        let requests = shown["requests"].as_array().unwrap();
        let each = requests.iter().map(|it| {
            let line = it["line"].as_str().unwrap().to_owned();
            (it["request"].as_u64().unwrap(), line)
        });
        each.collect()
    }

    /// Waits until an agent asks for what ends so, and allows it, or denies it with these words.
    #[track_caller]
    pub fn decide(&self, run: &mut Background, end: &str, words: Option<&str>) {
        let asked = |stage: &Self| {
            let waiting = stage.waiting().into_iter();
            let mut found = waiting.filter(|(_, line)| line.ends_with(end));
            found.next().map(|(number, _)| number.to_string())
        };
        self.until("it asks", run, |_| asked(self).is_some());
        let number = asked(self).expect("nobody else decides");
        match words {
            None => self.world.ok(["allow", &number]),
            Some(words) => self.world.ok(["deny", &number, words]),
        };
    }

    /// An agent asks to copy the readme to two places outside: one is allowed, one denied with words that it reads.
    /// What it goes on with where it was refused comes before its report. The run that did it.
    pub fn allows_one_and_denies_one(
        &self,
        client: Client,
        agent: &str,
        copies: fn(Client, &str) -> Step,
        goes_on: Vec<Step>,
    ) -> Run {
        let place = |name: &str| self.world.outside().join(name);
        let (allowed, denied) = (place("allowed.md"), place("denied.md"));
        let copy = |to: &Path| copies(client, &format!("cp README.md {}", to.display()));
        let steps = [copy(&allowed), copy(&denied)].into_iter().chain(goes_on);
        self.script(
            1,
            steps.chain([
                runs(client, "flagpost done 1 'Copied'"),
                Step::text("Said."),
            ]),
        );
        let mut run = self.begin(&["--agent", agent, "--retries", "1"]);
        self.decide(&mut run, "allowed.md", None);
        self.decide(&mut run, "denied.md", Some("Stay in the project"));
        let run = self.ended(run);
        run.came_to(0, &["PASS"]);
        assert!(allowed.is_file(), "{}", run.shown);
        assert!(!denied.exists(), "{}", run.shown);
        let words = "The operator denied this: Stay in the project";
        let is_read = self.heard(1).iter().any(|it| it.contains(words));
        assert!(is_read, "{}", run.shown);
        let record = run.ended(1)["record"]["denied"].to_string();
        assert!(
            record.contains("denied.md") && !record.contains("allowed.md"),
            "{record}"
        );
        let shown = self.world.ok(["show", "1"]);
        for words in ["Its client refused:", "flagpost run --allow 'cp README.md "] {
            assert!(shown.contains(words), "{shown}");
        }
        run
    }

    /// Begins to.
    pub fn begin(&self, args: &[&str]) -> Background {
        Background::start(self.command().args(args))
    }

    /// The command that does, without its options.
    pub fn command(&self) -> Command {
        let mut command = self.world.command();
        command.args(["run", "--json"]);
        command
    }

    /// Where the agent of a task works: in its worktree, the newest where there are several, else in the
    /// repository.
    pub fn place_of(&self, task: u32) -> PathBuf {
        let of_sessions = fs::read_dir(self.world.home().join("worktrees/web"));
        let trees = of_sessions.into_iter().flatten().flatten();
        let trees = trees.map(|session| session.path().join(task.to_string()));
        let tree = trees.filter(|tree| tree.is_dir()).max();
        tree.unwrap_or_else(|| self.world.repository())
    }

    /// What git says.
    pub fn git(&self, args: &[&str]) -> String {
        let ran = exits(self.world.run(self.world.command_of("git").args(args)), 0);
        ran.stdout
    }

    /// The words of the model that were heard in the turns of a task: what the clients sent.
    pub fn heard(&self, task: u32) -> Vec<String> {
        let turns = self.server.turns(&marker(task));
        turns.iter().map(|turn| turn.text()).collect()
    }

    /// Sets a variable for the runs to come.
    pub fn set(&mut self, name: &str, value: impl AsRef<OsStr>) {
        self.stage.world.set(name, value);
    }

    /// The files of the clients' user that are there, with what is in them.
    pub fn own_files(&self) -> Vec<(String, Vec<u8>)> {
        let home = self.world.outside().join("home");
        let mut found = Vec::new();
        for dir in [".claude", ".codex", ".gemini", ".config"] {
            walk(&home.join(dir), &mut found);
        }
        found
    }

    /// The files that the user wrote, as they are now.
    pub fn users_files(&self) -> Vec<Vec<u8>> {
        let home = self.world.outside().join("home");
        let read = |(path, _): &(&str, &str)| fs::read(home.join(path)).unwrap();
        USERS.iter().map(read).collect()
    }
}

fn walk(dir: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, found);
        } else {
            let bytes = fs::read(&path).unwrap_or_default();
            found.push((path.display().to_string(), bytes));
        }
    }
}

impl Run {
    /// It exited with this code, and the attempts of task 1 ended so.
    #[track_caller]
    pub fn came_to(&self, code: i32, ends: &[&str]) {
        let came = self.ends(1);
        let came: Vec<&str> = came.iter().map(String::as_str).collect();
        assert_eq!((self.code, came.as_slice()), (code, ends), "{}", self.shown);
    }

    /// The events of this kind.
    pub fn told(&self, kind: &str) -> Vec<&Value> {
        let of_kind = self.events.iter().filter(|it| it["event"] == kind);
        of_kind.collect()
    }

    /// What was told of this kind about a task, in order.
    fn about(&self, task: u32, kind: &str) -> impl DoubleEndedIterator<Item = &Value> {
        let task = Value::from(task.to_string());
        let told = self.told(kind).into_iter();
        told.filter(move |it| it["task"] == task)
    }

    /// How the attempts of a task ended, in order.
    pub fn ends(&self, task: u32) -> Vec<String> {
        let ended = self.about(task, "task.ended");
        ended
            .map(|it| it["outcome"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// The last end of a task.
    pub fn ended(&self, task: u32) -> &Value {
        let mut ended = self.about(task, "task.ended");
        ended
            .next_back()
            .unwrap_or_else(|| panic!("task {task} never ended\n{}", self.shown))
    }

    /// The last words about a task: of its agent, or of the run.
    pub fn words(&self, task: u32) -> &str {
        self.ended(task)["words"].as_str().unwrap_or_default()
    }

    /// The conversations about a task, each once.
    pub fn sessions(&self, task: u32) -> BTreeSet<&str> {
        let told = self.about(task, "task.session");
        told.filter_map(|it| it["client_session"].as_str())
            .collect()
    }

    /// Where the conversations about a task were.
    pub fn places(&self, task: u32) -> BTreeSet<&str> {
        let told = self.about(task, "task.session");
        told.filter_map(|it| it["dir"].as_str()).collect()
    }

    /// What became of a task.
    pub fn fate(&self, task: u32) -> &str {
        let mut settled = self.about(task, "task.settled");
        settled
            .next_back()
            .and_then(|it| it["fate"].as_str())
            .unwrap_or("never settled")
    }
}

fn marker(task: u32) -> String {
    format!("# Task {task}: ")
}

/// The agent runs this.
pub fn runs(client: Client, command: &str) -> Step {
    Step::calls([clients::shell(client, command)])
}

/// The agent writes this report with its own tool, where its prompt says.
pub fn reports(client: Client, text: &str) -> Step {
    let text = text.to_owned();
    Step::by(move |request| {
        let path = request.path_ending("/report.md");
        let path = path.expect("the prompt says where to report");
        Step::calls([clients::write(client, &path, &text)])
    })
}

/// A report.
pub fn report(status: &str, words: &str) -> String {
    format!("status: {status}\n\n## Summary\n{words}\n\n## Issues\nNone\n")
}
