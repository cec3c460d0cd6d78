//! Task file → task.
//!
//! Owns the normalisation that the seed asks of every reader, and the rule that `status` wins over
//! our own state where a foreign writer changed it.

use std::collections::HashSet;

use flagpost_model::{
    TaskId,
    task::{
        Approval, Claim, DEFAULT_LEASE, Effort, ImportBaseline, Landed, Landing, NotLanded, Note,
        NoteKind, Provenance, Question, State, StateName, Task, TaskResult, Timer,
    },
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::{NESTED, TaskFile, write::status_of};
use crate::{
    fields::{Fields, name},
    json,
    record::kind,
};

/// The keys of the metadata that are fields of a task, or ours besides.
const FIELDS: [&str; 12] = [
    "priority",
    "complexity",
    "task_group",
    "project",
    "tags",
    "due_date",
    "not_before",
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
    let head = Fields(&raw);
    let subject = head
        .text("subject")
        .ok_or("it has no subject that is a text")?;
    match raw.get("id").map(|id| name(id).unwrap_or_default()) {
        Some(written) if written != id.as_str() => {
            return Err(format!("its id is {written:?}, its name says {id}"));
        }
        _ => {}
    }
    let mut task = Task::new(id.clone(), subject);
    task.description = head.text("description").unwrap_or_default();
    task.active_form = head.text("activeForm").unwrap_or_default();
    task.owner = head.text("owner").filter(|owner| !owner.is_empty());
    task.blocks = ids(&head.texts("blocks"));
    task.blocked_by = ids(&head.texts("blockedBy"));
    let empty = Map::new();
    let fields = head.object("metadata").unwrap_or(Fields(&empty));
    task.priority = fields.parsed("priority");
    task.complexity = fields.text("complexity");
    task.group = fields.text("task_group");
    task.project = fields.text("project");
    task.tags = fields.texts("tags");
    task.due = fields.parsed("due_date");
    task.parent = fields.parsed("parent");
    task.uid = fields.parsed("task_uid");
    task.not_before = fields.parsed("not_before");
    task.estimate = fields.parsed("estimate_minutes").map(Effort::from_minutes);
    task.notes = notes(fields.value("notes"));
    let foreign = fields.0.iter().filter(|(key, _)| !is_field(key));
    task.metadata = foreign
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let ours = fields.object("flagpost").unwrap_or(Fields(&empty));
    task.rev = ours.number("rev");
    task.attempts = u32::try_from(ours.number("attempts")).unwrap_or(u32::MAX);
    task.result = ours.object("result").and_then(result);
    let late = ours.value("late").and_then(Value::as_array);
    let late = late.into_iter().flatten().filter_map(Value::as_object);
    task.late = late.filter_map(|it| result(Fields(it))).collect();
    let tracked = ours.parsed("tracked_seconds");
    task.tracked = tracked.map_or_else(Effort::default, Effort::from_seconds);
    task.timer = ours.object("timer").and_then(timer);
    task.provenance = ours.object("added").and_then(provenance);
    task.landing = landing(ours);
    task.said = import_baseline(ours.object("said"));
    let claim = ours.object("claim").and_then(claim);
    let status = head.text("status").unwrap_or_default();
    task.state = state(&status, ours.parsed("state"), claim);
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

fn claim(map: Fields<'_>) -> Option<Claim> {
    Some(Claim {
        by: map.parsed("by")?,
        token: map.parsed("token")?,
        at: map.parsed("at")?,
        expires_at: map.parsed("expires_at")?,
        lease: map
            .parsed("lease_seconds")
            .map_or(DEFAULT_LEASE, SignedDuration::from_secs),
        session: map.parsed("session"),
    })
}

fn result(map: Fields<'_>) -> Option<TaskResult> {
    Some(TaskResult {
        ending: map.parsed("ending")?,
        text: map.text("text").unwrap_or_default(),
        by: map.parsed("by")?,
        at: map.parsed::<Timestamp>("at")?,
        token: map.parsed("token"),
    })
}

fn timer(map: Fields<'_>) -> Option<Timer> {
    Some(Timer {
        by: map.parsed("by")?,
        since: map.parsed("since")?,
    })
}

fn provenance(map: Fields<'_>) -> Option<Provenance> {
    Some(Provenance {
        origin: map.parsed("origin")?,
        by: map.parsed("by")?,
        at: map.parsed("at")?,
    })
}

/// The landed work; where there is none, the refusal, else the approval, else when it passed without a commit.
fn landing(ours: Fields<'_>) -> Option<Landing> {
    let landed = ours.object("landed").and_then(|map| {
        Some(Landed {
            commit: map.text("commit")?,
            onto: map.text("onto")?,
            tip: map.text("tip")?,
            at: map.parsed("at")?,
        })
    });
    let refused = || {
        let map = ours.object("refused")?;
        Some(Landing::Refused(NotLanded {
            times: u32::try_from(map.number("times")).unwrap_or(u32::MAX),
            why: map.text("why").unwrap_or_default(),
            onto: map.text("onto").unwrap_or_default(),
            at: map.parsed("at")?,
            by: map.parsed("by"),
        }))
    };
    let approved = || {
        let map = ours.object("approved")?;
        Some(Landing::Approved(Approval {
            commit: map.text("commit")?,
            by: map.parsed("by")?,
            at: map.parsed("at")?,
        }))
    };
    let no_commit = || ours.parsed("no_commit").map(Landing::NoCommit);
    landed
        .map(Landing::Landed)
        .or_else(refused)
        .or_else(approved)
        .or_else(no_commit)
}

/// Marks by field, within the kind of their source; those without one are from before there were
/// kinds.
fn import_baseline(fields: Option<Fields<'_>>) -> ImportBaseline {
    let mut said = Vec::new();
    for (name, value) in fields.into_iter().flat_map(|it| it.0) {
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
        Value::Object(map) => {
            let map = Fields(map);
            Some(Note {
                by: map.text("by").filter(|by| !by.is_empty()),
                at: map.parsed("at"),
                text: map.text("text")?,
                question: question(map),
            })
        }
        bare => Some(Note {
            by: None,
            at: None,
            text: name(bare)?,
            question: None,
        }),
    }
}

/// The question of an answer. One without its number or words is none that could be told of, and the
/// note is read as a remark.
fn question(note: Fields<'_>) -> Option<Question> {
    let kind: NoteKind = note.parsed("kind")?;
    let map = note.object("question")?;
    let question = Question {
        n: map.parsed("n")?,
        by: map.text("by").filter(|by| !by.is_empty()),
        at: map.parsed("at"),
        text: map.text("text")?,
    };
    (kind == NoteKind::Answer).then_some(question)
}

fn ids(texts: &[String]) -> Vec<TaskId> {
    let mut seen = HashSet::new();
    let mut ids: Vec<TaskId> = texts.iter().filter_map(|text| text.parse().ok()).collect();
    ids.retain(|id| seen.insert(id.clone()));
    ids
}
