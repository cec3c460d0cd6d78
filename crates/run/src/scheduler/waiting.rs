//! Waiting: for answers, for room with an agent, for a wave; and ends that the operator asks for.
//!
//! Owns what becomes of a task that was given back without an attempt spent, and how long a run stays for
//! such tasks.

use flagpost_model::{TaskId, plan::Schedule};
use jiff::Timestamp;

use super::{
    Effect, StopReason, TaskOutcome,
    machine::{Phase, Scheduler},
    table::TaskStage,
};

impl Scheduler {
    /// The task has no agent any more, and no attempt was spent.
    pub(super) fn given_back(
        &mut self,
        task: &TaskId,
        stage: TaskStage,
        effects: &mut Vec<Effect>,
    ) {
        let Some(at) = self.tasks.at(task) else {
            return;
        };
        let dropped = match self.tasks.entry(at).stage {
            TaskStage::Running { stopping, .. } => stopping.is_some(),
            TaskStage::Launching { unwanted, .. } => unwanted,
            TaskStage::Waiting
            | TaskStage::Asking
            | TaskStage::Held { .. }
            | TaskStage::Settled(_) => return,
        };
        self.busy.remove(&at);
        let is_question = matches!(stage, TaskStage::Asking);
        self.tasks.entry_mut(at).stage = stage;
        if !is_question && (dropped || self.phase != Phase::Running) {
            let attempts = self.tasks.entry(at).begun_attempts();
            self.tasks
                .set_fate(at, TaskOutcome::Interrupted { attempts }, effects);
            self.tasks.skip_dependants(at, effects);
        }
    }

    /// What was held waits for its turn again.
    pub(super) fn opened(&mut self) {
        for at in self
            .tasks
            .those(|stage| matches!(stage, TaskStage::Held { .. }))
        {
            self.tasks.entry_mut(at).stage = TaskStage::Waiting;
            if self.wave_open || self.config.schedule == Schedule::Eager {
                self.queue.insert(at);
            }
        }
    }

    /// The operator stopped one task: it ends where it runs, and is not begun where it waits.
    pub(super) fn dropped(&mut self, task: &TaskId, effects: &mut Vec<Effect>) {
        let Some(at) = self.tasks.at(task) else {
            return;
        };
        match self.tasks.entry(at).stage {
            TaskStage::Launching { .. } | TaskStage::Running { .. } => {
                self.stop(at, StopReason::Dropped, effects);
            }
            TaskStage::Waiting | TaskStage::Held { .. } => {
                self.queue.remove(&at);
                let attempts = self.tasks.entry(at).begun_attempts();
                self.tasks
                    .set_fate(at, TaskOutcome::Interrupted { attempts }, effects);
                self.tasks.skip_dependants(at, effects);
            }
            TaskStage::Asking | TaskStage::Settled(_) => {}
        }
    }

    pub(super) fn enough(&mut self, effects: &mut Vec<Effect>) {
        if matches!(self.phase, Phase::New | Phase::Running) {
            self.phase = Phase::Enough;
            self.queue.clear();
            self.tasks.interrupt_waiting(effects);
        }
    }

    /// Tells once that tasks could start, were it not for the wave.
    pub(super) fn tell_of_held_up(&mut self, effects: &mut Vec<Effect>) {
        let has_room = self.busy.len() < self.config.max_parallel.get() && self.queue.is_empty();
        if self.said_held_up || !self.wave_open || !has_room || self.phase != Phase::Running {
            return;
        }
        let ready = self.tasks.free().count();
        if ready > 0 {
            self.said_held_up = true;
            let n = self.waves_entered;
            effects.push(Effect::WaveHolds { n, ready });
        }
    }

    /// Whether the run waits for an answer or for room, though nothing else is left.
    pub(super) fn stays(&mut self, now: Timestamp, effects: &mut Vec<Effect>) -> bool {
        let mut asking = self.tasks.those(|stage| matches!(stage, TaskStage::Asking));
        let has_person = |at: &usize| self.handed_over.contains(&self.tasks.entry(*at).id);
        let is_with_person = asking.iter().any(has_person);
        if !self.config.wait_for_answers {
            asking.retain(has_person);
        }
        let held = self
            .tasks
            .those(|stage| matches!(stage, TaskStage::Held { opens: true }));
        let is_over = |until: Option<Timestamp>| until.is_some_and(|until| until <= now);
        let is_late = !is_with_person && self.staying.is_some_and(is_over);
        let waits = !held.is_empty() || !asking.is_empty() && !is_late;
        if self.phase != Phase::Running || !waits {
            return false;
        }
        if self.staying.is_none() {
            let limit = self.config.timeout.filter(|_| !asking.is_empty());
            self.staying = Some(limit.and_then(|limit| now.checked_add(limit).ok()));
            let asking = asking.iter().map(|&at| self.tasks.entry(at).id.clone());
            let asking = asking.collect();
            effects.push(Effect::Stays { asking });
        }
        true
    }
}
