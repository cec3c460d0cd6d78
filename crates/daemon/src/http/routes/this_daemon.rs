//! What concerns the daemon itself: how it is, what it knows, how a browser gets in.

use std::time::Instant;

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use flagpost_core::{registry, shape};
use serde_json::{Value, json};

use crate::http::{
    answer::{Fault, json_answer},
    asked::Asked,
    auth::LINK,
    desk::Desk,
    openapi,
    route::{Kind, Param, Route, Verb, Work},
};

pub(crate) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/v1/daemon",
        about: "How this daemon is reached, and which it is",
        params: &[],
        work: Work::Answer("daemon", daemon),
    },
    Route {
        verb: Verb::Get,
        path: "/v1/repositories",
        about: "The repositories that are registered",
        params: &[],
        work: Work::Answer("repositories", repositories),
    },
    Route {
        verb: Verb::Post,
        path: "/v1/links",
        about: "A link that lets a browser in, once and within two minutes",
        params: &[],
        work: Work::Answer("link", link),
    },
    Route {
        verb: Verb::Get,
        path: "/login/{code}",
        about: "Lets a browser in that follows a link",
        params: &[Param::path("code", Kind::Text, "The link's code.")],
        work: Work::Page(login),
    },
    Route {
        verb: Verb::Get,
        path: "/v1/openapi.json",
        about: "This description",
        params: &[],
        work: Work::Page(description),
    },
];

fn daemon(desk: &Desk<'_>, _: &Asked) -> Result<Value, Fault> {
    // Whoever asks whether one runs must not count on one that is about to be gone.
    if *desk.shared.ended.borrow() {
        return Err(Fault::broken("the daemon is ending"));
    }
    let instance = desk.shared.instance.get();
    let instance = instance.ok_or_else(|| Fault::broken("the daemon is not ready yet"))?;
    Ok(json!({"daemon": instance.shape(&desk.shared.paths)}))
}

fn repositories(desk: &Desk<'_>, _: &Asked) -> Result<Value, Fault> {
    let all = registry::repositories(&desk.home)?;
    let all = all
        .iter()
        .map(|it| json!({"id": it.id, "name": it.name, "path": shape::path(&it.top)}));
    Ok(json!({"repositories": all.collect::<Vec<_>>()}))
}

fn link(desk: &Desk<'_>, _: &Asked) -> Result<Value, Fault> {
    let instance = desk.shared.instance.get();
    let instance = instance.ok_or_else(|| Fault::broken("the daemon is not ready yet"))?;
    let code = desk.shared.links().make(Instant::now());
    Ok(json!({"url": format!("{}{LINK}{code}", instance.http)}))
}

fn login(desk: &Desk<'_>, asked: &Asked) -> Result<Response, Fault> {
    let is_good = desk
        .shared
        .links()
        .take(asked.needed("code"), Instant::now());
    if !is_good {
        return Err(Fault::gone(
            "this link was used, or is too old: ask for another",
        ));
    }
    let cookie = desk.shared.guard.cookie();
    let headers = [
        (header::SET_COOKIE, cookie),
        (header::LOCATION, "/".to_owned()),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok((StatusCode::SEE_OTHER, headers).into_response())
}

fn description(_: &Desk<'_>, _: &Asked) -> Result<Response, Fault> {
    let described = openapi::description();
    let described = described.map_err(|error| Fault::broken(error.to_string()))?;
    Ok(json_answer(&described))
}
