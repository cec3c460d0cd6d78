//! The tasks of a run and where each of them stands.
//!
//! Owns the order in which they go and what the fate of one means for those that wait for it.

use std::collections::{BTreeSet, HashMap, HashSet};

use flagpost_model::{
    TaskId,
    plan::Graph,
    reservation::Pattern,
    session::{Attempt, Outcome},
    task::{Outline, State},
};
use jiff::Timestamp;

use super::{Effect, ReservedFiles, Skip, StopReason, TaskOutcome};

/// Open tasks in claim order: a smaller position goes first.
#[derive(Debug, Clone)]
pub(super) struct TaskTable {
    pub(super) entries: Vec<ScheduledTask>,
    positions: HashMap<TaskId, usize>,
}

#[derive(Debug, Clone)]
pub(super) struct ScheduledTask {
    pub id: TaskId,
    /// The files that it says it will touch.
    files: Vec<Pattern>,
    /// Blockers that have not passed yet.
    waits_for: usize,
    pub(super) dependants: Vec<usize>,
    /// Tasks of one urgency have one number; a smaller one goes first.
    urgency: usize,
    /// An answered question goes before others of its urgency.
    answered: bool,
    /// The attempt that the next launch is.
    pub next: Attempt,
    /// Whether the next launch goes on with an attempt that was begun.
    pub begun: bool,
    /// What the last finished attempt came to.
    pub last: Option<Outcome>,
    pub stage: TaskStage,
}

#[derive(Debug, Clone)]
pub(super) enum TaskStage {
    Waiting,
    Launching {
        attempt: Attempt,
        /// Stop it as soon as it runs.
        unwanted: bool,
    },
    Running {
        attempt: Attempt,
        deadline: Option<Timestamp>,
        stopping: Option<StopReason>,
    },
    /// It waits for a person's answer.
    Asking,
    /// It waits for room with its agent; whether there will be any.
    Held {
        opens: bool,
    },
    Settled(TaskOutcome),
}

impl TaskTable {
    /// The tasks of `order`, as the graph has them.
    pub fn new(graph: &Graph, order: &[&Outline], max_attempts: u32) -> Self {
        let positions: HashMap<TaskId, usize> = order
            .iter()
            .enumerate()
            .map(|(at, task)| (task.id.clone(), at))
            .collect();
        let (mut urgency, mut before) = (0, None);
        let mut entries = Vec::with_capacity(order.len());
        for task in order {
            if before.replace(task.priority) != Some(task.priority) {
                urgency += 1;
            }
            let blockers = graph.blockers(&task.id);
            let dependants = graph.dependants(&task.id);
            entries.push(ScheduledTask {
                id: task.id.clone(),
                // What is no path below the top is none of the repository's files.
                files: task.files.iter().filter_map(|it| it.parse().ok()).collect(),
                waits_for: blockers.filter(|b| b.state != State::Completed).count(),
                dependants: dependants
                    .filter_map(|task| positions.get(&task.id).copied())
                    .collect(),
                urgency,
                answered: false,
                next: Attempt::first(max_attempts),
                begun: false,
                last: None,
                stage: match task.state {
                    State::Stuck => TaskStage::Asking,
                    _ => TaskStage::Waiting,
                },
            });
        }
        Self { entries, positions }
    }

    pub fn at(&self, id: &TaskId) -> Option<usize> {
        self.positions.get(id).copied()
    }

    pub fn entry(&self, at: usize) -> &ScheduledTask {
        &self.entries[at]
    }

    pub fn entry_mut(&mut self, at: usize) -> &mut ScheduledTask {
        &mut self.entries[at]
    }

    /// Every position at which the stage is such a one.
    pub fn those(&self, is: impl Fn(&TaskStage) -> bool) -> Vec<usize> {
        let all = self.entries.iter().enumerate();
        all.filter_map(|(at, entry)| is(&entry.stage).then_some(at))
            .collect()
    }

    pub fn is_waiting(&self, at: usize) -> bool {
        matches!(self.entries[at].stage, TaskStage::Waiting)
    }

    /// Those that may start.
    pub fn free(&self) -> impl Iterator<Item = usize> {
        (0..self.entries.len()).filter(|&at| self.is_free(at))
    }

    /// Whether it waits for its turn only.
    pub fn is_free(&self, at: usize) -> bool {
        self.is_waiting(at) && self.entries[at].waits_for == 0
    }

    /// These in the order in which they go.
    pub fn in_turn(&self, queue: &BTreeSet<usize>) -> Vec<usize> {
        let mut turn: Vec<usize> = queue.iter().copied().collect();
        turn.sort_by_key(|&at| {
            let entry = &self.entries[at];
            (entry.urgency, !entry.answered, at)
        });
        turn
    }

    pub fn set_fate(&mut self, at: usize, fate: TaskOutcome, effects: &mut Vec<Effect>) {
        let task = self.entries[at].id.clone();
        self.entries[at].stage = TaskStage::Settled(fate.clone());
        effects.push(Effect::Settled { task, fate });
    }

    /// Whether any task says which files it will touch.
    pub fn names_files(&self) -> bool {
        self.entries.iter().any(|entry| !entry.files.is_empty())
    }

    /// Whether two tasks could touch one file.
    pub fn collide(&self, a: usize, b: usize) -> bool {
        let others = &self.entries[b].files;
        self.entries[a]
            .files
            .iter()
            .any(|file| others.iter().any(|it| it.meets(file)))
    }

    /// What of others is in a task's way.
    pub fn held_up_by<'h>(
        &self,
        at: usize,
        holds: &'h [ReservedFiles],
    ) -> Option<&'h ReservedFiles> {
        let ScheduledTask { id, files, .. } = &self.entries[at];
        let is_own = |hold: &ReservedFiles| hold.task.as_deref() == Some(id.as_str());
        let mut others = holds.iter().filter(|hold| !is_own(hold));
        others.find(|hold| files.iter().any(|file| file.meets(&hold.path)))
    }

    /// Whether a task is this one, or waits for it through however many others.
    pub fn leads_to(&self, from: usize, to: usize) -> bool {
        let (mut stack, mut seen) = (vec![from], HashSet::new());
        while let Some(at) = stack.pop() {
            if at == to {
                return true;
            }
            if seen.insert(at) {
                stack.extend(&self.entries[at].dependants);
            }
        }
        false
    }

    /// From now on the task waits for this one as well.
    pub fn wait_for(&mut self, at: usize, on: usize) {
        self.entries[on].dependants.push(at);
        let waits = &mut self.entries[at];
        waits.waits_for += 1;
        waits.stage = TaskStage::Waiting;
    }

    /// Counts anew for how many tasks each one waits, of those of the run and of others.
    pub fn count_blockers(&mut self, graph: &Graph) {
        let has_passed = |entry: &ScheduledTask| matches!(&entry.stage, TaskStage::Settled(fate) if fate.is_passed());
        let counts: Vec<usize> = self
            .entries
            .iter()
            .map(|entry| {
                let blockers = graph.blockers(&entry.id);
                let open = blockers.filter(|blocker| match self.at(&blocker.id) {
                    Some(at) => !has_passed(&self.entries[at]),
                    None => blocker.state != State::Completed,
                });
                open.count()
            })
            .collect();
        let pairs = self.entries.iter_mut().zip(counts);
        pairs.for_each(|(entry, count)| entry.waits_for = count);
    }

    /// Takes a passed task off what others wait for; those that may start now.
    pub fn free_dependants(&mut self, at: usize) -> Vec<usize> {
        let mut freed = self.entries[at].dependants.clone();
        for &on in &freed {
            let dependant = &mut self.entries[on];
            dependant.waits_for = dependant.waits_for.saturating_sub(1);
        }
        freed.retain(|&on| self.is_free(on));
        freed
    }

    /// Whatever waits for a task that did not pass, through however many others.
    pub fn skip_dependants(&mut self, root: usize, effects: &mut Vec<Effect>) {
        let task = self.entries[root].id.clone();
        let why = Skip::After { task };
        self.finalize_dependants(root, &why, effects);
    }

    /// Whatever waits for this task, through however many others, comes to this end.
    pub fn finalize_dependants(&mut self, root: usize, why: &Skip, effects: &mut Vec<Effect>) {
        let mut stack = vec![root];
        while let Some(at) = stack.pop() {
            for on in self.entries[at].dependants.clone() {
                if self.is_waiting(on) {
                    self.set_fate(on, TaskOutcome::Skipped { why: why.clone() }, effects);
                    stack.push(on);
                }
            }
        }
    }

    pub fn interrupt_waiting(&mut self, effects: &mut Vec<Effect>) {
        for at in self.those(|stage| matches!(stage, TaskStage::Waiting | TaskStage::Held { .. })) {
            let attempts = self.entries[at].begun_attempts();
            self.set_fate(at, TaskOutcome::Interrupted { attempts }, effects);
        }
    }

    /// What became of those that are settled, by id.
    pub fn outcomes(&self) -> Vec<(TaskId, TaskOutcome)> {
        let fates = self.entries.iter().filter_map(|entry| match &entry.stage {
            TaskStage::Settled(fate) => Some((entry.id.clone(), fate.clone())),
            TaskStage::Waiting
            | TaskStage::Launching { .. }
            | TaskStage::Running { .. }
            | TaskStage::Asking
            | TaskStage::Held { .. } => None,
        });
        let mut fates: Vec<(TaskId, TaskOutcome)> = fates.collect();
        fates.sort_by(|a, b| a.0.cmp(&b.0));
        fates
    }
}

impl ScheduledTask {
    /// Whether its question was answered and it has not been started since.
    pub fn is_answered(&self) -> bool {
        self.answered
    }

    /// Its question was answered: it waits for its turn again.
    pub fn answer(&mut self) {
        (self.stage, self.answered) = (TaskStage::Waiting, true);
    }

    /// The same turn as before the list changed.
    pub fn keep_turn(&mut self, before: &Self) {
        self.answered = before.answered;
    }

    /// Nothing of it counts any more: somebody opened it again.
    pub fn start_over(&mut self) {
        self.next = Attempt::first(self.next.of);
        (self.begun, self.last) = (false, None);
    }

    /// How many attempts were begun before the next launch.
    pub fn begun_attempts(&self) -> u32 {
        self.next.number - u32::from(!self.begun)
    }
}
