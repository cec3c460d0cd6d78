//! Task → task file.
//!
//! Owns which key says what. Only keys whose meaning changed are set, so that a foreign value of
//! an odd type or order stays until somebody means to change it.

use std::collections::HashSet;

use flagpost_model::{
    TaskId,
    task::{
        Claim, DEFAULT_LEASE, ImportBaseline, Landing, Note, Provenance, Question, StateName, Task,
        TaskResult,
    },
};
use serde_json::{Map, Value, json};

use super::{TaskFile, read::is_field};
use crate::{
    fields::{name, texts},
    record::{Keys, object, put, rewrite, some},
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
    rewrite(&mut raw, old.map(head).unwrap_or_default(), head(task));
    // Several states have one status, which others may have spelled in a way of theirs.
    if old.is_some_and(|old| old.state.name() != task.state.name()) {
        raw.insert("status".into(), json!(status_of(task.state.name())));
    }
    for (key, ids, was) in [
        ("blocks", &task.blocks, old.map(|old| &old.blocks)),
        (
            "blockedBy",
            &task.blocked_by,
            old.map(|old| &old.blocked_by),
        ),
    ] {
        if was != Some(ids) {
            let ids = merged(raw.get(key), ids);
            raw.insert(key.to_owned(), ids);
        }
    }
    let mut metadata = match raw.get("metadata") {
        Some(Value::Object(map)) => map.clone(),
        None | Some(Value::Null) => Map::new(),
        // Somebody's own value of another type: kept, since ours has to be an object.
        Some(other) => Map::from_iter([("was".to_owned(), other.clone())]),
    };
    let was = old.map(fields).unwrap_or_default();
    rewrite(&mut metadata, was, fields(task));
    set_notes(&mut metadata, old, task);
    set_foreign(&mut metadata, old, task);
    set_machine_state(&mut metadata, task);
    raw.insert("metadata".into(), Value::Object(metadata));
    raw
}

/// The keys of the file itself; its lists of ids are merged with what is there.
fn head(task: &Task) -> Keys {
    vec![
        ("id", Some(json!(task.id))),
        ("subject", Some(json!(task.subject))),
        ("description", Some(json!(task.description))),
        ("activeForm", Some(json!(task.active_form))),
        ("status", Some(json!(status_of(task.state.name())))),
        ("owner", some(&task.owner)),
    ]
}

/// The keys of the metadata that are fields of a task, but for its notes.
fn fields(task: &Task) -> Keys {
    vec![
        ("priority", some(&task.priority)),
        ("complexity", some(&task.complexity)),
        ("task_group", some(&task.group)),
        ("project", some(&task.project)),
        ("tags", (!task.tags.is_empty()).then(|| json!(task.tags))),
        ("due_date", task.due.map(|due| json!(due.to_string()))),
        ("parent", some(&task.parent)),
        ("task_uid", some(&task.uid)),
        ("not_before", some(&task.not_before)),
        (
            "estimate_minutes",
            task.estimate.map(|it| json!(it.minutes())),
        ),
    ]
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
    put(metadata, vec![("notes", notes)]);
}

/// A remark that lacks a name and a time is written as the bare text that it was.
fn note(note: &Note) -> Value {
    if (note.at, &note.by, &note.question) == (None, &None, &None) {
        return json!(note.text);
    }
    let question = note.question.as_ref();
    object(vec![
        ("at", some(&note.at)),
        ("by", some(&note.by)),
        ("kind", question.map(|_| json!(note.kind()))),
        ("question", question.map(asked)),
        ("text", Some(json!(note.text))),
    ])
}

/// The question that a note answers.
fn asked(question: &Question) -> Value {
    object(vec![
        ("n", Some(json!(question.n))),
        ("at", some(&question.at)),
        ("by", some(&question.by)),
        ("text", Some(json!(question.text))),
    ])
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
    let tracked = task.tracked.seconds();
    let timer = task.timer.as_ref();
    put(
        &mut ours,
        vec![
            ("state", Some(json!(task.state.name()))),
            ("rev", Some(json!(task.rev))),
            ("attempts", Some(json!(task.attempts))),
            ("claim", Some(task.state.claim().map(claim).into())),
            ("result", Some(task.result.as_ref().map(result).into())),
            ("tracked_seconds", (tracked > 0).then(|| json!(tracked))),
            (
                "timer",
                timer.map(|it| json!({"by": it.by, "since": it.since})),
            ),
        ],
    );
    if let Some(Provenance { origin, by, at }) = &task.provenance {
        let added = json!({"origin": origin, "by": by, "at": at});
        ours.insert("added".into(), added);
    }
    if !task.said.is_empty() {
        ours.insert("said".into(), Value::Object(import_baseline(&task.said)));
    }
    let landing = task.landing.as_ref();
    put(
        &mut ours,
        vec![
            ("landed", some(&landing.and_then(Landing::landed))),
            ("refused", some(&landing.and_then(Landing::refused))),
            ("approved", some(&landing.and_then(Landing::approved))),
            ("no_commit", some(&landing.and_then(Landing::no_commit))),
        ],
    );
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
    let lease = (claim.lease != DEFAULT_LEASE).then(|| json!(claim.lease.as_secs()));
    object(vec![
        ("by", Some(json!(claim.by))),
        ("token", Some(json!(claim.token))),
        ("at", Some(json!(claim.at))),
        ("expires_at", Some(json!(claim.expires_at))),
        ("lease_seconds", lease),
        ("session", some(&claim.session)),
    ])
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
        |item| match name(item).and_then(|text| text.parse::<TaskId>().ok()) {
            Some(id) => wanted.contains(&id),
            None => true,
        },
    );
    let added = ids.iter().filter(|id| !known.contains(id.as_str()));
    items.extend(added.map(|id| json!(id)));
    Value::Array(items)
}

/// JSON as every file of ours has it: two-space indent, trailing newline.
pub fn to_bytes(raw: Map<String, Value>) -> Vec<u8> {
    format!("{:#}\n", Value::Object(raw)).into_bytes()
}
