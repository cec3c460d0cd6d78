//! Real processes that race each other and die at any moment.
//!
//! Owns the children: the running test binary started again with one test selected, which plays a
//! [`ChildRole`]. Every child is killed and waited for by its own id when its value goes, and the system
//! kills it when its parent is gone.
//!
//! A binary offers its parts in one test, here `child::main`, that does nothing by itself:
//!
//! ```no_run
//! # use flagpost_testkit::race::{self, Children};
//! const CHILDREN: Children = Children::of("child::main");
//!
//! // #[test]
//! fn main() {
//!     let Some(part) = race::part() else { return };
//!     match part.role() {
//!         "count" => (0..3).for_each(|n| part.report(n)),
//!         role => panic!("no such part: {role}"),
//!     }
//! }
//! ```

use std::{
    fmt::Display,
    fs::File,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{self, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use crate::patience::patience;

/// How long it rests at most between two looks.
const LONGEST_PAUSE: Duration = Duration::from_millis(32);

const ROLE: &str = "FLAGPOST_TEST_ROLE";
const PLACE: &str = "FLAGPOST_TEST_PLACE";
const NUMBER: &str = "FLAGPOST_TEST_NUMBER";
const GATE: &str = "FLAGPOST_TEST_GATE";
/// Tells a report from what the test runner prints.
const MARK: &str = "@@ ";
const READY: &str = "ready";

/// How to start this test binary again.
#[derive(Debug, Clone, Copy)]
pub struct Children {
    entry: &'static str,
}

impl Children {
    /// Children enter at the test of this exact name.
    pub const fn of(entry: &'static str) -> Self {
        Self { entry }
    }

    /// Starts a child in a role, at work in `place`.
    pub fn start(&self, role: &str, place: &Path) -> Child {
        self.spawn(role, place, 0, None)
    }

    /// Starts `count` children in one role, lets all of them go at the same moment, and returns
    /// what each reported once all have ended well.
    ///
    /// # Panics
    /// Where a child fails or takes too long.
    pub fn race(&self, count: usize, role: &str, place: &Path) -> Vec<Vec<String>> {
        let gate = tempfile::NamedTempFile::new().expect("a gate can be made");
        gate.as_file().lock().expect("the gate can be closed");
        let children: Vec<Child> = (0..count)
            .map(|number| self.spawn(role, place, number, Some(gate.path())))
            .collect();
        for child in &children {
            assert_eq!(child.next_report().as_deref(), Some(READY));
        }
        gate.as_file().unlock().expect("the gate can be opened");
        children.into_iter().map(Child::finish).collect()
    }

    fn spawn(&self, role: &str, place: &Path, number: usize, gate: Option<&Path>) -> Child {
        let binary = std::env::current_exe().expect("a test knows its binary");
        let mut command = Command::new(binary);
        command
            .args(["--exact", self.entry, "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(PLACE, place)
            .env(NUMBER, number.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if let Some(gate) = gate {
            command.env(GATE, gate);
        }
        let mut process = command.spawn().expect("this binary can be started again");
        let output = process.stdout.take().expect("it was piped");
        Child {
            reports: listen(output),
            process,
        }
    }
}

/// A running child.
#[derive(Debug)]
pub struct Child {
    process: process::Child,
    reports: Receiver<String>,
}

impl Child {
    /// Its process id.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Its next report; `None` once it has ended.
    ///
    /// # Panics
    /// Where nothing comes before [`patience`] ends.
    pub fn next_report(&self) -> Option<String> {
        match self.reports.recv_timeout(patience()) {
            Ok(report) => Some(report),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("child {} is silent", self.id()),
        }
    }

    /// Lets it go on from [`ChildRole::wait`].
    ///
    /// # Panics
    /// Where it has ended.
    pub fn release(&mut self) {
        let input = self.process.stdin.as_mut().expect("it was piped");
        input.write_all(b"\n").expect("the child still listens");
    }

    /// Kills it as `kill -9` does; returns what it had still reported once it is gone.
    pub fn kill(mut self) -> Vec<String> {
        self.end();
        self.reports.iter().collect()
    }

    /// Waits for its end; returns what it had still reported.
    ///
    /// # Panics
    /// Where it failed.
    pub fn finish(mut self) -> Vec<String> {
        let reports = std::iter::from_fn(|| self.next_report()).collect();
        let status = self.process.wait().expect("a child can be waited for");
        assert!(status.success(), "child {}: {status}", self.id());
        reports
    }

    fn end(&mut self) {
        // A child that has ended and was waited for is not signalled.
        let killed = self.process.kill().and_then(|()| self.process.wait());
        if let Err(error) = killed {
            eprintln!("child {} stays: {error}", self.id());
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
    }
}

/// The part a child plays.
#[derive(Debug)]
pub struct ChildRole {
    role: String,
    place: PathBuf,
    number: usize,
}

/// The part of this process, where it is a child. In a race it returns when the race starts.
///
/// # Panics
/// Where the parent is gone.
pub fn part() -> Option<ChildRole> {
    let part = ChildRole {
        role: std::env::var(ROLE).ok()?,
        place: std::env::var_os(PLACE)?.into(),
        number: std::env::var(NUMBER).ok()?.parse().ok()?,
    };
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
        .expect("a child can ask to die with its parent");
    if let Some(gate) = std::env::var_os(GATE) {
        let gate = File::open(gate).expect("the gate is there");
        part.report(READY);
        gate.lock_shared().expect("the gate opens");
    }
    Some(part)
}

impl ChildRole {
    /// What to do.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// Where to do it.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// The child's number in its race, from 0.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Tells the parent; on return it will learn of it even if this process dies at once.
    ///
    /// # Panics
    /// Where the parent is gone.
    pub fn report(&self, what: impl Display) {
        let line = format!("\n{MARK}{what}\n");
        let mut out = std::io::stdout().lock();
        out.write_all(line.as_bytes())
            .and_then(|()| out.flush())
            .expect("the parent listens");
    }

    /// Waits for the parent's [`Child::release`].
    ///
    /// # Panics
    /// Where the parent is gone.
    pub fn wait(&self) {
        let mut word = [0];
        let read = std::io::stdin().read_exact(&mut word);
        read.expect("the parent releases its children");
    }
}

/// Waits until `condition` holds.
///
/// # Panics
/// Where it does not before [`patience`] ends.
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    found(what, || condition().then_some(()));
}

/// What a look finds, once it finds something.
///
/// # Panics
/// Where it finds nothing before [`patience`] ends.
pub fn found<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + patience();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        thread::sleep(pause);
        // Many looks start a process: who waits for long leaves the processor to what is waited for.
        pause = LONGEST_PAUSE.min(pause * 2);
    }
}

/// What comes of work that must end by itself; it has a thread of its own, which a fault leaves behind.
///
/// # Panics
/// Where it fails, or does not end before [`patience`] does.
pub fn ended<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        // Nobody waits for it any more where it was too late.
        let _ = send.send(work());
    });
    let came = receive.recv_timeout(patience());
    came.unwrap_or_else(|error| panic!("waited in vain until {what}: {error}"))
}

/// Hands on each whole report. What the child was writing when it died is none.
fn listen(output: process::ChildStdout) -> Receiver<String> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = String::new();
        while output.read_line(&mut line).is_ok_and(|len| len > 0) {
            let report = line.strip_prefix(MARK).and_then(|l| l.strip_suffix('\n'));
            // A parent that listens no more is no reason to let the child block on its output.
            let _ = report.map(|report| send.send(report.to_owned()));
            line.clear();
        }
    });
    receive
}
