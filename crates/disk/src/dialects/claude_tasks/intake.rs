//! Task file → what an import brings.
//!
//! Owns what is taken along from a list that another program keeps: everything but who holds what.
//! Keys of the file that no task has go under a key of the metadata.

use flagpost_model::{
    TaskId,
    intake::Draft,
    task::{State, Task},
};
use serde_json::{Map, Value};

use super::{TaskFile, read};

/// The keys at the top of a task file.
const KEYS: [&str; 9] = [
    "id",
    "subject",
    "description",
    "activeForm",
    "status",
    "owner",
    "blocks",
    "blockedBy",
    "metadata",
];

/// The task of the file `place` in a list called `list`.
pub fn draft(list: &str, place: &str, id: &TaskId, bytes: &[u8]) -> Result<Draft, String> {
    let TaskFile { mut task, raw, .. } = read(id, bytes)?;
    if task.subject.trim().is_empty() {
        return Err("subject: a task needs one".to_owned());
    }
    let held = matches!(task.state, State::Claimed(_) | State::InProgress(_));
    let foreign: Map<String, Value> = raw
        .into_iter()
        .filter(|(key, _)| !KEYS.contains(&key.as_str()))
        .collect();
    if !foreign.is_empty() {
        let key = "claude_tasks".to_owned();
        task.metadata.insert(key, Value::Object(foreign));
    }
    let uid = task.uid.clone();
    let ids = |ids: &[TaskId]| ids.iter().map(TaskId::to_string).collect();
    Ok(Draft {
        key: id.to_string(),
        after: ids(&task.blocked_by),
        parent: task.parent.as_ref().map(TaskId::to_string),
        held: held || task.timer.is_some(),
        ..Draft::new(
            place,
            uid.unwrap_or_else(|| format!("claude-tasks:{list}/{id}")),
            Task {
                owner: task.owner.filter(|_| !held),
                ..task
            },
        )
    })
}
