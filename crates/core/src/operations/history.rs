//! The history: every transition of a repository, by number.

use serde_json::{Value, json};

use super::{
    Arguments, Caller, CallerPart, Operation, OperationEntry, ParamKind, Parameter, Run,
    tasks::{ID, OF_LIST},
};
use crate::{
    answers,
    error::Result,
    history::{History, HistoryFilter},
};

/// So many lines are told where nobody says how many.
const LIMIT: u64 = 100;

const MOST: Parameter = Parameter::new(
    "limit",
    ParamKind::Number(0),
    "At most this many, 100 if not said; 0 for all.",
);

pub(super) const ENTRIES: &[OperationEntry] = &[
    OperationEntry::new(
        Operation::HistoryShow,
        "What happened in a repository, oldest first",
        Run::Answer("history", since),
    )
    .asking(&[CallerPart::Repo])
    .taking(&[
        Parameter::new(
            "since",
            ParamKind::Number(0),
            "Only what has a greater number.",
        ),
        MOST,
    ]),
    OperationEntry::new(
        Operation::TaskHistory,
        "What happened to a task of late, oldest first",
        Run::Answer("history", of_task),
    )
    .taking(&[OF_LIST, ID, MOST]),
];

fn since(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let repository = caller.repository()?;
    let since = arguments.number("since").unwrap_or_default();
    let lines = History::of(caller.home(), &repository.id).since(since)?;
    let total = lines.len();
    let limit = limit(arguments).min(total);
    Ok(json!(answers::HistoryAnswer {
        lines: answers::each(lines.iter().take(limit)),
        total: Some(total),
        truncated: limit < total,
    }))
}

fn of_task(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let list = caller.list(arguments)?;
    // One that is gone from its list has its history too.
    let task = list.resolve(arguments.needed(ID.name));
    let task = task.or_else(|unknown| arguments.id(ID.name).map_err(|_| unknown))?;
    let wanted = HistoryFilter {
        since: 0,
        about: Some(list.lines(Some(task))),
        worker: None,
        kinds: Vec::new(),
    };
    let history = History::of(caller.home(), &list.repository()?);
    let latest = history.latest(&wanted, limit(arguments))?;
    Ok(json!(answers::HistoryAnswer {
        lines: answers::each(&latest.lines),
        total: None,
        truncated: latest.is_cut,
    }))
}

fn limit(arguments: &Arguments) -> usize {
    match arguments.number(MOST.name).unwrap_or(LIMIT) {
        0 => usize::MAX,
        limit => usize::try_from(limit).unwrap_or(usize::MAX),
    }
}
