//! Task file → task.

use flagpost_model::{
    TaskId,
    intake::{Closing, Draft},
    task::{Priority, State, Task},
};
use jiff::{
    Timestamp,
    civil::{Date, DateTime},
    tz::TimeZone,
};
use serde_json::Value;

use super::front;
use crate::record::Record;

/// Where a task file lies, which says something of its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folder {
    /// What is to be done.
    Tasks,
    /// What was done long ago.
    Completed,
    /// What is not agreed on.
    Drafts,
}

/// The folders that are read, by their names.
pub const FOLDERS: [(&str, Folder); 3] = [
    ("tasks", Folder::Tasks),
    ("completed", Folder::Completed),
    ("drafts", Folder::Drafts),
];

/// Whether a file of this name is a task.
pub fn is_task_name(name: &str) -> bool {
    name.ends_with(".md") && !name.starts_with('.') && !name.eq_ignore_ascii_case("readme.md")
}

/// The task of one file.
pub fn read(place: &str, folder: Folder, text: &str) -> Result<Draft, String> {
    let text = text.replace("\r\n", "\n");
    let (front, body) = front::split(&text)?;
    let mut it = Record::new(front);
    let id = it.name("id").unwrap_or_else(|| {
        it.fault("id: a task needs one");
        String::new()
    });
    // They are found whatever their case.
    let key = id.to_lowercase();
    let subject = it.line("title").unwrap_or_else(|| {
        it.fault("title: a task needs one");
        String::new()
    });
    let mut task = Task::new(TaskId::from(1), subject);
    task.description = description(body);
    task.priority = it.word::<Priority>("priority");
    task.tags = it.names("labels");
    task.group = it.name("milestone");
    let assignees = it.names("assignee");
    let created = day(&mut it, "created_date");
    let updated = it.value("updated_date");
    let completed = day(&mut it, "completed_date");
    let after = it.names("dependencies");
    let parent = it.name("parent_task_id").or_else(|| it.name("parent"));
    // The other side of what its parts say.
    it.value("subtasks");
    let status = it.text("status");
    let word = status.as_deref().unwrap_or_default().to_lowercase();
    task.state = match (folder, &*word) {
        (Folder::Completed, _) | (_, "done" | "completed" | "complete" | "closed") => {
            State::Completed
        }
        (Folder::Drafts, _) => State::Stuck,
        (Folder::Tasks, "blocked") if after.is_empty() => State::Stuck,
        (Folder::Tasks, _) => State::Pending,
    };

    let mut rest = it.rest()?;
    let mut keep = |key: &str, value: Option<Value>| {
        rest.extend(value.map(|value| (key.to_owned(), value)));
    };
    keep("status", status.map(Value::from));
    keep("updated_date", updated);
    if folder == Folder::Drafts {
        keep("folder", Some("drafts".into()));
    }
    if !assignees.is_empty() {
        keep("assignee", Some(assignees.clone().into()));
    }
    let mut draft = Draft::new(place, format!("backlog:{key}"), task);
    if draft.incoming.task.state == State::Completed {
        let owner = assignees.into_iter().next();
        let name = owner.as_deref().map(|name| name.trim_start_matches('@'));
        draft.incoming.closing = Some(Closing {
            text: String::new(),
            by: name.and_then(|name| name.parse().ok()),
            at: completed,
        });
        draft.incoming.task.owner = owner;
    }
    let metadata = &mut draft.incoming.task.metadata;
    metadata.insert("backlog".to_owned(), Value::Object(rest));
    draft.incoming.created = created;
    draft.held = folder == Folder::Tasks && word == "in progress";
    draft.after = after.iter().map(|id| id.to_lowercase()).collect();
    draft.parent = parent.map(|id| id.to_lowercase());
    draft.key = key;
    Ok(draft)
}

/// `2025-06-03` or `2025-06-03 14:05`, in UTC.
fn day(it: &mut Record, key: &str) -> Option<Timestamp> {
    let text = it.name(key)?;
    let text = text.trim();
    let time: Option<DateTime> = match text.parse::<Date>() {
        Ok(date) if text.len() <= 10 => Some(date.at(0, 0, 0, 0)),
        _ => text.parse().ok(),
    };
    let at = time.and_then(|time| time.to_zoned(TimeZone::UTC).ok());
    if at.is_none() {
        it.fault(format!(
            "{key}: {text:?} is not a date that exists, as in 2026-12-01 14:05"
        ));
    }
    at.map(|at| at.timestamp())
}

/// The body without the marks that their tool finds its sections by, and without the heading over
/// the first of them.
fn description(body: &str) -> String {
    let is_mark = |line: &&str| {
        let inner = line.trim().strip_prefix("<!--");
        let inner = inner.and_then(|rest| rest.strip_suffix("-->"));
        inner.is_some_and(|it| it.trim().ends_with(":BEGIN") || it.trim().ends_with(":END"))
    };
    let lines: Vec<&str> = body.lines().filter(|line| !is_mark(line)).collect();
    let text = lines.join("\n");
    let text = text.trim();
    text.strip_prefix("## Description\n")
        .unwrap_or(text)
        .trim()
        .to_owned()
}
