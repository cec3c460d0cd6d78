//! What the clients of the Kanban bus read, shaped as they expect it. Nothing here writes.

use flagpost_core::{kanban, operations::Operation};
use flagpost_model::ListRef;
use serde_json::{Value, json};

use crate::http::{
    answer::HttpError,
    asked::Asked,
    request_context::RequestContext,
    route::{Param, ParamKind, Route, RouteHandler, Verb},
};

const LIST: Param = Param::path(
    "list",
    ParamKind::Directory,
    "The list, whatever its program calls it.",
);

pub(crate) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/api/health",
        about: "Whether the daemon answers",
        operation: Operation::DaemonShow,
        params: &[],
        work: RouteHandler::Foreign(health_schema, health),
    },
    Route {
        verb: Verb::Get,
        path: "/api/task-lists",
        about: "The lists that hold tasks, for clients of the Kanban bus",
        operation: Operation::TaskShow,
        params: &[],
        work: RouteHandler::Foreign(lists_schema, lists),
    },
    Route {
        verb: Verb::Get,
        path: "/api/tasks/{list}",
        about: "The tasks of a list as normalised files, for clients of the Kanban bus",
        operation: Operation::TaskShow,
        params: &[LIST],
        work: RouteHandler::Foreign(tasks_schema, tasks),
    },
    Route {
        verb: Verb::Get,
        path: "/api/execution-context/{list}",
        about: "What the session of a list has written, for clients of the Kanban bus",
        operation: Operation::SessionShow,
        params: &[LIST],
        work: RouteHandler::Foreign(context_schema, context),
    },
];

fn health(desk: &RequestContext<'_>, _: &Asked) -> Result<Value, HttpError> {
    Ok(json!({"status": "ok", "timestamp": desk.home.now()}))
}

fn lists(desk: &RequestContext<'_>, _: &Asked) -> Result<Value, HttpError> {
    Ok(kanban::lists(&desk.home)?)
}

fn tasks(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    Ok(kanban::tasks(&desk.home, &list(asked.needed("list"))?)?)
}

fn context(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    Ok(kanban::execution_context(
        &desk.home,
        &list(asked.needed("list"))?,
    )?)
}

/// The list of this name.
pub(super) fn list(name: &str) -> Result<ListRef, HttpError> {
    kanban::named(name).ok_or_else(|| HttpError::invalid("Invalid task list ID"))
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
