//! The history: every transition of a repository, by number.

use serde_json::{Value, json};

use super::{Arguments, Caller, CallerPart, Operation, OperationEntry, ParamKind, Parameter, Run};
use crate::{answers, error::Result, history::History};

/// So many lines are told where nobody says how many.
const LIMIT: u64 = 100;

pub(super) const ENTRIES: &[OperationEntry] = &[OperationEntry::new(
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
    Parameter::new(
        "limit",
        ParamKind::Number(0),
        "At most this many, 100 if not said; 0 for all.",
    ),
])];

fn since(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let repository = caller.repository()?;
    let since = arguments.number("since").unwrap_or_default();
    let lines = History::of(caller.home(), &repository.id).since(since)?;
    let total = lines.len();
    let limit = match arguments.number("limit").unwrap_or(LIMIT) {
        0 => total,
        limit => usize::try_from(limit).unwrap_or(total).min(total),
    };
    Ok(json!(answers::HistoryAnswer {
        lines: answers::each(lines.iter().take(limit)),
        total: Some(total),
        truncated: limit < total,
    }))
}
