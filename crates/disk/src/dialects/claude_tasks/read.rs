//! Task file → task.
//!
//! Owns the normalisation that the seed asks of every reader, and the rule that `status` wins over
//! our own state where a foreign writer changed it.

use std::{collections::HashSet, str::FromStr};

use flagpost_model::{
    TaskId,
    task::{
        Claim, DEFAULT_LEASE, Effort, ImportBaseline, Note, NoteKind, Provenance, Question,
        Recurrence, State, StateName, Task, TaskResult, Timer,
    },
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::{NESTED, TaskFile, write::status_of};
use crate::{json, record::kind};

/// The keys of the metadata that are fields of a task, or ours besides.
const FIELDS: [&str; 14] = [
    "priority",
    "complexity",
    "task_group",
    "project",
    "tags",
    "due_date",
    "not_before",
    "recurrence",
    "recurrence_since",
    "parent",
    "task_uid",
    "estimate_minutes",
    "notes",
    "flagpost",
];

/// Whether a key of the metadata is a field of a task, which has a name and a type of its own.
pub fn is_field(key: &str) -> bool {
    FIELDS.contains(&key)
}

/// So many levels deep a file may be nested. JSON is read up to 128 of them, and a line of the
/// history holds a file a few levels below its own top.
const LEVELS: usize = 100;

/// Whether the file can be read again, and what the history tells of it too.
pub fn is_too_deep(raw: &Map<String, Value>) -> bool {
    fn is_deeper(value: &Value, levels: usize) -> bool {
        match value {
            Value::Object(_) | Value::Array(_) if levels == 0 => true,
            Value::Object(map) => map.values().any(|it| is_deeper(it, levels - 1)),
            Value::Array(items) => items.iter().any(|it| is_deeper(it, levels - 1)),
            _ => false,
        }
    }
    raw.values().any(|value| is_deeper(value, LEVELS - 1))
}

/// Reads the file of task `id`; the error says why it is not a task.
pub fn read(id: &TaskId, bytes: &[u8]) -> Result<TaskFile, String> {
    // Some editors begin a file with a byte order mark.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let value = json::value(bytes).map_err(|error| error.to_string())?;
    let Value::Object(raw) = value else {
        return Err(format!("a task is a JSON object, not {}", kind(&value)));
    };
    if is_too_deep(&raw) {
        return Err(format!("it is nested more than {LEVELS} levels deep"));
    }
    let Some(subject) = raw.get("subject").and_then(Value::as_str) else {
        return Err("it has no subject that is a text".to_owned());
    };
    match raw.get("id").map(|id| text_of(id).unwrap_or_default()) {
        Some(written) if written != id.as_str() => {
            return Err(format!("its id is {written:?}, its name says {id}"));
        }
        _ => {}
    }
    let mut task = Task::new(id.clone(), subject);
    task.description = text(&raw, "description").unwrap_or_default();
    task.active_form = text(&raw, "activeForm").unwrap_or_default();
    task.owner = text(&raw, "owner").filter(|owner| !owner.is_empty());
    task.blocks = ids(raw.get("blocks"));
    task.blocked_by = ids(raw.get("blockedBy"));
    let empty = Map::new();
    let metadata = raw
        .get("metadata")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    task.priority = parsed(metadata, "priority");
    task.complexity = text(metadata, "complexity");
    task.group = text(metadata, "task_group");
    task.project = text(metadata, "project");
    task.tags = texts(metadata.get("tags"));
    task.due = parsed(metadata, "due_date");
    task.parent = metadata
        .get("parent")
        .and_then(text_of)
        .and_then(|id| id.parse().ok());
    task.uid = metadata.get("task_uid").and_then(text_of);
    task.not_before = parsed(metadata, "not_before");
    task.recurrence = parsed(metadata, "recurrence").map(|every| Recurrence {
        every,
        since: parsed(metadata, "recurrence_since"),
    });
    task.estimate = parsed(metadata, "estimate_minutes").map(Effort::from_minutes);
    task.notes = notes(metadata.get("notes"));
    let foreign = metadata.iter().filter(|(key, _)| !is_field(key));
    task.metadata = foreign
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let ours = metadata
        .get("flagpost")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    task.rev = ours.get("rev").and_then(Value::as_u64).unwrap_or_default();
    let attempts = ours
        .get("attempts")
        .and_then(Value::as_u64)
        .unwrap_or_default();
    task.attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
    task.result = ours.get("result").and_then(result);
    task.late = ours
        .get("late")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(result)
        .collect();
    task.tracked =
        parsed(ours, "tracked_seconds").map_or_else(Effort::default, Effort::from_seconds);
    task.timer = ours.get("timer").and_then(timer);
    task.provenance = ours.get("added").and_then(provenance);
    task.said = import_baseline(ours.get("said"));
    let status = text(&raw, "status").unwrap_or_default();
    task.state = state(
        &status,
        parsed(ours, "state"),
        ours.get("claim").and_then(claim),
    );
    Ok(TaskFile::new(task, raw, NESTED))
}

/// Our state where it agrees with the status; else what the status says.
fn state(status: &str, ours: Option<StateName>, claim: Option<Claim>) -> State {
    let status = match status {
        // Claude Code says so of a task that it is about to remove.
        "deleted" => return State::Cancelled,
        "in_progress" | "completed" => status,
        _ => "pending",
    };
    let name = ours.filter(|name| status_of(*name) == status);
    match (name, status, claim) {
        (Some(StateName::Claimed), _, Some(claim)) => State::Claimed(claim),
        (Some(StateName::Failed), ..) => State::Failed,
        (Some(StateName::Stuck), ..) => State::Stuck,
        (Some(StateName::Cancelled), ..) => State::Cancelled,
        // Whoever claimed through us may have set the status by hand.
        (_, "in_progress", claim) => State::InProgress(claim),
        (_, "completed", _) => State::Completed,
        _ => State::Pending,
    }
}

fn claim(value: &Value) -> Option<Claim> {
    let map = value.as_object()?;
    Some(Claim {
        by: parsed(map, "by")?,
        token: parsed(map, "token")?,
        at: parsed(map, "at")?,
        expires_at: parsed(map, "expires_at")?,
        lease: parsed(map, "lease_seconds").map_or(DEFAULT_LEASE, SignedDuration::from_secs),
        session: parsed(map, "session"),
    })
}

fn result(value: &Value) -> Option<TaskResult> {
    let map = value.as_object()?;
    Some(TaskResult {
        ending: parsed(map, "ending")?,
        text: text(map, "text").unwrap_or_default(),
        by: parsed(map, "by")?,
        at: parsed::<Timestamp>(map, "at")?,
        token: parsed(map, "token"),
    })
}

fn timer(value: &Value) -> Option<Timer> {
    let map = value.as_object()?;
    Some(Timer {
        by: parsed(map, "by")?,
        since: parsed(map, "since")?,
    })
}

fn provenance(value: &Value) -> Option<Provenance> {
    let map = value.as_object()?;
    Some(Provenance {
        origin: parsed(map, "origin")?,
        by: parsed(map, "by")?,
        at: parsed(map, "at")?,
    })
}

/// Marks by field, within the kind of their source; those without one are from before there were
/// kinds.
fn import_baseline(value: Option<&Value>) -> ImportBaseline {
    let mut said = Vec::new();
    for (name, value) in value.and_then(Value::as_object).into_iter().flatten() {
        match value {
            Value::String(mark) => said.push((String::new(), name.clone(), mark.clone())),
            Value::Object(marks) => said.extend(marks.iter().filter_map(|(field, mark)| {
                Some((name.clone(), field.clone(), mark.as_str()?.to_owned()))
            })),
            _ => {}
        }
    }
    said.into_iter().collect()
}

/// Notes as we write them, and bare texts as others do.
fn notes(value: Option<&Value>) -> Vec<Note> {
    let items = match value {
        Some(Value::Array(items)) => items.as_slice(),
        Some(single) => std::slice::from_ref(single),
        None => &[],
    };
    items.iter().filter_map(note).collect()
}

fn note(value: &Value) -> Option<Note> {
    match value {
        Value::Object(map) => Some(Note {
            by: text(map, "by").filter(|by| !by.is_empty()),
            at: parsed(map, "at"),
            text: text(map, "text")?,
            question: question(map),
        }),
        bare => Some(Note {
            by: None,
            at: None,
            text: text_of(bare)?,
            question: None,
        }),
    }
}

/// The question of an answer. One without its number or words is none that could be told of, and the
/// note is read as a remark.
fn question(note: &Map<String, Value>) -> Option<Question> {
    let kind: NoteKind = parsed(note, "kind")?;
    let map = note.get("question")?.as_object()?;
    let question = Question {
        n: parsed(map, "n")?,
        by: text(map, "by").filter(|by| !by.is_empty()),
        at: parsed(map, "at"),
        text: text(map, "text")?,
    };
    (kind == NoteKind::Answer).then_some(question)
}

fn parsed<T: FromStr>(map: &Map<String, Value>, key: &str) -> Option<T> {
    map.get(key).and_then(text_of)?.parse().ok()
}

fn text(map: &Map<String, Value>, key: &str) -> Option<String> {
    map.get(key)?.as_str().map(str::to_owned)
}

/// A string or a number, as text.
pub(super) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A list of texts; a single one counts as a list of one.
pub(super) fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(text_of).collect(),
        Some(single) => text_of(single).into_iter().collect(),
        None => Vec::new(),
    }
}

fn ids(value: Option<&Value>) -> Vec<TaskId> {
    let mut seen = HashSet::new();
    let mut ids: Vec<TaskId> = texts(value)
        .iter()
        .filter_map(|text| text.parse().ok())
        .collect();
    ids.retain(|id| seen.insert(id.clone()));
    ids
}
