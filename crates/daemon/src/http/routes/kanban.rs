//! What the clients of the Kanban bus read, shaped as they expect it. Nothing here writes.

use flagpost_core::{
    kanban,
    operations::{Arguments, Operation, ParamKind, Parameter},
};
use flagpost_model::ListRef;
use serde_json::{Value, json};

use crate::http::{
    answer::HttpError,
    route::{RequestContext, Route, RouteHandler, Verb},
};

const LIST: Parameter = Parameter::new(
    "list",
    ParamKind::Directory,
    "The list, whatever its program calls it.",
)
.required();

pub(crate) const ROUTES: &[Route] = &[
    Route::own(
        Verb::Get,
        "/api/health",
        "Whether the daemon answers",
        Operation::DaemonShow,
        RouteHandler::Foreign(health_schema, health),
    ),
    Route::own(
        Verb::Get,
        "/api/task-lists",
        "The lists that hold tasks, for clients of the Kanban bus",
        Operation::TaskList,
        RouteHandler::Foreign(lists_schema, lists),
    ),
    Route::own(
        Verb::Get,
        "/api/tasks/{list}",
        "The tasks of a list as normalised files, for clients of the Kanban bus",
        Operation::TaskList,
        RouteHandler::Foreign(tasks_schema, tasks),
    )
    .taking(&[LIST]),
    Route::own(
        Verb::Get,
        "/api/execution-context/{list}",
        "What the session of a list has written, for clients of the Kanban bus",
        Operation::SessionShow,
        RouteHandler::Foreign(context_schema, context),
    )
    .taking(&[LIST]),
];

fn health(desk: &RequestContext<'_>, _: &Arguments) -> Result<Value, HttpError> {
    Ok(json!({"status": "ok", "timestamp": desk.shared.home.now()}))
}

fn lists(desk: &RequestContext<'_>, _: &Arguments) -> Result<Value, HttpError> {
    Ok(kanban::lists(&desk.shared.home)?)
}

fn tasks(desk: &RequestContext<'_>, arguments: &Arguments) -> Result<Value, HttpError> {
    Ok(kanban::tasks(
        &desk.shared.home,
        &list(arguments.needed("list"))?,
    )?)
}

fn context(desk: &RequestContext<'_>, arguments: &Arguments) -> Result<Value, HttpError> {
    Ok(kanban::execution_context(
        &desk.shared.home,
        &list(arguments.needed("list"))?,
    )?)
}

/// The list of this name.
pub(super) fn list(name: &str) -> Result<ListRef, HttpError> {
    if !kanban::is_name(name) {
        return Err(HttpError::invalid("Invalid task list ID"));
    }
    kanban::named(name).ok_or_else(|| HttpError::not_found("no list can have this name"))
}

fn object(properties: Value) -> Value {
    let names: Vec<&String> = properties
        .as_object()
        .into_iter()
        .flat_map(|it| it.keys())
        .collect();
    json!({"type": "object", "required": names, "properties": properties})
}

fn health_schema() -> Value {
    object(json!({
        "status": {"const": "ok"},
        "timestamp": {"type": "string", "format": "date-time"},
    }))
}

fn lists_schema() -> Value {
    let list = object(json!({
        "id": {"type": "string"},
        "name": {"type": "string"},
        "taskCount": {"type": "integer", "minimum": 1},
    }));
    object(json!({"taskLists": {"type": "array", "items": list}}))
}

fn tasks_schema() -> Value {
    let ids = json!({"type": "array", "items": {"type": "string"}});
    let task = object(json!({
        "id": {"type": "string"},
        "subject": {"type": "string"},
        "description": {"type": "string"},
        "status": {"enum": ["pending", "in_progress", "completed"]},
        "blocks": ids,
        "blockedBy": ids,
    }));
    object(json!({"tasks": {"type": "array", "items": task}}))
}

fn context_schema() -> Value {
    let artifact = object(json!({
        "name": {"type": "string"},
        "content": {"type": "string"},
        "lastModified": {"type": "integer"},
    }));
    let mut context = object(json!({
        "executionDir": {"type": "string"},
        "artifacts": {"type": "array", "items": artifact},
        "progress": {"type": ["object", "null"]},
    }));
    context["type"] = json!(["object", "null"]);
    object(json!({"executionContext": context}))
}
