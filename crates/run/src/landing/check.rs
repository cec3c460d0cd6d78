//! The check of a merged tree.
//!
//! Owns how the operator's command is run (a shell, in the tree, with nothing of a parent's git and none
//! of an agent's variables in its environment), how long it may take, and which of its words are kept.

use std::{
    ffi::OsString,
    os::unix::process::ExitStatusExt,
    path::Path,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use flagpost_core::{Repository, git::parent_variables};
use flagpost_disk::fsx;
use flagpost_model::{TaskId, plain::plain};
use jiff::SignedDuration;

use crate::{
    error::Result,
    leftovers::{OF_AGENTS, end_leftovers},
    process::{Exited, Launch, Stdin, start},
    run_context::RunContext,
};

/// Where the words of the last check are.
const LOG: &str = "land-check.log";
/// So many of its last lines are handed on.
const LINES: usize = 200;
/// So much of its end is looked at for them.
const TAIL: u64 = 256 << 10;
/// The variable by which its processes are known, should the landing die before them.
const MARK: &str = "FLAGPOST_LANDING";
/// How often to look whether the operator wants to end.
const LOOK: Duration = Duration::from_millis(100);

/// A check.
#[derive(Debug)]
pub(super) struct Check<'a> {
    pub(super) command: &'a str,
    pub(super) timeout: SignedDuration,
    /// What is checked, in words.
    pub(super) on: String,
    /// What the tree stands on.
    pub(super) commit: &'a str,
}

/// What it came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    /// Why, with the end of its words.
    Failed(String),
    /// The operator ended it.
    Stopped,
}

impl Check<'_> {
    /// Runs it in a tree.
    pub(super) fn run(
        &self,
        stage: &RunContext<'_>,
        tree: &Path,
        stop: &AtomicBool,
    ) -> Result<Verdict> {
        let log = stage.home.repository_dir(&stage.repository.id).join(LOG);
        fsx::remove(stage.home.fs(), &log)?;
        let (send, ended) = mpsc::channel::<Exited>();
        let set = &stage.settings.variables;
        let unset = parent_variables(|name| set.contains(name)).into_iter();
        let unset = unset.chain(OF_AGENTS.iter().copied());
        let launch = Launch {
            program: "sh".into(),
            args: vec!["-c".into(), self.command.into()],
            dir: tree.to_owned(),
            stdin: Stdin::Nothing,
            log: fsx::open_log(&log)?,
            set: vec![(MARK.to_owned(), stage.repository.id.to_string().into())],
            unset: unset.map(OsString::from).collect(),
        };
        // It is no task's process; the name is not looked at.
        let nobody: TaskId = "check".parse().map_err(flagpost_core::Error::from)?;
        let (running, _) = start(launch, &nobody, &send)?;
        let limit = Duration::try_from(self.timeout).unwrap_or_default();
        let began = Instant::now();
        let status = loop {
            match ended.recv_timeout(LOOK) {
                Ok(exited) => break Some(exited.status),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            if stop.load(Ordering::Relaxed) {
                running.kill();
                return Ok(Verdict::Stopped);
            }
            if began.elapsed() >= limit {
                running.kill();
                break None;
            }
        };
        let how = match status.map(|it| (it.code(), it.signal())) {
            Some((Some(0), _)) => return Ok(Verdict::Passed),
            Some((Some(code), _)) => format!("failed with exit code {code}"),
            Some((None, signal)) => format!("was ended by signal {}", signal.unwrap_or_default()),
            None => format!("did not end within {:#}", self.timeout),
        };
        let commit = self.commit.get(..12).unwrap_or(self.commit);
        let (command, on) = (self.command, &self.on);
        let words = last_lines(stage, &log)?;
        let said = match words.is_empty() {
            true => "It printed nothing.".to_owned(),
            false => format!("The end of its words:\n\n{words}"),
        };
        Ok(Verdict::Failed(format!(
            "The check `{command}` {how} on {on} (commit {commit}). {said}"
        )))
    }
}

/// Ends the check that a dead landing of the repository left running: it works in the same tree.
pub(super) fn end_leftover(repository: &Repository) {
    let mark = format!("{MARK}={}", repository.id);
    end_leftovers(|environment| environment.contains(&mark.as_bytes()));
}

fn last_lines(stage: &RunContext<'_>, log: &Path) -> Result<String> {
    let fs = stage.home.fs();
    let len = fsx::stat(fs, log)?.map_or(0, |stat| stat.len);
    let from = len.saturating_sub(TAIL);
    let read = fs.read_part(log, from, len - from);
    let bytes = read.map_err(flagpost_disk::Error::io("read", log))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let kept = lines[lines.len().saturating_sub(LINES)..].join("\n");
    Ok(plain(&kept).into_owned())
}
