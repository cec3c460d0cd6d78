//! The history: every transition of a repository, by number.

use flagpost_core::{answers, history::History, operations::Operation};
use serde_json::{Value, json};

use crate::http::{
    answer::HttpError,
    asked::Asked,
    request_context::RequestContext,
    route::{Param, ParamKind, REPO, Route, RouteHandler, Verb},
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
        Param::query(
            "since",
            ParamKind::Number(0),
            "Only what has a greater number.",
        ),
        Param::query(
            "limit",
            ParamKind::Number(0),
            "At most this many, 100 if not said; 0 for all.",
        ),
    ],
    work: RouteHandler::Answer("history", since),
}];

fn since(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let repository = desk.repository(asked)?;
    let since = asked.number("since").unwrap_or_default();
    let lines = History::of(&desk.home, &repository.id).since(since)?;
    let total = lines.len();
    let limit = match asked.number("limit").unwrap_or(LIMIT) {
        0 => total,
        limit => usize::try_from(limit).unwrap_or(total).min(total),
    };
    Ok(json!(answers::HistoryAnswer {
        lines: answers::each(lines.iter().take(limit)),
        total: Some(total),
        truncated: limit < total,
    }))
}
