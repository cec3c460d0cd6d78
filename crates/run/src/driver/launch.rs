//! Launching: a claim, a prompt, a process; or a claim and a message to a resident worker.
//!
//! Owns the order: nothing is started for a task that is not claimed, and a claim whose agent
//! could not be started is given back.

use std::{ffi::OsString, time::Instant};

use flagpost_core::{
    claims::{self, Claimed},
    tasks::{self, Move},
};
use flagpost_model::{
    Refusal, TaskId, WorkerId,
    plan::Attempt,
    session::stall::Pulse,
    task::{Act, State, StateName, Task},
};

use super::{
    Driver,
    residents::Place,
    seats::{Desk, Hold, Seat, Work},
};
use crate::{
    error::{Error, Result},
    events::{At, RunEvent},
    leftovers::{SESSION, SESSION_DIR},
    process::{self, Launch},
    prompt::{self, Brief},
    refusal::refusal,
    scheduler::{Event, NoLaunch},
    worktree::{Branch, Missing, Worktrees},
};

impl Driver<'_> {
    /// Claims a task and starts its agent, or gives it to a worker; no event where it has to wait
    /// for one.
    pub(super) fn launch(&mut self, task: TaskId, attempt: Attempt) -> Result<Option<Event>> {
        match self.place(&task)? {
            Place::Slot(slot) => {
                let worker = WorkerId::of_process(slot);
                self.launch_as(worker, Some(slot), task, attempt).map(Some)
            }
            Place::Worker(worker) => self.launch_as(worker, None, task, attempt).map(Some),
            Place::Busy => {
                self.residents.queue(task, attempt);
                Ok(None)
            }
            Place::Nowhere(reason) => {
                let because = NoLaunch::Refused { reason };
                Ok(Some(Event::CouldNotLaunch { task, because }))
            }
        }
    }

    /// The same under a name: that of a process in this slot, or a resident worker's.
    fn launch_as(
        &mut self,
        worker: WorkerId,
        slot: Option<usize>,
        task: TaskId,
        attempt: Attempt,
    ) -> Result<Event> {
        self.make_free(&task)?;
        // Whoever wrote it, the attempt before or an agent that was none of ours.
        self.patiently(|it| it.live.put_result_aside(&task, attempt.number - 1))?;
        let terms = self.terms(&worker);
        let started = self.patiently(|it| claims::start(it.stage.list, &terms, None, &task));
        let claimed = match started {
            Ok(claimed) => claimed,
            Err(flagpost_core::Error::Refused(Refusal::WrongState {
                state: StateName::Completed,
                ..
            })) => {
                return Ok(Event::CouldNotLaunch {
                    task,
                    because: NoLaunch::AlreadyCompleted,
                });
            }
            Err(error) => {
                let because = NoLaunch::Refused {
                    reason: refusal(error)?,
                };
                return Ok(Event::CouldNotLaunch { task, because });
            }
        };
        let hold = Hold {
            worker: worker.clone(),
            token: claimed.claim.token,
        };
        self.holds.insert(task.clone(), hold);
        self.account.began(&task);
        // A task is with one worker: what an earlier run left of it with others is taken back.
        for place in self.residents.passed_over.remove(&task).unwrap_or_default() {
            self.take_back(&place, &format!("its task is given to {worker}"))?;
        }
        let asked = self.residents.asked_before(&task);
        let started = match slot {
            Some(slot) => self.start(&claimed, &worker, attempt, slot),
            None => self.give(&claimed, &worker, attempt),
        };
        match started {
            Ok(event) => {
                self.tell(event)?;
                if let Some(asked) = asked {
                    self.tell(asked)?;
                }
                self.show_progress()?;
                Ok(Event::Launched { task })
            }
            Err(Error::Core(error)) => Err(Error::Core(error)),
            Err(error) => {
                self.make_free(&task)?;
                let reason =
                    std::iter::successors(Some(&error as &dyn std::error::Error), |error| {
                        error.source()
                    });
                let reason: Vec<String> = reason.map(ToString::to_string).collect();
                let because = NoLaunch::Refused {
                    reason: reason.join(": "),
                };
                Ok(Event::CouldNotLaunch { task, because })
            }
        }
    }

    fn start(
        &mut self,
        claimed: &Claimed,
        worker: &WorkerId,
        attempt: Attempt,
        slot: usize,
    ) -> Result<RunEvent> {
        let task = &claimed.task;
        let blockers = tasks::blockers(self.stage.list, task)?;
        // Those that can be read: an unreadable one costs its own part of the prompt and no more.
        let before = blockers
            .iter()
            .filter_map(|id| self.stage.list.task(id).ok());
        let before: Vec<Task> = before.map(|file| file.task).collect();
        let (dir, unmerged) = match &self.worktrees {
            None => (self.stage.repository.top.clone(), Vec::new()),
            Some(worktrees) => {
                let mut after = Vec::new();
                for blocker in &blockers {
                    after.extend(self.branch_of(worktrees, blocker)?);
                }
                let opened = worktrees.open(&task.id, &after)?;
                let path = opened.worktree.path.clone();
                self.open_worktrees.insert(task.id.clone(), opened.worktree);
                (
                    path,
                    opened.missing.iter().map(Missing::to_string).collect(),
                )
            }
        };
        let (result, notes) = (
            self.live.result_path(&task.id),
            self.live.notes_path(&task.id),
        );
        let options = self.options;
        let (Some(agent), Some(program)) = (&options.agent, self.program.clone()) else {
            return Err(Error::NoAgent);
        };
        let text = prompt::render(&Brief {
            task,
            worker,
            attempt,
            blockers: &before,
            context: self.live.context(),
            last_failure: self
                .judged
                .get(&task.id)
                .map(|judged| judged.words.as_str()),
            unmerged: &unmerged,
            result: &result,
            notes: &notes,
        });
        let prompt = self.keeping(|live| live.keep_prompt(&task.id, attempt.number, &text))?;
        let launch = Launch {
            program,
            args: agent.args(&prompt),
            dir,
            stdin: agent.reads_stdin().then(|| prompt.clone()),
            log: self.keeping(|live| live.open_log(&task.id, attempt.number))?,
            set: self.environment(claimed, worker),
            unset: self.unwanted(),
        };
        let place = self.hand(task, worker)?;
        let running = match process::start(launch, &task.id, self.ended) {
            Ok(running) => running,
            Err(error) => {
                self.take_back(&place, "its process could not be started")?;
                return Err(error);
            }
        };
        let event = RunEvent::TaskStarted {
            task: task.id.clone(),
            subject: task.subject.clone(),
            attempt,
            worker: worker.clone(),
            token: claimed.claim.token,
            at: At::Process {
                pid: running.pid(),
                log: self
                    .live
                    .log_path(&task.id, attempt.number)
                    .display()
                    .to_string(),
                message: place.clone(),
            },
        };
        let now = Instant::now();
        let work = Work {
            seat: Seat::Process(Desk {
                running,
                slot,
                place,
                word: None,
                printed: 0,
            }),
            attempt,
            started: now,
            renew_at: now + self.renew_every(),
            words: 0,
            pulse: Pulse::new(self.now()),
            stopping: None,
        };
        self.agents.0.insert(task.id.clone(), work);
        Ok(event)
    }

    fn environment(&self, claimed: &Claimed, worker: &WorkerId) -> Vec<(&'static str, OsString)> {
        let mut set = vec![
            (
                "FLAGPOST_HOME",
                self.stage.home.root().clone().into_os_string(),
            ),
            ("FLAGPOST_LIST", self.stage.list.id().as_str().into()),
            ("FLAGPOST_TASK", claimed.task.id.as_str().into()),
            ("FLAGPOST_WORKER", worker.as_str().into()),
            ("FLAGPOST_TOKEN", claimed.claim.token.to_string().into()),
            (SESSION, self.live.id().as_str().into()),
            (SESSION_DIR, self.live.dir().as_os_str().to_owned()),
        ];
        // An agent reports through `flagpost`, installed or not.
        let own = std::env::current_exe()
            .ok()
            .and_then(|exe| Some(exe.parent()?.to_owned()));
        let path = self.stage.settings.path.iter();
        let path = path.flat_map(std::env::split_paths).chain(own);
        if let Ok(path) = std::env::join_paths(path) {
            set.push(("PATH", path));
        }
        set
    }

    /// The branch that a task was done on: in this session, else in the newest that has one.
    fn branch_of(&self, worktrees: &Worktrees, task: &TaskId) -> Result<Option<Branch>> {
        if self.open_worktrees.contains_key(task) {
            return Ok(Some(worktrees.branch(task)));
        }
        for session in &self.earlier {
            let branch = Branch::new(session, task);
            if worktrees.has(&branch)? {
                return Ok(Some(branch));
            }
        }
        Ok(None)
    }

    /// Variables that point at whatever this run was started from.
    fn unwanted(&self) -> Vec<OsString> {
        let git = crate::worktree::PARENT_VARIABLES.iter().map(OsString::from);
        self.stage
            .settings
            .parent_agent
            .iter()
            .cloned()
            .chain(git)
            .collect()
    }

    /// Makes a task that this run may take pending: one that it holds itself, or that has failed.
    pub(super) fn make_free(&mut self, task: &TaskId) -> Result<()> {
        let found = match self.stage.list.task(task) {
            Ok(file) => file.task,
            Err(error) => return refusal(error).map(drop),
        };
        let ours = self.is_ours(&found);
        let hold = self.holds.remove(task);
        let (actor, token, event) = match (found.state, hold) {
            (State::Claimed(_) | State::InProgress(Some(_)), Some(hold)) if ours => (
                hold.worker,
                Some(hold.token),
                Move::Release { force: false },
            ),
            (State::Completed | State::Failed | State::Stuck, Some(_)) if ours => {
                (self.options.actor.clone(), None, Move::Reopen)
            }
            // It failed in an earlier run.
            (State::Failed, None) => (self.options.actor.clone(), None, Move::Reopen),
            _ => return Ok(()),
        };
        let act = Act {
            actor,
            token,
            at: self.stage.home.now(),
        };
        match self.patiently(|it| tasks::act(it.stage.list, &act, task, event.clone())) {
            Ok(_) => Ok(()),
            Err(error) => refusal(error).map(drop),
        }
    }
}
