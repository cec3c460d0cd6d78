//! A sealed world for tests of the binary: its own home, repository, clock and environment.
//!
//! Owns a temporary directory and what a process started in it can see: nothing of the machine but
//! `PATH`. Invariant: what a run prints is the same on every machine, because paths, pids and the
//! random repository id are replaced by their names.

use std::{
    ffi::{OsStr, OsString},
    fs,
    io::Write,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// The time in a sealed world, unless a test sets another.
pub const NOW: &str = "2026-05-13T14:25:00Z";

/// What looks at everything that the binary prints: its arguments, and what was on stdout. It
/// panics where it finds a fault.
pub type Check = fn(&[&OsStr], &str);

/// A home and a git repository that nobody else knows.
#[derive(Debug)]
pub struct World {
    binary: PathBuf,
    check: Check,
    dir: tempfile::TempDir,
    set: Vec<(OsString, OsString)>,
    kept_as: Option<String>,
}

/// What a run of the binary left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// The exit code; -1 where a signal ended it.
    pub code: i32,
    /// What it printed, redacted.
    pub stdout: String,
    /// What it said besides, redacted.
    pub stderr: String,
}

impl World {
    /// A world with an empty home and an empty git repository called `web`. The binary's path
    /// comes from the crate that builds it: `env!("CARGO_BIN_EXE_flagpost")`.
    pub fn new(binary: impl Into<PathBuf>, check: Check) -> Self {
        Self::without_repository(binary, check).with_git()
    }

    /// The same below this directory: for programs that treat temporary directories as nobody's.
    pub fn below(parent: &Path, binary: impl Into<PathBuf>, check: Check) -> Self {
        let dir = tempfile::TempDir::new_in(parent).expect("a directory can be made");
        Self::in_dir(dir, binary.into(), check).with_git()
    }

    /// The same, where `web` is a plain directory.
    pub fn without_repository(binary: impl Into<PathBuf>, check: Check) -> Self {
        Self::in_dir(crate::scratch::scratch(), binary.into(), check)
    }

    fn with_git(self) -> Self {
        let mut git = self.command_of("git");
        git.args(["-c", "init.defaultBranch=main", "init", "--quiet", "."]);
        let made = git.status().expect("git can be run");
        assert!(made.success(), "git init failed");
        self
    }

    fn in_dir(dir: tempfile::TempDir, binary: PathBuf, check: Check) -> Self {
        for name in ["home", "web"] {
            fs::create_dir(dir.path().join(name)).expect("a new directory is writable");
        }
        Self {
            binary,
            check,
            dir,
            set: Vec::new(),
            kept_as: None,
        }
    }

    /// With another variable in the environment, in place of one of the same name.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.set(name, value);
        self
    }

    /// Sets a variable of the environment for the runs to come.
    pub fn set(&mut self, name: &str, value: impl AsRef<OsStr>) {
        self.unset(name);
        self.set.push((name.into(), value.as_ref().to_owned()));
    }

    /// Takes back what [`World::set`] did.
    pub fn unset(&mut self, name: &str) {
        self.set.retain(|(known, _)| known != name);
    }

    /// Keeps its files where the test that uses it fails, and says where, under this name. For tests
    /// that fail rarely and cannot be told to fail again.
    pub fn keep_if_it_fails(&mut self, name: impl Into<String>) {
        self.kept_as = Some(name.into());
    }

    /// The directory around the home and the repository.
    pub fn outside(&self) -> &Path {
        self.dir.path()
    }

    /// `$FLAGPOST_HOME`.
    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home").join(".flagpost")
    }

    /// The repository, where commands run.
    pub fn repository(&self) -> PathBuf {
        self.dir.path().join("web")
    }

    /// Where the home keeps what it knows of the one repository that is registered.
    pub fn kept(&self) -> PathBuf {
        let all = fs::read_dir(self.home().join("repos")).expect("a repository is registered");
        let mut all = all.map(|it| it.expect("it can be listed").path());
        all.next().expect("a repository is registered")
    }

    /// The lines of that repository's history.
    pub fn history(&self) -> Vec<serde_json::Value> {
        let text = fs::read_to_string(self.kept().join("history.jsonl")).expect("there is one");
        let line = |line| serde_json::from_str(line).unwrap_or_else(|it| panic!("{it}: {line}"));
        text.lines().map(line).collect()
    }

    /// The directory of a list.
    pub fn list(&self, name: &str) -> PathBuf {
        self.home().join("tasks").join(name)
    }

    /// Runs the binary.
    pub fn flagpost<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Ran {
        self.run(self.command().args(args))
    }

    /// Runs the binary with this on its stdin.
    pub fn feed<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>, stdin: &[u8]) -> Ran {
        let mut command = self.command();
        command.args(args).stdin(Stdio::piped());
        let mut child = piped(&mut command);
        let mut pipe = child.stdin.take().expect("stdin is a pipe");
        std::thread::scope(|scope| {
            // It may refuse and go away before all is written.
            scope.spawn(move || drop(pipe.write_all(stdin)));
            self.end(&command, child)
        })
    }

    /// Runs the binary and answers with what it printed, which must have worked.
    pub fn ok<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> String {
        let ran = self.flagpost(args);
        assert_eq!(ran.code, 0, "{ran}");
        ran.stdout
    }

    /// Runs a script of command lines, without the program's name, and tells what each did.
    /// `NAME=value` in front of one is in its environment.
    pub fn transcript(&self, script: &str) -> String {
        let mut told = String::new();
        let lines = script.lines().map(str::trim);
        for line in lines.filter(|line| !line.is_empty()) {
            let words = shlex::split(line).expect("quotes are closed");
            let is_name =
                |(name, _): (&str, &str)| !name.contains(|c| !matches!(c, 'A'..='Z' | '_'));
            let is_setting = |word: &&String| word.split_once('=').is_some_and(is_name);
            let settings = words.iter().take_while(is_setting).count();
            let mut command = self.command();
            command.args(&words[settings..]);
            let set = words[..settings].iter();
            command.envs(set.filter_map(|word| word.split_once('=')));
            told += &format!("$ {line}\n{}", self.run(&mut command));
        }
        told
    }

    /// Runs the command lines of a transcript again and tells what each did now: the lines with a `$`
    /// where the first line has one.
    pub fn repeat(&self, transcript: &str) -> String {
        let (margin, _) = transcript
            .split_once("$ ")
            .expect("a transcript has a command line");
        assert!(
            margin.trim().is_empty(),
            "a transcript begins with a command line, not with {margin:?}"
        );
        let prompt = format!("{}$ ", margin.rsplit('\n').next().unwrap_or_default());
        let lines = transcript.lines();
        let lines = lines.filter_map(|line| line.strip_prefix(&prompt));
        self.transcript(&lines.collect::<Vec<_>>().join("\n"))
    }

    /// Runs the binary with `--json` and answers with its exit code and the one JSON value that
    /// was on stdout.
    pub fn json<A: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
    ) -> (i32, serde_json::Value) {
        let ran = self.run(self.command().args(args).arg("--json"));
        let value = serde_json::from_str(&ran.stdout);
        let value = value.unwrap_or_else(|error| panic!("not one JSON value: {error}\n{ran}"));
        assert!(
            ran.stdout.ends_with('\n') && ran.stdout.lines().count() == 1,
            "not one line: {ran}"
        );
        (ran.code, value)
    }

    /// The binary in this world, for a test that starts it itself.
    pub fn command(&self) -> Command {
        self.command_of(&self.binary)
    }

    /// Another program in this world. It is looked for here: the standard library forks this process, with all
    /// its memory, where it has to search another `PATH` than its own.
    pub fn command_of(&self, program: impl AsRef<OsStr>) -> Command {
        let program = program.as_ref();
        let mut command = Command::new(self.found(program));
        command
            .arg0(program)
            .env_clear()
            .envs(path_without_clients().map(|path| ("PATH", path)))
            .env("HOME", self.dir.path().join("home"))
            .env("FLAGPOST_HOME", self.home())
            .env("FLAGPOST_CLOCK", NOW)
            .env("USER", "ann")
            .env("COLUMNS", "100")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CEILING_DIRECTORIES", self.dir.path())
            .envs([
                ("GIT_AUTHOR_NAME", "Ann"),
                ("GIT_AUTHOR_EMAIL", "ann@example.org"),
                ("GIT_AUTHOR_DATE", NOW),
                ("GIT_COMMITTER_NAME", "Ann"),
                ("GIT_COMMITTER_EMAIL", "ann@example.org"),
                ("GIT_COMMITTER_DATE", NOW),
            ])
            .envs(self.set.iter().map(|(name, value)| (name, value)))
            .current_dir(self.repository())
            .stdin(Stdio::null());
        command
    }

    /// Where the program lies, if the `PATH` of this world says so.
    fn found(&self, program: &OsStr) -> PathBuf {
        let own = self.set.iter().find(|(name, _)| name == "PATH");
        let path = own.map(|it| it.1.clone()).or_else(path_without_clients);
        let mut places = path.iter().flat_map(std::env::split_paths);
        let found = places.find(|dir| dir.join(program).is_file());
        found.unwrap_or_default().join(program)
    }

    /// Runs a prepared command to its end.
    pub fn run(&self, command: &mut Command) -> Ran {
        let child = piped(command);
        self.end(command, child)
    }

    fn end(&self, command: &Command, child: Child) -> Ran {
        let output = child.wait_with_output().expect("a child can be waited for");
        let stdout = String::from_utf8_lossy(&output.stdout);
        if command.get_program() == self.binary {
            (self.check)(&command.get_args().collect::<Vec<_>>(), &stdout);
        }
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: self.redact(&stdout),
            stderr: self.redact(&String::from_utf8_lossy(&output.stderr)),
        }
    }

    /// The text with names in place of what differs from run to run.
    pub fn redact(&self, text: &str) -> String {
        let real = self.dir.path().canonicalize();
        let mut text = text.replace(&*self.dir.path().to_string_lossy(), "[dir]");
        if let Ok(real) = real {
            text = text.replace(&*real.to_string_lossy(), "[dir]");
        }
        for (at, _) in text.clone().rmatch_indices("pid ") {
            let digits = text[at + 4..]
                .bytes()
                .take_while(u8::is_ascii_digit)
                .count();
            if digits > 0 {
                text.replace_range(at + 4..at + 4 + digits, "[pid]");
            }
        }
        let repositories = fs::read_dir(self.home().join("repos"));
        for entry in repositories.into_iter().flatten().flatten() {
            text = text.replace(&*entry.file_name().to_string_lossy(), "[repo]");
        }
        text
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(name) = self.kept_as.as_ref().filter(|_| std::thread::panicking()) {
            self.dir.disable_cleanup(true);
            eprintln!(
                "{name} failed; its files are kept in {}",
                self.dir.path().display()
            );
        }
    }
}

fn piped(command: &mut Command) -> Child {
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// As snapshots show it: the exit code unless it is 0, then what was printed, then what was said
/// with `2>` before each line.
impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.code != 0 {
            writeln!(f, "exit {}", self.code)?;
        }
        f.write_str(&self.stdout)?;
        if !self.stdout.is_empty() && !self.stdout.ends_with('\n') {
            writeln!(f, "[no newline]")?;
        }
        for line in self.stderr.lines() {
            writeln!(f, "2> {line}")?;
        }
        Ok(())
    }
}

/// The machine's `PATH` without the directories that hold an agent's program, unless they hold git too:
/// what is said of those there are is the same on every machine.
fn path_without_clients() -> Option<std::ffi::OsString> {
    const CLIENTS: &[&str] = &[
        "claude",
        "codex",
        "gemini",
        "opencode",
        "cursor-agent",
        "aider",
    ];
    let holds = |dir: &Path, names: &[&str]| names.iter().any(|name| dir.join(name).exists());
    let path = std::env::var_os("PATH")?;
    let kept =
        std::env::split_paths(&path).filter(|dir| !holds(dir, CLIENTS) || holds(dir, &["git"]));
    std::env::join_paths(kept).ok()
}
