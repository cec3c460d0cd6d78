//! The history: every transition of a repository, by number.

use flagpost_core::{answers, history::History, operations::Operation};
use serde_json::{Value, json};

use crate::http::{
    answer::Fault,
    asked::Asked,
    desk::Desk,
    route::{Kind, Param, REPO, Route, Verb, Work},
};

/// So many lines are told where nobody says how many.
const LIMIT: u64 = 100;

pub(crate) const ROUTES: &[Route] = &[Route {
    verb: Verb::Get,
    path: "/v1/history",
    about: "What happened in a repository, oldest first",
    operation: Operation::HistoryShow,
    params: &[
        REPO,
        Param::query("since", Kind::Number(0), "Only what has a greater number."),
        Param::query(
            "limit",
            Kind::Number(0),
            "At most this many, 100 if not said; 0 for all.",
        ),
    ],
    work: Work::Answer("history", since),
}];

fn since(desk: &Desk<'_>, asked: &Asked) -> Result<Value, Fault> {
    let repository = desk.repository(asked)?;
    let since = asked.number("since").unwrap_or_default();
    let lines = History::of(&desk.home, &repository.id).since(since)?;
    let total = lines.len();
    let limit = match asked.number("limit").unwrap_or(LIMIT) {
        0 => total,
        limit => usize::try_from(limit).unwrap_or(total).min(total),
    };
    Ok(json!(answers::History {
        lines: answers::each(lines.iter().take(limit)),
        total: Some(total),
        truncated: limit < total,
    }))
}
