//! Launching: a claim, a prompt, a process; or a claim and a message to a resident worker.
//!
//! Owns the order: nothing is started for a task that is not claimed, and a claim whose agent
//! could not be started is given back.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use flagpost_core::{
    claims::{self, Claimed},
    sessions::AttemptDir,
    tasks::{self, Move},
};
use flagpost_model::{
    Refusal, TaskId, WorkerId,
    session::{Attempt, AttemptRecord, stall::Activity},
    task::{Act, State, StateName, Task},
};

use super::{
    Driver,
    capacity::AgentChoice,
    conversation::{InterruptReason, Next},
    record::in_a_line,
    residents::Assignment,
    seats::{ActiveAgent, ProcessSeat, RunClaim, Seat},
    start::Process,
};
use crate::{
    agent::asked_for,
    error::{Error, Result},
    events::{At, RunEvent},
    prompt::{self, Brief},
    refusal::refusal,
    scheduler::{Event, NoLaunch},
    worktree::{Branch, Missing, WorktreeError, Worktrees},
};

/// What is told of an attempt whose run died, where its conversation does not go on.
const DIED: &str = "The run that began it died. What was done by then is still here: `git status` and \
                    `git log` show it.";

/// Where a task is worked on.
pub(super) struct WorkingDir {
    path: PathBuf,
    /// What of its blockers' work is not there.
    unmerged: Vec<String>,
    /// Whether its setup is to be run first.
    pub is_unfinished: bool,
}

impl Driver<'_> {
    /// Claims a task and starts its agent, or gives it to a worker; no event where it has to wait
    /// for one.
    pub(super) fn launch(&mut self, task: TaskId, attempt: Attempt) -> Result<Option<Event>> {
        let known = self.read(&task)?;
        let asked = known.as_ref().and_then(asked_for);
        match self.place(&task, asked)? {
            Assignment::Slot(slot) => match self.choose(&task, known.as_ref())? {
                AgentChoice::Agent(agent) => {
                    match self.begin_setup(&task, attempt, (slot, agent)) {
                        Ok(true) => Ok(None),
                        Ok(false) => self.launch_in(slot, agent, task, attempt).map(Some),
                        Err(error) => self.not_launched(task, error).map(Some),
                    }
                }
                AgentChoice::None { opens } => {
                    let because = NoLaunch::Held { opens };
                    Ok(Some(Event::CouldNotLaunch { task, because }))
                }
            },
            Assignment::Worker(worker) => self.launch_as(worker, None, task, attempt).map(Some),
            Assignment::Busy => {
                self.residents.queue(task, attempt);
                Ok(None)
            }
            Assignment::Nowhere(reason) => {
                let because = NoLaunch::Refused { reason };
                Ok(Some(Event::CouldNotLaunch { task, because }))
            }
        }
    }

    /// The same in a process.
    pub(super) fn launch_in(
        &mut self,
        slot: usize,
        agent: usize,
        task: TaskId,
        attempt: Attempt,
    ) -> Result<Event> {
        let worker = WorkerId::of_process(slot);
        self.launch_as(worker, Some((slot, agent)), task, attempt)
    }

    /// The same under a name: that of a process in this slot, with this agent, or a resident worker's.
    fn launch_as(
        &mut self,
        worker: WorkerId,
        slot: Option<(usize, usize)>,
        task: TaskId,
        attempt: Attempt,
    ) -> Result<Event> {
        self.make_free(&task)?;
        // Whoever wrote it, the attempt before or an agent that was none of ours.
        self.patiently(|it| it.live.quarantine_result(&task, attempt.number - 1))?;
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
        let hold = RunClaim {
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
            Err(error) => self.not_launched(task, error),
        }
    }

    /// A task that nobody could be started on: why, where that says nothing of the others.
    fn not_launched(&mut self, task: TaskId, error: Error) -> Result<Event> {
        match error {
            Error::Core(_) => Err(error),
            // Nor would the next task get one.
            Error::Worktree(WorktreeError::NotMade { .. }) => {
                self.make_free(&task)?;
                Err(error)
            }
            error => {
                self.make_free(&task)?;
                let because = NoLaunch::Refused {
                    reason: flagpost_core::describe(&error),
                };
                Ok(Event::CouldNotLaunch { task, because })
            }
        }
    }

    /// Which agent the task is started with: the one that it asks for, the one that its conversation was
    /// with, or any.
    fn choose(&mut self, id: &TaskId, task: Option<&Task>) -> Result<AgentChoice> {
        let asked = task.and_then(asked_for);
        let refused = task.and_then(Task::not_landed);
        let is_returned = refused.is_some_and(|it| it.by.is_some());
        // What passed goes on only with who heard why it came back.
        let is_over = |it: &Next| it.why == InterruptReason::Returned && !is_returned;
        if self.next.get(id).is_some_and(is_over) {
            self.next.remove(id);
        }
        let left = match self.next.contains_key(id) {
            true => None,
            false => self.left_conversation(id, is_returned)?,
        };
        if let Some(left) = left {
            self.next.insert(id.clone(), left);
        }
        let with = self.next.get(id).map(|next| &*next.resumable.agent);
        let wanted = asked.or(with).and_then(|name| self.capacity.named(name));
        Ok(self.capacity.choose(wanted, &self.busy_with()))
    }

    fn start(
        &mut self,
        claimed: &Claimed,
        worker: &WorkerId,
        attempt: Attempt,
        (slot, agent): (usize, usize),
    ) -> Result<RunEvent> {
        let task = &claimed.task;
        let name = self.capacity.agent(agent).name.clone();
        let next = self.next.remove(&task.id);
        let next = next
            .filter(|next| next.resumable.agent == name && self.capacity.agent(agent).can_resume());
        let WorkingDir {
            path: cwd,
            unmerged,
            ..
        } = self.working_dir(task)?;
        let provided = self.provided(&cwd)?;
        // A client finds its conversation only where that was.
        let next = next.filter(|next| Path::new(&next.resumable.dir) == cwd);
        let dir = self.patiently(|it| AttemptDir::make(&it.live, &task.id, attempt.number))?;
        let text = match &next {
            Some(next) => self.resuming(task, next, &cwd, &dir),
            None => self.prompt(task, worker, attempt, (agent, &dir, &unmerged, &provided))?,
        };
        let place = self.assign(task, worker, agent)?;
        let process = Process {
            task: &task.id,
            worker,
            token: claimed.claim.token,
            attempt,
            agent,
            cwd: &cwd,
            dir: &dir,
            text: &text,
            resumes: next
                .as_ref()
                .map(|next| (next.resumable.session.as_str(), next.used)),
            before: AttemptRecord {
                attempt: attempt.number,
                agent: name,
                ..AttemptRecord::default()
            },
        };
        let (running, talk) = match self.start_process(process) {
            Ok(started) => started,
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
        let work = ActiveAgent {
            seat: Seat::Process(Box::new(ProcessSeat {
                running,
                agent,
                dir,
                cwd,
                talk,
                slot,
                place,
                word: None,
                over: None,
                printed: 0,
                left_out: 0,
            })),
            attempt,
            started: now,
            renew_at: now + self.renew_every(),
            words: 0,
            pulse: Activity::new(self.now()),
            answer_by: None,
            passed: None,
            stopping: None,
        };
        self.agents.0.insert(task.id.clone(), work);
        Ok(event)
    }

    /// Where a task is worked on.
    pub(super) fn working_dir(&mut self, task: &Task) -> Result<WorkingDir> {
        // What an earlier run began and did not end goes on where it was, and so does what did not land:
        // its work is there.
        let refused = task.not_landed();
        let goes_on =
            refused.is_some() || self.left_of(&task.id)?.is_some_and(|left| !left.settled);
        let Some(worktrees) = &self.worktrees else {
            return Ok(WorkingDir {
                path: self.stage.repository.top.clone(),
                unmerged: Vec::new(),
                is_unfinished: false,
            });
        };
        let left = match goes_on {
            true => worktrees.left(&task.id, &self.earlier)?,
            false => None,
        };
        let mut after = Vec::new();
        for blocker in &tasks::blockers(self.stage.list, task)? {
            after.extend(self.branch_of(worktrees, blocker)?);
        }
        // On top of the target it shows what stands in the way.
        after.extend(refused.map(|it| Branch::named(&it.onto)));
        let opened = left.as_ref().unwrap_or(worktrees).open(&task.id, &after)?;
        let path = opened.worktree.path.clone();
        if let Some(said) = opened
            .hook
            .filter(|_| !std::mem::replace(&mut self.hook_told, true))
        {
            let words = format!(
                "a hook of the repository failed on a new worktree, which is whole: {said}"
            );
            self.tell(RunEvent::Notice { words })?;
        }
        self.open_worktrees.insert(task.id.clone(), opened.worktree);
        for words in opened.left_out {
            self.tell_once(words)?;
        }
        let missing = opened.missing.iter().map(Missing::to_string);
        Ok(WorkingDir {
            path,
            unmerged: missing.collect(),
            is_unfinished: opened.is_unfinished,
        })
    }

    /// What the worktree of an agent came with, for its prompt.
    pub(super) fn provided(&self, cwd: &Path) -> Result<Vec<String>> {
        Ok(match self.worktrees {
            Some(_) => self.options.provision.told(cwd)?,
            None => Vec::new(),
        })
    }

    /// The whole prompt of a task.
    pub(super) fn prompt(
        &mut self,
        task: &Task,
        worker: &WorkerId,
        attempt: Attempt,
        (agent, dir, unmerged, provided): (usize, &AttemptDir, &[String], &[String]),
    ) -> Result<String> {
        let blockers = tasks::blockers(self.stage.list, task)?;
        // Those that can be read: an unreadable one costs its own part of the prompt and no more.
        let before = blockers
            .iter()
            .filter_map(|id| self.stage.list.task(id).ok());
        let before: Vec<Task> = before.map(|file| file.task).collect();
        let refused = blockers.iter().filter_map(|id| {
            let denied = self.account.denied(id);
            (!denied.is_empty()).then(|| (id.clone(), in_a_line(denied)))
        });
        let refused = refused.collect();
        let died = self.left_of(&task.id)?.is_some_and(|left| left.died());
        let judged = self.judged.get(&task.id).map(|it| it.words.as_str());
        Ok(prompt::render(&Brief {
            task,
            worker,
            client: self.capacity.agent(agent).client,
            attempt,
            blockers: &before,
            refused: &refused,
            context: self.live.context(),
            last_failure: judged.or(died.then_some(DIED)),
            branch: self.open_worktrees.get(&task.id).map(|it| &it.branch),
            unmerged,
            provided,
            report: &dir.report(),
            notes: &dir.notes(),
        }))
    }

    /// The branch that a task was done on: in this session, else in the newest that has one.
    fn branch_of(&self, worktrees: &Worktrees, task: &TaskId) -> Result<Option<Branch>> {
        if let Some(open) = self.open_worktrees.get(task) {
            return Ok(Some(open.branch.clone()));
        }
        for session in &self.earlier {
            let branch = Branch::new(session, task);
            if worktrees.has(&branch)? {
                return Ok(Some(branch));
            }
        }
        Ok(None)
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
            (State::Completed | State::Failed, Some(_)) if ours => {
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
