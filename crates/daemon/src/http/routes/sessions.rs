//! Sessions: the runs of a list.

use flagpost_core::{operations::Operation, sessions::Sessions, shape};
use serde_json::{Value, json};

use crate::http::{
    answer::HttpError,
    asked::Asked,
    request_context::RequestContext,
    route::{Param, ParamKind, REPO, Route, RouteHandler, Verb},
};

pub(crate) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/v1/sessions",
        about: "The sessions of a repository, the live one last",
        operation: Operation::SessionShow,
        params: &[REPO],
        work: RouteHandler::Answer("sessions", list),
    },
    Route {
        verb: Verb::Get,
        path: "/v1/sessions/{id}",
        about: "How far a session is, or got",
        operation: Operation::SessionShow,
        params: &[
            REPO,
            Param::path(
                "id",
                ParamKind::Text,
                "Its id, the beginning of it, or live.",
            ),
        ],
        work: RouteHandler::Answer("session", show),
    },
];

fn list(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let all = Sessions::of(&desk.home, &desk.repository(asked)?).all()?;
    Ok(json!({
        "sessions": all.iter().map(shape::session).collect::<Vec<_>>(),
        "total": all.len(),
        "truncated": false,
    }))
}

fn show(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let sessions = Sessions::of(&desk.home, &desk.repository(asked)?);
    let session = sessions.find(asked.needed("id"))?;
    let told = session.attempts(&desk.home)?;
    Ok(shape::session_with(&session, &told))
}
