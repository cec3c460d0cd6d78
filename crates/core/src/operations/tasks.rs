//! Tasks, as they are shown.

use flagpost_model::query::Query;
use serde_json::{Value, json};

use super::{
    Arguments, Caller,
    CallerPart::{Actor, Repo},
    Operation, OperationEntry, ParamKind, Parameter, Run,
};
use crate::{
    answers::{TaskAnswer, Tasks},
    error::Result,
    tasks::select,
};

pub(super) const LIST: Parameter = Parameter::new(
    "list",
    ParamKind::Id,
    "The list; without it, that of the repository.",
);
pub(super) const OF_LIST: Parameter = Parameter::new("list", ParamKind::Id, "The list.").required();
pub(super) const ID: Parameter =
    Parameter::new("id", ParamKind::Id, "The task, or the beginning of its id.").required();

pub(super) const ENTRIES: &[OperationEntry] = &[
    OperationEntry::new(
        Operation::TaskList,
        "The tasks of a list, all of them or those that fit a query",
        Run::Answer("tasks", list),
    )
    .asking(&[Repo, Actor])
    .taking(&[
        LIST,
        Parameter::text("query", "As in 'flagpost list': priority>=high sort=due."),
        Parameter::new(
            "limit",
            ParamKind::Number(0),
            "At most this many; 0, or nothing, for all.",
        ),
    ]),
    OperationEntry::new(
        Operation::TaskShow,
        "A task in full",
        Run::Answer("task", show),
    )
    .taking(&[OF_LIST, ID]),
];

fn list(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let list = caller.list(arguments)?;
    let query: Query = arguments.parsed("query")?.unwrap_or_default();
    let loaded = list.load()?;
    let me = caller.actor()?;
    let selected = select(&list, &loaded, &query, Some(&me), arguments.limit())?;
    let tasks = Tasks::new(list.id(), &loaded, &selected.tasks, selected.total);
    Ok(json!(tasks))
}

fn show(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let list = caller.list(arguments)?;
    let id = caller.task(&list, arguments)?;
    Ok(json!(TaskAnswer::from(&list.task(&id)?.task)))
}
