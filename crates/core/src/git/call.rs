//! One call of the `git` program.
//!
//! Owns how git is run: its place given by `-C` and by nothing a parent left in the environment;
//! no pager, prompt, editor or terminal; plain messages; answers of bounded size; an end when the
//! caller wants one. Hooks and configuration stay the user's. It must never pass `--force`.

use std::{
    ffi::OsStr,
    io::{self, Read, Write},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};

use super::{GitError, GitResult};

/// Variables by which a parent git (a hook, an alias) points its children at its own repository.
/// Whoever starts a program in a worktree removes them.
pub const PARENT_VARIABLES: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Variables that say who commits and when, and with which settings. A parent git means its own command by them;
/// without one they are what a person, or a CI, wants.
const OWN_COMMAND: &[&str] = &[
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_CONFIG_PARAMETERS",
    "GIT_REFLOG_ACTION",
];

/// What every git sets for the programs that it starts.
const PARENT: &str = "GIT_EXEC_PATH";

/// The variables that a parent git has set for itself, by those that are set. No agent inherits them.
pub fn parent_variables(is_set: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let mut signs = PARENT_VARIABLES.iter().chain([&PARENT]);
    let has_parent = signs.any(|it| is_set(it));
    let own = OWN_COMMAND.iter().filter(|_| has_parent);
    PARENT_VARIABLES.iter().chain(own).copied().collect()
}

/// Largest answer that is taken. A status this long is refused, and what it is about is kept.
const ANSWER_LIMIT: u64 = 16 << 20;
/// How much of the end of git's complaints is kept. What went wrong comes last.
const COMPLAINT_LIMIT: usize = 16 << 10;
/// How long a lock that another git holds is waited for.
const LOCK_WAIT: Duration = Duration::from_secs(10);
const LOCK_PAUSE: Duration = Duration::from_millis(50);
/// How long complaints are waited for once git is gone: a hook's background process may hold them
/// open for ever.
const COMPLAINT_WAIT: Duration = Duration::from_millis(500);
/// How often to look whether the caller wants an end.
const LOOK: Duration = Duration::from_millis(50);
/// A call that takes so long waits for somebody who will not come.
const LIMIT: Duration = Duration::from_secs(30 * 60);
/// How long git and its hooks have to end in good order.
const GRACE: Duration = Duration::from_secs(2);

/// What git answered.
#[derive(Debug)]
pub struct GitOutput {
    status: ExitStatus,
    /// Standard output.
    pub out: Vec<u8>,
    err: String,
    /// The time that it had, where it was ended for that.
    late: Option<Duration>,
}

impl GitOutput {
    /// The exit code; `None` when a signal ended git.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    fn complaint(&self) -> String {
        if let Some(limit) = self.late {
            return format!(
                "it was ended after {} s: it may have waited for a signature, for credentials or for a hook",
                limit.as_secs()
            );
        }
        match (self.err.trim(), self.status.signal()) {
            ("", Some(signal)) => format!("ended by signal {signal}"),
            ("", None) => format!("exit code {}", self.code().unwrap_or_default()),
            (said, _) => without_advice(said),
        }
    }

    /// Whether another git was in the middle of something: it held a lock, or was making or removing a
    /// worktree.
    fn met_another(&self) -> bool {
        let signs = [".lock': File exists", "/commondir: "];
        !self.status.success() && signs.iter().any(|sign| self.err.contains(sign))
    }
}

/// Becomes git, for a person at a terminal: git's own colours, and its pager where it may have one. Returns where git
/// cannot be run.
pub fn become_git(dir: &Path, words: &[&str], may_page: bool) -> GitError {
    let mut command = Command::new("git");
    for variable in PARENT_VARIABLES {
        command.env_remove(variable);
    }
    if !may_page {
        command.arg("--no-pager");
    }
    let error = command
        .arg("-C")
        .arg(dir)
        .args(["-c", "core.quotePath=off", "-c", "core.fsmonitor=false"])
        .args(words)
        .exec();
    GitError {
        call: words.join(" "),
        dir: dir.to_owned(),
        message: format!("cannot be run: {error}"),
    }
}

/// A call being put together.
#[derive(Debug)]
pub struct Git {
    command: Command,
    dir: PathBuf,
    call: String,
    input: Option<Vec<u8>>,
    stop: Option<Arc<AtomicBool>>,
    limit: Duration,
}

impl Git {
    /// Git, asked in `dir`.
    pub fn at(dir: &Path) -> Self {
        let mut command = Command::new("git");
        for variable in PARENT_VARIABLES {
            command.env_remove(variable);
        }
        command
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            // Who asks at a terminal from the background is stopped and never answered.
            .env("SSH_ASKPASS_REQUIRE", "force")
            .env("GIT_EDITOR", ":")
            // A look must not take the index's lock from an agent.
            .env("GIT_OPTIONAL_LOCKS", "0")
            // Ctrl-C is for the run to handle; git must not be cut off in the middle by it.
            .process_group(0)
            .arg("--no-pager")
            .arg("-C")
            .arg(dir)
            .args(["-c", "core.quotePath=off"])
            // What a monitor missed would look clean.
            .args(["-c", "core.fsmonitor=false"])
            .args(["-c", "gc.auto=0", "-c", "maintenance.auto=false"]);
        Self {
            command,
            dir: dir.to_owned(),
            call: String::new(),
            input: None,
            stop: None,
            limit: LIMIT,
        }
    }

    /// Sets configuration for this call, before any argument.
    #[must_use]
    pub fn config(mut self, setting: &str) -> Self {
        self.command.args(["-c", setting]);
        self
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        if !self.call.is_empty() {
            self.call.push(' ');
        }
        self.call.push_str(&arg.as_ref().to_string_lossy());
        self.command.arg(arg);
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(self, args: &[impl AsRef<OsStr>]) -> Self {
        args.iter().fold(self, |git, arg| git.arg(arg))
    }

    /// Gives git a little text on standard input.
    #[must_use]
    pub fn input(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.input = Some(text.into());
        self
    }

    /// Ends git, and whatever it started, once this is set. For calls that hooks or a remote may hold up.
    pub fn end_with(&mut self, stop: &Arc<AtomicBool>) {
        self.stop = Some(Arc::clone(stop));
    }

    /// Ends git, and whatever it started, after so long; else after half an hour.
    pub fn end_after(&mut self, limit: Duration) {
        self.limit = limit;
    }

    /// Its arguments, as words for a person.
    pub fn call(&self) -> &str {
        &self.call
    }

    /// Runs; whatever the exit code, the answer.
    pub fn ask(&mut self) -> GitResult<GitOutput> {
        self.converse()
            .map_err(|error| self.failed(format!("cannot be run: {error}")))
    }

    /// Runs; anything but success is an error.
    pub fn run(mut self) -> GitResult<Vec<u8>> {
        let answer = self.ask()?;
        self.require(answer)
    }

    /// As [`Git::run`], but waits for locks that other gits hold. Only for what may be done again.
    pub fn run_patiently(mut self) -> GitResult<Vec<u8>> {
        let answer = self.ask_patiently()?;
        self.require(answer)
    }

    /// As [`Git::ask`], but waits for locks that other gits hold.
    pub fn ask_patiently(&mut self) -> GitResult<GitOutput> {
        let deadline = Instant::now() + LOCK_WAIT;
        loop {
            let answer = self.ask()?;
            let stop = self.stop.as_ref();
            let is_over = stop.is_some_and(|it| it.load(Ordering::Relaxed));
            if is_over || !answer.met_another() || Instant::now() >= deadline {
                return Ok(answer);
            }
            thread::sleep(LOCK_PAUSE);
        }
    }

    /// The answer as an error of this call.
    pub fn refused(&self, answer: &GitOutput) -> GitError {
        self.failed(answer.complaint())
    }

    fn require(&self, answer: GitOutput) -> GitResult<Vec<u8>> {
        if answer.status.success() {
            Ok(answer.out)
        } else {
            Err(self.refused(&answer))
        }
    }

    fn failed(&self, message: String) -> GitError {
        GitError {
            call: self.call.clone(),
            dir: self.dir.clone(),
            message,
        }
    }

    fn converse(&mut self) -> io::Result<GitOutput> {
        let stdin = match self.input {
            Some(_) => Stdio::piped(),
            None => Stdio::null(),
        };
        let mut child = self
            .command
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let watch = EndOnTime::watch(&child, self.stop.clone(), self.limit);
        let complaints = child.stderr.take().map(collect_aside);
        if let (Some(text), Some(mut stdin)) = (&self.input, child.stdin.take()) {
            // A git that has gone away says why in its exit code.
            let _ = stdin.write_all(text);
        }
        let mut out = Vec::new();
        let mut too_long = false;
        if let Some(stdout) = child.stdout.take() {
            let mut bounded = stdout.take(ANSWER_LIMIT);
            bounded.read_to_end(&mut out)?;
            too_long = io::copy(&mut bounded.into_inner(), &mut io::sink())? > 0;
        }
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(
            waitid(WaitId::Pid(Pid::from_child(&child)), ended),
            Err(Errno::INTR)
        ) {}
        let late = watch.end().then_some(self.limit);
        let status = child.wait()?;
        if too_long {
            let text = format!("answered with more than {ANSWER_LIMIT} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        let err = complaints.map(|wait| wait()).unwrap_or_default();
        Ok(GitOutput {
            status,
            out,
            err,
            late,
        })
    }
}

/// Ends a git when that is wanted, or when its time is over. It ends before the process is reaped, so that
/// its group's number is nobody else's.
struct EndOnTime {
    over: mpsc::Sender<()>,
    thread: thread::JoinHandle<bool>,
}

impl EndOnTime {
    fn watch(git: &std::process::Child, stop: Option<Arc<AtomicBool>>, limit: Duration) -> Self {
        let (group, began) = (Pid::from_child(git), Instant::now());
        let (over, is_over) = mpsc::channel::<()>();
        let thread = thread::spawn(move || {
            let look = stop.as_ref().map_or(limit, |_| LOOK.min(limit));
            let mut patience = look;
            let (mut signal, mut is_late) = (Signal::TERM, false);
            while is_over.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout) {
                let is_stopped = stop.as_ref().is_some_and(|it| it.load(Ordering::Relaxed));
                is_late |= !is_stopped && began.elapsed() >= limit;
                if is_stopped || is_late {
                    // One that is gone has ended.
                    let _ = kill_process_group(group, signal);
                    (patience, signal) = (GRACE, Signal::KILL);
                }
            }
            is_late
        });
        Self { over, thread }
    }

    /// Watches no more; whether the time was over.
    fn end(self) -> bool {
        // One that has panicked has ended nothing.
        let _ = self.over.send(());
        self.thread.join().unwrap_or_default()
    }
}

/// What git said, less its advice: that is how to force it, and agents obey (trap 44).
fn without_advice(said: &str) -> String {
    let kept = |line: &str| {
        let end = ["use '", "use -", "use \"git"]
            .iter()
            .filter_map(|advice| line.find(advice))
            .min();
        let line = &line[..end.unwrap_or(line.len())];
        line.trim_end_matches([' ', ',', ';', '(']).to_owned()
    };
    let lines: Vec<String> = said
        .lines()
        .filter(|line| !line.starts_with("hint:"))
        .map(kept)
        .filter(|line| !line.is_empty())
        .collect();
    lines.join("\n")
}

/// Collects what is written to `pipe` on a thread of its own; the answer waits for its end, but
/// not long.
fn collect_aside(pipe: impl Read + Send + 'static) -> impl FnOnce() -> String {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let (ended, end) = mpsc::channel::<()>();
    let bytes = Arc::clone(&kept);
    thread::spawn(move || {
        let _ended = ended;
        let mut pipe = pipe;
        let mut piece = [0; 4096];
        while let Ok(read @ 1..) = pipe.read(&mut piece) {
            let mut bytes = bytes.lock().unwrap_or_else(PoisonError::into_inner);
            bytes.extend_from_slice(&piece[..read]);
            let over = bytes.len().saturating_sub(COMPLAINT_LIMIT);
            bytes.drain(..over);
        }
    });
    move || {
        let _ = end.recv_timeout(COMPLAINT_WAIT);
        let bytes = kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parents_repository_is_not_ours() {
        let git = Git::at(Path::new("/"));
        let removed = |name: &str| {
            git.command
                .get_envs()
                .any(|(key, value)| key == name && value.is_none())
        };
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            assert!(removed(name), "{name}");
        }
    }

    #[test]
    fn who_commits_is_said_by_a_person_unless_a_git_is_the_parent() {
        let removed = |set: &[&str]| {
            parent_variables(|name| set.contains(&name)).contains(&"GIT_AUTHOR_NAME")
        };
        assert!(!removed(&[]));
        assert!(!removed(&["GIT_AUTHOR_NAME", "GIT_COMMITTER_EMAIL"]));
        assert!(removed(&["GIT_AUTHOR_NAME", "GIT_INDEX_FILE"]));
        assert!(removed(&["GIT_EXEC_PATH"]));
    }

    #[test]
    fn advice_to_force_is_not_passed_on() {
        for (said, expected) in [
            (
                "fatal: 'x' is dirty, use --force to delete it",
                "fatal: 'x' is dirty",
            ),
            (
                "fatal: locked\nuse 'remove -f -f' to override",
                "fatal: locked",
            ),
            ("error: no\nhint: use --force", "error: no"),
            ("error: cannot use x", "error: cannot use x"),
        ] {
            assert_eq!(without_advice(said), expected);
        }
    }

    #[test]
    fn a_failure_names_the_call_the_place_and_what_git_said() {
        let error = Git::at(Path::new("/")).args(&["frobnicate", "x"]).run();
        let text = error.unwrap_err().to_string();
        assert!(
            text.starts_with("git frobnicate x in /: git: 'frobnicate' is not"),
            "{text}"
        );
    }
}
