//! What the loopback's rule lets in, and what it turns away.

use std::time::Instant;

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};

use super::{AuthRefusal, Guard, Shown};

fn guard() -> Guard {
    Guard::new("secret", 7717)
}

fn headers(lines: &str) -> HeaderMap {
    let mut all = HeaderMap::new();
    let lines = lines
        .lines()
        .filter_map(|line| line.trim().split_once(": "));
    for (name, value) in lines {
        let name: HeaderName = name.parse().unwrap();
        all.append(name, HeaderValue::from_str(value).unwrap());
    }
    all
}

fn asked(guard: &Guard, method: &Method, path: &str, lines: &str) -> Result<Shown, AuthRefusal> {
    guard.admit(method, path, &headers(lines), Instant::now())
}

/// A browser that is in: its cookie and its key, as headers.
fn let_in(guard: &Guard) -> (String, String) {
    let now = Instant::now();
    let link = guard.invite(now);
    let cookie = guard
        .enter((&link.code, &link.key), "Firefox", now)
        .unwrap();
    let cookie = cookie.split(';').next().unwrap();
    (
        format!("Cookie: {cookie}"),
        format!("Flagpost-Key: {}", link.key),
    )
}

const HOST: &str = "Host: 127.0.0.1:7717";
const TOKEN: &str = "Authorization: Bearer secret";

#[test]
fn what_may_come_in_over_the_loopback() {
    let guard = guard();
    let (cookie, key) = let_in(&guard);
    for good in [
        format!("{HOST}\n{TOKEN}"),
        format!("{HOST}\nAuthorization: bearer secret"),
        format!("{HOST}\n{cookie}\n{key}"),
        format!("{HOST}\nCookie: flagpost-7717=x\n{cookie}; a=b\n{key}"),
        format!("{HOST}\n{TOKEN}\nOrigin: http://127.0.0.1:7717"),
        format!("{HOST}\n{TOKEN}\nSec-Fetch-Site: same-origin"),
        format!("{HOST}\n{TOKEN}\nSec-Fetch-Site: none"),
    ] {
        for method in [Method::GET, Method::POST] {
            let shown = asked(&guard, &method, "/v1/tasks", &good);
            assert!(matches!(shown, Ok(Shown::Token | Shown::Session)), "{good}");
        }
    }
}

#[test]
fn pages_want_the_cookie_and_the_way_in_wants_nothing() {
    let guard = guard();
    let (cookie, key) = let_in(&guard);
    let with_cookie = format!("{HOST}\n{cookie}");
    for path in ["/", "/app/now.js"] {
        assert_eq!(
            asked(&guard, &Method::GET, path, &with_cookie),
            Ok(Shown::Little)
        );
        let with_key = format!("{HOST}\n{key}");
        for little in [HOST, with_key.as_str()] {
            let refused = asked(&guard, &Method::GET, path, little);
            assert_eq!(refused, Err(AuthRefusal::Token), "{path} {little}");
        }
        let refused = asked(&guard, &Method::POST, path, &with_cookie);
        assert_eq!(refused, Err(AuthRefusal::Token));
    }
    assert_eq!(
        asked(&guard, &Method::GET, "/login/x", HOST),
        Ok(Shown::Little)
    );
    assert_eq!(
        asked(&guard, &Method::POST, "/login", HOST),
        Ok(Shown::Little)
    );
    // A link is followed from anywhere; what it leads to is only sent by its own page.
    let from_a_mail = format!("{HOST}\nSec-Fetch-Site: cross-site");
    assert_eq!(
        asked(&guard, &Method::GET, "/login/x", &from_a_mail),
        Ok(Shown::Little)
    );
    for (method, path) in [
        (Method::POST, "/login"),
        (Method::GET, "/login"),
        (Method::GET, "/"),
    ] {
        let refused = asked(&guard, &method, path, &from_a_mail);
        assert_eq!(refused, Err(AuthRefusal::Origin), "{method} {path}");
    }
    let refused = asked(&guard, &Method::POST, "/login/x", HOST);
    assert_eq!(refused, Err(AuthRefusal::Token));
}

#[test]
fn trap_40_what_is_turned_away() {
    let guard = guard();
    let (cookie, key) = let_in(&guard);
    let (other, _) = let_in(&guard);
    for (headers, refusal) in [
        (TOKEN.to_owned(), AuthRefusal::Host),
        (format!("Host: evil.example\n{TOKEN}"), AuthRefusal::Host),
        (format!("Host: 127.0.0.1:80\n{TOKEN}"), AuthRefusal::Host),
        (format!("Host: 127.0.0.1\n{TOKEN}"), AuthRefusal::Host),
        (
            format!("{HOST}\nHost: evil.example\n{TOKEN}"),
            AuthRefusal::Host,
        ),
        (
            format!("{HOST}\n{TOKEN}\nOrigin: http://evil.example"),
            AuthRefusal::Origin,
        ),
        (
            format!("{HOST}\n{TOKEN}\nOrigin: null"),
            AuthRefusal::Origin,
        ),
        (
            format!("{HOST}\n{cookie}\n{key}\nOrigin: http://127.0.0.1:8080"),
            AuthRefusal::Origin,
        ),
        (
            format!("{HOST}\n{TOKEN}\nOrigin: https://127.0.0.1:7717"),
            AuthRefusal::Origin,
        ),
        (
            format!("{HOST}\n{cookie}\n{key}\nSec-Fetch-Site: same-site"),
            AuthRefusal::Origin,
        ),
        (HOST.to_owned(), AuthRefusal::Token),
        (
            format!("{HOST}\nAuthorization: Bearer secre"),
            AuthRefusal::Token,
        ),
        (format!("{HOST}\nAuthorization: secret"), AuthRefusal::Token),
        // The token is no cookie, and no key.
        (
            format!("{HOST}\nCookie: flagpost-7717=secret"),
            AuthRefusal::Token,
        ),
        (
            format!("{HOST}\nCookie: flagpost-7717=secret\n{key}"),
            AuthRefusal::Token,
        ),
        (
            format!("{HOST}\n{cookie}\nFlagpost-Key: secret"),
            AuthRefusal::Token,
        ),
        // One half alone, and halves of two.
        (format!("{HOST}\n{cookie}"), AuthRefusal::Token),
        (format!("{HOST}\n{key}"), AuthRefusal::Token),
        (format!("{HOST}\n{other}\n{key}"), AuthRefusal::Token),
        (
            format!("{HOST}\n{cookie}\nFlagpost-Key:  "),
            AuthRefusal::Token,
        ),
        (
            format!("{HOST}\n{cookie}\n{key}\n{key}"),
            AuthRefusal::Token,
        ),
        (
            format!("{HOST}\n{}\n{key}", cookie.replace("7717", "7718")),
            AuthRefusal::Token,
        ),
    ] {
        for method in [Method::GET, Method::POST] {
            let refused = asked(&guard, &method, "/v1/tasks", &headers);
            assert_eq!(refused, Err(refusal), "{headers}");
        }
    }
}

#[test]
fn what_is_sent_is_json() {
    for good in [
        "Content-Type: application/json",
        "Content-Type: Application/JSON; charset=utf-8",
    ] {
        assert_eq!(Guard::takes(&headers(good)), Ok(()), "{good}");
    }
    for bad in [
        "",
        "Content-Type: text/plain",
        "Content-Type: application/jsonp",
        "Content-Type: application/json\nContent-Type: text/plain",
    ] {
        assert_eq!(Guard::takes(&headers(bad)), Err(AuthRefusal::Type), "{bad}");
    }
}
