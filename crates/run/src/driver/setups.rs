//! Worktrees that are being set up.
//!
//! Owns the processes of `run.worktree.setup`: each has the slot of the agent that is to follow, none outlives the run,
//! and none goes on once the operator wants to end. A task whose setup fails is not begun: it stays as it was, with
//! the reason as a note.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Instant,
};

use flagpost_core as core;
use flagpost_model::{TaskId, session::Attempt};
use jiff::SignedDuration;

use super::{Driver, retry::OperatorRequest};
use crate::{
    command::{CommandEnd, ShellCommand, end_of, words_in},
    error::Result,
    events::RunEvent,
    process::{self, Exited, Running},
    scheduler::{Event, NoLaunch},
    variables::{ATTEMPT, SESSION, SESSION_DIR, TASK},
    worktree::{Provision, Worktree, uncommitted},
};

/// So many of the last lines of its output are noted.
const LINES: usize = 10;

/// The setup of a worktree.
pub(super) struct Setup {
    running: Running,
    command: String,
    worktree: Worktree,
    attempt: Attempt,
    /// The slot, and which of the run's agents is to follow.
    slot: (usize, usize),
    log: PathBuf,
    began: Instant,
    /// Why the operator wants it no more.
    ended: Option<&'static str>,
    /// Whether its time was up.
    is_late: bool,
}

/// The setups that run. None outlives the run, however it ends.
#[derive(Default)]
pub(super) struct Setups(BTreeMap<TaskId, Setup>);

impl Setups {
    /// The slots of the agents that are to follow.
    pub fn slots(&self) -> impl Iterator<Item = usize> {
        self.0.values().map(|it| it.slot.0)
    }

    /// The tasks, each with the attempt that is to follow.
    pub fn tasks(&self) -> impl Iterator<Item = (&TaskId, Attempt)> {
        self.0.iter().map(|(task, it)| (task, it.attempt))
    }

    /// Ends the setup for a task.
    pub fn end(&mut self, task: &TaskId, why: &'static str) {
        if let Some(it) = self.0.get_mut(task) {
            it.ended.get_or_insert(why);
            it.running.kill();
        }
    }

    /// Ends all of them.
    pub fn end_all(&mut self, why: &'static str) {
        for task in self.0.keys().cloned().collect::<Vec<_>>() {
            self.end(&task, why);
        }
    }
}

impl Drop for Setups {
    fn drop(&mut self) {
        self.0.values().for_each(|it| it.running.kill());
    }
}

/// A log, from the session's directory: that is another one once the run is over.
fn in_session(log: &Path) -> String {
    let name = log.file_name().unwrap_or_default().to_string_lossy();
    format!("logs/{name} of the session")
}

impl Driver<'_> {
    /// Opens the worktree of a task that is to be worked on in a slot, and begins its setup, where it is new and has
    /// one: whether there is something to wait for.
    pub(super) fn begin_setup(
        &mut self,
        id: &TaskId,
        attempt: Attempt,
        slot: (usize, usize),
    ) -> Result<bool> {
        let provision = self.options.provision.clone();
        let Some(command) = provision.setup.clone().filter(|_| self.worktrees.is_some()) else {
            return Ok(false);
        };
        let Some(task) = self.read(id)? else {
            return Ok(false);
        };
        let opened = self.working_dir(&task)?;
        let worktree = self.open_worktrees.get(id).cloned();
        let Some(worktree) = worktree.filter(|_| opened.is_unfinished) else {
            return Ok(false);
        };
        let log = self.live.setup_log_path(id);
        let own = Provision::slot_of(&worktree.path);
        let mut set = provision.variables(own.unwrap_or(slot.0));
        let own = [
            (TASK, id.as_str().into()),
            (ATTEMPT, attempt.number.to_string().into()),
            (SESSION, self.live.id().as_str().into()),
            (SESSION_DIR, self.live.dir().as_os_str().to_owned()),
        ];
        set.extend(own.map(|(name, value)| (name.to_owned(), value)));
        let run = ShellCommand {
            command: &command,
            dir: &worktree.path,
            log: &log,
            set,
            variables: &self.stage.settings.variables,
        };
        let launch = run.launch(self.stage.home.fs())?;
        let (running, _) = process::start(launch, id, self.ended)?;
        let words = format!(
            "task {id}: its worktree is set up by `{command}`; {} has its output",
            in_session(&log)
        );
        self.setups.0.insert(
            id.clone(),
            Setup {
                running,
                command,
                worktree,
                attempt,
                slot,
                log,
                began: Instant::now(),
                ended: None,
                is_late: false,
            },
        );
        self.tell(RunEvent::Notice { words })?;
        self.show_progress()?;
        Ok(true)
    }

    /// Goes on with a task whose worktree was being set up, or tells why that failed; nothing where there was none.
    pub(super) fn set_up(&mut self, exited: &Exited) -> Result<Option<Event>> {
        let id = &exited.task;
        let Some(setup) = self.setups.0.remove(id) else {
            return Ok(None);
        };
        let failed = match (setup.ended, end_of(exited.status)) {
            (Some(why), _) => Some((why.to_owned(), false)),
            (None, CommandEnd::Failed(how)) => {
                let how = match (setup.is_late, self.options.config.timeout) {
                    (true, Some(most)) => format!("did not end within {most:#}"),
                    _ => how,
                };
                let words = words_in(self.stage.home.fs(), &setup.log, LINES)?;
                let log = in_session(&setup.log);
                let why = format!("`{}` {how}; {log} has its output. {words}", setup.command);
                Some((why, true))
            }
            (None, CommandEnd::Passed | CommandEnd::Stopped) => None,
        };
        // A setup can break the worktree that it runs in.
        let failed = match failed {
            Some(failed) => Some(failed),
            None => self.finish_setup(id, &setup)?.map(|why| (why, true)),
        };
        let Some((why, is_its_fault)) = failed else {
            let (slot, agent) = setup.slot;
            return self
                .launch_in(slot, agent, id.clone(), setup.attempt)
                .map(Some);
        };
        self.open_worktrees.remove(id);
        if let Some(worktrees) = &self.worktrees {
            // Nobody worked there.
            let closed = worktrees.close(&setup.worktree);
            if closed.is_kept() {
                let (task, said) = (id.clone(), closed.to_string());
                let kept = true;
                self.tell(RunEvent::Worktree { task, said, kept })?;
            }
        }
        let reason = format!("its worktree could not be set up: {why}");
        if is_its_fault {
            self.note(id, &reason)?;
        }
        let because = NoLaunch::Refused { reason };
        Ok(Some(Event::CouldNotLaunch {
            task: id.clone(),
            because,
        }))
    }

    /// Ends the setups that nobody waits for any more, and those that take longer than an attempt may.
    pub(super) fn end_unwanted_setups(&mut self) {
        if self.wish > OperatorRequest::GoOn {
            self.setups.end_all("the operator ended the run");
        }
        if let Some(most) = self
            .options
            .config
            .timeout
            .map(SignedDuration::unsigned_abs)
        {
            for setup in self
                .setups
                .0
                .values_mut()
                .filter(|it| it.began.elapsed() >= most)
            {
                setup.is_late = true;
                setup.running.kill();
            }
        }
    }

    /// A worktree is ready for its agent; why it is not, where its setup broke it. What that changed of what git tracks
    /// is told: it is in the way of each task.
    fn finish_setup(&mut self, id: &TaskId, setup: &Setup) -> Result<Option<String>> {
        let Some(worktrees) = &self.worktrees else {
            return Ok(None);
        };
        let done = worktrees.finish(&setup.worktree);
        let changed = match done.and_then(|()| uncommitted(&setup.worktree)) {
            Ok(changed) if changed.is_empty() => return Ok(None),
            Ok(changed) => changed,
            Err(error) => {
                let error = core::describe(&error);
                return Ok(Some(format!("`{}` broke it: {error}", setup.command)));
            }
        };
        let words = format!(
            "task {id}: `{}` left files that git does not ignore, and the agent finds them as changes: {changed}",
            setup.command
        );
        self.tell(RunEvent::Notice { words })?;
        Ok(None)
    }
}
