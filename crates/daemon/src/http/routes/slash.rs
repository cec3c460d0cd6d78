//! A slash command, carried out, at once or line by line.

use axum::{
    http::header,
    response::{IntoResponse, Response},
};
use flagpost_core::operations::{Arguments, Operation, SlashRequest};
use serde_json::json;
use tokio::sync::mpsc;

use crate::{
    events::{event, pour},
    http::{
        answer::HttpError,
        route::{RequestContext, Route, RouteHandler, Verb, Whose},
    },
};

pub(crate) const ROUTES: &[Route] = &[
    Route::to(
        Verb::Post,
        "/v1/controller/dispatch",
        Operation::SlashDispatch,
    ),
    Route::to(
        Verb::Post,
        "/v1/controller/stream",
        Operation::SlashDispatch,
    )
    .doing(
        "Carries out a slash command, and tells each line as it comes, as an event",
        RouteHandler::Stream(Whose::Ours, stream),
    ),
];

/// So many lines may wait for whoever listens.
const AHEAD: usize = 64;

/// What is refused before it begins is an answer like any other. Whoever goes away in the middle stops
/// nothing.
fn stream(desk: &RequestContext<'_>, arguments: &Arguments) -> Result<Response, HttpError> {
    let caller = desk.caller.clone();
    let request = SlashRequest::read(&caller, arguments)?;
    let (send, receive) = mpsc::channel(AHEAD);
    let say = move |name: &str, data: &str| {
        let lines: Vec<&str> = data.lines().collect();
        let event = event(None, name, &lines.join("\ndata: "));
        // Nobody listens any more.
        let _: Result<(), _> = send.blocking_send(event.into());
    };
    tokio::task::spawn_blocking(move || {
        let mut told = 0;
        let said = request.carry_out(&caller, &mut |line| {
            told += 1;
            say("line", line);
        });
        let (rest, faults, status) = match said {
            Ok(said) => (said.lines, said.faults, said.status),
            Err(error) => (Vec::new(), vec![error.to_string()], 1),
        };
        rest.iter().skip(told).for_each(|line| say("line", line));
        faults.iter().for_each(|fault| say("fault", fault));
        say("done", &json!({"exit_status": status}).to_string());
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, pour(receive)).into_response())
}
