//! Who may come in.
//!
//! Owns the rule for each of the two doors. By the socket come processes of our own user, as the
//! system has made sure; a browser cannot. Over the loopback may come anybody on this machine, and any
//! page that a browser has open: so a request must name this host, must not come from another origin,
//! must show the token on everything, reads and streams included, and must be JSON where it writes.

use std::time::{Duration, Instant};

use axum::http::{HeaderMap, Method, header};

use crate::instance::random;

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
pub(crate) enum Refusal {
    /// It is meant for somebody else: a name that leads here is not enough.
    #[error("the Host of the request is not this daemon's")]
    Host,
    /// A page of somebody else sent it.
    #[error("the request comes from a page of another origin")]
    Origin,
    /// It does not show the token.
    #[error("the request does not show the token")]
    Token,
    /// It writes, and any page could have sent it.
    #[error("a request that writes has to be application/json")]
    Type,
}

/// What must be shown over the loopback.
#[derive(Debug)]
pub(crate) struct Guard {
    token: String,
    hosts: [String; 2],
    cookie: String,
}

impl Guard {
    pub(crate) fn new(token: String, port: u16) -> Self {
        Self {
            token,
            hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
            // Cookies do not tell ports apart.
            cookie: format!("flagpost-{port}"),
        }
    }

    /// Whether a request may come in over the loopback.
    pub(crate) fn admit(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<(), Refusal> {
        let one = |name| match only(headers, name) {
            Ok(value) => value,
            Err(()) => Some(""),
        };
        let ours = |host: &str| self.hosts.iter().any(|it| it == host);
        if !one(header::HOST).is_some_and(ours) {
            return Err(Refusal::Host);
        }
        let origin = one(header::ORIGIN);
        let is_ours = |origin: &str| origin.strip_prefix("http://").is_some_and(ours);
        let site = headers.get("sec-fetch-site");
        let near = |site: &axum::http::HeaderValue| site == "same-origin" || site == "none";
        // Whoever follows a link with a code comes from anywhere.
        let follows = is_link(path) && method == Method::GET;
        if !origin.is_none_or(is_ours) || !(follows || site.is_none_or(near)) {
            return Err(Refusal::Origin);
        }
        if !follows && !self.shows_token(headers) {
            return Err(Refusal::Token);
        }
        let writes = !matches!(*method, Method::GET | Method::HEAD);
        if writes && !one(header::CONTENT_TYPE).is_some_and(is_json) {
            return Err(Refusal::Type);
        }
        Ok(())
    }

    fn shows_token(&self, headers: &HeaderMap) -> bool {
        let bearer = only(headers, header::AUTHORIZATION).ok().flatten();
        let bearer = bearer.and_then(|it| it.split_once(' '));
        // The names of schemes have no case.
        let bearer = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let bearer = bearer.map(|(_, token)| token.trim());
        let cookies = headers.get_all(header::COOKIE);
        let cookies = cookies.iter().filter_map(|it| it.to_str().ok());
        let ours = |pair: &str| {
            let (name, value) = pair.trim().split_once('=')?;
            (name == self.cookie).then(|| value.to_owned())
        };
        let mut shown = cookies.flat_map(|it| it.split(';')).filter_map(ours);
        bearer.is_some_and(|it| is_same(it, &self.token))
            || shown.any(|it| is_same(&it, &self.token))
    }

    /// What lets a browser in from now on.
    pub(crate) fn cookie(&self) -> String {
        let (name, token) = (&self.cookie, &self.token);
        format!("{name}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000")
    }
}

/// The one header of this name; a second one means that somebody is to be fooled.
fn only(headers: &HeaderMap, name: header::HeaderName) -> Result<Option<&str>, ()> {
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

/// Compares in a time that says nothing about where they differ.
fn is_same(a: &str, b: &str) -> bool {
    let differ = |(x, y): (u8, u8)| x ^ y;
    a.len() == b.len() && a.bytes().zip(b.bytes()).map(differ).fold(0, |a, b| a | b) == 0
}

/// Where links with a code lead.
pub(crate) const LINK: &str = "/login/";

fn is_link(path: &str) -> bool {
    path.starts_with(LINK)
}

/// Links that let a browser in once.
#[derive(Debug, Default)]
pub(crate) struct Links {
    open: Vec<(String, Instant)>,
}

impl Links {
    /// So long a link holds.
    const LIFE: Duration = Duration::from_secs(120);
    /// So many are open at most; the oldest goes.
    const MOST: usize = 16;

    /// A new code.
    pub(crate) fn make(&mut self, now: Instant) -> String {
        self.forget(now);
        if self.open.len() >= Self::MOST {
            self.open.remove(0);
        }
        let code = random();
        self.open.push((code.clone(), now));
        code
    }

    /// Whether this is a code that nobody used yet; from now on it is used.
    pub(crate) fn take(&mut self, code: &str, now: Instant) -> bool {
        self.forget(now);
        let found = self.open.iter().position(|(it, _)| is_same(it, code));
        found.map(|at| self.open.remove(at)).is_some()
    }

    fn forget(&mut self, now: Instant) {
        self.open
            .retain(|(_, since)| now.saturating_duration_since(*since) < Self::LIFE);
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn guard() -> Guard {
        Guard::new("secret".to_owned(), 7717)
    }

    fn asked(method: Method, path: &str, headers: &str) -> Result<(), Refusal> {
        let headers: HeaderMap = headers
            .lines()
            .filter_map(|line| line.trim().split_once(": "))
            .map(|(name, value)| {
                let name: HeaderName = name.parse().unwrap();
                (name, HeaderValue::from_str(value).unwrap())
            })
            .fold(HeaderMap::new(), |mut all, (name, value)| {
                all.append(name, value);
                all
            });
        guard().admit(&method, path, &headers)
    }

    #[test]
    fn what_may_come_in_over_the_loopback() {
        let host = "Host: 127.0.0.1:7717";
        let token = "Authorization: Bearer secret";
        let json = "Content-Type: application/json";
        for good in [
            format!("{host}\n{token}"),
            format!("Host: localhost:7717\n{token}"),
            format!("{host}\nAuthorization: bearer secret"),
            format!("{host}\nCookie: a=b; flagpost-7717=secret"),
            format!("{host}\n{token}\nOrigin: http://127.0.0.1:7717"),
            format!("{host}\n{token}\nSec-Fetch-Site: same-origin"),
            format!("{host}\n{token}\nSec-Fetch-Site: none"),
        ] {
            assert_eq!(asked(Method::GET, "/v1/tasks", &good), Ok(()), "{good}");
        }
        for kind in [json, "Content-Type: Application/JSON; charset=utf-8"] {
            let good = format!("{host}\n{token}\n{kind}");
            assert_eq!(asked(Method::POST, "/v1/tasks", &good), Ok(()), "{good}");
        }
        assert_eq!(asked(Method::GET, "/login/x", host), Ok(()));
        let from_a_mail = format!("{host}\nSec-Fetch-Site: cross-site");
        assert_eq!(asked(Method::GET, "/login/x", &from_a_mail), Ok(()));
    }

    #[test]
    fn trap_40_what_is_turned_away() {
        let host = "Host: 127.0.0.1:7717";
        let token = "Authorization: Bearer secret";
        let json = "Content-Type: application/json";
        for (headers, refusal) in [
            (token.to_owned(), Refusal::Host),
            (format!("Host: evil.example\n{token}"), Refusal::Host),
            (format!("Host: 127.0.0.1:80\n{token}"), Refusal::Host),
            (format!("Host: 127.0.0.1\n{token}"), Refusal::Host),
            (
                format!("{host}\nHost: evil.example\n{token}"),
                Refusal::Host,
            ),
            (
                format!("{host}\n{token}\nOrigin: http://evil.example"),
                Refusal::Origin,
            ),
            (format!("{host}\n{token}\nOrigin: null"), Refusal::Origin),
            (
                format!("{host}\n{token}\nOrigin: http://127.0.0.1:8080"),
                Refusal::Origin,
            ),
            (
                format!("{host}\n{token}\nOrigin: https://127.0.0.1:7717"),
                Refusal::Origin,
            ),
            (
                format!("{host}\n{token}\nSec-Fetch-Site: same-site"),
                Refusal::Origin,
            ),
            (host.to_owned(), Refusal::Token),
            (
                format!("{host}\nAuthorization: Bearer secre"),
                Refusal::Token,
            ),
            (format!("{host}\nAuthorization: secret"), Refusal::Token),
            (
                format!("{host}\nCookie: flagpost-7718=secret"),
                Refusal::Token,
            ),
        ] {
            for method in [Method::GET, Method::POST] {
                let headers = format!("{headers}\n{json}");
                assert_eq!(
                    asked(method, "/v1/tasks", &headers),
                    Err(refusal),
                    "{headers}"
                );
            }
        }
        for kind in [
            "",
            "Content-Type: text/plain",
            "Content-Type: application/jsonp",
        ] {
            let headers = format!("{host}\n{token}\n{kind}");
            let refused = asked(Method::POST, "/v1/tasks", &headers);
            assert_eq!(refused, Err(Refusal::Type), "{headers}");
        }
        // A link is for a person's browser to follow, and for nothing else.
        let headers = format!("{host}\n{json}");
        let refused = asked(Method::POST, "/login/x", &headers);
        assert_eq!(refused, Err(Refusal::Token));
    }

    #[test]
    fn a_link_lets_in_once_and_not_for_long() {
        let (mut links, now) = (Links::default(), Instant::now());
        let code = links.make(now);
        assert!(!links.take("x", now));
        assert!(links.take(&code, now));
        assert!(!links.take(&code, now));
        let late = links.make(now);
        assert!(!links.take(&late, now + Links::LIFE));
        let first = links.make(now);
        for _ in 0..Links::MOST {
            links.make(now);
        }
        assert!(!links.take(&first, now));
    }
}
