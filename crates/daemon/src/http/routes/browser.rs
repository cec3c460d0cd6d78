//! How a browser gets in, and what it is shown.

use std::time::Instant;

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use flagpost_core::operations::{Arguments, CallerPart, Operation, Parameter};
use serde_json::{Value, json};

use crate::{
    answers::LinkAnswer,
    http::{
        answer::HttpError,
        auth::{KEY, LINK},
        pages,
        route::{ParamLocation, RequestContext, Route, RouteHandler, Verb},
    },
};

pub(crate) const ROUTES: &[Route] = &[
    Route::own(
        Verb::Post,
        "/v1/links",
        "A link that lets a browser in, once and within two minutes",
        Operation::DaemonLink,
        RouteHandler::Own("link", link),
    )
    .asking(&[CallerPart::Agent]),
    Route::own(
        Verb::Get,
        "/login/{code}",
        "The page that a link leads to, which signs in by itself; it uses up nothing",
        Operation::ProgramDescribe,
        RouteHandler::Page(login),
    )
    .taking(&[Parameter::text("code", "The link's code, or a file of the page.").required()]),
    Route::own(
        Verb::Post,
        "/login",
        "Makes a session of a link: sets its cookie for whoever has the link's key",
        Operation::ProgramDescribe,
        RouteHandler::Page(enter),
    )
    .taking(&[
        Parameter::text(KEY, "The link's key, from its fragment.").required(),
        Parameter::text("code", "The link's code.").required(),
    ])
    .with(ParamLocation::Header, &[KEY]),
    Route::own(
        Verb::Get,
        "/",
        "What waits and what happens, as a page",
        Operation::ProgramDescribe,
        RouteHandler::Page(|_, _| Ok(pages::INDEX.answer())),
    ),
    Route::own(
        Verb::Get,
        "/app/{file}",
        "A file of the page",
        Operation::ProgramDescribe,
        RouteHandler::Page(file),
    )
    .taking(&[Parameter::text("file", "Its name.").required()]),
];

fn link(desk: &RequestContext<'_>, _: &Arguments) -> Result<Value, HttpError> {
    let instance = desk.shared.instance.get();
    let instance = instance.ok_or_else(|| HttpError::broken("the daemon is not ready yet"))?;
    let link = desk.shared.guard.invite(Instant::now());
    let url = format!("{}{LINK}{}#{}", instance.http, link.code, link.key);
    Ok(json!(LinkAnswer { url }))
}

fn login(_: &RequestContext<'_>, arguments: &Arguments) -> Result<Response, HttpError> {
    let beside = pages::beside_login(arguments.needed("code"));
    Ok(beside.unwrap_or(&pages::LOGIN).answer())
}

fn enter(desk: &RequestContext<'_>, arguments: &Arguments) -> Result<Response, HttpError> {
    let (code, key) = (arguments.needed("code"), arguments.needed(KEY));
    let cookie = desk.shared.guard.enter(code, key, Instant::now());
    let cookie = cookie.ok_or_else(|| {
        HttpError::not_found("there is no such link: it was used, or is too old; ask for another")
    })?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

fn file(_: &RequestContext<'_>, arguments: &Arguments) -> Result<Response, HttpError> {
    let name = arguments.needed("file");
    let file = pages::beside_index(name);
    let file = file.ok_or_else(|| HttpError::not_found(format!("there is no /app/{name} here")))?;
    Ok(file.answer())
}
