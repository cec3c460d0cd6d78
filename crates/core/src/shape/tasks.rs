//! Tasks as JSON.
//!
//! Owns the shape `flagpost.task/1` and its short form in lists.

use flagpost_model::task::{Claim, Effort, Note, Outline, Task};
use serde_json::{Value, json};

/// A whole task.
pub fn task(task: &Task) -> Value {
    json!({
        "id": task.id,
        "subject": task.subject,
        "description": task.description,
        "state": task.state.name(),
        "owner": task.owner,
        "claim": task.state.claim().map(claim),
        "blocks": task.blocks,
        "blocked_by": task.blocked_by,
        "priority": task.priority,
        "complexity": task.complexity,
        "group": task.group,
        "project": task.project,
        "tags": task.tags,
        "due": task.due,
        "not_before": task.not_before,
        "recurrence": task.recurrence.map(|it| it.every),
        "parent": task.parent,
        "uid": task.uid,
        "estimate_minutes": task.estimate.map(Effort::minutes),
        "tracked_seconds": task.tracked.seconds(),
        "timer": task.timer,
        "notes": task.notes.iter().map(note).collect::<Vec<_>>(),
        "metadata": task.metadata,
        "provenance": task.provenance,
        "attempts": task.attempts,
        "rev": task.rev,
        "result": task.result,
        "late": task.late,
    })
}

/// A note, and what it answers.
fn note(note: &Note) -> Value {
    json!({
        "kind": note.kind(),
        "by": note.by,
        "at": note.at,
        "text": note.text,
        "question": note.question,
    })
}

/// A task in a list.
pub fn outline(outline: &Outline) -> Value {
    json!({
        "id": outline.id,
        "subject": outline.subject,
        "state": outline.state.name(),
        "owner": outline.owner,
        "claim": outline.state.claim().map(claim),
        "blocks": outline.blocks,
        "blocked_by": outline.blocked_by,
        "priority": outline.priority,
        "group": outline.group,
        "project": outline.project,
        "tags": outline.tags,
        "due": outline.due,
        "not_before": outline.not_before,
        "parent": outline.parent,
        "complexity": outline.complexity,
        "estimate_minutes": outline.estimate.map(Effort::minutes),
        "attempts": outline.attempts,
    })
}

/// A claim.
pub fn claim(claim: &Claim) -> Value {
    json!({
        "by": claim.by,
        "token": claim.token,
        "at": claim.at,
        "expires_at": claim.expires_at,
        "session": claim.session,
    })
}
