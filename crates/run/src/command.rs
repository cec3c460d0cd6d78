//! A command of the operator's, in a tree.
//!
//! Owns how it is run (a shell, with nothing of a parent's git and none of an agent's variables in its
//! environment), how long it may take, and which of its words are told. Commands come from the operator's
//! settings and options; nothing that an agent can write names one.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    os::unix::process::ExitStatusExt,
    path::Path,
    process::ExitStatus,
    sync::mpsc::{self, RecvTimeoutError},
    time::{Duration, Instant},
};

use flagpost_core::git::parent_variables;
use flagpost_disk::{
    self as disk,
    fsx::{self, Fs},
};
use flagpost_model::{TaskId, plain::plain};
use jiff::SignedDuration;

use crate::{
    process::{Exited, Launch, ProcessError, Stdin, start},
    variables::OF_AGENTS,
};

/// So much of its end is looked at for them.
const TAIL: u64 = 256 << 10;
/// How often to look whether the operator wants to end.
const LOOK: Duration = Duration::from_millis(100);

/// A command, and where it is run.
#[derive(Debug)]
pub(crate) struct ShellCommand<'a> {
    /// As a shell reads it.
    pub command: &'a str,
    /// The tree.
    pub dir: &'a Path,
    /// Where its words go; anew for each.
    pub log: &'a Path,
    /// Variables that it gets.
    pub set: Vec<(String, OsString)>,
    /// The names of the variables that there are.
    pub variables: &'a BTreeSet<String>,
}

/// It could not be run, or its words not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// It could not be started.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// Its log failed.
    #[error(transparent)]
    Disk(#[from] disk::Error),
}

/// How it ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CommandEnd {
    Passed,
    /// How, to stand behind its name.
    Failed(String),
    /// The operator ended it.
    Stopped,
}

impl ShellCommand<'_> {
    /// How its process is started.
    pub fn launch(self, fs: &dyn Fs) -> Result<Launch, CommandError> {
        fsx::remove(fs, self.log)?;
        let unset = parent_variables(|name| self.variables.contains(name)).into_iter();
        let own = |name: &&str| self.set.iter().any(|(set, _)| set == name);
        let unset = unset.chain(OF_AGENTS.iter().copied().filter(|it| !own(it)));
        Ok(Launch {
            program: "sh".into(),
            args: vec!["-c".into(), self.command.into()],
            dir: self.dir.to_owned(),
            stdin: Stdin::Nothing,
            log: fsx::open_log(self.log)?,
            unset: unset.map(OsString::from).collect(),
            set: self.set,
        })
    }

    /// Runs it to its end, or until the operator wants to end or its time is up.
    pub fn run(
        self,
        fs: &dyn Fs,
        limit: SignedDuration,
        stop: impl Fn() -> bool,
    ) -> Result<CommandEnd, CommandError> {
        let (send, ended) = mpsc::channel::<Exited>();
        // It is no task's process; the id is not looked at.
        let nobody = TaskId::from(0);
        let (running, _) = start(self.launch(fs)?, &nobody, &send)?;
        let (began, most) = (Instant::now(), limit.unsigned_abs());
        loop {
            match ended.recv_timeout(LOOK) {
                Ok(exited) => return Ok(end_of(exited.status)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            if stop() {
                running.kill();
                return Ok(CommandEnd::Stopped);
            }
            if began.elapsed() >= most {
                running.kill();
                return Ok(CommandEnd::Failed(format!("did not end within {limit:#}")));
            }
        }
    }
}

/// What the end of its process means.
pub(crate) fn end_of(status: ExitStatus) -> CommandEnd {
    match (status.code(), status.signal()) {
        (Some(0), _) => CommandEnd::Passed,
        (Some(code), _) => CommandEnd::Failed(format!("failed with exit code {code}")),
        (None, signal) => {
            let signal = signal.unwrap_or_default();
            CommandEnd::Failed(format!("was ended by signal {signal}"))
        }
    }
}

/// So many of the last lines of its words, in a sentence.
pub(crate) fn words_in(fs: &dyn Fs, log: &Path, most: usize) -> Result<String, CommandError> {
    // Somebody may have removed it.
    let Some(stat) = fsx::stat(fs, log)? else {
        return Ok("It printed nothing.".to_owned());
    };
    let len = stat.len;
    let from = len.saturating_sub(TAIL);
    let read = fs.read_part(log, from, len - from);
    let bytes = read.map_err(disk::Error::io("read", log))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let kept = lines[lines.len().saturating_sub(most)..].join("\n");
    let words = plain(&kept);
    Ok(match words.is_empty() {
        true => "It printed nothing.".to_owned(),
        false => format!("The end of its words:\n\n{words}"),
    })
}
