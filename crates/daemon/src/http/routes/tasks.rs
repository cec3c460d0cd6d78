//! Tasks.

use flagpost_core::{
    answers::{TaskAnswer, Tasks},
    operations::Operation,
    tasks::select,
};
use flagpost_model::query::Query;
use serde_json::{Value, json};

use crate::http::{
    answer::HttpError,
    asked::Asked,
    request_context::RequestContext,
    route::{AGENT, AS, Param, ParamKind, REPO, Route, RouteHandler, Verb},
};

pub(crate) const LIST: Param = Param::query(
    "list",
    ParamKind::Id,
    "The list; without it, that of the repository.",
);

pub(crate) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/v1/tasks",
        about: "The tasks of a list, all of them or those that fit a query",
        operation: Operation::TaskShow,
        params: &[
            REPO,
            LIST,
            AS,
            AGENT,
            Param::query(
                "query",
                ParamKind::Text,
                "As in 'flagpost list': priority>=high sort=due.",
            ),
            Param::query(
                "limit",
                ParamKind::Number(0),
                "At most this many; 0, or nothing, for all.",
            ),
        ],
        work: RouteHandler::Answer("tasks", list),
    },
    Route {
        verb: Verb::Get,
        path: "/v1/tasks/{list}/{id}",
        about: "A task in full",
        operation: Operation::TaskShow,
        params: &[
            Param::path("list", ParamKind::Id, "The list."),
            Param::path("id", ParamKind::Id, "The task, or the beginning of its id."),
        ],
        work: RouteHandler::Answer("task", show),
    },
];

fn list(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let list = desk.list(asked)?;
    let query: Query = asked.parsed("query")?.unwrap_or_default();
    let loaded = list.load()?;
    let me = desk.actor(asked)?;
    let limit = usize::try_from(asked.number("limit").unwrap_or_default()).unwrap_or_default();
    let selected = select(&list, &loaded, &query, Some(&me), limit)?;
    let tasks = Tasks::new(list.id(), &loaded, &selected.tasks, selected.total);
    Ok(json!(tasks))
}

fn show(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let list = desk.list(asked)?;
    let id = desk.task(&list, asked)?;
    Ok(json!(TaskAnswer::from(&list.task(&id)?.task)))
}
