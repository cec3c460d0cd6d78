//! What concerns the daemon itself: how it is, what it knows.

use axum::response::Response;
use flagpost_core::{Repository, operations::Operation, registry};
use serde_json::{Value, json};

use crate::{
    answers::{Daemon, Registered, Repositories},
    http::{
        answer::{HttpError, json_answer},
        asked::Asked,
        openapi,
        request_context::RequestContext,
        route::{Route, RouteHandler, Verb},
    },
    instance::Reached,
};

pub(crate) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/v1/daemon",
        about: "How this daemon is reached, and which it is",
        operation: Operation::DaemonShow,
        params: &[],
        work: RouteHandler::Answer("daemon", daemon),
    },
    Route {
        verb: Verb::Get,
        path: "/v1/repositories",
        about: "The repositories that are registered",
        operation: Operation::StatusShow,
        params: &[],
        work: RouteHandler::Answer("repositories", repositories),
    },
    Route {
        verb: Verb::Get,
        path: "/v1/openapi.json",
        about: "This description",
        operation: Operation::ProgramDescribe,
        params: &[],
        work: RouteHandler::Page(description),
    },
];

fn daemon(desk: &RequestContext<'_>, _: &Asked) -> Result<Value, HttpError> {
    // Whoever asks whether one runs must not count on one that is about to be gone.
    if *desk.shared.ended.borrow() {
        return Err(HttpError::broken("the daemon is ending"));
    }
    let instance = desk.shared.instance.get();
    let instance = instance.ok_or_else(|| HttpError::broken("the daemon is not ready yet"))?;
    let daemon = Reached::of(instance, &desk.shared.paths);
    Ok(json!(Daemon { daemon }))
}

fn repositories(desk: &RequestContext<'_>, _: &Asked) -> Result<Value, HttpError> {
    let all = registry::repositories(&desk.home)?;
    let registered = |it: Repository| Registered {
        path: it.top.to_string_lossy().into_owned(),
        id: it.id,
        name: it.name,
    };
    let repositories = all.into_iter().map(registered).collect();
    Ok(json!(Repositories { repositories }))
}

fn description(_: &RequestContext<'_>, _: &Asked) -> Result<Response, HttpError> {
    let described = openapi::description();
    let described = described.map_err(|error| HttpError::broken(error.to_string()))?;
    Ok(json_answer(&described))
}
