//! What a coordination directory holds, as JSON and as lines.
//!
//! Owns that its naive times leave Flagpost as the moments that they mean.

use flagpost_core::coordination::CoordSnapshot;
use flagpost_model::{
    TaskId,
    coordination::{CoordAgent, CoordClaim, CoordReadiness, CoordTask},
};
use jiff::{Timestamp, civil::DateTime};
use serde_json::{Value, json};

use crate::{context::Context, output::Answer, screen::Screen, shape, terminal::line};

/// A time of the directory.
pub fn time(context: &Context, at: Option<DateTime>) -> Value {
    moment(context, at).map(|at| at.to_string()).into()
}

/// The same as a moment.
pub fn moment(context: &Context, at: Option<DateTime>) -> Option<Timestamp> {
    let at = at?.to_zoned(context.home.zone()).ok()?;
    Some(at.timestamp())
}

/// A task.
pub fn task(context: &Context, task: &CoordTask) -> Value {
    let claim = task.claim.as_ref();
    let at = |it| time(context, it);
    json!({
        "id": task.id,
        "description": task.description,
        "status": task.status,
        "priority": task.priority.get(),
        "claimed_by": claim.map(|it| &it.by),
        "claimed_at": at(claim.and_then(|it| it.at)),
        "token": task.holder().and_then(CoordClaim::token),
        "dependencies": task.dependencies,
        "files": task.files,
        "hints": task.hints,
        "required_capabilities": task.required_capabilities,
        "tags": task.tags,
        "parent": task.parent,
        "output": task.result.output,
        "error": task.result.error,
        "files_modified": task.result.files_modified,
        "files_created": task.result.files_created,
        "created_at": at(task.created_at),
        "completed_at": at(task.completed_at),
        "max_retries": task.max_retries,
        "retry_count": task.retry_count,
        "next_retry_at": at(task.next_retry_at),
    })
}

/// An agent.
pub fn agent(context: &Context, agent: &CoordAgent) -> Value {
    json!({
        "id": agent.id,
        "capabilities": agent.capabilities,
        "registered_at": time(context, agent.registered_at),
        "last_seen": time(context, agent.last_seen),
    })
}

/// Tasks, each with how it stands.
pub fn tasks<'t>(
    context: &Context,
    tasks: impl IntoIterator<Item = (&'t CoordTask, &'t CoordReadiness)>,
) -> Value {
    let one = |(it, standing): (&CoordTask, &CoordReadiness)| {
        let why = Some(standing.to_string()).filter(|it| !it.is_empty());
        json!({"task": task(context, it), "standing": standing.word(), "why": why})
    };
    tasks.into_iter().map(one).collect()
}

/// The same for a person.
pub fn table<'t>(
    context: &Context,
    tasks: impl IntoIterator<Item = (&'t CoordTask, &'t CoordReadiness)>,
) -> String {
    let screen = Screen::of(context);
    let rows = tasks.into_iter().map(|(task, standing)| {
        let status = match standing {
            CoordReadiness::Blocked(_) => "blocked",
            _ => task.status.as_str(),
        };
        let by = task.claim.as_ref().map(|it| line(&it.by));
        vec![
            task.id.to_string(),
            screen.state(status),
            task.priority.get().to_string(),
            by.unwrap_or_default(),
            standing.to_string(),
            line(&task.description),
        ]
    });
    let header = ["TASK", "STATUS", "PRI", "WHO", "WHY", "DESCRIPTION"];
    screen.table(&header, rows.collect())
}

/// One task that a verb was about.
pub fn one(context: &Context, it: &CoordTask, also: &[TaskId], text: String) -> Answer {
    let body = json!({"task": task(context, it), "also_held": also});
    Answer::new("coordination_task", body)
        .text(text)
        .ids([&it.id])
}

/// Tasks by their ids, as they are now.
pub fn by_ids(context: &Context, look: &CoordSnapshot, ids: &[TaskId], text: String) -> Answer {
    let found: Vec<_> = look
        .tasks()
        .filter(|(it, _)| ids.contains(&it.id))
        .collect();
    found_tasks(context, look, &found, text)
}

/// Tasks of a look.
pub fn found_tasks(
    context: &Context,
    look: &CoordSnapshot,
    found: &[(&CoordTask, &CoordReadiness)],
    text: String,
) -> Answer {
    let body = json!({
        "tasks": tasks(context, found.iter().copied()),
        "total": found.len(), "truncated": false, "skipped": shape::skipped(&look.skipped),
    });
    Answer::new("coordination_tasks", body)
        .text(text)
        .ids(found.iter().map(|(it, _)| &it.id))
        .notes(shape::skipped_notes(&look.skipped))
}
