//! Model → files of a coordination directory.
//!
//! Owns the order of the keys, and that a rewrite touches only the rows and keys whose meaning
//! changed. What is absent is left out.

use std::collections::{BTreeMap, HashMap};

use flagpost_model::{
    TaskId,
    coordination::{CoordAgent, CoordTask},
};
use jiff::civil::DateTime;
use serde_json::{Map, Value, json};

use super::{AgentsFile, CoordRow, CoordTable, TasksFile, time::to_text};
use crate::record::{Keys, rewrite};

/// An empty table of tasks or agents.
pub fn new_table<T>() -> CoordTable<T> {
    CoordTable {
        raw: Map::new(),
        rows: Vec::new(),
        last_updated: None,
    }
}

/// The table with these tasks, keeping what `before` holds beyond them.
pub fn write_tasks(before: &TasksFile, tasks: &[CoordTask], now: DateTime) -> Vec<u8> {
    let rows = rows(before, tasks, |it| it.id.as_str(), write_task);
    to_bytes(with_rows(before, rows, now))
}

/// The table with these rows in the place of those of the same ids, and new ones at the end.
pub fn put_rows(
    before: &TasksFile,
    mut rows: BTreeMap<TaskId, Map<String, Value>>,
    now: DateTime,
) -> Vec<u8> {
    let mut put = |row: &CoordRow<CoordTask>| {
        let task = row.content.as_ref().ok();
        let new = task.and_then(|task| rows.remove(&task.id));
        new.map_or_else(|| row.raw.clone(), Value::Object)
    };
    let mut all: Vec<Value> = before.rows.iter().map(&mut put).collect();
    all.extend(rows.into_values().map(Value::Object));
    to_bytes(with_rows(before, all.into(), now))
}

/// The row of a task, keeping what it had beyond what it says.
pub fn write_row(
    before: Option<(&CoordTask, &Map<String, Value>)>,
    now: &CoordTask,
) -> Map<String, Value> {
    let mut raw = before.map(|(_, raw)| raw.clone()).unwrap_or_default();
    write_task(&mut raw, before.map(|(was, _)| was), now);
    raw
}

fn with_rows(before: &TasksFile, rows: Value, now: DateTime) -> Map<String, Value> {
    let mut raw = before.raw.clone();
    let now = json!(to_text(now));
    if !raw.contains_key("version") {
        raw.insert("version".to_owned(), json!("1.0"));
    }
    if !raw.contains_key("created_at") {
        raw.insert("created_at".to_owned(), now.clone());
    }
    raw.insert("last_updated".to_owned(), now);
    raw.insert("tasks".to_owned(), rows);
    raw
}

/// The table with these agents, keeping what `before` holds beyond them.
pub fn write_agents(before: &AgentsFile, agents: &[CoordAgent]) -> Vec<u8> {
    let mut raw = before.raw.clone();
    let rows = rows(
        before,
        agents,
        |it| it.id.as_str(),
        |row, was, now| {
            rewrite(
                row,
                was.map(agent_keys).unwrap_or_default(),
                agent_keys(now),
            );
        },
    );
    raw.insert("agents".to_owned(), rows);
    to_bytes(raw)
}

/// Each row as it was, changed where what it says has changed, and new ones at the end. Rows are
/// never taken out.
fn rows<'t, T: PartialEq>(
    before: &'t CoordTable<T>,
    now: &'t [T],
    id: fn(&T) -> &str,
    write: impl Fn(&mut Map<String, Value>, Option<&T>, &T),
) -> Value {
    let mut open: HashMap<&str, &T> = now.iter().map(|it| (id(it), it)).collect();
    let mut rows: Vec<Value> = Vec::with_capacity(before.rows.len());
    for row in &before.rows {
        let mut raw = row.raw.clone();
        if let (Ok(was), Value::Object(raw)) = (&row.content, &mut raw)
            && let Some(now) = open.remove(id(was))
            && was != now
        {
            write(raw, Some(was), now);
        }
        rows.push(raw);
    }
    for it in now.iter().filter(|it| open.contains_key(id(it))) {
        let mut raw = Map::new();
        write(&mut raw, None, it);
        rows.push(raw.into());
    }
    rows.into()
}

fn write_task(row: &mut Map<String, Value>, was: Option<&CoordTask>, now: &CoordTask) {
    let old = |key: &str| row.get(key).cloned();
    let merged = |key: &str, keys: fn(&CoordTask) -> Keys| {
        let (before, after) = (was.map(keys), keys(now));
        if before.as_ref() == Some(&after) {
            return old(key);
        }
        let mut inner = match old(key) {
            Some(Value::Object(inner)) => inner,
            _ => Map::new(),
        };
        rewrite(&mut inner, before.unwrap_or_default(), after);
        (!inner.is_empty()).then(|| Value::Object(inner))
    };
    let before = was.map(|it| task_keys(it, old("context"), old("result")));
    let (context, result) = (
        merged("context", context_keys),
        merged("result", report_keys),
    );
    rewrite(
        row,
        before.unwrap_or_default(),
        task_keys(now, context, result),
    );
    if row.get("dependencies").is_none_or(Value::is_null) {
        row.insert("dependencies".to_owned(), json!([]));
    }
}

fn task_keys(task: &CoordTask, context: Option<Value>, result: Option<Value>) -> Keys {
    let at = |it: Option<DateTime>| it.map(|it| json!(to_text(it)));
    let claim = task.claim.as_ref();
    let count = |it: u32| (it > 0).then(|| json!(it));
    vec![
        ("id", Some(json!(task.id))),
        ("description", Some(json!(task.description))),
        ("status", Some(json!(task.status))),
        ("priority", Some(json!(task.priority.get()))),
        ("claimed_by", claim.map(|it| json!(it.by))),
        ("dependencies", Some(json!(task.dependencies))),
        ("context", context),
        ("result", result),
        ("created_at", at(task.created_at)),
        ("claimed_at", at(claim.and_then(|it| it.at))),
        ("completed_at", at(task.completed_at)),
        ("tags", list(&task.tags)),
        ("parent_id", task.parent.as_ref().map(|it| json!(it))),
        ("required_capabilities", list(&task.required_capabilities)),
        ("estimated_duration", task.estimate.map(|it| json!(it))),
        ("max_retries", count(task.max_retries)),
        ("retry_count", count(task.retry_count)),
        ("next_retry_at", at(task.next_retry_at)),
    ]
}

fn context_keys(task: &CoordTask) -> Keys {
    let said = !task.files.is_empty() || task.hints.is_some();
    vec![
        ("files", said.then(|| json!(task.files))),
        (
            "hints",
            said.then(|| json!(task.hints.as_deref().unwrap_or_default())),
        ),
    ]
}

fn report_keys(task: &CoordTask) -> Keys {
    let report = &task.result;
    let done = report.output.is_some();
    vec![
        ("output", report.output.as_ref().map(|it| json!(it))),
        ("files_modified", done.then(|| json!(report.files_modified))),
        ("files_created", done.then(|| json!(report.files_created))),
        ("error", report.error.as_ref().map(|it| json!(it))),
    ]
}

fn agent_keys(agent: &CoordAgent) -> Keys {
    let at = |it: Option<DateTime>| it.map(|it| json!(to_text(it)));
    vec![
        ("id", Some(json!(agent.id))),
        ("capabilities", Some(json!(agent.capabilities.join(",")))),
        ("registered_at", at(agent.registered_at)),
        ("last_seen", at(agent.last_seen)),
    ]
}

fn list(items: &[String]) -> Option<Value> {
    (!items.is_empty()).then(|| json!(items))
}

/// JSON as every file of ours has it.
pub fn to_bytes(raw: Map<String, Value>) -> Vec<u8> {
    format!("{:#}\n", Value::Object(raw)).into_bytes()
}
