//! Who may come in.
//!
//! Owns the rule for each of the two doors. By the socket come processes of our own user, as the
//! system has made sure; a browser cannot. Over the loopback may come anybody on this machine, and any
//! page that a browser has open: so a request must name this host, must not come from another origin,
//! must show on everything, reads and streams included, either the token, as programs do, or both
//! halves of a browser's session, and must be JSON where it writes. The cookie alone opens the pages,
//! which hold no data; the page that makes a session of a link is open to everybody. Agents' tools open to
//! a worker's token and to nothing else, at both doors: it says as whom one comes.

use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

use axum::http::{HeaderMap, HeaderName, Method, header};
use tokio::sync::watch;

use flagpost_model::envelope::Hash;

use super::browsers::{Browsers, Link, SignedIn};

/// Which way a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// The socket in the home.
    Socket,
    /// The port on 127.0.0.1.
    Loopback,
}

/// Why a request is turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AuthRefusal {
    /// It is meant for somebody else: a name that leads here is not enough.
    #[error("the Host of the request is not this daemon's")]
    Host,
    /// A page of somebody else sent it.
    #[error("the request comes from a page of another origin")]
    Origin,
    /// It shows neither the token nor both halves of a session.
    #[error("the request does not show the token")]
    Token,
    /// It is for agents, and shows no worker's token.
    #[error("the request does not show the token of a worker of this home")]
    Worker,
    /// It writes, and any page could have sent it.
    #[error("a request that writes has to be application/json")]
    Type,
}

/// What a request that came in has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Not enough for data: it may see a page.
    Little,
    /// Both halves of a session.
    Session,
    /// The token.
    Token,
}

/// What has to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequiredAuth {
    /// Nothing here: it is how a browser gets in, or looks at who comes by itself.
    Nothing,
    /// The cookie: pages hold no data.
    Cookie,
    /// All there is.
    All,
}

/// Where agents' tools are.
pub(crate) const TOOLS: &str = "/mcp";
/// Where links with a code lead.
pub(crate) const LINK: &str = "/login/";
/// Below these are the board's page and its files.
const PAGES: &[&str] = &["/app/", "/lists/", "/inbox/", "/runs/"];
/// In which header a page shows its half of the session.
pub(crate) const KEY: &str = "flagpost-key";

impl RequiredAuth {
    /// That of a path.
    pub(crate) fn of(method: &Method, path: &str) -> Self {
        match (method, path) {
            (&Method::POST, "/login") | (_, TOOLS) => Self::Nothing,
            (&Method::GET, path) if path.starts_with(LINK) => Self::Nothing,
            (&Method::GET, "/") => Self::Cookie,
            (&Method::GET, path) if PAGES.iter().any(|it| path.starts_with(it)) => Self::Cookie,
            _ => Self::All,
        }
    }
}

/// What must be shown over the loopback.
#[derive(Debug)]
pub(crate) struct Guard {
    token: Hash,
    /// The one name that it is asked by: another would be another origin for a browser.
    host: String,
    cookie: String,
    browsers: Mutex<Browsers>,
    /// Moves on when all browsers are signed out.
    signed_out: watch::Sender<()>,
}

impl Guard {
    pub(crate) fn new(token: &str, port: u16) -> Self {
        Self {
            token: Hash::of(token.as_bytes()),
            host: format!("127.0.0.1:{port}"),
            // Cookies do not tell ports apart.
            cookie: format!("flagpost-{port}"),
            browsers: Mutex::default(),
            signed_out: watch::Sender::new(()),
        }
    }

    /// Whether a request may come in over the loopback.
    pub(crate) fn admit(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
        now: Instant,
    ) -> Result<Shown, AuthRefusal> {
        let one = |name| match only(headers, &name) {
            Ok(value) => value,
            Err(()) => Some(""),
        };
        let ours = |host: &str| host == self.host;
        if !one(header::HOST).is_some_and(ours) {
            return Err(AuthRefusal::Host);
        }
        let origin = one(header::ORIGIN);
        let is_ours = |origin: &str| origin.strip_prefix("http://").is_some_and(ours);
        let site = headers.get("sec-fetch-site");
        let near = |site: &axum::http::HeaderValue| site == "same-origin" || site == "none";
        // Whoever follows a link with a code comes from anywhere.
        let follows = method == Method::GET && path.starts_with(LINK);
        if !origin.is_none_or(is_ours) || !(follows || site.is_none_or(near)) {
            return Err(AuthRefusal::Origin);
        }
        let key = only(headers, &HeaderName::from_static(KEY)).unwrap_or_default();
        let is_known = key.is_some_and(|key| self.has_session(headers, Some(key), now));
        match RequiredAuth::of(method, path) {
            _ if self.shows_token(headers) => Ok(Shown::Token),
            _ if is_known => Ok(Shown::Session),
            RequiredAuth::Nothing => Ok(Shown::Little),
            RequiredAuth::Cookie if self.has_session(headers, None, now) => Ok(Shown::Little),
            RequiredAuth::Cookie | RequiredAuth::All => Err(AuthRefusal::Token),
        }
    }

    /// Whether a browser that is in goes to an address.
    pub(crate) fn is_visited(&self, method: &Method, headers: &HeaderMap, now: Instant) -> bool {
        method == Method::GET && shows_pages(headers) && self.has_session(headers, None, now)
    }

    /// Whether what a request sends is what no page of somebody else can have sent.
    pub(crate) fn takes(headers: &HeaderMap) -> Result<(), AuthRefusal> {
        let kind = only(headers, &header::CONTENT_TYPE).unwrap_or_default();
        match kind.is_some_and(is_json) {
            true => Ok(()),
            false => Err(AuthRefusal::Type),
        }
    }

    /// A link that lets a browser in.
    pub(crate) fn invite(&self, now: Instant) -> Link {
        self.browsers().invite(now)
    }

    /// Lets a browser in that has both halves of a link: the cookie that it is given.
    pub(crate) fn enter(&self, link: (&str, &str), agent: &str, now: Instant) -> Option<String> {
        let value = self.browsers().enter(link, agent, now)?;
        let name = &self.cookie;
        Some(format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict"))
    }

    /// Signs every browser out, and ends what it listens to; how many were in.
    pub(crate) fn sign_out(&self) -> usize {
        let browsers = self.browsers().clear();
        self.signed_out.send_replace(());
        browsers
    }

    /// Which browsers are in.
    pub(crate) fn signed_in(&self, now: Instant) -> Vec<SignedIn> {
        self.browsers().signed_in(now)
    }

    /// Is told when all browsers are signed out.
    pub(crate) fn signing_out(&self) -> watch::Receiver<()> {
        self.signed_out.subscribe()
    }

    fn browsers(&self) -> std::sync::MutexGuard<'_, Browsers> {
        self.browsers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shows_token(&self, headers: &HeaderMap) -> bool {
        bearer(headers).is_some_and(|token| Hash::of(token.as_bytes()) == self.token)
    }

    /// Others on this host may have put cookies of our name beside ours.
    fn has_session(&self, headers: &HeaderMap, key: Option<&str>, now: Instant) -> bool {
        let cookies = headers.get_all(header::COOKIE);
        let cookies = cookies.iter().filter_map(|it| it.to_str().ok());
        let ours = |pair: &'_ str| {
            let (name, value) = pair.trim().split_once('=')?;
            (name == self.cookie).then(|| value.to_owned())
        };
        let mut shown = cookies.flat_map(|it| it.split(';')).filter_map(ours);
        shown.any(|it| self.browsers().knows(&it, key, now))
    }
}

/// Whether a page is wanted, as where a browser goes to an address.
pub(crate) fn shows_pages(headers: &HeaderMap) -> bool {
    let accepted = only(headers, &header::ACCEPT).ok().flatten();
    accepted.is_some_and(|it| it.contains("text/html"))
}

/// The token that a request shows.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let shown = only(headers, &header::AUTHORIZATION).ok().flatten();
    let (scheme, token) = shown?.split_once(' ')?;
    // The names of schemes have no case.
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The one header of this name; a second one means that somebody is to be fooled.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, ()> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (None, _) => Ok(None),
        (Some(one), None) => one.to_str().map(Some).map_err(drop),
        (Some(_), Some(_)) => Err(()),
    }
}

fn is_json(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests;
