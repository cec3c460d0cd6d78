//! What a run does next: events in, effects out.
//!
//! Owns the decisions of one run over a list: what is launched when, what is tried again, what is
//! given up, and when it is over. Invariants: never more than `max_parallel` tasks at once; never two
//! that say they touch the same files, nor one whose files somebody reserved; a task is launched only
//! after all its blockers passed; each open task comes to exactly one [`TaskOutcome`]; after the last one
//! comes exactly one [`Effect::Finished`]. It must never touch a process, a file or a clock: the
//! driver does, and reports back.

mod following;
mod machine;
mod table;
mod waiting;

#[cfg(test)]
mod tests;

use std::num::{NonZeroU32, NonZeroUsize};

use flagpost_model::{
    TaskId, WorkerId,
    plan::{Schedule, StrandedBecause},
    reservation::Pattern,
    session::{Attempt, Outcome},
    task::Outline,
};
use jiff::SignedDuration;

pub use machine::Scheduler;

/// How a run is to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunConfig {
    /// How many tasks may run side by side.
    pub max_parallel: NonZeroUsize,
    /// Wave by wave, or each task as soon as it can.
    pub schedule: Schedule,
    /// How often a task is tried in all.
    pub max_attempts: NonZeroU32,
    /// How long one attempt may take.
    pub timeout: Option<SignedDuration>,
    /// Whether it stays for the answers to questions when nothing else is left; no longer than one
    /// attempt may take.
    pub wait_for_answers: bool,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            max_parallel: NonZeroUsize::MIN.saturating_add(4),
            schedule: Schedule::Waves,
            max_attempts: NonZeroU32::MIN.saturating_add(2),
            timeout: None,
            wait_for_answers: false,
        }
    }
}

/// What happened. One that does not fit, such as the end of a task that does not run, changes
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The run begins.
    Begin,
    /// The task's agent runs; its time counts from here.
    Launched {
        /// Which.
        task: TaskId,
    },
    /// The task's agent was not started.
    CouldNotLaunch {
        /// Which.
        task: TaskId,
        /// Why.
        because: NoLaunch,
    },
    /// The task's agent is gone, by itself or stopped.
    Ended {
        /// Which.
        task: TaskId,
        /// What came of it.
        outcome: Outcome,
        /// Whether another attempt may help; not where the agent said that it is stuck.
        retryable: bool,
    },
    /// The task cannot go on before another one is done: it gave its place back.
    PutBack {
        /// Which.
        task: TaskId,
        /// Behind which.
        behind: TaskId,
    },
    /// The task's agent asks a person, and is gone. It was no attempt.
    Asked {
        /// Which.
        task: TaskId,
    },
    /// A person goes on with the conversation of the task's agent, which is gone, and gives it back. It was no attempt.
    HandedOver {
        /// Which.
        task: TaskId,
    },
    /// The task was given back since its agent has no room for it now. It was no attempt.
    Held {
        /// Which.
        task: TaskId,
        /// Whether there will be room: `Opened` follows.
        opens: bool,
    },
    /// There is room again for what was held.
    Opened,
    /// The list changed. These are the tasks of the run, as [`Scheduler::new`] takes them.
    Listed(Vec<Outline>),
    /// What others hold now: all of it.
    Reserved(Vec<ReservedFiles>),
    /// Time has passed.
    Tick,
    /// The operator stopped this task: it is not tried again in this run.
    Dropped {
        /// Which.
        task: TaskId,
    },
    /// Nothing more is to be started; what runs is left to end.
    Enough,
    /// The operator wants to end: once, and running agents finish; twice, and they are stopped.
    Interrupt,
}

/// Files that somebody else works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReservedFiles {
    /// Which.
    pub path: Pattern,
    /// Who.
    pub holder: WorkerId,
    /// The task that it is for, whose way it is not in.
    pub task: Option<String>,
}

/// Why an agent was not started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoLaunch {
    /// The task is completed: somebody did it meanwhile.
    AlreadyCompleted,
    /// The task could not be had, or the agent not be started.
    Refused {
        /// In words for the operator.
        reason: String,
    },
    /// Its agent has no room for it now.
    Held {
        /// Whether there will be room: `Opened` follows.
        opens: bool,
    },
}

/// What the driver is to do, in the order given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// A wave begins. Only where waves are scheduled.
    WaveStarted {
        /// Which, from 1. Waves in which nothing is left to do are passed over.
        n: usize,
        /// How many were planned.
        of: usize,
    },
    /// A task could be started and is not, since somebody else works on its files. Told once of each
    /// task and holder.
    Waits {
        /// Which.
        task: TaskId,
        /// For what.
        on: ReservedFiles,
    },
    /// Claim the task and start an agent on it; answer with `Launched` or `CouldNotLaunch`.
    Launch {
        /// Which.
        task: TaskId,
        /// Beyond the first it is a retry; one that asked or was held comes again under its number.
        attempt: Attempt,
    },
    /// A task came into the run while it was under way.
    Added {
        /// Which.
        task: TaskId,
    },
    /// A question was answered: the task waits for its turn again.
    Answered {
        /// Which.
        task: TaskId,
    },
    /// Tasks could start, and wait for the wave to end. Told once.
    WaveHolds {
        /// Which wave.
        n: usize,
        /// How many.
        ready: usize,
    },
    /// Nothing goes on by itself: the run stays for answers, or for room.
    Stays {
        /// The tasks that wait for an answer.
        asking: Vec<TaskId>,
    },
    /// End the agent with its whole process group; `Ended` follows as ever.
    Stop {
        /// Whose.
        task: TaskId,
        /// Why.
        why: StopReason,
    },
    /// The task has come to its end in this run.
    Settled {
        /// Which.
        task: TaskId,
        /// To which.
        fate: TaskOutcome,
    },
    /// Merge what these tasks learned into the shared context, before anything else is launched.
    Merge {
        /// Tasks that ran: those of the wave, or the one that ended.
        tasks: Vec<TaskId>,
    },
    /// Every task of the wave that was launched is settled, and what they learned is merged.
    WaveEnded {
        /// Which.
        n: usize,
    },
    /// The run is over.
    Finished {
        /// Every task that was open at the beginning, by id.
        fates: Vec<(TaskId, TaskOutcome)>,
        /// Whether the operator ended it.
        interrupted: bool,
    },
}

/// Why an agent is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// Its time is up.
    Timeout,
    /// The operator does not want to wait for it.
    Interrupted,
    /// The operator stopped this one task.
    Dropped,
}

/// What became of a task in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskOutcome {
    /// It is done.
    Passed {
        /// After how many attempts; none, if somebody else did it.
        attempts: u32,
    },
    /// It is done in part, and will not be tried again.
    Partial {
        /// After how many attempts.
        attempts: u32,
    },
    /// It is not done, and will not be tried again.
    Failed {
        /// After how many attempts.
        attempts: u32,
    },
    /// It waits for a person's answer.
    Stuck {
        /// How many attempts were begun in this run; none, if it asked before.
        attempts: u32,
    },
    /// It waits until its agent's account is within its limits again.
    Parked {
        /// How many attempts were begun.
        attempts: u32,
    },
    /// It was never started, and could not be.
    Skipped {
        /// Why.
        why: Skip,
    },
    /// It would have been started, tried again or finished, had the run not been interrupted.
    Interrupted {
        /// How many attempts were begun; none, if it was not started.
        attempts: u32,
    },
}

impl TaskOutcome {
    /// Whether tasks that wait for it may start.
    pub fn is_passed(&self) -> bool {
        matches!(self, Self::Passed { .. })
    }
}

/// Why a task was never started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Skip {
    /// It could not have started in any run.
    #[error("{0}")]
    Stranded(StrandedBecause),
    /// It waits, perhaps through others, for a task that did not pass in this run.
    #[error("waits for task {task}, which did not pass")]
    After {
        /// The task that did not pass by itself.
        task: TaskId,
    },
    /// It waits, perhaps through others, for a task that is neither done nor given up: that waits for
    /// an answer, or for room.
    #[error("waits for task {task}, which is not done yet")]
    Behind {
        /// That task.
        task: TaskId,
    },
    /// It is not in the list any more, or not wanted.
    #[error("somebody cancelled or removed it")]
    Withdrawn,
    /// Its agent could not be started.
    #[error("{reason}")]
    NotLaunched {
        /// In words for the operator.
        reason: String,
    },
}
