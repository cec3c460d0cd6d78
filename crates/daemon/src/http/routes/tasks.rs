//! Tasks.

use flagpost_core::{
    answers::{TaskAnswer, Tasks},
    operations::Operation,
    tasks::select,
};
use flagpost_model::query::Query;
use serde_json::{Value, json};

use crate::http::{
    answer::Fault,
    asked::Asked,
    desk::Desk,
    route::{AGENT, AS, Kind, Param, REPO, Route, Verb, Work},
};

pub(crate) const LIST: Param = Param::query(
    "list",
    Kind::Id,
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
                Kind::Text,
                "As in 'flagpost list': priority>=high sort=due.",
            ),
            Param::query(
                "limit",
                Kind::Number(0),
                "At most this many; 0, or nothing, for all.",
            ),
        ],
        work: Work::Answer("tasks", list),
    },
    Route {
        verb: Verb::Get,
        path: "/v1/tasks/{list}/{id}",
        about: "A task in full",
        operation: Operation::TaskShow,
        params: &[
            Param::path("list", Kind::Id, "The list."),
            Param::path("id", Kind::Id, "The task, or the beginning of its id."),
        ],
        work: Work::Answer("task", show),
    },
];

fn list(desk: &Desk<'_>, asked: &Asked) -> Result<Value, Fault> {
    let list = desk.list(asked)?;
    let query: Query = asked.parsed("query")?.unwrap_or_default();
    let loaded = list.load()?;
    let me = desk.actor(asked)?;
    let limit = usize::try_from(asked.number("limit").unwrap_or_default()).unwrap_or_default();
    let selected = select(&list, &loaded, &query, Some(&me), limit)?;
    let tasks = Tasks::new(list.id(), &loaded, &selected.tasks, selected.total);
    Ok(json!(tasks))
}

fn show(desk: &Desk<'_>, asked: &Asked) -> Result<Value, Fault> {
    let list = desk.list(asked)?;
    let id = desk.task(&list, asked)?;
    Ok(json!(TaskAnswer::from(&list.task(&id)?.task)))
}
