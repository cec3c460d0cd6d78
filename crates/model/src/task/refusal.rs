//! Why a rule says no.
//!
//! Owns every refusal a rule can give, as data a caller can act on. The text of each is written
//! here and nowhere else.

use jiff::Timestamp;

use super::StateName;
use crate::id::{ListId, TaskId, Token, WorkerId};

/// A change that the rules of the model do not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Somebody else's claim is alive.
    #[error("task {task} is held by {holder} until {until:.0} (token {token})")]
    Held {
        /// The task.
        task: TaskId,
        /// Who holds it.
        holder: WorkerId,
        /// When the lease ends.
        until: Timestamp,
        /// The holder's token.
        token: Token,
    },
    /// The caller already holds a live claim.
    #[error("{holder} already holds task {task} until {until:.0} (token {token})")]
    AlreadyYours {
        /// The task.
        task: TaskId,
        /// The caller.
        holder: WorkerId,
        /// When the lease ends.
        until: Timestamp,
        /// The caller's token.
        token: Token,
    },
    /// The token names a claim that is over.
    #[error("{}", stale(task, *given, *current))]
    StaleToken {
        /// The task.
        task: TaskId,
        /// The token given.
        given: Token,
        /// The live token, if the task is claimed.
        current: Option<Token>,
    },
    /// The token is greater than every number there is: no claim ever got it.
    #[error("token {given} for task {task} is unknown: no claim ever got it")]
    UnknownToken {
        /// The task.
        task: TaskId,
        /// The token given.
        given: Token,
    },
    /// Nobody, or not the caller, holds the claim that the change needs.
    #[error("task {task} is not claimed")]
    NotClaimed {
        /// The task.
        task: TaskId,
    },
    /// The state has no such transition.
    #[error("task {task} is {state} and cannot be {wanted}")]
    WrongState {
        /// The task.
        task: TaskId,
        /// Where it is.
        state: StateName,
        /// What was asked for, as a participle: "claimed", "started".
        wanted: &'static str,
    },
    /// Its work is on the target branch, where no review changes it.
    #[error("task {task} cannot be {wanted}: its work is on {onto} since {commit:.12}")]
    HasLanded {
        /// The task.
        task: TaskId,
        /// The commit that brought it.
        commit: String,
        /// The target branch.
        onto: String,
        /// What was asked for, as a participle.
        wanted: &'static str,
    },
    /// Nobody is stuck over it.
    #[error("task {task} asks nothing: it is {state}")]
    AsksNothing {
        /// The task.
        task: TaskId,
        /// Where it is.
        state: StateName,
    },
    /// Its question was answered.
    #[error("question {n} of task {task} was answered{}", answered(by.as_deref(), *at))]
    Answered {
        /// The task.
        task: TaskId,
        /// The number of the question within the task.
        n: u32,
        /// Who answered, where that is known.
        by: Option<String>,
        /// When, where that is known.
        at: Option<Timestamp>,
    },
    /// Blockers are not completed.
    #[error("task {task} waits for {}", list(open))]
    Blocked {
        /// The task.
        task: TaskId,
        /// The blockers that are not completed.
        open: Vec<TaskId>,
    },
    /// Parts of the task are not done.
    #[error("task {task} has parts that are not done: {}", list(open))]
    OpenParts {
        /// The task.
        task: TaskId,
        /// Its subtasks that are neither completed nor cancelled.
        open: Vec<TaskId>,
    },
    /// A task would be part of itself.
    #[error("that would make a task a part of itself: {}", arrows(path))]
    PartOfItself {
        /// The circle, first task repeated at the end; each is part of the next.
        path: Vec<TaskId>,
    },
    /// A task would be part of one that does not exist.
    #[error("task {task} cannot be part of {missing}: there is no such task")]
    UnknownParent {
        /// The task.
        task: TaskId,
        /// The unknown id.
        missing: TaskId,
    },
    /// Dependencies or parts hold a task where it is.
    #[error("task {task} is tied to {}", list(others))]
    Tied {
        /// The task.
        task: TaskId,
        /// What it waits for, what waits for it, what it is part of, and its parts.
        others: Vec<TaskId>,
    },
    /// Another task has the uid.
    #[error("task {task} has the uid {uid:?} already")]
    UidTaken {
        /// The planner's name that was asked for.
        uid: String,
        /// Who has it.
        task: TaskId,
    },
    /// Somebody changed the task after the change that is to be taken back.
    #[error("task {task} has moved on: {how}")]
    BuiltOn {
        /// The task.
        task: TaskId,
        /// What happened since.
        how: String,
    },
    /// Undo works in one list, and the change was made of two.
    #[error(
        "the last change moved tasks from list {from} to {to}; there they are {}",
        list(tasks)
    )]
    Relocated {
        /// Their ids in the list that they went to.
        tasks: Vec<TaskId>,
        /// The list that they were in.
        from: ListId,
        /// The list that they went to.
        to: ListId,
    },
    /// A timer runs already.
    #[error("{by} measures task {task} since {since}")]
    TimerRuns {
        /// The task.
        task: TaskId,
        /// Who measures.
        by: WorkerId,
        /// Since when.
        since: Timestamp,
    },
    /// No timer runs.
    #[error("no timer runs on task {task}")]
    NoTimer {
        /// The task.
        task: TaskId,
    },
    /// A dependency would close a circle.
    #[error("that would make a cycle: {}", arrows(path))]
    Cycle {
        /// The circle, first task repeated at the end; each waits for the next.
        path: Vec<TaskId>,
    },
    /// A dependency names a task that does not exist.
    #[error("task {task} cannot wait for {missing}: there is no such task")]
    UnknownBlocker {
        /// The task.
        task: TaskId,
        /// The unknown id.
        missing: TaskId,
    },
}

impl Refusal {
    /// The refusal of somebody who knows the last number of the history: a token is a number of it.
    #[must_use]
    pub fn knowing(self, last: u64) -> Self {
        match self {
            Self::StaleToken { task, given, .. } if given.0 > last => {
                Self::UnknownToken { task, given }
            }
            other => other,
        }
    }
}

fn answered(by: Option<&str>, at: Option<Timestamp>) -> String {
    let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
    let at = at.map(|at| format!(" at {at:.0}")).unwrap_or_default();
    by + &at
}

fn stale(task: &TaskId, given: Token, current: Option<Token>) -> String {
    match current {
        Some(current) => {
            format!("token {given} for task {task} is stale: the current one is {current}")
        }
        None => format!("task {task} is not claimed, and token {given} is over"),
    }
}

fn list(ids: &[TaskId]) -> String {
    ids.iter()
        .map(TaskId::as_str)
        .collect::<Vec<_>>()
        .join(", ")
}

fn arrows(ids: &[TaskId]) -> String {
    ids.iter()
        .map(TaskId::as_str)
        .collect::<Vec<_>>()
        .join(" → ")
}
