//! Streams of what happens.
//!
//! Owns what may be listened to. A stream begins with the state as it is, or after the event that is
//! named; how it goes on is the business of `events`.

use axum::{
    http::header,
    response::{IntoResponse, Response},
};

use flagpost_core::operations::{Arguments, Operation, ParamKind, Parameter};

use crate::{
    events::{Cursor, EventFilter, EventReader, KanbanReader, Listener, Subscription, feed},
    http::{
        answer::HttpError,
        route::{ParamLocation, RequestContext, Route, RouteHandler, Verb, Whose},
    },
};

const REPO: Parameter = Parameter::text(
    "repo",
    "Only this repository, by name or id: the id of an event is then its number in the history.",
);
const SINCE: Parameter = Parameter::text(
    "since",
    "The id of the last event that was had: what came after it is told, however long ago.",
);
const WITH: Parameter = Parameter::new(
    "with",
    ParamKind::Word(&["outlines"]),
    "Tells with `list.changed` which tasks differ from before, whoever changed them. The stream begins with the state each time.",
);
const LAST: Parameter = Parameter::text(
    "last-event-id",
    "The same, as browsers say it when they come again; it counts for more.",
);

pub(crate) const ROUTES: &[Route] = &[
    Route::own(
        Verb::Get,
        "/v1/events",
        "Every transition as it happens",
        Operation::HistoryShow,
        RouteHandler::Stream(Whose::Ours, everything),
    )
    .taking(&[REPO, SINCE, WITH, LAST])
    .with(ParamLocation::Header, &[LAST.name]),
    Route::own(
        Verb::Get,
        "/v1/relay/inbox/events",
        "What happens to mail, in both directions",
        Operation::HistoryShow,
        RouteHandler::Stream(Whose::Ours, mail),
    )
    .taking(&[REPO, SINCE, LAST])
    .with(ParamLocation::Header, &[LAST.name]),
    Route::own(
        Verb::Get,
        "/api/events",
        "What changes in the files of a list, for clients of the Kanban bus",
        Operation::TaskList,
        RouteHandler::Stream(Whose::Kanban, kanban),
    )
    .taking(&[Parameter::new(
        "taskListId",
        ParamKind::Directory,
        "The list; without it, all of them.",
    )]),
];

fn everything(desk: &RequestContext<'_>, arguments: &Arguments) -> Result<Response, HttpError> {
    listen(desk, arguments, EventFilter::Everything)
}

fn mail(desk: &RequestContext<'_>, arguments: &Arguments) -> Result<Response, HttpError> {
    listen(desk, arguments, EventFilter::Mail)
}

fn listen(
    desk: &RequestContext<'_>,
    arguments: &Arguments,
    scope: EventFilter,
) -> Result<Response, HttpError> {
    let name = match arguments.text(LAST.name) {
        // A browser that had no event yet says so with nothing.
        None | Some("") => SINCE.name,
        Some(_) => LAST.name,
    };
    let since: Option<Cursor> = arguments.parsed(name)?;
    let mut repository = match arguments.text(REPO.name) {
        Some(_) => Some(desk.caller.repository()?.id),
        None => None,
    };
    if let (None, Some(Cursor::One(_))) = (&repository, &since) {
        // A number alone is of the only one there is.
        repository = Some(desk.caller.repository()?.id);
    }
    let wish = Subscription {
        repository,
        scope,
        with_lists: arguments.text(WITH.name).is_some(),
    };
    let (home, hub) = (desk.shared.home.clone(), desk.shared.hub.clone());
    Ok(stream(desk, EventReader::new(home, hub, wish, since)))
}

fn kanban(desk: &RequestContext<'_>, arguments: &Arguments) -> Result<Response, HttpError> {
    let list = arguments
        .text("taskListId")
        .map(super::kanban::list)
        .transpose()?;
    let reader = KanbanReader::new(desk.shared.home.clone(), list)?;
    Ok(stream(desk, reader))
}

fn stream(desk: &RequestContext<'_>, listener: impl Listener) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let shared = desk.shared;
    let body = feed(listener, shared.hub.looks(), shared.ended.clone());
    (headers, body).into_response()
}
