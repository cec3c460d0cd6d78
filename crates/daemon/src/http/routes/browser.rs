//! How a browser gets in, and what it is shown.

use std::time::Instant;

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use flagpost_core::operations::Operation;
use serde_json::{Value, json};

use crate::{
    answers::LinkAnswer,
    http::{
        answer::HttpError,
        asked::Asked,
        auth::{KEY, LINK},
        pages,
        request_context::RequestContext,
        route::{AGENT, Param, ParamKind, Route, RouteHandler, Verb},
    },
};

pub(crate) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Post,
        path: "/v1/links",
        about: "A link that lets a browser in, once and within two minutes",
        operation: Operation::DaemonLink,
        params: &[AGENT],
        work: RouteHandler::Answer("link", link),
    },
    Route {
        verb: Verb::Get,
        path: "/login/{code}",
        about: "The page that a link leads to, which signs in by itself; it uses up nothing",
        operation: Operation::ProgramDescribe,
        params: &[Param::path(
            "code",
            ParamKind::Text,
            "The link's code, or a file of the page.",
        )],
        work: RouteHandler::Page(login),
    },
    Route {
        verb: Verb::Post,
        path: "/login",
        about: "Makes a session of a link: sets its cookie for whoever has the link's key",
        operation: Operation::ProgramDescribe,
        params: &[
            Param::header(KEY, ParamKind::Text, "The link's key, from its fragment.").required(),
            Param::body("code", ParamKind::Text, "The link's code.").required(),
        ],
        work: RouteHandler::Page(enter),
    },
    Route {
        verb: Verb::Get,
        path: "/",
        about: "What waits and what happens, as a page",
        operation: Operation::ProgramDescribe,
        params: &[],
        work: RouteHandler::Page(|_, _| Ok(pages::INDEX.answer())),
    },
    Route {
        verb: Verb::Get,
        path: "/app/{file}",
        about: "A file of the page",
        operation: Operation::ProgramDescribe,
        params: &[Param::path("file", ParamKind::Text, "Its name.")],
        work: RouteHandler::Page(file),
    },
];

fn link(desk: &RequestContext<'_>, _: &Asked) -> Result<Value, HttpError> {
    let instance = desk.shared.instance.get();
    let instance = instance.ok_or_else(|| HttpError::broken("the daemon is not ready yet"))?;
    let link = desk.shared.guard.invite(Instant::now());
    let url = format!("{}{LINK}{}#{}", instance.http, link.code, link.key);
    Ok(json!(LinkAnswer { url }))
}

fn login(_: &RequestContext<'_>, asked: &Asked) -> Result<Response, HttpError> {
    let beside = pages::beside_login(asked.needed("code"));
    Ok(beside.unwrap_or(&pages::LOGIN).answer())
}

fn enter(desk: &RequestContext<'_>, asked: &Asked) -> Result<Response, HttpError> {
    let (code, key) = (asked.needed("code"), asked.needed(KEY));
    let cookie = desk.shared.guard.enter(code, key, Instant::now());
    let cookie = cookie.ok_or_else(|| {
        HttpError::not_found("there is no such link: it was used, or is too old; ask for another")
    })?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

fn file(_: &RequestContext<'_>, asked: &Asked) -> Result<Response, HttpError> {
    let name = asked.needed("file");
    let file = pages::beside_index(name);
    let file = file.ok_or_else(|| HttpError::not_found(format!("there is no /app/{name} here")))?;
    Ok(file.answer())
}
