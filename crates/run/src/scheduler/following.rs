//! Following the list while the run is under way.
//!
//! Owns what a change of the list means for a run: tasks that come into its scope, that were edited
//! before they were started, that somebody else ended, and questions that were answered. What runs
//! is left alone: its end is judged against its file as it then is.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use flagpost_model::{
    TaskId,
    plan::{Graph, Schedule, StrandedBecause, claim_order, is_open, stranded},
    task::{Outline, State},
};

use super::{
    Effect, Skip, TaskOutcome,
    machine::{Phase, Scheduler},
    table::{ScheduledTask, TaskStage, TaskTable},
};

/// The outlines as the graph is to see them. A question is no end: what waits for its task waits on.
/// Nor is an earlier failure, where the run is to take the task up again.
pub(super) fn as_open(outlines: &[Outline], again: impl Fn(&TaskId) -> bool) -> Vec<Outline> {
    let open = |outline: &Outline| match outline.state {
        State::Stuck => true,
        State::Failed => again(&outline.id),
        _ => false,
    };
    let as_open = |outline: &Outline| match open(outline) {
        true => Outline {
            state: State::Pending,
            ..outline.clone()
        },
        false => outline.clone(),
    };
    outlines.iter().map(as_open).collect()
}

/// The tasks that a run has to do with, in claim order.
pub(super) fn in_order<'o>(graph: &Graph<'o>, open: &'o [Outline]) -> Vec<&'o Outline> {
    let wanted = open.iter().filter(|task| is_open(&task.state));
    // Of two outlines with one id the first one stands.
    let stands = |task: &&Outline| graph.get(&task.id).is_some_and(|t| std::ptr::eq(t, *task));
    claim_order(graph, wanted.filter(stands))
}

/// The open tasks that can never start, and why.
pub(super) fn hopeless(graph: &Graph, table: &TaskTable) -> Vec<(usize, Skip)> {
    let stranded = stranded(graph).into_iter();
    stranded
        .filter_map(|s| Some((table.at(&s.id)?, Skip::Stranded(s.why))))
        .collect()
}

impl Scheduler {
    /// Takes the list in as it is now.
    pub(super) fn listed(&mut self, outlines: &[Outline], effects: &mut Vec<Effect>) {
        if self.phase != Phase::Running {
            return;
        }
        let waits = |id: &TaskId| {
            self.tasks
                .at(id)
                .is_some_and(|at| self.tasks.is_waiting(at))
        };
        let open = as_open(outlines, waits);
        let graph = Graph::new(&open);
        let mut order = in_order(&graph, &open);
        // Those of the run that are over in the list stay in it, behind the others.
        let listed: BTreeSet<&TaskId> = order.iter().map(|task| &task.id).collect();
        let over: Vec<Outline> = self.left_out(&listed, &graph);
        order.extend(over.iter());
        let mut table = TaskTable::new(&graph, &order, self.config.max_attempts.get());
        let mut added = Vec::new();
        let old = std::mem::replace(&mut self.tasks, TaskTable::new(&graph, &[], 1));
        let now: HashMap<&TaskId, &State> = outlines.iter().map(|it| (&it.id, &it.state)).collect();
        for at in 0..table.entries.len() {
            let entry = table.entry_mut(at);
            match old.at(&entry.id).map(|at| old.entry(at)) {
                None => added.push(at),
                Some(before) => {
                    let state = now.get(&entry.id).copied();
                    carry_over(entry, before, state);
                    if matches!(before.stage, TaskStage::Asking) && entry.is_answered() {
                        let task = entry.id.clone();
                        effects.push(Effect::Answered { task });
                    }
                }
            }
        }
        let place = |ids: &BTreeSet<usize>| -> Vec<TaskId> {
            ids.iter().map(|&at| old.entry(at).id.clone()).collect()
        };
        let (queue, busy, said) = (place(&self.queue), place(&self.busy), &self.said);
        self.said = said
            .iter()
            .filter_map(|(at, holder)| Some((table.at(&old.entry(*at).id)?, holder.clone())))
            .collect();
        self.busy = busy.iter().filter_map(|id| table.at(id)).collect();
        table.count_blockers(&graph);
        self.tasks = table;
        self.finalize_closed(&old, effects);
        for at in added {
            let task = self.tasks.entry(at).id.clone();
            effects.push(Effect::Added { task });
        }
        let mut skipped = Vec::new();
        for (at, why) in hopeless(&graph, &self.tasks) {
            // A blocker that this run itself gave up is told of as such.
            if self.tasks.is_waiting(at) && !self.is_behind_our_own(&why) {
                self.tasks
                    .set_fate(at, TaskOutcome::Skipped { why }, &mut skipped);
            }
        }
        self.skip_behind_failures(&mut skipped);
        // What was skipped before, and is again, was told of.
        let was_settled = |effect: &Effect| match effect {
            Effect::Settled { task, .. } => old
                .at(task)
                .is_some_and(|at| matches!(old.entry(at).stage, TaskStage::Settled(_))),
            _ => false,
        };
        effects.extend(skipped.into_iter().filter(|it| !was_settled(it)));
        let queue = queue.iter().filter_map(|id| self.tasks.at(id));
        self.queue = queue.filter(|&at| self.tasks.is_free(at)).collect();
        if self.config.schedule == Schedule::Eager {
            self.queue = self.tasks.free().collect();
        } else if self.wave_open {
            let answered = self
                .tasks
                .free()
                .filter(|&at| self.tasks.entry(at).is_answered());
            self.queue.extend(answered);
        }
        self.plan_waves();
    }

    /// What the run knows and the list has no open task for: over, cancelled or gone.
    fn left_out(&self, listed: &BTreeSet<&TaskId>, graph: &Graph) -> Vec<Outline> {
        let all = self.tasks.entries.iter().map(|entry| &entry.id);
        let missing = all.filter(|id| !listed.contains(id));
        missing
            .map(|id| match graph.get(id) {
                Some(outline) => outline.clone(),
                None => Outline::from(&flagpost_model::task::Task::new(id.clone(), "")),
            })
            .collect()
    }

    /// Settles what waited and is not open any more.
    fn finalize_closed(&mut self, old: &TaskTable, effects: &mut Vec<Effect>) {
        for at in 0..self.tasks.entries.len() {
            let entry = self.tasks.entry(at);
            let TaskStage::Settled(fate) = &entry.stage else {
                continue;
            };
            let before = old.at(&entry.id).map(|at| &old.entry(at).stage);
            if matches!(before, Some(TaskStage::Settled(_))) {
                continue;
            }
            let fate = fate.clone();
            self.tasks.set_fate(at, fate, effects);
        }
    }

    fn is_behind_our_own(&self, why: &Skip) -> bool {
        let Skip::Stranded(StrandedBecause::GivenUp { task, .. }) = why else {
            return false;
        };
        self.tasks.at(task).is_some()
    }

    /// Skips what waits for a task that did not pass.
    fn skip_behind_failures(&mut self, effects: &mut Vec<Effect>) {
        let failed = |stage: &TaskStage| match stage {
            TaskStage::Settled(fate) => !fate.is_passed(),
            _ => false,
        };
        for at in self.tasks.those(failed) {
            self.tasks.skip_dependants(at, effects);
        }
    }

    /// Plans the waves that have not begun, of what waits and is not queued.
    fn plan_waves(&mut self) {
        if self.config.schedule == Schedule::Eager {
            return;
        }
        self.waves.truncate(self.waves_entered);
        let waiting = self
            .tasks
            .those(|stage| matches!(stage, TaskStage::Waiting));
        let left = waiting.into_iter().filter(|at| !self.queue.contains(at));
        let mut behind: BTreeMap<usize, usize> = left.map(|at| (at, 0)).collect();
        for at in behind.keys().copied().collect::<Vec<_>>() {
            for on in &self.tasks.entry(at).dependants {
                behind.entry(*on).and_modify(|count| *count += 1);
            }
        }
        let mut level = level_of(&behind);
        // What is left in a circle is settled elsewhere.
        while !level.is_empty() {
            for at in &level {
                behind.remove(at);
                for on in &self.tasks.entry(*at).dependants {
                    behind.entry(*on).and_modify(|count| *count -= 1);
                }
            }
            let next = level_of(&behind);
            self.waves.push(std::mem::replace(&mut level, next));
        }
    }
}

/// Those that are behind nobody.
fn level_of(behind: &BTreeMap<usize, usize>) -> Vec<usize> {
    let free = behind.iter().filter(|(_, count)| **count == 0);
    free.map(|(at, _)| *at).collect()
}

/// What a task of the run is after the list changed.
fn carry_over(entry: &mut ScheduledTask, before: &ScheduledTask, state: Option<&State>) {
    (entry.next, entry.begun, entry.last) = (before.next, before.begun, before.last);
    let attempts = before.begun_attempts();
    entry.stage = match (&before.stage, state) {
        (running @ (TaskStage::Launching { .. } | TaskStage::Running { .. }), _) => running.clone(),
        // It was opened again, or its work did not land, or what it waited for was.
        (
            TaskStage::Settled(
                TaskOutcome::Failed { .. }
                | TaskOutcome::Partial { .. }
                | TaskOutcome::Passed { .. },
            ),
            Some(State::Pending),
        ) => {
            entry.start_over();
            TaskStage::Waiting
        }
        (
            TaskStage::Settled(TaskOutcome::Skipped {
                why: Skip::After { .. } | Skip::Stranded(_) | Skip::Withdrawn,
            }),
            Some(State::Pending),
        ) => TaskStage::Waiting,
        (settled @ TaskStage::Settled(_), _) => settled.clone(),
        (_, Some(State::Completed)) => TaskStage::Settled(TaskOutcome::Passed { attempts }),
        (TaskStage::Waiting, Some(State::Failed)) => TaskStage::Waiting,
        (_, None | Some(State::Cancelled)) => TaskStage::Settled(TaskOutcome::Skipped {
            why: Skip::Withdrawn,
        }),
        (_, Some(State::Failed)) => TaskStage::Settled(TaskOutcome::Failed { attempts }),
        (_, Some(State::Stuck)) => TaskStage::Asking,
        (TaskStage::Asking, Some(_)) => {
            entry.answer();
            return;
        }
        (held @ TaskStage::Held { .. }, Some(_)) => held.clone(),
        (TaskStage::Waiting, Some(_)) => {
            entry.keep_turn(before);
            TaskStage::Waiting
        }
    };
}
