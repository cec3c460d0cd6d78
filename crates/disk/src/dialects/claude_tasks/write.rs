//! Task → task file.
//!
//! Owns which key says what. Only keys whose meaning changed are set, so that a foreign value of
//! an odd type or order stays until somebody means to change it.

use std::collections::HashSet;

use flagpost_model::{
    TaskId,
    task::{Claim, DEFAULT_LEASE, ImportBaseline, Note, Provenance, StateName, Task, TaskResult},
};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{
    TaskFile,
    read::{is_field, text_of, texts},
};

/// The `status` that other readers see for a state of ours. A cancelled task is shown completed,
/// since anything else would invite a foreign agent to do it.
pub(super) fn status_of(state: StateName) -> &'static str {
    match state {
        StateName::Pending | StateName::Claimed | StateName::Failed | StateName::Stuck => "pending",
        StateName::InProgress => "in_progress",
        StateName::Completed | StateName::Cancelled => "completed",
    }
}

/// The file of `task`, keeping what `before` holds beyond it.
pub fn write(before: Option<&TaskFile>, task: &Task) -> Map<String, Value> {
    let old = before.map(|file| &file.task);
    let mut raw = before.map(|file| file.raw.clone()).unwrap_or_default();
    let changed = |same: fn(&Task, &Task) -> bool| old.is_none_or(|old| !same(old, task));

    if old.is_none() {
        raw.insert("id".into(), json!(task.id));
    }
    if changed(|a, b| a.subject == b.subject) {
        raw.insert("subject".into(), json!(task.subject));
    }
    if changed(|a, b| a.description == b.description) {
        raw.insert("description".into(), json!(task.description));
    }
    if changed(|a, b| a.active_form == b.active_form) {
        raw.insert("activeForm".into(), json!(task.active_form));
    }
    if changed(|a, b| a.state.name() == b.state.name()) {
        raw.insert("status".into(), json!(status_of(task.state.name())));
    }
    if changed(|a, b| a.owner == b.owner) {
        set(
            &mut raw,
            "owner",
            task.owner.as_ref().map(|owner| json!(owner)),
        );
    }
    if changed(|a, b| a.blocks == b.blocks) {
        let blocks = merged(raw.get("blocks"), &task.blocks);
        raw.insert("blocks".into(), blocks);
    }
    if changed(|a, b| a.blocked_by == b.blocked_by) {
        let blocked_by = merged(raw.get("blockedBy"), &task.blocked_by);
        raw.insert("blockedBy".into(), blocked_by);
    }

    let mut metadata = match raw.get("metadata") {
        Some(Value::Object(map)) => map.clone(),
        None | Some(Value::Null) => Map::new(),
        // Somebody's own value of another type: kept, since ours has to be an object.
        Some(other) => Map::from_iter([("was".to_owned(), other.clone())]),
    };
    let mut set_if = |same: fn(&Task, &Task) -> bool, key, value: Option<Value>| {
        if old.map_or(value.is_some(), |old| !same(old, task)) {
            set(&mut metadata, key, value);
        }
    };
    set_if(
        |a, b| a.priority == b.priority,
        "priority",
        task.priority.map(|it| json!(it)),
    );
    set_if(
        |a, b| a.complexity == b.complexity,
        "complexity",
        optional(&task.complexity),
    );
    set_if(
        |a, b| a.group == b.group,
        "task_group",
        optional(&task.group),
    );
    set_if(
        |a, b| a.project == b.project,
        "project",
        optional(&task.project),
    );
    let tags = (!task.tags.is_empty()).then(|| json!(task.tags));
    set_if(|a, b| a.tags == b.tags, "tags", tags);
    set_if(
        |a, b| a.due == b.due,
        "due_date",
        task.due.map(|due| json!(due.to_string())),
    );
    set_if(
        |a, b| a.parent == b.parent,
        "parent",
        task.parent.as_ref().map(|id| json!(id)),
    );
    set_if(|a, b| a.uid == b.uid, "task_uid", optional(&task.uid));
    set_if(
        |a, b| a.not_before == b.not_before,
        "not_before",
        task.not_before.map(|at| json!(at)),
    );
    set_if(
        |a, b| a.recurrence == b.recurrence,
        "recurrence",
        task.recurrence.map(|it| json!(it.every)),
    );
    set_if(
        |a, b| a.recurrence == b.recurrence,
        "recurrence_since",
        task.recurrence
            .and_then(|it| it.since)
            .map(|date| json!(date)),
    );
    set_if(
        |a, b| a.estimate == b.estimate,
        "estimate_minutes",
        task.estimate.map(|it| json!(it.minutes())),
    );
    set_notes(&mut metadata, old, task);
    set_foreign(&mut metadata, old, task);
    set_machine_state(&mut metadata, task);
    raw.insert("metadata".into(), Value::Object(metadata));
    raw
}

/// A file as it once was, as revision `rev`.
pub fn restore(mut raw: Map<String, Value>, rev: u64) -> Map<String, Value> {
    let metadata = raw.entry("metadata").or_insert_with(|| json!({}));
    if let Some(metadata) = metadata.as_object_mut() {
        let ours = metadata.entry("flagpost").or_insert_with(|| json!({}));
        if let Some(ours) = ours.as_object_mut() {
            ours.insert("rev".into(), json!(rev));
        }
    }
    raw
}

/// Notes are only added: what others wrote between ours keeps its place and its form.
fn set_notes(metadata: &mut Map<String, Value>, old: Option<&Task>, task: &Task) {
    let known = old.map_or(&[][..], |old| &old.notes);
    if known == task.notes {
        return;
    }
    let (mut items, added) = match (metadata.get("notes"), task.notes.strip_prefix(known)) {
        (Some(Value::Array(items)), Some(added)) => (items.clone(), added),
        (Some(single), Some(added)) => (vec![single.clone()], added),
        _ => (Vec::new(), &task.notes[..]),
    };
    items.extend(added.iter().map(note));
    let notes = (!items.is_empty()).then_some(Value::Array(items));
    set(metadata, "notes", notes);
}

/// A remark that lacks a name and a time is written as the bare text that it was.
fn note(note: &Note) -> Value {
    let mut map = signed(note.at, note.by.as_ref());
    match &note.question {
        None if map.is_empty() => return json!(note.text),
        None => {}
        Some(question) => {
            map.insert("kind".into(), json!(note.kind()));
            let mut asked = Map::from_iter([("n".to_owned(), json!(question.n))]);
            asked.extend(signed(question.at, question.by.as_ref()));
            asked.insert("text".into(), json!(question.text));
            map.insert("question".into(), Value::Object(asked));
        }
    }
    map.insert("text".into(), json!(note.text));
    Value::Object(map)
}

/// When something was said and by whom, as far as that is known.
fn signed(at: Option<Timestamp>, by: Option<&String>) -> Map<String, Value> {
    let mut map = Map::new();
    map.extend(at.map(|at| ("at".to_owned(), json!(at))));
    map.extend(by.map(|by| ("by".to_owned(), json!(by))));
    map
}

/// Metadata that is none of our fields.
fn set_foreign(metadata: &mut Map<String, Value>, old: Option<&Task>, task: &Task) {
    let empty = Map::new();
    let before = old.map_or(&empty, |old| &old.metadata);
    for key in before
        .keys()
        .filter(|key| !task.metadata.contains_key(*key))
    {
        metadata.shift_remove(key);
    }
    let changed =
        |(key, value): &(&String, &Value)| before.get(*key) != Some(value) && !is_field(key);
    for (key, value) in task.metadata.iter().filter(changed) {
        metadata.insert(key.clone(), value.clone());
    }
}

fn set_machine_state(metadata: &mut Map<String, Value>, task: &Task) {
    let mut ours = match metadata.get("flagpost") {
        Some(Value::Object(map)) => map.clone(),
        _ => Map::new(),
    };
    ours.insert("state".into(), json!(task.state.name()));
    ours.insert("rev".into(), json!(task.rev));
    ours.insert("attempts".into(), json!(task.attempts));
    ours.insert(
        "claim".into(),
        task.state.claim().map(claim).unwrap_or_default(),
    );
    ours.insert(
        "result".into(),
        task.result.as_ref().map(result).unwrap_or_default(),
    );
    let tracked = task.tracked.seconds();
    set(
        &mut ours,
        "tracked_seconds",
        (tracked > 0).then(|| json!(tracked)),
    );
    let timer = task.timer.as_ref();
    let timer = timer.map(|timer| json!({"by": timer.by, "since": timer.since}));
    set(&mut ours, "timer", timer);
    if let Some(Provenance { origin, by, at }) = &task.provenance {
        let added = json!({"origin": origin, "by": by, "at": at});
        ours.insert("added".into(), added);
    }
    if !task.said.is_empty() {
        ours.insert("said".into(), Value::Object(import_baseline(&task.said)));
    }
    if !task.late.is_empty() {
        ours.insert("late".into(), task.late.iter().map(result).collect());
    }
    metadata.insert("flagpost".into(), Value::Object(ours));
}

/// Marks by field, within the kind of their source; those without one as they were written.
fn import_baseline(said: &ImportBaseline) -> Map<String, Value> {
    let mut kinds = Map::new();
    for (kind, field, mark) in said.iter() {
        let marks = match kind {
            "" => Some(&mut kinds),
            kind => {
                let marks = kinds.entry(kind).or_insert_with(|| json!({}));
                marks.as_object_mut()
            }
        };
        if let Some(marks) = marks {
            marks.insert(field.to_owned(), json!(mark));
        }
    }
    kinds
}

fn claim(claim: &Claim) -> Value {
    let mut map = Map::new();
    map.insert("by".into(), json!(claim.by));
    map.insert("token".into(), json!(claim.token));
    map.insert("at".into(), json!(claim.at));
    map.insert("expires_at".into(), json!(claim.expires_at));
    if claim.lease != DEFAULT_LEASE {
        map.insert("lease_seconds".into(), json!(claim.lease.as_secs()));
    }
    if let Some(session) = &claim.session {
        map.insert("session".into(), json!(session));
    }
    Value::Object(map)
}

fn result(result: &TaskResult) -> Value {
    json!({"ending": result.ending, "text": result.text, "by": result.by, "at": result.at, "token": result.token})
}

/// The new ids in the place of the old, with the entries that are no ids kept.
fn merged(old: Option<&Value>, ids: &[TaskId]) -> Value {
    let known: HashSet<String> = texts(old).into_iter().collect();
    let wanted: HashSet<&TaskId> = ids.iter().collect();
    let mut items: Vec<Value> = match old {
        Some(Value::Array(items)) => items.clone(),
        _ => Vec::new(),
    };
    items.retain(
        |item| match text_of(item).and_then(|text| text.parse::<TaskId>().ok()) {
            Some(id) => wanted.contains(&id),
            None => true,
        },
    );
    let added = ids.iter().filter(|id| !known.contains(id.as_str()));
    items.extend(added.map(|id| json!(id)));
    Value::Array(items)
}

fn optional(text: &Option<String>) -> Option<Value> {
    text.as_ref().map(|text| json!(text))
}

fn set(map: &mut Map<String, Value>, key: &str, value: Option<Value>) {
    match value {
        Some(value) => {
            map.insert(key.into(), value);
        }
        None => {
            map.shift_remove(key);
        }
    }
}

/// JSON as every file of ours has it: two-space indent, trailing newline.
pub fn to_bytes(raw: Map<String, Value>) -> Vec<u8> {
    format!("{:#}\n", Value::Object(raw)).into_bytes()
}
