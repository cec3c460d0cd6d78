//! How a browser gets in, and what it is shown.

use std::time::Instant;

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use flagpost_core::operations::Operation;
use serde_json::{Value, json};

use crate::{
    answers::Link,
    http::{
        answer::Fault,
        asked::Asked,
        auth::{KEY, LINK},
        desk::Desk,
        pages,
        route::{AGENT, Kind, Param, Route, Verb, Work},
    },
};

pub(crate) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Post,
        path: "/v1/links",
        about: "A link that lets a browser in, once and within two minutes",
        operation: Operation::DaemonLink,
        params: &[AGENT],
        work: Work::Answer("link", link),
    },
    Route {
        verb: Verb::Get,
        path: "/login/{code}",
        about: "The page that a link leads to, which signs in by itself; it uses up nothing",
        operation: Operation::ProgramDescribe,
        params: &[Param::path(
            "code",
            Kind::Text,
            "The link's code, or a file of the page.",
        )],
        work: Work::Page(login),
    },
    Route {
        verb: Verb::Post,
        path: "/login",
        about: "Makes a session of a link: sets its cookie for whoever has the link's key",
        operation: Operation::ProgramDescribe,
        params: &[
            Param::header(KEY, Kind::Text, "The link's key, from its fragment.").required(),
            Param::body("code", Kind::Text, "The link's code.").required(),
        ],
        work: Work::Page(enter),
    },
    Route {
        verb: Verb::Get,
        path: "/",
        about: "What waits and what happens, as a page",
        operation: Operation::ProgramDescribe,
        params: &[],
        work: Work::Page(|_, _| Ok(pages::INDEX.answer())),
    },
    Route {
        verb: Verb::Get,
        path: "/app/{file}",
        about: "A file of the page",
        operation: Operation::ProgramDescribe,
        params: &[Param::path("file", Kind::Text, "Its name.")],
        work: Work::Page(file),
    },
];

fn link(desk: &Desk<'_>, _: &Asked) -> Result<Value, Fault> {
    let instance = desk.shared.instance.get();
    let instance = instance.ok_or_else(|| Fault::broken("the daemon is not ready yet"))?;
    let link = desk.shared.guard.invite(Instant::now());
    let url = format!("{}{LINK}{}#{}", instance.http, link.code, link.key);
    Ok(json!(Link { url }))
}

fn login(_: &Desk<'_>, asked: &Asked) -> Result<Response, Fault> {
    let beside = pages::beside_login(asked.needed("code"));
    Ok(beside.unwrap_or(&pages::LOGIN).answer())
}

fn enter(desk: &Desk<'_>, asked: &Asked) -> Result<Response, Fault> {
    let (code, key) = (asked.needed("code"), asked.needed(KEY));
    let cookie = desk.shared.guard.enter(code, key, Instant::now());
    let cookie = cookie.ok_or_else(|| {
        Fault::not_found("there is no such link: it was used, or is too old; ask for another")
    })?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

fn file(_: &Desk<'_>, asked: &Asked) -> Result<Response, Fault> {
    let name = asked.needed("file");
    let file = pages::beside_index(name);
    let file = file.ok_or_else(|| Fault::not_found(format!("there is no /app/{name} here")))?;
    Ok(file.answer())
}
