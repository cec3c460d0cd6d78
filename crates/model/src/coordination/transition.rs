//! The state machine of a task in a coordination directory.
//!
//! Owns which event may move a task from which state, and whose it must be. Invariants: nobody but
//! its holder begins or ends a task; a holder with a fresh sign of life loses it to no worker; what
//! is done stays done; only a leader takes a task back, drops it or tries it again.

use jiff::civil::DateTime;

use super::{Claim, Report, Status, Task, just_after, rest, whole_micros};
use crate::id::{TaskId, Token, WorkerId};

/// Who acts, when, and with which token.
#[derive(Debug, Clone)]
pub struct Act {
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
pub enum Event {
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
    /// It is done.
    Complete(Report),
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
pub enum Refusal {
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
        status: Status,
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
pub fn transition(task: &Task, act: &Act, event: Event) -> Result<Task, Refusal> {
    let mut next = task.clone();
    match event {
        Event::Claim { open, missing } => {
            may_claim(task, act, open, missing)?;
            // Two claims of one task have different tokens, whatever the clock does.
            let earlier = task.claim.as_ref().and_then(|claim| claim.at);
            let at = whole_micros(act.at);
            next.status = Status::Claimed;
            next.claim = Some(Claim {
                by: act.actor.to_string(),
                at: Some(earlier.map_or(at, |it| at.max(just_after(it)))),
            });
            next.next_retry_at = None;
        }
        Event::Start => {
            held(task, act, "started")?;
            next.status = Status::InProgress;
        }
        Event::Split => held(task, act, "divided")?,
        Event::Complete(report) => {
            held(task, act, "completed")?;
            next.status = Status::Done;
            next.completed_at = Some(whole_micros(act.at));
            next.next_retry_at = None;
            next.result = report;
        }
        Event::Fail(error) => {
            held(task, act, "failed")?;
            next.result = Report {
                error: Some(error),
                ..Report::default()
            };
            if task.retry_count < task.max_retries {
                next.retry_count = task.retry_count.saturating_add(1);
                let until = act.at.saturating_add(rest(next.retry_count));
                next.next_retry_at = Some(whole_micros(until));
                next.status = Status::Available;
                next.claim = None;
            } else {
                next.status = Status::Failed;
            }
        }
        Event::Block(error) => {
            held(task, act, "blocked")?;
            next.status = Status::Blocked;
            next.result = Report {
                error: Some(error),
                ..Report::default()
            };
        }
        Event::Release => {
            held(task, act, "released")?;
            next.status = Status::Available;
            next.claim = None;
        }
        Event::Cancel(reason) => {
            if matches!(task.status, Status::Done | Status::Cancelled) {
                return Err(wrong(task, "cancelled"));
            }
            next.status = Status::Cancelled;
            next.next_retry_at = None;
            next.result.error = reason.or(next.result.error);
        }
        Event::Retry => {
            may_retry(task, act)?;
            next.status = Status::Available;
            next.claim = None;
            next.completed_at = None;
            next.retry_count = 0;
            next.next_retry_at = None;
        }
    }
    Ok(next)
}

fn may_claim(
    task: &Task,
    act: &Act,
    open: Vec<TaskId>,
    missing: Vec<String>,
) -> Result<(), Refusal> {
    let id = || task.id.clone();
    match task.status {
        Status::Available => {}
        Status::Claimed | Status::InProgress => not_live(task, act)?,
        Status::Done | Status::Failed | Status::Cancelled | Status::Blocked => {
            return Err(wrong(task, "claimed"));
        }
    }
    if !open.is_empty() {
        return Err(Refusal::Waits { task: id(), open });
    }
    if let Some(until) = task.next_retry_at.filter(|until| act.at < *until) {
        return Err(Refusal::Rests { task: id(), until });
    }
    if !missing.is_empty() {
        let task = id();
        return Err(Refusal::Incapable { task, missing });
    }
    Ok(())
}

/// Those that did not end well, those that somebody wrote off, those whose holder is gone or was
/// never heard of, and those that rest.
fn may_retry(task: &Task, act: &Act) -> Result<(), Refusal> {
    match task.status {
        Status::Failed | Status::Cancelled | Status::Blocked => Ok(()),
        Status::Claimed | Status::InProgress if act.held_until.is_none() => Ok(()),
        Status::Claimed | Status::InProgress => not_live(task, act),
        Status::Available if task.next_retry_at.is_some() => Ok(()),
        Status::Available | Status::Done => Err(wrong(task, "retried")),
    }
}

/// Refuses a task whose holder may still be at work. One that nobody knows a sign of life of is not
/// taken for dead.
fn not_live(task: &Task, act: &Act) -> Result<(), Refusal> {
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
        (false, true) => Err(Refusal::AlreadyYours {
            task: task.id.clone(),
            token: claim.token(),
        }),
        (false, false) => Err(held_by(task, act, &claim.by)),
    }
}

/// The caller's own claim. An expired one still counts until somebody else claims the task.
fn held(task: &Task, act: &Act, wanted: &'static str) -> Result<(), Refusal> {
    if let Some(given) = act.token {
        let current = task.holder().and_then(Claim::token);
        if current != Some(given) {
            let task = task.id.clone();
            return Err(Refusal::Stale { task, given });
        }
    }
    match task.status {
        Status::Claimed | Status::InProgress => {}
        Status::Available => {
            let task = task.id.clone();
            return Err(Refusal::NotClaimed { task });
        }
        Status::Done | Status::Failed | Status::Cancelled | Status::Blocked => {
            return Err(wrong(task, wanted));
        }
    }
    match &task.claim {
        Some(claim) if claim.by == act.actor.as_str() => Ok(()),
        Some(claim) => Err(held_by(task, act, &claim.by)),
        None => Err(held_by(task, act, "nobody known")),
    }
}

fn held_by(task: &Task, act: &Act, holder: &str) -> Refusal {
    Refusal::Held {
        task: task.id.clone(),
        holder: holder.to_owned(),
        until: act.held_until,
    }
}

fn wrong(task: &Task, wanted: &'static str) -> Refusal {
    Refusal::WrongStatus {
        task: task.id.clone(),
        status: task.status,
        wanted,
    }
}
