//! The check of a merged tree.
//!
//! Owns how the operator's command is run there, that the tree has what it needs first, by what its processes are known should the landing die
//! before them, and what is told of its failure.

use std::{
    ffi::OsString,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use flagpost_core::{
    Repository,
    landing::{LandingQueue, LandingRefusal, LandingStep, QueuedBranch},
};
use flagpost_model::TaskId;
use jiff::SignedDuration;

use super::Landing;
use crate::{
    command::{CommandEnd, ShellCommand, words_in},
    error::Result,
    events::RunEvent,
    leftovers::end_leftovers,
    run_context::RunContext,
};

/// Where the words of the last check are.
const LOG: &str = "land-check.log";
/// Where the words of the last setup of its tree are.
const SETUP_LOG: &str = "land-setup.log";
/// So many of its last lines are handed on.
const LINES: usize = 200;
/// The variable by which its processes are known.
const MARK: &str = "FLAGPOST_LANDING";

/// A check.
#[derive(Debug)]
pub(super) struct Check<'a> {
    pub(super) command: &'a str,
    pub(super) timeout: SignedDuration,
    /// What is checked, in words.
    pub(super) on: String,
    /// What the tree stands on.
    pub(super) commit: &'a str,
    /// Variables that it gets.
    pub(super) set: Vec<(String, OsString)>,
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

impl Landing<'_> {
    /// Runs the check on what the tree stands on: the target with a group, or alone.
    pub(super) fn check(
        &mut self,
        queue: &LandingQueue,
        group: &[QueuedBranch],
        commit: &str,
    ) -> Result<Verdict> {
        let Some(command) = &self.terms.check else {
            return Ok(Verdict::Passed);
        };
        self.show(LandingStep::Checking, &queue.target, group)?;
        if !self.provide()? {
            return Ok(Verdict::Stopped);
        }
        let tasks: Vec<TaskId> = group.iter().map(|it| it.task.clone()).collect();
        (self.tell)(RunEvent::LandChecking {
            tasks: tasks.clone(),
            check: command.clone(),
        })?;
        let began = Instant::now();
        let check = Check {
            command,
            timeout: self.terms.timeout,
            on: match group.is_empty() {
                true => queue.target.branch.clone(),
                false => format!("{} with this branch merged", queue.target.branch),
            },
            commit,
            set: self.tree.provision().variables(0),
        };
        self.tree.went_to(None);
        let verdict = check.run(&self.stage, self.tree.path(), self.stop)?;
        match verdict {
            Verdict::Stopped => return Ok(verdict),
            Verdict::Passed => self.sound = Some(commit.to_owned()),
            Verdict::Failed(_) => {}
        }
        (self.tell)(RunEvent::LandChecked {
            tasks,
            passed: verdict == Verdict::Passed,
            seconds: began.elapsed().as_secs(),
        })?;
        match self.tree.changed() {
            Ok(written) if written.is_empty() => {}
            Ok(written) => self.notice(format!(
                "the check changed files of its tree, which are not landed: {written}"
            ))?,
            Err(_) => self.notice(
                "the check broke the tree that it ran in; it gets another one".to_owned(),
            )?,
        }
        Ok(verdict)
    }

    /// Gives the tree of the checks what a worktree gets; whether the operator lets it come to that.
    fn provide(&mut self) -> Result<bool> {
        let (command, left_out) = self.tree.provide()?;
        for words in left_out {
            self.notice(words)?;
        }
        let Some(command) = command else {
            return Ok(true);
        };
        let home = self.stage.home;
        let log = home
            .repository_dir(&self.stage.repository.id)
            .join(SETUP_LOG);
        self.notice(format!("the tree of the checks is set up: {command}"))?;
        let run = ShellCommand {
            command: &command,
            dir: self.tree.path(),
            log: &log,
            set: marked(&self.stage, self.tree.provision().variables(0)),
            variables: &self.stage.settings.variables,
        };
        let stop = || self.stop.load(Ordering::Relaxed);
        match run.run(home.fs(), self.terms.timeout, stop)? {
            CommandEnd::Passed => Ok(true),
            CommandEnd::Stopped => Ok(false),
            CommandEnd::Failed(how) => {
                let words = words_in(home.fs(), &log, LINES)?;
                let why = format!("`{command}` {how}. {words}");
                Err(LandingRefusal::NotSetUp { why }.into())
            }
        }
    }
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
        let command = ShellCommand {
            command: self.command,
            dir: tree,
            log: &log,
            set: marked(stage, self.set.clone()),
            variables: &stage.settings.variables,
        };
        let fs = stage.home.fs();
        let how = match command.run(fs, self.timeout, || stop.load(Ordering::Relaxed))? {
            CommandEnd::Passed => return Ok(Verdict::Passed),
            CommandEnd::Stopped => return Ok(Verdict::Stopped),
            CommandEnd::Failed(how) => how,
        };
        let commit = self.commit.get(..12).unwrap_or(self.commit);
        let (command, on) = (self.command, &self.on);
        let said = words_in(fs, &log, LINES)?;
        Ok(Verdict::Failed(format!(
            "The check `{command}` {how} on {on} (commit {commit}). {said}"
        )))
    }
}

/// These variables, and the one by which the processes of a landing are known.
fn marked(stage: &RunContext<'_>, mut set: Vec<(String, OsString)>) -> Vec<(String, OsString)> {
    set.push((MARK.to_owned(), stage.repository.id.to_string().into()));
    set
}

/// Ends the check that a dead landing of the repository left running: it works in the same tree.
pub(super) fn end_leftover(repository: &Repository) {
    let mark = format!("{MARK}={}", repository.id);
    end_leftovers(|environment| environment.contains(&mark.as_bytes()));
}
