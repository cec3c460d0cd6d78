//! The state machine of a task in a coordination directory.
//!
//! Owns which event may move a task from which state, and whose it must be. Invariants: nobody but
//! its holder begins or ends a task; a holder with a fresh sign of life loses it to no worker; what
//! is done stays done; only a leader takes a task back, drops it or tries it again.

use jiff::civil::DateTime;

use super::{CoordClaim, CoordResult, CoordStatus, CoordTask, just_after, rest, whole_micros};
use crate::id::{TaskId, Token, WorkerId};

/// Who acts, when, and with which token.
#[derive(Debug, Clone)]
pub struct CoordAct {
    /// Who.
    pub actor: WorkerId,
    /// The token of its claim, if the caller has it.
    pub token: Option<Token>,
    /// When.
    pub at: DateTime,
    /// Until when the task's holder has it, as far as anybody knows; `None` where nobody does.
    pub held_until: Option<DateTime>,
}

/// What is asked of a task. The last two are for the leader, the others for workers; those who block or
/// release work on the table as on a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CoordEvent {
    /// Take it.
    Claim {
        /// Tasks it waits for that are not done.
        open: Vec<TaskId>,
        /// What the worker would have to be able to do besides.
        missing: Vec<String>,
    },
    /// Begin.
    Start,
    /// Add parts to it.
    Split,
    /// Go on with it.
    Keep,
    /// It is done.
    Complete(CoordResult),
    /// It did not work.
    Fail(String),
    /// It cannot go on without help.
    Block(String),
    /// Give it back.
    Release,
    /// It is not wanted any more, perhaps with the reason.
    Cancel(Option<String>),
    /// Make it available again, with all its retries.
    Retry,
}

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CoordRefusal {
    /// Somebody else has it.
    #[error("{task} is held by {holder}{}", until.map(|it| format!(" until {it:.0}")).unwrap_or_default())]
    Held {
        /// The task.
        task: TaskId,
        /// Who.
        holder: String,
        /// Until when, without another sign of life; `None` where nobody knows of any.
        until: Option<DateTime>,
    },
    /// The caller has it already.
    #[error("you hold {task} already{}", token.map(|it| format!(" (token {it})")).unwrap_or_default())]
    AlreadyYours {
        /// The task.
        task: TaskId,
        /// The token of the claim.
        token: Option<Token>,
    },
    /// The token is of a claim that is over.
    #[error("token {given} for {task} is stale")]
    Stale {
        /// The task.
        task: TaskId,
        /// The token that was given.
        given: Token,
    },
    /// Nobody has it.
    #[error("{task} is not claimed")]
    NotClaimed {
        /// The task.
        task: TaskId,
    },
    /// There is no way from here.
    #[error("{task} is {status} and cannot be {wanted}")]
    WrongStatus {
        /// The task.
        task: TaskId,
        /// Where it is.
        status: CoordStatus,
        /// What was asked for, as a participle.
        wanted: &'static str,
    },
    /// Others come first.
    #[error("{task} waits for {}", list(open))]
    Waits {
        /// The task.
        task: TaskId,
        /// Those.
        open: Vec<TaskId>,
    },
    /// It failed a moment ago.
    #[error("{task} failed and rests until {until:.0}")]
    Rests {
        /// The task.
        task: TaskId,
        /// Until when.
        until: DateTime,
    },
    /// The worker cannot do it.
    #[error("{task} needs a worker that can {}", missing.join(", "))]
    Incapable {
        /// The task.
        task: TaskId,
        /// What the worker lacks.
        missing: Vec<String>,
    },
    /// Tasks would wait for each other.
    #[error("that would make a cycle: {}", path.iter().map(TaskId::as_str).collect::<Vec<_>>().join(" → "))]
    Cycle {
        /// The circle, first task repeated at the end; each waits for the next.
        path: Vec<TaskId>,
    },
    /// A task would wait for, or be part of, one that there is not.
    #[error("{task} names {missing}, and there is no such task")]
    Unknown {
        /// The task.
        task: TaskId,
        /// What it names.
        missing: TaskId,
    },
    /// The id belongs to another task.
    #[error("there is a task {task} already")]
    Taken {
        /// The id.
        task: TaskId,
    },
}

fn list(ids: &[TaskId]) -> String {
    let ids: Vec<_> = ids.iter().map(TaskId::as_str).collect();
    ids.join(", ")
}

/// The task after `event`, or why not.
pub fn transition(
    task: &CoordTask,
    act: &CoordAct,
    event: CoordEvent,
) -> Result<CoordTask, CoordRefusal> {
    let mut next = task.clone();
    match event {
        CoordEvent::Claim { open, missing } => {
            may_claim(task, act, open, missing)?;
            // Two claims of one task have different tokens, whatever the clock does.
            let earlier = task.claim.as_ref().and_then(|claim| claim.at);
            let at = whole_micros(act.at);
            next.status = CoordStatus::Claimed;
            next.claim = Some(CoordClaim {
                by: act.actor.to_string(),
                at: Some(earlier.map_or(at, |it| at.max(just_after(it)))),
            });
            next.next_retry_at = None;
        }
        CoordEvent::Start => {
            held(task, act, "started")?;
            next.status = CoordStatus::InProgress;
        }
        CoordEvent::Split => held(task, act, "divided")?,
        CoordEvent::Keep => held(task, act, "kept")?,
        CoordEvent::Complete(report) => {
            held(task, act, "completed")?;
            next.status = CoordStatus::Done;
            next.completed_at = Some(whole_micros(act.at));
            next.next_retry_at = None;
            next.result = report;
        }
        CoordEvent::Fail(error) => {
            held(task, act, "failed")?;
            next.result = CoordResult {
                error: Some(error),
                ..CoordResult::default()
            };
            if task.retry_count < task.max_retries {
                next.retry_count = task.retry_count.saturating_add(1);
                let until = act.at.saturating_add(rest(next.retry_count));
                next.next_retry_at = Some(whole_micros(until));
                next.status = CoordStatus::Available;
                next.claim = None;
            } else {
                next.status = CoordStatus::Failed;
            }
        }
        CoordEvent::Block(error) => {
            held(task, act, "blocked")?;
            next.status = CoordStatus::Blocked;
            next.result = CoordResult {
                error: Some(error),
                ..CoordResult::default()
            };
        }
        CoordEvent::Release => {
            held(task, act, "released")?;
            next.status = CoordStatus::Available;
            next.claim = None;
        }
        CoordEvent::Cancel(reason) => {
            if matches!(task.status, CoordStatus::Done | CoordStatus::Cancelled) {
                return Err(wrong(task, "cancelled"));
            }
            next.status = CoordStatus::Cancelled;
            next.next_retry_at = None;
            next.result.error = reason.or(next.result.error);
        }
        CoordEvent::Retry => {
            may_retry(task, act)?;
            next.status = CoordStatus::Available;
            next.claim = None;
            next.completed_at = None;
            next.retry_count = 0;
            next.next_retry_at = None;
        }
    }
    Ok(next)
}

fn may_claim(
    task: &CoordTask,
    act: &CoordAct,
    open: Vec<TaskId>,
    missing: Vec<String>,
) -> Result<(), CoordRefusal> {
    let id = || task.id.clone();
    match task.status {
        CoordStatus::Available => {}
        CoordStatus::Claimed | CoordStatus::InProgress => not_live(task, act)?,
        CoordStatus::Done | CoordStatus::Failed | CoordStatus::Cancelled | CoordStatus::Blocked => {
            return Err(wrong(task, "claimed"));
        }
    }
    if !open.is_empty() {
        return Err(CoordRefusal::Waits { task: id(), open });
    }
    if let Some(until) = task.next_retry_at.filter(|until| act.at < *until) {
        return Err(CoordRefusal::Rests { task: id(), until });
    }
    if !missing.is_empty() {
        let task = id();
        return Err(CoordRefusal::Incapable { task, missing });
    }
    Ok(())
}

/// Those that did not end well, those that somebody wrote off, those whose holder is gone or was
/// never heard of, and those that rest.
fn may_retry(task: &CoordTask, act: &CoordAct) -> Result<(), CoordRefusal> {
    match task.status {
        CoordStatus::Failed | CoordStatus::Cancelled | CoordStatus::Blocked => Ok(()),
        CoordStatus::Claimed | CoordStatus::InProgress if act.held_until.is_none() => Ok(()),
        CoordStatus::Claimed | CoordStatus::InProgress => not_live(task, act),
        CoordStatus::Available if task.next_retry_at.is_some() => Ok(()),
        CoordStatus::Available | CoordStatus::Done => Err(wrong(task, "retried")),
    }
}

/// Refuses a task whose holder may still be at work. One that nobody knows a sign of life of is not
/// taken for dead.
fn not_live(task: &CoordTask, act: &CoordAct) -> Result<(), CoordRefusal> {
    let gone = act.held_until.is_some_and(|until| until <= act.at);
    let Some(claim) = &task.claim else {
        // It says that it is held, and not by whom.
        return match gone {
            true => Ok(()),
            false => Err(held_by(task, act, "nobody known")),
        };
    };
    match (gone, claim.by == act.actor.as_str()) {
        (true, _) => Ok(()),
        (false, true) => Err(CoordRefusal::AlreadyYours {
            task: task.id.clone(),
            token: claim.token(),
        }),
        (false, false) => Err(held_by(task, act, &claim.by)),
    }
}

/// The caller's own claim. An expired one still counts until somebody else claims the task.
fn held(task: &CoordTask, act: &CoordAct, wanted: &'static str) -> Result<(), CoordRefusal> {
    if let Some(given) = act.token {
        let current = task.holder().and_then(CoordClaim::token);
        if current != Some(given) {
            let task = task.id.clone();
            return Err(CoordRefusal::Stale { task, given });
        }
    }
    match task.status {
        CoordStatus::Claimed | CoordStatus::InProgress => {}
        CoordStatus::Available => {
            let task = task.id.clone();
            return Err(CoordRefusal::NotClaimed { task });
        }
        CoordStatus::Done | CoordStatus::Failed | CoordStatus::Cancelled | CoordStatus::Blocked => {
            return Err(wrong(task, wanted));
        }
    }
    match &task.claim {
        Some(claim) if claim.by == act.actor.as_str() => Ok(()),
        Some(claim) => Err(held_by(task, act, &claim.by)),
        None => Err(held_by(task, act, "nobody known")),
    }
}

fn held_by(task: &CoordTask, act: &CoordAct, holder: &str) -> CoordRefusal {
    CoordRefusal::Held {
        task: task.id.clone(),
        holder: holder.to_owned(),
        until: act.held_until,
    }
}

fn wrong(task: &CoordTask, wanted: &'static str) -> CoordRefusal {
    CoordRefusal::WrongStatus {
        task: task.id.clone(),
        status: task.status,
        wanted,
    }
}
