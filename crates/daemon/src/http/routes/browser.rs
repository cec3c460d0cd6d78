//! How a browser gets in, and what it is shown.

use std::time::Instant;

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use flagpost_core::operations::{Arguments, CallerPart, Operation, Parameter};
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{
    answers::{Browser, BrowsersAnswer, LinkAnswer, SignedOut},
    http::{
        answer::HttpError,
        auth::{KEY, LINK},
        pages,
        route::{ParamLocation, RequestContext, Route, RouteHandler, Verb},
    },
};

/// The header in which a browser says what it is.
const BROWSER: &str = "user-agent";

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
        Verb::Post,
        "/v1/sign-out",
        "Signs every browser out, and takes back all links",
        Operation::DaemonLink,
        RouteHandler::Own("signed_out", sign_out),
    )
    .asking(&[CallerPart::Agent]),
    Route::own(
        Verb::Get,
        "/v1/browsers",
        "The browsers that are signed in",
        Operation::DaemonShow,
        RouteHandler::Own("browsers", browsers),
    ),
    Route::own(
        Verb::Get,
        "/login/{code}",
        "The page that a link leads to, which signs in by itself; it uses up nothing",
        Operation::ProgramDescribe,
        RouteHandler::Page(login),
    )
    .taking(&[Parameter::text("code", "The link's code, or a file of the page.").required()]),
    Route::own(
        Verb::Get,
        "/login/",
        "The same page, for whoever lost the rest of the link",
        Operation::ProgramDescribe,
        RouteHandler::Page(|_, _| Ok(pages::login(""))),
    ),
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
        Parameter::text(BROWSER, "What the browser calls itself."),
    ])
    .with(ParamLocation::Header, &[KEY, BROWSER]),
    page("/", "The board"),
    page("/lists/{list}", "The board, at a list")
        .taking(&[Parameter::text("list", "The list.").required()]),
    page("/lists/{list}/tasks/{id}", "The board, at a task").taking(&[
        Parameter::text("list", "The list.").required(),
        Parameter::text("id", "The task.").required(),
    ]),
    page("/inbox/{worker}/{seq}", "The board, at a brief").taking(&[
        Parameter::text("worker", "Whose.").required(),
        Parameter::text("seq", "Its number.").required(),
    ]),
    page("/runs/{session}", "The board, at a session")
        .taking(&[Parameter::text("session", "Its id.").required()]),
    Route::own(
        Verb::Get,
        "/app/{version}/{file}",
        "A file of the board",
        Operation::ProgramDescribe,
        RouteHandler::Page(file),
    )
    .taking(&[
        Parameter::text("version", "The version of the board.").required(),
        Parameter::text("file", "Its name.").required(),
    ]),
];

/// An address of the board: each has the same page, which shows what its address says.
const fn page(path: &'static str, about: &'static str) -> Route {
    let work = RouteHandler::Page(|_, _| Ok(pages::page()));
    Route::own(Verb::Get, path, about, Operation::ProgramDescribe, work)
}

fn link(desk: &RequestContext<'_>, _: &Arguments) -> Result<Value, HttpError> {
    let instance = desk.shared.instance.get();
    let instance = instance.ok_or_else(|| HttpError::broken("the daemon is not ready yet"))?;
    let link = desk.shared.guard.invite(Instant::now());
    let url = format!("{}{LINK}{}#{}", instance.http, link.code, link.key);
    Ok(json!(LinkAnswer { url }))
}

fn sign_out(desk: &RequestContext<'_>, _: &Arguments) -> Result<Value, HttpError> {
    let browsers = desk.shared.guard.sign_out();
    Ok(json!(SignedOut { browsers }))
}

fn browsers(desk: &RequestContext<'_>, _: &Arguments) -> Result<Value, HttpError> {
    let now = desk.shared.home.now();
    let before = |time| now.saturating_sub(SignedDuration::try_from(time).unwrap_or_default());
    let told = desk.shared.guard.signed_in(Instant::now()).into_iter();
    let told = told.map(|it| {
        let since = before(it.age).unwrap_or(now);
        Browser::new(it.agent, since, before(it.idle).unwrap_or(now))
    });
    Ok(json!(BrowsersAnswer::new(told.collect())))
}

fn login(_: &RequestContext<'_>, arguments: &Arguments) -> Result<Response, HttpError> {
    Ok(pages::login(arguments.needed("code")))
}

fn enter(desk: &RequestContext<'_>, arguments: &Arguments) -> Result<Response, HttpError> {
    let link = (arguments.needed("code"), arguments.needed(KEY));
    let browser = arguments.text(BROWSER).unwrap_or_default();
    let cookie = desk.shared.guard.enter(link, browser, Instant::now());
    let cookie = cookie.ok_or_else(|| {
        HttpError::not_found("there is no such link: it was used, or is too old; ask for another")
    })?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

fn file(_: &RequestContext<'_>, arguments: &Arguments) -> Result<Response, HttpError> {
    let (version, name) = (arguments.needed("version"), arguments.needed("file"));
    let file = pages::beside(version, name);
    file.ok_or_else(|| HttpError::not_found(format!("there is no /app/{version}/{name} here")))
}
