//! The pages as answers.
//!
//! Owns the headers that keep a page from running anything else, and how long a browser may keep each file.
//! The files are the board's.

use axum::{
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use flagpost_board::{self as board, Asset};

/// What a page may do: run the scripts of this origin, ask this origin, and make no markup of a text.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; font-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

/// The files of one version are the same for good.
const FOR_GOOD: HeaderValue = HeaderValue::from_static("private, immutable, max-age=31536000");

/// The page of those who are in. It is asked for anew each time, since it names the version of the rest.
pub(crate) fn page() -> Response {
    let mut answer = with_policy("text/html; charset=utf-8", board::page());
    let anew = HeaderValue::from_static("no-cache");
    answer.headers_mut().insert(header::CACHE_CONTROL, anew);
    answer
}

/// The same at an address that is none of the board's: it says so.
pub(crate) fn nowhere() -> Response {
    let mut page = page();
    *page.status_mut() = StatusCode::NOT_FOUND;
    page
}

/// A file beside it, of this version; none of another.
pub(crate) fn beside(version: &str, name: &str) -> Option<Response> {
    let file = board::app(name).filter(|_| version == board::version())?;
    let mut answer = file_answer(file);
    answer.headers_mut().insert(header::CACHE_CONTROL, FOR_GOOD);
    Some(answer)
}

/// The page that makes a session of a link, or a file beside it.
pub(crate) fn login(name: &str) -> Response {
    file_answer(board::login(name).unwrap_or(&board::LINK))
}

/// The page that those who are not in are shown, in place of one that needs it.
pub(crate) fn refused() -> Response {
    let mut page = file_answer(&board::REFUSED);
    *page.status_mut() = StatusCode::UNAUTHORIZED;
    page
}

fn file_answer(file: &Asset) -> Response {
    with_policy(file.kind(), file.text())
}

fn with_policy(kind: &'static str, text: &'static str) -> Response {
    let own = HeaderName::from_static("cross-origin-resource-policy");
    let alone = HeaderName::from_static("cross-origin-opener-policy");
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (own, "same-origin"),
        (alone, "same-origin"),
    ];
    (headers, text).into_response()
}
