//! Task → record.
//!
//! Owns the keys and their order. Every key is there in every record, so that whoever reads them
//! need not guess which there are.

use flagpost_model::task::{Claim, Effort, Task};
use serde_json::{Map, Value, json};

/// A task that leaves its list.
#[derive(Debug, Clone, Copy)]
pub struct Exported<'t> {
    /// The task.
    pub task: &'t Task,
    /// Its name for good, by which an import finds it again.
    pub uid: &'t str,
    /// The list that it leaves, among all lists.
    pub list: &'t str,
}

impl Exported<'_> {
    /// All of it.
    pub(super) fn record(&self) -> Map<String, Value> {
        let Self { task, uid, list } = self;
        let record = json!({
            "id": task.id,
            "uid": uid,
            "subject": task.subject,
            "description": task.description,
            "active_form": task.active_form,
            "state": task.state.name(),
            "owner": task.owner,
            "claim": task.state.claim().map(claim),
            "priority": task.priority,
            "complexity": task.complexity,
            "group": task.group,
            "project": task.project,
            "tags": task.tags,
            "due": task.due,
            "not_before": task.not_before,
            "recurrence": task.recurrence.map(|it| it.every),
            "recurrence_since": task.recurrence.and_then(|it| it.since),
            "parent": task.parent,
            "blocked_by": task.blocked_by,
            "estimate_minutes": task.estimate.map(Effort::minutes),
            "tracked_seconds": task.tracked.seconds(),
            "timer": task.timer,
            "notes": task.notes,
            "metadata": task.metadata,
            "provenance": task.provenance,
            "attempts": task.attempts,
            "rev": task.rev,
            "exported_from": list,
            "result": task.result,
            "late": task.late,
        });
        match record {
            Value::Object(record) => record,
            _ => Map::new(),
        }
    }
}

fn claim(claim: &Claim) -> Value {
    json!({
        "by": claim.by, "token": claim.token, "at": claim.at,
        "expires_at": claim.expires_at, "session": claim.session,
    })
}
