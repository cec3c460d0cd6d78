//! A table's task as a task of a list, while it stays where it is.
//!
//! Owns what each says of the other, and which moves of a list are which events of the table.
//! Invariant: neither rule is broken. A list's rule is asked first; what it lets through is carried
//! out by [`transition`](super::transition) or not at all, so the stricter of the two holds.

#[cfg(test)]
mod tests;

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use serde_json::{Map, Value, json};

use super::{
    Board, CoordEvent, CoordPriority, CoordRefusal, CoordResult, CoordStatus, CoordTask, LEASE,
    at_micros, micros, transition,
    translation::{LABEL, priority_of, split},
};
use crate::{
    id::{Token, WorkerId},
    task::{self, Claim, Effort, Ending, State, TaskResult},
};

/// What the table has keys for and a list's task keeps among its metadata.
const FILES: &str = "files";
const HINTS: &str = "hints";
const CAPABILITIES: &str = "required_capabilities";
const RETRIES: &str = "max_retries";

/// What else is known of a task that is looked at.
#[derive(Debug, Clone, Copy)]
pub struct ViewContext<'a> {
    /// Until when its holder has it; `None` where nobody can say that it is gone.
    pub held_until: Option<DateTime>,
    /// What its times mean.
    pub zone: &'a TimeZone,
}

impl ViewContext<'_> {
    fn moment(&self, at: DateTime) -> Option<Timestamp> {
        let zoned = at.to_zoned(self.zone.clone()).ok()?;
        Some(zoned.timestamp())
    }
}

/// Puts what the table says into `into`, which has what it has no keys for.
pub fn see(task: &CoordTask, seen: ViewContext<'_>, into: &mut task::Task) {
    let moment = |at: Option<DateTime>| seen.moment(at?);
    let (subject, description) = split(&task.description);
    into.subject = subject.to_owned();
    into.description = description.to_owned();
    into.owner = task.claim.as_ref().map(|it| it.by.clone());
    into.blocked_by.clone_from(&task.dependencies);
    let word = into.priority.filter(|it| number_of(*it) == task.priority);
    into.priority = word.or_else(|| priority_of(task.priority));
    let labels = task.tags.iter().filter(|it| !it.starts_with(LABEL));
    into.tags = labels.cloned().collect();
    into.uid = task.uid().map(str::to_owned);
    into.parent.clone_from(&task.parent);
    let estimate = task.estimate.map(|it| Effort::from_minutes(it.into()));
    into.estimate = estimate.or(into.estimate);
    into.not_before = into.not_before.max(moment(task.next_retry_at));
    into.metadata.extend(special(task));
    into.state = match task.status {
        CoordStatus::Available => State::Pending,
        CoordStatus::Claimed => match claim(task, seen) {
            Some(claim) => State::Claimed(claim),
            None => State::InProgress(None),
        },
        CoordStatus::InProgress => State::InProgress(claim(task, seen)),
        CoordStatus::Done => State::Completed,
        CoordStatus::Failed => State::Failed,
        CoordStatus::Cancelled => State::Cancelled,
        CoordStatus::Blocked => State::Stuck,
    };
    if task.status == CoordStatus::Available {
        into.owner = None;
    }
    into.result = result(task, into.result.take(), seen);
}

/// Who holds it. A holder whose name is nobody's id is nobody that we know.
fn claim(task: &CoordTask, seen: ViewContext<'_>) -> Option<Claim> {
    let held = task.holder()?;
    let at = held.at.and_then(|at| seen.moment(at));
    let until = seen.held_until.and_then(|at| seen.moment(at));
    Some(Claim {
        by: held.by.parse().ok()?,
        token: held.token().unwrap_or(Token(0)),
        at: at.unwrap_or(Timestamp::UNIX_EPOCH),
        expires_at: until.unwrap_or(Timestamp::MAX),
        lease: LEASE,
        session: None,
    })
}

/// What its last worker said. The table has no time for an end that is not a good one; what is kept
/// of it beside the table says when that was.
fn result(task: &CoordTask, kept: Option<TaskResult>, seen: ViewContext<'_>) -> Option<TaskResult> {
    let (ending, text) = match task.status {
        CoordStatus::Done => (Ending::Completed, &task.result.output),
        CoordStatus::Failed => (Ending::Failed, &task.result.error),
        CoordStatus::Blocked => (Ending::Stuck, &task.result.error),
        CoordStatus::Available
        | CoordStatus::Claimed
        | CoordStatus::InProgress
        | CoordStatus::Cancelled => {
            return None;
        }
    };
    let claim = task.claim.as_ref()?;
    let token = claim.token();
    let kept = kept.filter(|it| it.ending == ending && it.token == token);
    let at = match task.status {
        CoordStatus::Done => task.completed_at.or(claim.at),
        _ => claim.at,
    };
    Some(TaskResult {
        ending,
        text: text.clone().unwrap_or_default(),
        by: claim.by.parse().ok()?,
        at: kept.map(|it| it.at).or_else(|| seen.moment(at?))?,
        token,
    })
}

/// The keys of the table that a list's task keeps among its metadata.
fn special(task: &CoordTask) -> Map<String, Value> {
    let list = |it: &Vec<String>| (!it.is_empty()).then(|| json!(it));
    let keys = [
        (FILES, list(&task.files)),
        (HINTS, task.hints.as_ref().map(|it| json!(it))),
        (CAPABILITIES, list(&task.required_capabilities)),
        (
            RETRIES,
            (task.max_retries > 0).then(|| json!(task.max_retries)),
        ),
    ];
    let told = keys.into_iter();
    told.filter_map(|(key, it)| Some((key.to_owned(), it?)))
        .collect()
}

/// How urgent the table says that it is.
fn number_of(priority: task::Priority) -> CoordPriority {
    CoordPriority::nearest(match priority {
        task::Priority::Critical => 1,
        task::Priority::High => 3,
        task::Priority::Medium => 5,
        task::Priority::Low => 8,
    })
}

/// Puts the fields that differ between `before` and `after` into the table's task, and takes out of
/// `after` what is said there: the rest is for the caller to keep.
pub fn put_fields(into: &mut CoordTask, before: &task::Task, after: &mut task::Task) {
    if before.subject != after.subject || before.description != after.description {
        into.description = match after.description.is_empty() {
            true => after.subject.clone(),
            false => format!("{}\n\n{}", after.subject, after.description),
        };
    }
    if before.blocked_by != after.blocked_by {
        into.dependencies.clone_from(&after.blocked_by);
    }
    if before.priority != after.priority {
        into.priority = after.priority.map(number_of).unwrap_or_default();
    }
    if before.tags != after.tags || before.uid != after.uid {
        let label = after.uid.iter().map(|uid| format!("{LABEL}{uid}"));
        into.tags = after.tags.iter().cloned().chain(label).collect();
    }
    if before.parent != after.parent {
        into.parent.clone_from(&after.parent);
    }
    if before.estimate != after.estimate {
        let minutes = after.estimate.map(Effort::minutes);
        into.estimate = minutes.and_then(|it| it.try_into().ok());
    }
    if into.estimate.is_some() {
        after.estimate = None;
    }
    let special = special(into);
    let mut put = |key: &str| match after.metadata.shift_remove(key) {
        value if value.as_ref() == special.get(key) => {}
        None => set(into, key, &Value::Null),
        // What the table cannot say so is kept as it is.
        Some(value) => {
            if !fits(key, &value) {
                after.metadata.insert(key.to_owned(), value);
            } else {
                set(into, key, &value);
            }
        }
    };
    for key in [FILES, HINTS, CAPABILITIES, RETRIES] {
        put(key);
    }
    if priority_of(into.priority) == after.priority {
        after.priority = None;
    }
    // The table has the words, and the time of a good end.
    let result = after.result.take();
    after.result = match after.state {
        State::Failed | State::Stuck => result.map(|it| TaskResult {
            text: String::new(),
            ..it
        }),
        _ => None,
    };
}

fn texts(value: &Value) -> Option<Vec<String>> {
    let items = value.as_array()?.iter();
    items.map(|it| it.as_str().map(str::to_owned)).collect()
}

fn fits(key: &str, value: &Value) -> bool {
    match key {
        FILES | CAPABILITIES => texts(value).is_some(),
        HINTS => value.is_string(),
        _ => value.as_u64().is_some_and(|it| u32::try_from(it).is_ok()),
    }
}

fn set(into: &mut CoordTask, key: &str, value: &Value) {
    match key {
        FILES => into.files = texts(value).unwrap_or_default(),
        CAPABILITIES => into.required_capabilities = texts(value).unwrap_or_default(),
        HINTS => into.hints = value.as_str().map(str::to_owned),
        _ => {
            let number = value.as_u64().and_then(|it| u32::try_from(it).ok());
            into.max_retries = number.unwrap_or_default();
        }
    }
}

/// The status that a new task of a list has in the table.
pub fn status_of(state: &State) -> CoordStatus {
    match state {
        State::Pending => CoordStatus::Available,
        State::Claimed(_) => CoordStatus::Claimed,
        State::InProgress(_) => CoordStatus::InProgress,
        State::Completed => CoordStatus::Done,
        State::Failed => CoordStatus::Failed,
        State::Stuck => CoordStatus::Blocked,
        State::Cancelled => CoordStatus::Cancelled,
    }
}

/// In whose name a task is moved, and when.
#[derive(Debug, Clone, Copy)]
pub struct MoveContext<'a> {
    /// Who.
    pub actor: &'a WorkerId,
    /// When.
    pub at: DateTime,
}

/// The table's task after what a list's rule made `after` of `before`, or why the table's rule does
/// not have it.
pub fn course(
    board: &Board,
    task: &CoordTask,
    hand: MoveContext<'_>,
    (before, after): (&task::Task, &task::Task),
) -> Result<CoordTask, CoordRefusal> {
    let mut next = task.clone();
    for step in steps(&before.state, &after.state, hand.actor).ok_or_else(|| wrong(task))? {
        let event = match step {
            CoordStep::Claim => board.claim(&next, hand.actor),
            CoordStep::Start => CoordEvent::Start,
            CoordStep::Complete => CoordEvent::Complete(CoordResult {
                output: result_text(after),
                ..CoordResult::default()
            }),
            CoordStep::Fail => CoordEvent::Fail(result_text(after).unwrap_or_default()),
            CoordStep::Block => CoordEvent::Block(result_text(after).unwrap_or_default()),
            CoordStep::Release => CoordEvent::Release,
            CoordStep::Cancel => CoordEvent::Cancel(None),
            CoordStep::Retry => CoordEvent::Retry,
        };
        let act = board.act(&next, hand.actor, None, hand.at);
        next = transition(&next, &act, event)?;
        if let (CoordStep::Claim, Some(token)) = (step, after.state.claim().map(|it| it.token))
            && let Some(claim) = &mut next.claim
        {
            // As the list's rule was told: greater than any that it knows.
            let told = token.0.max(claim.at.map(micros).unwrap_or_default());
            claim.at = Some(at_micros(told));
        }
    }
    Ok(next)
}

fn result_text(task: &task::Task) -> Option<String> {
    let text = task.result.as_ref().map(|it| it.text.clone());
    text.filter(|it| !it.trim().is_empty())
}

fn wrong(task: &CoordTask) -> CoordRefusal {
    CoordRefusal::WrongStatus {
        task: task.id.clone(),
        status: task.status,
        wanted: "put back",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CoordStep {
    Claim,
    Start,
    Complete,
    Fail,
    Block,
    Release,
    Cancel,
    Retry,
}

/// The events that lead from one state of a list's task to another; `None` where none do.
fn steps(before: &State, after: &State, actor: &WorkerId) -> Option<Vec<CoordStep>> {
    let token = |state: &State| state.claim().map(|it| it.token);
    let anew = token(before) != token(after);
    Some(match (before, after) {
        (_, State::Claimed(_)) if anew => vec![CoordStep::Claim],
        (_, State::InProgress(Some(_))) if anew => vec![CoordStep::Claim, CoordStep::Start],
        (State::Claimed(_), State::InProgress(Some(_))) => vec![CoordStep::Start],
        (before, after) if before.name() == after.name() => Vec::new(),
        // Whoever did it without a claim had it all the same.
        (State::Pending, State::Completed) => vec![CoordStep::Claim, CoordStep::Complete],
        (State::Claimed(_) | State::InProgress(_), State::Completed) => vec![CoordStep::Complete],
        (State::Claimed(_) | State::InProgress(_), State::Failed) => vec![CoordStep::Fail],
        (State::Claimed(_) | State::InProgress(_), State::Stuck) => vec![CoordStep::Block],
        (_, State::Cancelled) => vec![CoordStep::Cancel],
        (State::Claimed(claim) | State::InProgress(Some(claim)), State::Pending)
            if claim.by == *actor =>
        {
            vec![CoordStep::Release]
        }
        (_, State::Pending) => vec![CoordStep::Retry],
        _ => return None,
    })
}
