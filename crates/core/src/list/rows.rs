//! A row of a coordination directory's table as a task of a list.
//!
//! Owns the key `flagpost` of a row: what the table has no keys for, as a task's own file would say it.
//! What the table's keys mean for a task, and what may be made of it, is `model`'s.

use flagpost_disk::{
    TaskFile,
    dialects::{claude_tasks, coordination as layout},
    task_file,
};
use flagpost_model::{
    TaskId,
    coordination::{self, ViewContext, put_fields, see},
    task::{State, Task},
};
use serde_json::{Map, Value};

pub(crate) type Raw = Map<String, Value>;

/// Ours within a row.
const OURS: &str = "flagpost";

/// How deep the keys of a row are told apart.
const NESTED: &[&str] = &[OURS, "metadata", OURS];

/// What a task's file says that a row says itself, or that means nothing here.
const SAID_BY_THE_ROW: [&str; 7] = [
    "id",
    "subject",
    "description",
    "status",
    "owner",
    "blocks",
    "blockedBy",
];

/// The same of what the file says of the machinery.
const DERIVED: [&str; 3] = ["state", "rev", "claim"];

/// The session that handed the task out.
const SESSION: &str = "session";

/// The task that a row is; what waits for it is for the table to say.
pub(super) fn read(row: &coordination::CoordTask, raw: &Raw, seen: ViewContext<'_>) -> TaskFile {
    let mut task = kept(&row.id, raw).task;
    task.rev = 0;
    let session = ours(raw).and_then(|it| it.get(SESSION)?.as_str()?.parse().ok());
    see(row, seen, &mut task);
    if let State::Claimed(claim) | State::InProgress(Some(claim)) = &mut task.state {
        claim.session = session;
    }
    TaskFile::new(task, raw.clone(), NESTED)
}

/// The row of a task that is `after`, and was `before`; `row` is what the table's own keys said, and
/// are to say but for the fields.
pub(crate) fn write(
    before: Option<(&coordination::CoordTask, &TaskFile)>,
    mut row: coordination::CoordTask,
    after: &Task,
) -> Raw {
    let nothing = Task::new(after.id.clone(), "");
    let was = before.map_or(&nothing, |(_, file)| &file.task);
    let mut rest = after.clone();
    put_fields(&mut row, was, &mut rest);
    let mut raw = layout::write_row(before.map(|(row, file)| (row, file.raw())), &row);
    keep(&mut raw, was, rest);
    raw
}

/// A short name for what a row says.
pub(crate) fn fingerprint(raw: &Raw) -> String {
    task_file::fingerprint(raw, NESTED)
}

/// What `flagpost` says, as the file of a task.
fn kept(id: &TaskId, raw: &Raw) -> TaskFile {
    let mut file = match raw.get(OURS) {
        Some(Value::Object(ours)) => ours.clone(),
        _ => Map::new(),
    };
    take_out(&mut file, &SAID_BY_THE_ROW);
    file.insert("subject".to_owned(), "".into());
    let nothing = || {
        let subject = Map::from_iter([("subject".to_owned(), "".into())]);
        TaskFile::new(Task::new(id.clone(), ""), subject, NESTED)
    };
    // Somebody's own value of another type hides no task.
    claude_tasks::read(id, &claude_tasks::to_bytes(file)).unwrap_or_else(|_| nothing())
}

fn ours(raw: &Raw) -> Option<&Raw> {
    raw.get(OURS)?.get("metadata")?.get(OURS)?.as_object()
}

/// Puts what of `rest` the table has no keys for under `flagpost`, and takes that away where there is
/// nothing.
fn keep(raw: &mut Raw, was: &Task, rest: Task) {
    let old = kept(&rest.id, raw);
    let session = rest.state.claim().and_then(|claim| claim.session.clone());
    let not_before = match was.not_before == rest.not_before {
        true => old.task.not_before,
        false => rest.not_before,
    };
    let target = Task {
        subject: String::new(),
        description: String::new(),
        owner: None,
        blocks: Vec::new(),
        blocked_by: Vec::new(),
        tags: Vec::new(),
        uid: None,
        parent: None,
        state: State::Pending,
        not_before,
        ..rest
    };
    let mut file = claude_tasks::write(Some(&old), &target);
    take_out(&mut file, &SAID_BY_THE_ROW);
    let mut metadata = object(file.shift_remove("metadata"));
    let mut machinery = object(metadata.shift_remove(OURS));
    take_out(&mut machinery, &DERIVED);
    machinery.shift_remove(SESSION);
    machinery.extend(session.map(|it| (SESSION.to_owned(), it.as_str().into())));
    machinery.retain(|key, it| !(it.is_null() || key == "attempts" && *it == 0));
    put(&mut metadata, OURS, machinery);
    put(&mut file, "metadata", metadata);
    match file.is_empty() {
        true => drop(raw.shift_remove(OURS)),
        false => drop(raw.insert(OURS.to_owned(), file.into())),
    }
}

fn take_out(map: &mut Raw, keys: &[&str]) {
    for key in keys {
        map.shift_remove(*key);
    }
}

fn object(value: Option<Value>) -> Raw {
    match value {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

fn put(into: &mut Raw, key: &str, inner: Raw) {
    if !inner.is_empty() {
        into.insert(key.to_owned(), inner.into());
    }
}
