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
    events::{Cursor, KanbanReader, Listener, Reader, Scope, Wish, feed},
    http::{
        answer::Fault,
        asked::Asked,
        desk::Desk,
        route::{Kind, Param, Route, Verb, Whose, Work},
    },
};

const REPO: Param = Param::query(
    "repo",
    Kind::Text,
    "Only this repository, by name or id: the id of an event is then its number in the history.",
);
const SINCE: Param = Param::query(
    "since",
    Kind::Text,
    "The id of the last event that was had: what came after it is told, however long ago.",
);
const LAST: Param = Param::header(
    "last-event-id",
    Kind::Text,
    "The same, as browsers say it when they come again; it counts for more.",
);

pub(crate) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/v1/events",
        about: "Every transition as it happens",
        operation: Operation::HistoryShow,
        params: &[REPO, SINCE, LAST],
        work: Work::Stream(Whose::Ours, everything),
    },
    Route {
        verb: Verb::Get,
        path: "/v1/relay/inbox/events",
        about: "What happens to mail, in both directions",
        operation: Operation::HistoryShow,
        params: &[REPO, SINCE, LAST],
        work: Work::Stream(Whose::Ours, mail),
    },
    Route {
        verb: Verb::Get,
        path: "/api/events",
        about: "What changes in the files of a list, for clients of the Kanban bus",
        operation: Operation::TaskShow,
        params: &[Param::query(
            "taskListId",
            Kind::Directory,
            "The list; without it, all of them.",
        )],
        work: Work::Stream(Whose::Kanban, kanban),
    },
];

fn everything(desk: &Desk<'_>, asked: &Asked) -> Result<Response, Fault> {
    listen(desk, asked, Scope::Everything)
}

fn mail(desk: &Desk<'_>, asked: &Asked) -> Result<Response, Fault> {
    listen(desk, asked, Scope::Mail)
}

fn listen(desk: &Desk<'_>, asked: &Asked, scope: Scope) -> Result<Response, Fault> {
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
    let wish = Wish { repository, scope };
    let (home, hub) = (desk.home.clone(), desk.shared.hub.clone());
    Ok(stream(desk, Reader::new(home, hub, wish, since)))
}

fn kanban(desk: &Desk<'_>, asked: &Asked) -> Result<Response, Fault> {
    let list = asked
        .text("taskListId")
        .map(super::kanban::list)
        .transpose()?;
    let reader = KanbanReader::new(desk.home.clone(), list)?;
    Ok(stream(desk, reader))
}

fn stream(desk: &Desk<'_>, listener: impl Listener) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let shared = desk.shared;
    let body = feed(listener, shared.hub.looks(), shared.ended.clone());
    (headers, body).into_response()
}
