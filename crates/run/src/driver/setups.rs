//! Worktrees that are being set up.
//!
//! Owns the processes of `run.worktree.setup`: each has the slot of the agent that is to follow, none outlives the run,
//! and none goes on once the operator wants to end. A task whose setup fails is not begun: it stays as it was, with
//! the reason as a note.

use std::{collections::BTreeMap, path::PathBuf};

use flagpost_core::tasks;
use flagpost_model::{TaskId, session::Attempt};

use super::{Driver, retry::OperatorRequest};
use crate::{
    command::{CommandEnd, ShellCommand, end_of, words_in},
    error::Result,
    events::RunEvent,
    process::{self, Exited, Running},
    refusal::refusal,
    scheduler::{Event, NoLaunch},
    variables::{ATTEMPT, SESSION, SESSION_DIR, TASK},
    worktree::Worktree,
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
    /// Why it was ended.
    ended: Option<&'static str>,
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
        let mut set = provision.variables(slot.0);
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
            log.display()
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
                ended: None,
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
                let words = words_in(self.stage.home.fs(), &setup.log, LINES)?;
                let log = setup.log.display();
                let why = format!("`{}` {how}; {log} has its output. {words}", setup.command);
                Some((why, true))
            }
            (None, CommandEnd::Passed | CommandEnd::Stopped) => None,
        };
        if let Some(worktrees) = &self.worktrees {
            worktrees.finish(&setup.worktree)?;
        }
        let Some((why, is_its_fault)) = failed else {
            self.tell_of_changes(id, &setup)?;
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

    /// Ends the setups that nobody waits for any more.
    pub(super) fn end_unwanted_setups(&mut self) {
        if self.wish > OperatorRequest::GoOn {
            self.setups.end_all("the operator ended the run");
        }
    }

    /// What a setup changes of what git tracks is in the way of each task.
    fn tell_of_changes(&mut self, id: &TaskId, setup: &Setup) -> Result<()> {
        let changed = crate::worktree::uncommitted(&setup.worktree)?;
        if changed.is_empty() {
            return Ok(());
        }
        let words = format!(
            "task {id}: `{}` left files that git does not ignore, and the agent finds them as changes: {changed}",
            setup.command
        );
        self.tell(RunEvent::Notice { words })
    }

    fn note(&mut self, id: &TaskId, words: &str) -> Result<()> {
        let (ids, actor) = ([id.clone()], self.options.actor.clone());
        let noted = self.patiently(|it| tasks::note(it.stage.list, &actor, &ids[..], words));
        match noted {
            Ok(_) => Ok(()),
            Err(error) => refusal(error).map(drop),
        }
    }
}
