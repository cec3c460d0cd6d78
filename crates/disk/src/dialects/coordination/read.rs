//! Files of a coordination directory → model.
//!
//! Owns what a row must have. An error says in a sentence why something is not what it should be.

use std::{collections::HashSet, str::FromStr};

use flagpost_model::{
    InvalidId, TaskId,
    coordination::{
        CoordAgent, CoordClaim, CoordPriority, CoordResult, CoordStatus, CoordTask, NewCoordTask,
    },
};
use jiff::{civil::DateTime, tz::TimeZone};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{AgentsFile, CoordRow, CoordTable, TasksFile, time};
use crate::{fields::Fields, json, record::Record, yaml};

/// Reads the table of tasks. `zone` is what its times mean.
pub fn read_tasks(bytes: &[u8], zone: &TimeZone) -> Result<TasksFile, String> {
    let mut seen = HashSet::new();
    table(bytes, "tasks", zone, |fields| {
        let task = task(fields, zone)?;
        match seen.insert(task.id.clone()) {
            true => Ok(task),
            false => Err(format!("the id {} is another task's", task.id)),
        }
    })
}

/// When the table was last changed; `None` where it does not say, or is none.
pub fn read_last_updated(bytes: &[u8], zone: &TimeZone) -> Option<DateTime> {
    /// The rest is not even kept.
    #[derive(Deserialize)]
    struct CoordHead {
        last_updated: Value,
    }
    let head: CoordHead = serde_json::from_slice(bytes).ok()?;
    time::read(Some(&head.last_updated), zone)
}

/// Reads the table of agents.
pub fn read_agents(bytes: &[u8], zone: &TimeZone) -> Result<AgentsFile, String> {
    let mut seen = HashSet::new();
    table(bytes, "agents", zone, |fields| {
        let agent = CoordAgent {
            id: id(fields, "id")?,
            capabilities: fields.names("capabilities")?,
            registered_at: time::read(fields.value("registered_at"), zone),
            last_seen: time::read(fields.value("last_seen"), zone),
        };
        match seen.insert(agent.id.clone()) {
            true => Ok(agent),
            false => Err(format!("the id {} is another agent's", agent.id)),
        }
    })
}

fn table<T>(
    bytes: &[u8],
    rows: &str,
    zone: &TimeZone,
    mut read: impl FnMut(Fields<'_>) -> Result<T, String>,
) -> Result<CoordTable<T>, String> {
    // Some editors begin a file with a byte order mark.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let raw = json::object(bytes)?;
    let Some(Value::Array(values)) = raw.get(rows) else {
        return Err(format!("it has no list of {rows}"));
    };
    let row = |raw: &Value| {
        let content = match raw {
            Value::Object(map) => read(Fields(map)),
            _ => Err("it is not a JSON object".to_owned()),
        };
        let raw = raw.clone();
        CoordRow { raw, content }
    };
    Ok(CoordTable {
        rows: values.iter().map(row).collect(),
        last_updated: time::read(raw.get("last_updated"), zone),
        raw,
    })
}

/// Reads one row of the table of tasks; the error says why it is no task.
pub fn read_row(raw: &Map<String, Value>, zone: &TimeZone) -> Result<CoordTask, String> {
    task(Fields(raw), zone)
}

fn task(fields: Fields<'_>, zone: &TimeZone) -> Result<CoordTask, String> {
    let at = |key| time::read(fields.value(key), zone);
    let count = |key| number(fields, key).and_then(|it| u32::try_from(it).ok());
    let description = fields.words("description");
    let status = fields.words("status").ok_or("it has no status")?;
    let status: CoordStatus = status
        .parse()
        .map_err(|error| format!("its status: {error}"))?;
    let dependencies = fields.names("dependencies")?.into_iter();
    let dependencies: Result<_, InvalidId> = dependencies.map(|it| it.parse()).collect();
    let context = fields.object("context");
    Ok(CoordTask {
        id: id(fields, "id")?,
        description: description.ok_or("it has no description")?,
        status,
        priority: number(fields, "priority")
            .map(CoordPriority::nearest)
            .unwrap_or_default(),
        claim: fields.name("claimed_by").map(|by| CoordClaim {
            by,
            at: at("claimed_at"),
        }),
        dependencies: dependencies.map_err(|error| format!("its dependencies: {error}"))?,
        files: context.map(|it| names(it, "files")).unwrap_or_default(),
        hints: context.and_then(|it| it.words("hints")),
        required_capabilities: fields.names("required_capabilities")?,
        tags: names(fields, "tags"),
        parent: fields.name("parent_id").and_then(|it| it.parse().ok()),
        result: fields.object("result").map(report).unwrap_or_default(),
        estimate: count("estimated_duration"),
        created_at: at("created_at"),
        completed_at: at("completed_at"),
        max_retries: count("max_retries").unwrap_or_default(),
        retry_count: count("retry_count").unwrap_or_default(),
        next_retry_at: at("next_retry_at"),
    })
}

fn report(fields: Fields<'_>) -> CoordResult {
    CoordResult {
        output: fields.words("output"),
        error: fields.words("error"),
        files_modified: names(fields, "files_modified"),
        files_created: names(fields, "files_created"),
    }
}

fn number(fields: Fields<'_>, key: &str) -> Option<i64> {
    fields.name(key)?.trim().parse().ok()
}

fn names(fields: Fields<'_>, key: &str) -> Vec<String> {
    fields.names(key).unwrap_or_default()
}

fn id<T: FromStr<Err = InvalidId>>(fields: Fields<'_>, key: &str) -> Result<T, String> {
    let name = fields.name(key).ok_or_else(|| format!("it has no {key}"))?;
    name.parse().map_err(|error: InvalidId| error.to_string())
}

/// Reads tasks that are to be added: a list of objects with the keys of the table, where only
/// `description` must be there, alone or under the key `tasks`, as JSON or YAML. What nobody
/// understands is refused, since nobody has stored it yet.
pub fn read_drafts(text: &str) -> Result<Vec<NewCoordTask>, String> {
    let values = match plain(text)? {
        Value::Array(values) => values,
        Value::Object(mut whole) => match whole.shift_remove("tasks") {
            Some(Value::Array(values)) => values,
            _ => return Err("no list of tasks: it has no list under the key tasks".to_owned()),
        },
        _ => return Err("no list of tasks".to_owned()),
    };
    let (mut drafts, mut faults) = (Vec::new(), Vec::new());
    for (at, value) in values.into_iter().enumerate() {
        match draft(value) {
            Ok(draft) => drafts.push(draft),
            Err(fault) => faults.push(format!("task {}: {fault}", at + 1)),
        }
    }
    match faults.is_empty() {
        true => Ok(drafts),
        false => Err(faults.join("; ")),
    }
}

/// JSON where the text begins as that does, else YAML.
fn plain(text: &str) -> Result<Value, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let read = match text.trim_start().starts_with(['[', '{']) {
        true => json::value(text.as_bytes()).map_err(|error| error.to_string()),
        false => yaml::read(text, 0),
    };
    read.map_err(|fault| format!("no list of tasks: {fault}"))
}

fn draft(value: Value) -> Result<NewCoordTask, String> {
    let mut record = Record::of(value)?;
    let task_id = "an id";
    let mut draft = NewCoordTask {
        id: record.parsed("id", task_id),
        description: record.text("description").unwrap_or_default(),
        priority: None,
        dependencies: Vec::new(),
        files: record.names("files"),
        hints: record.text("hints"),
        required_capabilities: record.names("required_capabilities"),
        tags: record.names("tags"),
        parent: record.parsed("parent_id", task_id),
        estimate: record.parsed("estimated_duration", "a whole number of minutes"),
        max_retries: record
            .parsed("max_retries", "a whole number")
            .unwrap_or_default(),
    };
    if let Some(number) = record.parsed::<i64>("priority", "a number from 1 to 10") {
        draft.priority = Some(CoordPriority::nearest(number));
        if i64::from(CoordPriority::nearest(number).get()) != number {
            record.fault(format!("priority: {number} is not a number from 1 to 10"));
        }
    }
    for name in record.names("dependencies") {
        match name.parse::<TaskId>() {
            Ok(id) => draft.dependencies.push(id),
            Err(error) => record.fault(format!("dependencies: {error}")),
        }
    }
    if let Some(Value::Object(context)) = record.value("context") {
        let mut context = Record::new(context);
        draft.files.extend(context.names("files"));
        draft.hints = context.text("hints").or(draft.hints);
        record.faults_of("context", &mut context);
        if let Some(key) = context.rest()?.keys().next() {
            record.fault(format!("context: nobody knows the key {key}"));
        }
    }
    if draft.description.trim().is_empty() {
        record.fault("it has no description");
    }
    match record.rest()?.keys().next() {
        Some(key) => Err(format!("nobody knows the key {key}")),
        None => Ok(draft),
    }
}
