//! Streams of what happens.
//!
//! Owns what may be listened to. A stream begins with the state as it is, or after the event that is
//! named; how it goes on is the business of `events`.

use axum::{
    http::header,
    response::{IntoResponse, Response},
};

use flagpost_core::operations::Operation;

use crate::{
    events::{Cursor, EventFilter, EventReader, KanbanReader, Listener, Subscription, feed},
    http::{
        answer::HttpError,
        asked::Asked,
        request_context::RequestContext,
        route::{Param, ParamKind, Route, RouteHandler, Verb, Whose},
    },
};

const REPO: Param = Param::query(
    "repo",
    ParamKind::Text,
    "Only this repository, by name or id: the id of an event is then its number in the history.",
);
const SINCE: Param = Param::query(
    "since",
    ParamKind::Text,
    "The id of the last event that was had: what came after it is told, however long ago.",
);
const LAST: Param = Param::header(
    "last-event-id",
    ParamKind::Text,
    "The same, as browsers say it when they come again; it counts for more.",
);

pub(crate) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/v1/events",
        about: "Every transition as it happens",
        operation: Operation::HistoryShow,
        params: &[REPO, SINCE, LAST],
        work: RouteHandler::Stream(Whose::Ours, everything),
    },
    Route {
        verb: Verb::Get,
        path: "/v1/relay/inbox/events",
        about: "What happens to mail, in both directions",
        operation: Operation::HistoryShow,
        params: &[REPO, SINCE, LAST],
        work: RouteHandler::Stream(Whose::Ours, mail),
    },
    Route {
        verb: Verb::Get,
        path: "/api/events",
        about: "What changes in the files of a list, for clients of the Kanban bus",
        operation: Operation::TaskShow,
        params: &[Param::query(
            "taskListId",
            ParamKind::Directory,
            "The list; without it, all of them.",
        )],
        work: RouteHandler::Stream(Whose::Kanban, kanban),
    },
];

fn everything(desk: &RequestContext<'_>, asked: &Asked) -> Result<Response, HttpError> {
    listen(desk, asked, EventFilter::Everything)
}

fn mail(desk: &RequestContext<'_>, asked: &Asked) -> Result<Response, HttpError> {
    listen(desk, asked, EventFilter::Mail)
}

fn listen(
    desk: &RequestContext<'_>,
    asked: &Asked,
    scope: EventFilter,
) -> Result<Response, HttpError> {
    let name = match asked.text(LAST.name) {
        // A browser that had no event yet says so with nothing.
        None | Some("") => SINCE.name,
        Some(_) => LAST.name,
    };
    let since: Option<Cursor> = asked.parsed(name)?;
    let mut repository = match asked.text(REPO.name) {
        Some(_) => Some(desk.repository(asked)?.id),
        None => None,
    };
    if let (None, Some(Cursor::One(_))) = (&repository, &since) {
        // A number alone is of the only one there is.
        repository = Some(desk.repository(asked)?.id);
    }
    let wish = Subscription { repository, scope };
    let (home, hub) = (desk.home.clone(), desk.shared.hub.clone());
    Ok(stream(desk, EventReader::new(home, hub, wish, since)))
}

fn kanban(desk: &RequestContext<'_>, asked: &Asked) -> Result<Response, HttpError> {
    let list = asked
        .text("taskListId")
        .map(super::kanban::list)
        .transpose()?;
    let reader = KanbanReader::new(desk.home.clone(), list)?;
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
