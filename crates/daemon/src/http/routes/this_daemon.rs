//! What concerns the daemon itself.

use axum::response::Response;
use flagpost_core::operations::{Arguments, Operation};
use serde_json::{Value, json};

use crate::{
    answers::Daemon,
    http::{
        answer::{HttpError, json_answer},
        openapi,
        route::{RequestContext, Route, RouteHandler, Verb},
    },
};

pub(crate) const ROUTES: &[Route] = &[
    Route::own(
        Verb::Get,
        "/v1/daemon",
        "How this daemon is reached, and which it is",
        Operation::DaemonShow,
        RouteHandler::Own("daemon", daemon),
    ),
    Route::own(
        Verb::Get,
        "/v1/openapi.json",
        "This description",
        Operation::ProgramDescribe,
        RouteHandler::Page(description),
    ),
];

fn daemon(desk: &RequestContext<'_>, _: &Arguments) -> Result<Value, HttpError> {
    // Whoever asks whether one runs must not count on one that is about to be gone.
    if *desk.shared.ended.borrow() {
        return Err(HttpError::broken("the daemon is ending"));
    }
    let instance = desk.shared.instance.get();
    let instance = instance.ok_or_else(|| HttpError::broken("the daemon is not ready yet"))?;
    let daemon = instance.answer(&desk.shared.paths);
    Ok(json!(Daemon { daemon }))
}

fn description(_: &RequestContext<'_>, _: &Arguments) -> Result<Response, HttpError> {
    Ok(json_answer(&openapi::description()))
}
