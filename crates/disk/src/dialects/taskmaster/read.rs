//! tasks.json → tasks.
//!
//! Owns what an id means: a subtask's is its parent's, a dot and its own, and is written without
//! the parent among its sisters.

use std::collections::HashSet;

use flagpost_model::{
    TaskId,
    intake::{Draft, Drafts},
    task::{Priority, State, Task},
};
use serde_json::{Map, Value};

use crate::record::Record;

/// The list of tasks that there is without lists.
const MASTER: &str = "master";

/// Whether a JSON document is one of task-master's.
pub fn is_document(document: &Map<String, Value>) -> bool {
    let is_list = |value: &Value| {
        value.as_array().is_some_and(|tasks| {
            let mut tasks = tasks.iter().filter_map(Value::as_object);
            tasks.all(|it| it.contains_key("title") && !it.contains_key("subject"))
        })
    };
    match document.get("tasks") {
        Some(tasks) => is_list(tasks),
        None => {
            let tagged = |it: &Value| it.get("tasks").is_some_and(is_list);
            !document.is_empty() && document.values().all(tagged)
        }
    }
}

/// Reads a document of either form.
pub fn read(text: &str) -> Result<Drafts, String> {
    let document = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let Value::Object(mut document) = document else {
        return Err("it is no object with tasks".to_owned());
    };
    let mut drafts = Drafts::default();
    if let Some(tasks) = document.shift_remove("tasks") {
        list(&mut drafts, MASTER, tasks)?;
        return Ok(drafts);
    }
    for (tag, value) in document {
        let tasks = match value {
            Value::Object(mut list) => list.shift_remove("tasks"),
            _ => None,
        };
        let tasks = tasks.ok_or_else(|| format!("{tag}: it has no tasks"))?;
        list(&mut drafts, &tag, tasks)?;
    }
    Ok(drafts)
}

fn list(drafts: &mut Drafts, tag: &str, tasks: Value) -> Result<(), String> {
    let Value::Array(tasks) = tasks else {
        return Err(format!("{tag}: its tasks are no list"));
    };
    for (at, task) in tasks.into_iter().enumerate() {
        let place = format!("{tag}, task {}", at + 1);
        match Record::of(task) {
            Ok(task) => one(drafts, tag, None, &place, task),
            Err(reason) => drafts.take(&place, Err(reason)),
        }
    }
    Ok(())
}

/// What a subtask is part of.
struct Above<'a> {
    id: &'a str,
    /// The ids of its sisters, as they are written.
    sisters: &'a HashSet<String>,
}

/// Adds a task, then its subtasks.
fn one(drafts: &mut Drafts, tag: &str, above: Option<&Above<'_>>, place: &str, mut it: Record) {
    let id = match (it.name("id"), above) {
        (Some(id), None) => id,
        (Some(id), Some(above)) => format!("{}.{id}", above.id),
        (None, _) => {
            it.fault("id: a task needs one");
            String::new()
        }
    };
    let subtasks = it.records("subtasks");
    let sisters: HashSet<String> = subtasks
        .iter()
        .filter_map(|subtask| subtask.clone().name("id"))
        .collect();
    drafts.take(place, draft(tag, above, place, &id, it));
    for (at, subtask) in subtasks.into_iter().enumerate() {
        let place = format!("{place}, subtask {}", at + 1);
        let above = Above {
            id: &id,
            sisters: &sisters,
        };
        one(drafts, tag, Some(&above), &place, subtask);
    }
}

fn draft(
    tag: &str,
    above: Option<&Above<'_>>,
    place: &str,
    id: &str,
    mut it: Record,
) -> Result<Draft, String> {
    let subject = it.line("title").unwrap_or_else(|| {
        it.fault("title: a task needs one");
        String::new()
    });
    let mut task = Task::new(TaskId::from(1), subject);
    task.description = it.prose(&[
        ("description", ""),
        ("details", "Details"),
        ("testStrategy", "Test strategy"),
    ]);
    task.priority = it.word::<Priority>("priority");
    task.complexity = it.name("complexity");
    task.group = (tag != MASTER).then(|| tag.to_owned());
    let after = it.names("dependencies");
    let status = it.text("status");
    let word = status.as_deref().unwrap_or("pending").to_lowercase();
    task.state = state(&word, !after.is_empty());

    let mut rest = it.rest()?;
    rest.extend(status.map(|status| ("status".to_owned(), status.into())));
    rest.insert("tag".to_owned(), tag.into());
    task.metadata
        .insert("taskmaster".to_owned(), Value::Object(rest));
    let key = |id: &str| format!("{tag}:{id}");
    let meant = |name: &String| match above {
        Some(above) if above.sisters.contains(name) => key(&format!("{}.{name}", above.id)),
        _ => key(name),
    };
    Ok(Draft {
        key: key(id),
        after: after.iter().map(meant).collect(),
        parent: above.map(|above| key(above.id)),
        held: matches!(&*word, "in-progress" | "in_progress"),
        ..Draft::new(place, format!("taskmaster:{tag}:{id}"), task)
    })
}

/// What was put off, or done and waits for a look, must not be handed out.
fn state(word: &str, waits: bool) -> State {
    match word {
        "done" | "completed" => State::Completed,
        "cancelled" | "canceled" => State::Cancelled,
        "deferred" | "review" => State::Stuck,
        "blocked" if !waits => State::Stuck,
        _ => State::Pending,
    }
}
