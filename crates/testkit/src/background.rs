//! Processes that run while a test looks on.
//!
//! Owns waiting with a deadline, signals, and the search for what a run left behind. Every process
//! is ended by its own id when its value goes.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{patience::patience, race::until};

/// How often to look at a process.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A process in the background.
#[derive(Debug)]
pub struct Background {
    child: Child,
    outputs: [PathBuf; 2],
    /// Keeps the outputs.
    _dir: tempfile::TempDir,
    peak_kib: u64,
}

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    /// The exit code; -1 where a signal ended it.
    pub code: i32,
    /// What it printed.
    pub stdout: String,
    /// What it said besides.
    pub stderr: String,
    /// The most memory that it had, in KiB, as far as it was seen.
    pub peak_kib: u64,
}

impl Background {
    /// Starts it with its outputs in files, so that nothing it prints can hold it up.
    ///
    /// # Panics
    /// Where it does not start.
    pub fn start(command: &mut Command) -> Self {
        Self::fed(command, b"")
    }

    /// Starts it with this on its stdin, which it may read or leave.
    ///
    /// # Panics
    /// Where it does not start.
    pub fn fed(command: &mut Command, stdin: &[u8]) -> Self {
        let dir = crate::scratch::scratch();
        let input = dir.path().join("stdin");
        fs::write(&input, stdin).expect("an input can be made");
        let outputs = ["stdout", "stderr"].map(|name| dir.path().join(name));
        let open = |path: &PathBuf| fs::File::create(path).expect("an output can be made");
        let child = command
            .stdin(fs::File::open(input).expect("an input can be read"))
            .stdout(open(&outputs[0]))
            .stderr(open(&outputs[1]))
            .spawn()
            .expect("the program starts");
        Self {
            child,
            outputs,
            _dir: dir,
            peak_kib: 0,
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it printed so far.
    pub fn stdout(&self) -> String {
        text(&self.outputs[0])
    }

    /// What it said so far.
    pub fn stderr(&self) -> String {
        text(&self.outputs[1])
    }

    /// Whether it has not ended yet.
    ///
    /// # Panics
    /// Where the system does not say.
    pub fn is_running(&mut self) -> bool {
        self.peak_kib = self.peak_kib.max(peak_kib(self.id()));
        let ended = self.child.try_wait().expect("a child can be looked at");
        ended.is_none()
    }

    /// Sends it a signal.
    pub fn signal(&mut self, signal: Signal) {
        if self.is_running() {
            kill(self.id(), signal);
        }
    }

    /// Waits until this holds of it while it runs.
    ///
    /// # Panics
    /// Where it ends first, or [`patience`] does; what it said is shown.
    pub fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + patience();
        while !holds(self) {
            // What it said last may be what is waited for.
            let goes_on = self.is_running() || holds(self);
            assert!(
                goes_on && Instant::now() < deadline,
                "waited in vain until {what}\n{}\n{}",
                self.stdout(),
                self.stderr()
            );
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// Where it does not come before [`patience`] ends; what it said is shown.
    pub fn end(mut self) -> Ended {
        let deadline = Instant::now() + patience();
        while self.is_running() {
            assert!(
                Instant::now() < deadline,
                "it does not end\n{}\n{}",
                self.stdout(),
                self.stderr()
            );
            thread::sleep(LOOK_AGAIN);
        }
        let status = self.child.wait().expect("a child can be waited for");
        Ended {
            code: status.code().unwrap_or(-1),
            stdout: self.stdout(),
            stderr: self.stderr(),
            peak_kib: self.peak_kib,
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // One that has ended and was waited for is not signalled.
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {}\n{}\n2> {}", self.code, self.stdout, self.stderr)
    }
}

fn text(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

fn peak_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or_default()
}

/// Sends a signal to a process that a test started.
pub fn kill(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    // One that is gone needs no signal.
    let _ = pid.map(|pid| kill_process(pid, signal));
}

/// Whether a process is there and no zombie.
pub fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').map(|(_, rest)| rest.trim_start());
    state.is_some_and(|state| !state.starts_with(['Z', 'X']))
}

/// No process is left in whose environment this entry, `NAME=value`, is.
///
/// # Panics
/// Where one stays: who is killed takes a moment to go, and so does what looks after a repository once git has ended.
pub fn none_is_left_with(entry: &str) {
    until("no process is left", || {
        with_in_environment(entry).is_empty()
    });
}

/// The processes in whose environment this entry, `NAME=value`, is.
pub fn with_in_environment(entry: &str) -> Vec<u32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|process| process.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|found| found == entry.as_bytes())
    })
    .filter(|pid| is_alive(*pid))
    .collect()
}
