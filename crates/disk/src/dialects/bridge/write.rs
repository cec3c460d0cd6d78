//! Model → the bridge's JSON.
//!
//! Owns the shape of everything an agent reads: the seed's keys, and beside them what only Flagpost
//! knows of a task.

use flagpost_model::{
    TaskId,
    bridge::{Addressee, BridgeStatus, CommandOutcome, Reply, Urgency, words::ARCHIVED},
    tally::Stats,
    task::{Effort, State, Task},
};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::read::{KnownAnswer, LedgerEntry};

/// A task; `parts` are those that are part of it.
pub fn task(task: &Task, parts: &[TaskId], now: Timestamp) -> Value {
    let mut shown = summary(task, parts, now);
    let mut metadata = task.metadata.clone();
    metadata.shift_remove(ARCHIVED);
    for (key, value) in [
        ("description", json!(task.description)),
        ("notes", notes(task).collect()),
        ("metadata", json!(metadata)),
    ] {
        shown.insert(key.to_owned(), value);
    }
    shown.into()
}

/// A task among others: all but its texts and what others keep with it.
pub fn summary(task: &Task, parts: &[TaskId], now: Timestamp) -> Map<String, Value> {
    let completed = task
        .result
        .as_ref()
        .filter(|_| task.state == State::Completed);
    let uid = task.uid.as_ref();
    let origin = task.provenance.as_ref().map(|it| it.origin);
    let Value::Object(shown) = json!({
        "id": task.id,
        "title": task.subject,
        "status": BridgeStatus::of(task),
        "priority": Urgency::of(task.priority),
        "project": task.project,
        "tags": task.tags,
        "dueDate": task.due,
        "createdAt": task.provenance.as_ref().map(|it| it.at),
        "completedAt": completed.map(|it| it.at),
        "parentId": task.parent,
        "subtaskIds": parts,
        // The original has tasks that come again; none of ours does.
        "recurrence": null,
        "timeSpentSeconds": task.effort(now).seconds(),
        "timerStartedAt": task.timer.as_ref().map(|timer| timer.since),
        "state": task.state.name(),
        "owner": task.owner,
        "blockedBy": task.blocked_by,
        "blocks": task.blocks,
        "updatedAt": touched(task),
        "order": task.id.counted(),
        "estimateMinutes": task.estimate.map(Effort::minutes),
        "actualMinutes": task.effort(now).minutes(),
        "externalId": uid,
        "externalSource": origin.filter(|_| uid.is_some()),
    }) else {
        return Map::new();
    };
    shown
}

/// The remarks on a task; each is called by its task and its place.
pub fn notes(task: &Task) -> impl Iterator<Item = Value> {
    task.notes.iter().enumerate().map(|(at, note)| {
        json!({
            "id": format!("{}-{}", task.id, at + 1),
            "content": note.text,
            "by": note.by,
            "source": note.by,
            "createdAt": note.at,
        })
    })
}

/// The last time that a task tells of.
fn touched(task: &Task) -> Option<Timestamp> {
    let added = task.provenance.iter().map(|it| it.at);
    let noted = task.notes.iter().filter_map(|it| it.at);
    let claimed = task.state.claim().map(|claim| claim.at);
    let timed = task.timer.as_ref().map(|timer| timer.since);
    let ended = task.result.iter().map(|it| it.at);
    added
        .chain(noted)
        .chain(claimed)
        .chain(timed)
        .chain(ended)
        .max()
}

/// A list in numbers; `archived` of its completed tasks are out of sight.
pub fn stats(stats: &Stats, archived: usize) -> Value {
    let mut by_status: Map<String, Value> = Map::new();
    for status in BridgeStatus::ALL {
        let states = stats.states.iter();
        let here = states.filter(|(state, _)| BridgeStatus::of_state(**state) == *status);
        let count: usize = here.map(|(_, count)| *count).sum();
        let count = match status {
            BridgeStatus::Todo | BridgeStatus::InProgress => count,
            BridgeStatus::Done => count.saturating_sub(archived),
            BridgeStatus::Archived => count + archived,
        };
        by_status.insert(status.to_string(), count.into());
    }
    let mut by_priority: Map<String, Value> = Map::new();
    for urgency in Urgency::ALL {
        let all = stats.priorities.iter();
        let here = all.filter(|(priority, _)| Urgency::of(*priority) == *urgency);
        let count: usize = here.map(|(_, count)| count.all).sum();
        by_priority.insert(urgency.to_string(), count.into());
    }
    let here = |status: BridgeStatus| by_status.get(status.as_str()).cloned();
    json!({
        "total": stats.tasks.all,
        "todo": here(BridgeStatus::Todo),
        "inProgress": here(BridgeStatus::InProgress),
        "done": here(BridgeStatus::Done),
        "open": stats.tasks.open,
        "byStatus": by_status,
        "byPriority": by_priority,
        "ready": stats.ready,
        "overdue": stats.overdue,
        "completedLast7Days": stats.completed_lately,
        "runningTimers": stats.timers,
        "timeSpentSeconds": stats.work.tracked.seconds(),
    })
}

/// An answer as an agent reads it.
pub fn reply(reply: &Reply) -> Value {
    let mut keys = Map::new();
    let mut put = |key: &str, value: Value| drop(keys.insert(key.to_owned(), value));
    match &reply.to {
        Addressee::Command(id) => put("commandId", json!(id)),
        Addressee::Item(at) => {
            put("commandId", Value::Null);
            put("index", json!(at));
        }
        Addressee::Inbox => put("commandId", Value::Null),
    }
    match &reply.outcome {
        CommandOutcome::Done { data, total } => {
            put("status", json!("ok"));
            put("data", data.clone());
            if let Some(total) = total {
                put("total", json!(total));
            }
        }
        CommandOutcome::Refused(error) => {
            put("status", json!("error"));
            put("error", json!(error));
        }
    }
    put("timestamp", json!(reply.at));
    Value::Object(keys)
}

/// An entry as a line of the ledger.
pub fn entry(entry: &LedgerEntry) -> Vec<u8> {
    let mut line = Map::new();
    line.insert("batch".to_owned(), entry.batch.into());
    if let Some(item) = entry.item {
        line.insert("item".to_owned(), item.into());
    }
    if let Some(print) = &entry.print {
        line.insert("sha256".to_owned(), json!(print));
    }
    match &entry.answer {
        KnownAnswer::Reply(Value::Object(reply)) => line.extend(reply.clone()),
        KnownAnswer::Reply(_) | KnownAnswer::Shown => {
            line.insert("commandId".to_owned(), json!(entry.id));
        }
    }
    format!("{}\n", Value::Object(line)).into_bytes()
}

/// An inbox with these items.
pub fn inbox_bytes(items: Vec<Value>) -> Vec<u8> {
    format!("{:#}\n", Value::Array(items)).into_bytes()
}

/// An outbox with these answers.
pub fn outbox_bytes(replies: Vec<Value>) -> Vec<u8> {
    inbox_bytes(replies)
}

/// A command as it stands in an inbox: what was given, and what it lacks.
pub fn command(mut given: Map<String, Value>, lacks: [(&str, Value); 4]) -> Value {
    for (key, value) in lacks {
        if !given.contains_key(key) {
            given.insert(key.to_owned(), value);
        }
    }
    Value::Object(given)
}
