//! The state machine itself.
//!
//! Owns when a task is handed out, again or never. It must never remember what the driver can
//! tell it.

use std::collections::BTreeSet;

use flagpost_model::{
    TaskId, WorkerId,
    plan::{Graph, Schedule, waves},
    session::{Outcome, RetryDecision, verdict},
    task::{Outline, State},
};
use jiff::Timestamp;

use super::{
    Effect, Event, NoLaunch, ReservedFiles, RunConfig, Skip, StopReason, TaskOutcome, following,
    table::{TaskStage, TaskTable},
};

/// A run over a list.
#[derive(Debug, Clone)]
pub struct Scheduler {
    pub(super) config: RunConfig,
    pub(super) tasks: TaskTable,
    /// Those that can never start, with the reason; settled when the run begins.
    hopeless: Vec<(usize, Skip)>,
    /// Planned levels; none in eager runs.
    pub(super) waves: Vec<Vec<usize>>,
    /// How many waves are behind or under way.
    pub(super) waves_entered: usize,
    pub(super) wave_open: bool,
    /// Those of the open wave that ran.
    ran: Vec<TaskId>,
    /// May start when there is room.
    pub(super) queue: BTreeSet<usize>,
    /// Being launched or running.
    pub(super) busy: BTreeSet<usize>,
    /// What others work on.
    holds: Vec<ReservedFiles>,
    /// Which task was said to wait for whom.
    pub(super) said: BTreeSet<(usize, WorkerId)>,
    /// It was told that a wave holds tasks up.
    pub(super) said_held_up: bool,
    /// Those whose conversation a person has: the run stays for them.
    pub(super) handed_over: BTreeSet<TaskId>,
    /// It stays for answers or for room, and for answers no longer than this.
    pub(super) staying: Option<Option<Timestamp>>,
    pub(super) phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    New,
    Running,
    /// Enough was done: nothing more is launched.
    Enough,
    /// Interrupted once: nothing more is launched.
    Draining,
    /// Interrupted twice: what runs is being stopped.
    Stopping,
    Finished {
        interrupted: bool,
    },
}

impl Scheduler {
    /// Plans a run of every open task. `outlines` is the whole list: what it holds as completed
    /// counts as passed, what is stuck waits for its answer, and what it does not hold is unknown.
    pub fn new(config: RunConfig, outlines: &[Outline]) -> Self {
        let open = following::as_open(outlines, |_| false);
        let graph = Graph::new(&open);
        let order = following::in_order(&graph, &open);
        let mut tasks = TaskTable::new(&graph, &order, config.max_attempts.get());
        for asking in outlines.iter().filter(|it| it.state == State::Stuck) {
            if let Some(at) = tasks.at(&asking.id) {
                tasks.entry_mut(at).stage = TaskStage::Asking;
            }
        }
        let levels = match config.schedule {
            Schedule::Waves => waves(&graph),
            Schedule::Eager => Vec::new(),
        };
        let to_positions = |ids: Vec<TaskId>| ids.iter().filter_map(|id| tasks.at(id)).collect();
        Self {
            hopeless: following::hopeless(&graph, &tasks),
            waves: levels.into_iter().map(to_positions).collect(),
            tasks,
            config,
            waves_entered: 0,
            wave_open: false,
            ran: Vec::new(),
            queue: BTreeSet::new(),
            busy: BTreeSet::new(),
            holds: Vec::new(),
            said: BTreeSet::new(),
            said_held_up: false,
            handed_over: BTreeSet::new(),
            staying: None,
            phase: Phase::New,
        }
    }

    /// Takes in what happened and says what is to be done about it.
    pub fn handle(&mut self, event: Event, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        match event {
            Event::Begin => self.begin(&mut effects),
            Event::Launched { task } => self.launched(&task, now, &mut effects),
            Event::CouldNotLaunch { task, because } => {
                self.could_not_launch(&task, because, &mut effects);
            }
            Event::Ended {
                task,
                outcome,
                retryable,
            } => self.ended(&task, outcome, retryable, &mut effects),
            Event::PutBack { task, behind } => self.put_back(&task, behind, &mut effects),
            Event::Asked { task } => self.given_back(&task, TaskStage::Asking, &mut effects),
            Event::HandedOver { task } => {
                self.given_back(&task, TaskStage::Asking, &mut effects);
                self.handed_over.insert(task);
            }
            Event::Held { task, opens } => {
                self.given_back(&task, TaskStage::Held { opens }, &mut effects);
            }
            Event::Opened => self.opened(),
            Event::Listed(outlines) => self.listed(&outlines, &mut effects),
            Event::Reserved(holds) => self.holds = holds,
            Event::Tick => self.stop_the_late(now, &mut effects),
            Event::Dropped { task } => self.dropped(&task, &mut effects),
            Event::Enough => self.enough(&mut effects),
            Event::Interrupt => self.interrupt(&mut effects),
        }
        self.go_on(now, &mut effects);
        effects
    }

    /// Whether it matters what others have reserved.
    pub fn asks_for_reservations(&self) -> bool {
        self.tasks.names_files()
    }

    /// Whether a task waits for files that somebody else works on: nothing tells when they are free.
    pub fn waits_for_files(&self) -> bool {
        let mut queue = self.queue.iter();
        queue.any(|&at| self.tasks.held_up_by(at, &self.holds).is_some())
    }

    /// When the next `Tick` will do something, as things are.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        let stages = self.busy.iter().map(|&at| &self.tasks.entry(at).stage);
        stages
            .filter_map(|stage| match stage {
                TaskStage::Running {
                    deadline,
                    stopping: None,
                    ..
                } => *deadline,
                TaskStage::Running { .. }
                | TaskStage::Waiting
                | TaskStage::Launching { .. }
                | TaskStage::Asking
                | TaskStage::Held { .. }
                | TaskStage::Settled(_) => None,
            })
            .chain(self.staying.flatten())
            .min()
    }

    /// Whether a task waits for an answer: only the list tells when there is one.
    pub fn waits_for_answers(&self) -> bool {
        !self
            .tasks
            .those(|stage| matches!(stage, TaskStage::Asking))
            .is_empty()
    }

    fn begin(&mut self, effects: &mut Vec<Effect>) {
        if self.phase != Phase::New {
            return;
        }
        self.phase = Phase::Running;
        for (at, why) in std::mem::take(&mut self.hopeless) {
            self.tasks
                .set_fate(at, TaskOutcome::Skipped { why }, effects);
        }
        if self.config.schedule == Schedule::Eager {
            self.queue = self.tasks.free().collect();
        }
    }

    fn launched(&mut self, task: &TaskId, now: Timestamp, effects: &mut Vec<Effect>) {
        let Some(at) = self.tasks.at(task) else {
            return;
        };
        let TaskStage::Launching { attempt, unwanted } = self.tasks.entry(at).stage else {
            return;
        };
        self.tasks.entry_mut(at).begun = true;
        self.handed_over.remove(task);
        let limit = self.config.timeout;
        self.tasks.entry_mut(at).stage = TaskStage::Running {
            attempt,
            // A limit beyond the end of time is none.
            deadline: limit.and_then(|limit| now.checked_add(limit).ok()),
            stopping: None,
        };
        if unwanted {
            self.stop(at, StopReason::Interrupted, effects);
        }
    }

    fn could_not_launch(&mut self, task: &TaskId, because: NoLaunch, effects: &mut Vec<Effect>) {
        let Some(at) = self.tasks.at(task) else {
            return;
        };
        let TaskStage::Launching { attempt, .. } = self.tasks.entry(at).stage else {
            return;
        };
        let attempts = match self.tasks.entry(at).begun {
            true => attempt.number,
            false => attempt.number - 1,
        };
        let fate = match (because, self.tasks.entry(at).last) {
            (NoLaunch::Held { opens }, _) => {
                self.given_back(task, TaskStage::Held { opens }, effects);
                return;
            }
            (NoLaunch::AlreadyCompleted, _) => TaskOutcome::Passed { attempts },
            (NoLaunch::Refused { reason }, None) if attempts == 0 => TaskOutcome::Skipped {
                why: Skip::NotLaunched { reason },
            },
            (NoLaunch::Refused { .. }, None) => TaskOutcome::Failed { attempts },
            (NoLaunch::Refused { .. }, Some(last)) => given_up(last, attempts),
        };
        self.finalize(at, fate, attempts > 0, effects);
    }

    fn ended(&mut self, task: &TaskId, outcome: Outcome, retryable: bool, fx: &mut Vec<Effect>) {
        let Some(at) = self.tasks.at(task) else {
            return;
        };
        let (attempt, stopping) = match self.tasks.entry(at).stage {
            TaskStage::Running {
                attempt, stopping, ..
            } => (attempt, stopping),
            TaskStage::Launching { attempt, .. } => (attempt, None),
            TaskStage::Waiting
            | TaskStage::Asking
            | TaskStage::Held { .. }
            | TaskStage::Settled(_) => return,
        };
        self.tasks.entry_mut(at).last = Some(outcome);
        let attempts = attempt.number;
        let fate = match verdict(outcome, retryable, attempt) {
            RetryDecision::Accept => TaskOutcome::Passed { attempts },
            _ if retryable && stopping == Some(StopReason::Dropped) => {
                TaskOutcome::Interrupted { attempts }
            }
            RetryDecision::Again(next) if self.phase == Phase::Running => {
                let entry = self.tasks.entry_mut(at);
                (entry.next, entry.begun) = (next, false);
                self.launch(at, fx);
                return;
            }
            RetryDecision::Again(_) => TaskOutcome::Interrupted { attempts },
            // What a stopped agent leaves behind says nothing about its last attempt.
            RetryDecision::GiveUp if retryable && stopping == Some(StopReason::Interrupted) => {
                TaskOutcome::Interrupted { attempts }
            }
            RetryDecision::GiveUp => given_up(outcome, attempts),
        };
        self.finalize(at, fate, true, fx);
    }

    /// The task waits for another one. It was no attempt: it is begun anew.
    fn put_back(&mut self, task: &TaskId, behind: TaskId, effects: &mut Vec<Effect>) {
        let Some(at) = self.tasks.at(task) else {
            return;
        };
        if !matches!(self.tasks.entry(at).stage, TaskStage::Running { .. }) {
            return;
        }
        self.busy.remove(&at);
        self.tasks.entry_mut(at).begun = false;
        // A circle would wait for ever.
        let on = self.tasks.at(&behind);
        let on = on.filter(|&on| !self.tasks.leads_to(at, on));
        match on.map(|on| (on, &self.tasks.entry(on).stage)) {
            _ if self.phase != Phase::Running => {
                let fate = TaskOutcome::Interrupted { attempts: 1 };
                self.tasks.set_fate(at, fate, effects);
            }
            Some((_, TaskStage::Settled(fate))) if fate.is_passed() => {
                self.tasks.entry_mut(at).stage = TaskStage::Waiting;
                self.queue.insert(at);
            }
            Some((
                on,
                TaskStage::Waiting
                | TaskStage::Launching { .. }
                | TaskStage::Running { .. }
                | TaskStage::Asking
                | TaskStage::Held { .. },
            )) => {
                self.tasks.wait_for(at, on);
            }
            // It did not pass, is not part of this run, or waits for this task itself.
            Some((_, TaskStage::Settled(_))) | None => {
                let why = Skip::After { task: behind };
                self.tasks
                    .set_fate(at, TaskOutcome::Skipped { why }, effects);
                self.tasks.skip_dependants(at, effects);
            }
        }
    }

    fn stop_the_late(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        for at in self.busy.clone() {
            let late = match self.tasks.entry(at).stage {
                TaskStage::Running { deadline, .. } => deadline.is_some_and(|at| at <= now),
                TaskStage::Waiting
                | TaskStage::Launching { .. }
                | TaskStage::Asking
                | TaskStage::Held { .. }
                | TaskStage::Settled(_) => false,
            };
            if late {
                self.stop(at, StopReason::Timeout, effects);
            }
        }
    }

    fn interrupt(&mut self, effects: &mut Vec<Effect>) {
        match self.phase {
            Phase::New | Phase::Running | Phase::Enough => {
                self.phase = Phase::Draining;
                self.queue.clear();
                self.tasks.interrupt_waiting(effects);
            }
            Phase::Draining => {
                self.phase = Phase::Stopping;
                for at in self.busy.clone() {
                    self.stop(at, StopReason::Interrupted, effects);
                }
            }
            Phase::Stopping | Phase::Finished { .. } => {}
        }
    }

    /// Stops what runs; what is only being launched is stopped once it runs.
    pub(super) fn stop(&mut self, at: usize, why: StopReason, effects: &mut Vec<Effect>) {
        let entry = self.tasks.entry_mut(at);
        match &mut entry.stage {
            TaskStage::Running { stopping, .. } if stopping.is_none() => {
                *stopping = Some(why);
                let task = entry.id.clone();
                effects.push(Effect::Stop { task, why });
            }
            TaskStage::Launching { unwanted, .. } => *unwanted = true,
            TaskStage::Running { .. }
            | TaskStage::Waiting
            | TaskStage::Asking
            | TaskStage::Held { .. }
            | TaskStage::Settled(_) => {}
        }
    }

    fn launch(&mut self, at: usize, effects: &mut Vec<Effect>) {
        self.busy.insert(at);
        let entry = self.tasks.entry_mut(at);
        let (task, attempt) = (entry.id.clone(), entry.next);
        entry.stage = TaskStage::Launching {
            attempt,
            unwanted: false,
        };
        effects.push(Effect::Launch { task, attempt });
    }

    /// The end of a task that was handed out, and what follows for those that wait for it.
    fn finalize(&mut self, at: usize, fate: TaskOutcome, ran: bool, effects: &mut Vec<Effect>) {
        let passed = fate.is_passed();
        let id = self.tasks.entry(at).id.clone();
        self.busy.remove(&at);
        self.tasks.set_fate(at, fate, effects);
        if passed {
            let freed = self.tasks.free_dependants(at);
            if self.config.schedule == Schedule::Eager {
                self.queue.extend(freed);
            }
        } else {
            self.tasks.skip_dependants(at, effects);
        }
        match self.config.schedule {
            Schedule::Waves if ran => self.ran.push(id),
            Schedule::Eager if ran => effects.push(Effect::Merge { tasks: vec![id] }),
            Schedule::Waves | Schedule::Eager => {}
        }
    }

    /// Fills the free places; when nothing runs any more, goes on to the next wave or ends.
    fn go_on(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        if matches!(self.phase, Phase::New | Phase::Finished { .. }) {
            return;
        }
        loop {
            while self.busy.len() < self.config.max_parallel.get() {
                let Some(at) = self.next_in_nobodys_way(effects) else {
                    break;
                };
                self.queue.remove(&at);
                self.staying = None;
                self.launch(at, effects);
            }
            // What is still queued where nothing runs waits for somebody else.
            if !self.busy.is_empty() || !self.queue.is_empty() {
                self.tell_of_held_up(effects);
                return;
            }
            self.end_wave(effects);
            if self.phase != Phase::Running || !self.enter_wave(effects) {
                break;
            }
        }
        if !self.stays(now, effects) {
            self.finish(effects);
        }
    }

    /// The first of the queue whose files nobody works on. What waits for others is told.
    fn next_in_nobodys_way(&mut self, effects: &mut Vec<Effect>) -> Option<usize> {
        for at in self.tasks.in_turn(&self.queue) {
            if self.busy.iter().any(|&busy| self.tasks.collide(at, busy)) {
                continue;
            }
            let Some(hold) = self.tasks.held_up_by(at, &self.holds) else {
                return Some(at);
            };
            if self.said.insert((at, hold.holder.clone())) {
                let task = self.tasks.entry(at).id.clone();
                let on = hold.clone();
                effects.push(Effect::Waits { task, on });
            }
        }
        None
    }

    fn end_wave(&mut self, effects: &mut Vec<Effect>) {
        if !self.wave_open {
            return;
        }
        self.wave_open = false;
        let tasks = std::mem::take(&mut self.ran);
        if !tasks.is_empty() {
            effects.push(Effect::Merge { tasks });
        }
        effects.push(Effect::WaveEnded {
            n: self.waves_entered,
        });
    }

    /// Whether there was another wave with something left to do.
    fn enter_wave(&mut self, effects: &mut Vec<Effect>) -> bool {
        let before = self.waves_entered;
        while self.waves_entered < self.waves.len() {
            self.waves_entered += 1;
            // Those of earlier waves that were put back, too.
            let so_far = self.waves.iter().take(self.waves_entered).flatten();
            self.queue = so_far
                .copied()
                .filter(|&at| self.tasks.is_free(at))
                .collect();
            if !self.queue.is_empty() {
                return self.open_wave(effects);
            }
        }
        if self.config.schedule == Schedule::Waves {
            self.queue = self.tasks.free().collect();
        }
        if self.queue.is_empty() {
            // What is behind a question, or is held, may have its wave yet.
            self.waves_entered = before;
            return false;
        }
        self.waves.push(self.queue.iter().copied().collect());
        self.waves_entered = self.waves.len();
        self.open_wave(effects)
    }

    fn open_wave(&mut self, effects: &mut Vec<Effect>) -> bool {
        self.wave_open = true;
        let (n, of) = (self.waves_entered, self.waves.len());
        effects.push(Effect::WaveStarted { n, of });
        true
    }

    fn finish(&mut self, effects: &mut Vec<Effect>) {
        let interrupted = matches!(self.phase, Phase::Draining | Phase::Stopping);
        for at in self
            .tasks
            .those(|stage| matches!(stage, TaskStage::Asking | TaskStage::Held { .. }))
        {
            let attempts = self.tasks.entry(at).begun_attempts();
            let fate = match self.tasks.entry(at).stage {
                TaskStage::Asking => TaskOutcome::Stuck { attempts },
                _ => TaskOutcome::Parked { attempts },
            };
            self.tasks.set_fate(at, fate, effects);
            let task = self.tasks.entry(at).id.clone();
            self.tasks
                .finalize_dependants(at, &Skip::Behind { task }, effects);
        }
        self.phase = Phase::Finished { interrupted };
        let fates = self.tasks.outcomes();
        effects.push(Effect::Finished { fates, interrupted });
    }
}

fn given_up(outcome: Outcome, attempts: u32) -> TaskOutcome {
    match outcome {
        Outcome::Pass => TaskOutcome::Passed { attempts },
        Outcome::Partial => TaskOutcome::Partial { attempts },
        Outcome::Fail => TaskOutcome::Failed { attempts },
    }
}
