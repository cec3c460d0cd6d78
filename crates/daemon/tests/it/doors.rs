//! Who comes in over the loopback, and who does not.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    thread,
    time::Duration,
};

use serde_json::json;

use crate::served::{Place, Served, Told};

const HOST: &str = "Host: 127.0.0.1:[port]";
const TOKEN: &str = "Authorization: Bearer [token]";
const JSON: &str = "Content-Type: application/json";

#[test]
fn trap_40_no_page_gets_in() {
    let place = Place::new();
    let served = place.serve();
    let post = "POST /v1/relay/outbox/ratify";
    let body = r#"{"scope":"all"}"#;
    for (line, headers, status) in [
        ("GET /v1/tasks", &[HOST][..], 401),
        ("GET /api/health", &[HOST], 401),
        ("GET /v1/openapi.json", &[HOST], 401),
        ("GET /nothing", &[HOST], 401),
        ("GET /v1/tasks", &[HOST, "Authorization: Bearer x"], 401),
        ("GET /v1/tasks?token=[token]", &[HOST], 401),
        ("GET /v1/daemon", &["Host: evil.example:[port]", TOKEN], 421),
        ("GET /v1/daemon", &[TOKEN], 421),
        (
            "GET /v1/daemon",
            &[HOST, TOKEN, "Origin: http://evil.example"],
            403,
        ),
        (
            "GET /v1/daemon",
            &[HOST, TOKEN, "Sec-Fetch-Site: cross-site"],
            403,
        ),
        (
            "OPTIONS /v1/daemon",
            &[HOST, "Origin: http://evil.example"],
            403,
        ),
        (post, &[HOST, JSON], 401),
        (post, &[HOST, TOKEN, JSON, "Origin: null"], 403),
        (post, &[HOST, TOKEN, "Content-Type: text/plain"], 415),
        (post, &[HOST, TOKEN], 415),
        ("DELETE /v1/daemon", &[HOST, TOKEN, JSON], 405),
        ("GET /nothing", &[HOST, TOKEN], 404),
        ("GET /v1/daemon", &[HOST, TOKEN], 200),
        ("GET /v1/daemon", &["Host: localhost:[port]", TOKEN], 421),
        (post, &[HOST, TOKEN, JSON], 200),
        (
            post,
            &[HOST, TOKEN, JSON, "Origin: http://127.0.0.1:[port]"],
            200,
        ),
    ] {
        let told = served.loopback(line, headers, if line == post { body } else { "" });
        assert_eq!(told.status, status, "{line} {headers:?}: {told:?}");
        assert!(!told.text.contains(&served.token), "{told:?}");
    }
}

/// A browser that is in: its cookie and its key, as headers.
fn let_in(served: &Served) -> (String, String) {
    let (code, key) = link(served);
    let told = enter(served, &code, &key);
    assert_eq!(told.status, 204, "{told:?}");
    let cookie = told.header("set-cookie").unwrap();
    let cookie = cookie.split(';').next().unwrap();
    (format!("Cookie: {cookie}"), format!("Flagpost-Key: {key}"))
}

/// The code and the key of a new link.
fn link(served: &Served) -> (String, String) {
    let link = served.post("/v1/links", "").json();
    let link = link["url"].as_str().unwrap();
    let path = link.strip_prefix(&served.instance.http).unwrap();
    let (code, key) = path
        .strip_prefix("/login/")
        .unwrap()
        .split_once('#')
        .unwrap();
    (code.to_owned(), key.to_owned())
}

fn enter(served: &Served, code: &str, key: &str) -> Told {
    let key = format!("Flagpost-Key: {key}");
    let body = json!({"code": code}).to_string();
    served.loopback("POST /login", &[HOST, JSON, &key], &body)
}

#[test]
fn a_link_lets_a_browser_in_once() {
    let place = Place::new();
    let served = place.serve();
    let (code, key) = link(&served);
    let line = format!("GET /login/{code}");
    // The page goes on by itself, and using it up is what its script does, not who looks at it.
    for _ in 0..2 {
        let from_a_mail = [HOST, "Sec-Fetch-Site: cross-site"];
        let told = served.loopback(&line, &from_a_mail, "");
        assert_eq!((told.status, told.header("location")), (200, None));
        assert!(told.text.contains("/login/login.js"), "{told:?}");
        let policy = told.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'"), "{policy}");
        assert!(told.header("set-cookie").is_none());
    }
    assert_eq!(enter(&served, &code, "x").status, 404);
    assert_eq!(enter(&served, "x", &key).status, 404);
    let told = enter(&served, &code, &key);
    assert_eq!(told.status, 204, "{told:?}");
    let cookie = told.header("set-cookie").unwrap();
    assert!(
        cookie.ends_with("; path=/; httponly; samesite=strict"),
        "{cookie}"
    );
    assert!(!told.head.contains(&served.token) && !told.head.contains(&key));
    assert_eq!(enter(&served, &code, &key).status, 404);

    let told = served.loopback(&line, &["Host: evil.example"], "");
    assert_eq!(told.status, 421);
    // Another page of this machine sends neither half.
    let body = json!({"code": link(&served).0}).to_string();
    let site = [HOST, JSON, "Flagpost-Key: x", "Sec-Fetch-Site: same-site"];
    assert_eq!(served.loopback("POST /login", &site, &body).status, 403);
    // Nobody makes a link who is not in.
    let told = served.loopback("POST /v1/links", &[HOST, JSON], "");
    assert_eq!(told.status, 401);
    let told = served.loopback("POST /v1/links", &[HOST, TOKEN, JSON], "");
    assert_eq!(told.status, 200);
}

#[test]
fn neither_half_of_a_session_opens_anything_alone() {
    let place = Place::new();
    let served = place.serve();
    let (cookie, key) = let_in(&served);
    let (other, other_key) = let_in(&served);
    let stranger = format!("{}=x", cookie.split('=').next().unwrap());
    let beside = format!("{stranger}; {}", cookie.strip_prefix("Cookie: ").unwrap());
    for (headers, status) in [
        (&[cookie.as_str(), &key][..], 200),
        (&[&other, &other_key], 200),
        (&[&beside, &key], 200),
        (&[&cookie], 401),
        (&[&key], 401),
        (&[&other, &key], 401),
        (&[&stranger, &key], 401),
        (&[&cookie, "Flagpost-Key: [token]"], 401),
    ] {
        let headers: Vec<&str> = [HOST].iter().chain(headers).copied().collect();
        for line in ["GET /v1/daemon", "GET /api/health"] {
            let told = served.loopback(line, &headers, "");
            assert_eq!(told.status, status, "{line} {headers:?}: {told:?}");
        }
        let headers: Vec<&str> = headers.iter().chain(&[JSON]).copied().collect();
        let told = served.loopback("POST /v1/links", &headers, "");
        assert_eq!(told.status, status, "{headers:?}: {told:?}");
    }
    // The cookie alone opens the page, which holds no data, and without it there is another page.
    let told = served.loopback("GET /", &[HOST, &cookie], "");
    assert_eq!(told.status, 200, "{told:?}");
    let (_, app) = told.text.split_once("/app/").unwrap();
    let (version, _) = app.split_once('/').unwrap();
    let file = format!("GET /app/{version}/stream.js");
    let told = served.loopback(&file, &[HOST, &cookie], "");
    assert_eq!(told.status, 200, "{told:?}");
    assert_eq!(
        told.header("content-type"),
        Some("text/javascript; charset=utf-8")
    );
    for path in ["GET /", &file] {
        let told = served.loopback(path, &[HOST, &key], "");
        assert_eq!(told.status, 401, "{told:?}");
        assert!(told.text.contains("is not signed in"), "{told:?}");
    }
    let told = served.loopback("GET /app/none", &[HOST, &cookie], "");
    assert_eq!(told.status, 404, "{told:?}");
}

#[test]
fn sessions_and_the_token_are_gone_with_the_daemon() {
    let place = Place::new();
    let (before, cookie, key) = {
        let served = place.serve();
        let (cookie, key) = let_in(&served);
        (served.token.clone(), cookie, key)
    };
    let served = place.serve();
    let old = format!("Authorization: Bearer {before}");
    for headers in [&[HOST, &old][..], &[HOST, &cookie, &key]] {
        let told = served.loopback("GET /v1/daemon", headers, "");
        assert_eq!(told.status, 401, "{headers:?}: {told:?}");
    }
}

#[test]
fn an_address_of_no_page_is_a_page_for_a_browser_that_is_in() {
    let place = Place::new();
    let served = place.serve();
    let (cookie, _) = let_in(&served);
    let accept = "Accept: text/html,application/xhtml+xml,*/*;q=0.8";
    let below = served.loopback("GET /runs/a/b", &[HOST, &cookie, accept], "");
    assert!(below.text.contains("/main.js"), "{below:?}");
    for path in ["/nothing", "/lists", "/v1/tasks"] {
        let line = format!("GET {path}");
        let told = served.loopback(&line, &[HOST, &cookie, accept], "");
        assert_eq!(told.status, 404, "{path}: {told:?}");
        assert!(told.text.contains("/main.js"), "{path}: {told:?}");
        for headers in [&[HOST, accept][..], &[HOST, &cookie]] {
            let told = served.loopback(&line, headers, "");
            assert_eq!(told.status, 401, "{path}: {told:?}");
        }
    }
}

#[test]
fn a_stream_is_listened_to_with_both_halves() {
    let place = Place::new();
    let served = place.serve();
    let (cookie, key) = let_in(&served);
    for path in ["/v1/events", "/v1/relay/inbox/events", "/api/events"] {
        let line = format!("GET {path}");
        for little in [&cookie, &key] {
            let told = served.loopback(&line, &[HOST, little], "");
            assert_eq!(told.status, 401, "{path}: {told:?}");
        }
        let mut stream = served.tcp();
        let port = served.port();
        let head =
            format!("{line} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{cookie}\r\n{key}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut told = [0; 15];
        stream.read_exact(&mut told).unwrap();
        assert_eq!(&told, b"HTTP/1.1 200 OK", "{path}");
    }
}

#[test]
fn no_answer_is_kept_or_taken_for_something_else() {
    let place = Place::new();
    let served = place.serve();
    for (line, headers, status) in [
        ("GET /v1/daemon", &[HOST, TOKEN][..], 200),
        ("GET /v1/openapi.json", &[HOST, TOKEN], 200),
        ("GET /api/task-lists", &[HOST, TOKEN], 200),
        ("GET /v1/tasks/web/1", &[HOST, TOKEN], 404),
        ("GET /nothing", &[HOST, TOKEN], 404),
        ("PUT /v1/tasks", &[HOST, TOKEN], 405),
        ("POST /v1/tasks", &[HOST, TOKEN], 415),
        ("GET /v1/tasks?x=1", &[HOST, TOKEN], 400),
        ("GET /v1/daemon", &[HOST], 401),
        ("GET /v1/daemon", &["Host: x", TOKEN], 421),
        ("GET /", &[HOST], 401),
        ("GET /login/x", &[HOST], 200),
        ("GET /login/key.js", &[HOST], 200),
    ] {
        let told = served.loopback(line, headers, "");
        assert_eq!(told.status, status, "{line}: {told:?}");
        assert_eq!(told.header("cache-control"), Some("no-store"), "{line}");
        let kind = told.header("x-content-type-options");
        assert_eq!(kind, Some("nosniff"), "{line}");
    }
    let told = served.get("/v1/daemon");
    assert_eq!(told.header("cache-control"), Some("no-store"));
}

#[test]
fn what_is_not_understood_says_so() {
    let place = Place::new();
    let served = place.serve();
    let post = |coding: &str| {
        let headers = [HOST, TOKEN, JSON, coding];
        served.loopback("POST /v1/links", &headers, "{}")
    };
    for coding in ["gzip", "identity, gzip", "x", ""] {
        let told = post(&format!("Content-Encoding: {coding}"));
        assert_eq!(told.status, 415, "{coding}: {told:?}");
        assert_eq!(told.header("accept-encoding"), Some("identity"));
    }
    assert_eq!(post("Content-Encoding: Identity").status, 200);
    // Whatever else is wrong with them: there is no such way to ask.
    for (line, allowed) in [
        ("DELETE /v1/daemon", "get,head"),
        ("TRACE /v1/daemon", "get,head"),
        ("QUERY /v1/tasks", "get,head,post"),
        ("POST /v1/daemon", "get,head"),
        ("GET /v1/links", "post"),
        ("PUT /v1/tasks/web/1/done", "post"),
        ("PATCH /login", "post"),
        ("POST /", "get,head"),
    ] {
        let told = served.loopback(line, &[HOST, TOKEN], "");
        assert_eq!(told.status, 405, "{line}: {told:?}");
        assert_eq!(told.header("allow"), Some(allowed), "{line}");
    }
}

#[test]
fn strangers_keep_nobody_out_who_shows_the_token() {
    let place = Place::new();
    let served = place.serve();
    let mut known = served.tcp();
    let port = served.port();
    let token = &served.token;
    let request = format!(
        "GET /v1/daemon HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    let ask = |stream: &mut TcpStream| {
        stream.write_all(request.as_bytes()).unwrap();
        let mut head = [0; 15];
        stream.read_exact(&mut head).unwrap();
        assert_eq!(&head, b"HTTP/1.1 200 OK");
    };
    ask(&mut known);
    let strangers: Vec<TcpStream> = (0..300).map(|_| served.tcp()).collect();
    assert_eq!(served.get("/api/health").status, 200);
    ask(&mut served.tcp());
    // Who has shown it stays.
    thread::sleep(Duration::from_millis(200));
    known.set_nonblocking(true).unwrap();
    let mut rest = Vec::new();
    let open = known.read_to_end(&mut rest).unwrap_err();
    assert_eq!(open.kind(), ErrorKind::WouldBlock);
    // Who was refused is let go.
    let mut refused = served.tcp();
    let head = format!("GET /v1/daemon HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    refused.write_all(head.as_bytes()).unwrap();
    let mut told = String::new();
    refused.read_to_string(&mut told).unwrap();
    assert!(told.starts_with("HTTP/1.1 401"), "{told}");
    drop(strangers);
}

#[test]
fn signing_out_ends_every_browser_and_what_it_listens_to() {
    let place = Place::new();
    let served = place.serve();
    let (cookie, key) = let_in(&served);
    let _other = let_in(&served);
    let (unused, unused_key) = link(&served);
    let mut stream = served.tcp();
    let port = served.port();
    let request =
        format!("GET /v1/events HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n{cookie}\r\n{key}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut heard = [0; 12];
    stream.read_exact(&mut heard).unwrap();
    assert_eq!(&heard, b"HTTP/1.0 200");

    let told = served.post("/v1/sign-out", "");
    assert_eq!(told.json()["browsers"], 2, "{told:?}");
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    for line in [
        "GET /v1/workers",
        "GET /v1/events",
        "GET /",
        "GET /lists/web",
    ] {
        let told = served.loopback(line, &[HOST, &cookie, &key], "");
        assert_eq!(told.status, 401, "{line}: {told:?}");
    }
    assert_eq!(enter(&served, &unused, &unused_key).status, 404);
    assert_eq!(served.post("/v1/sign-out", "").json()["browsers"], 0);
    // A program's token is no browser's session.
    let told = served.loopback("GET /v1/workers", &[HOST, TOKEN], "");
    assert_eq!(told.status, 200, "{told:?}");
}

#[test]
fn the_boards_files_are_kept_by_their_version_and_its_page_is_asked_for_each_time() {
    let place = Place::new();
    let served = place.serve();
    let (cookie, _) = let_in(&served);
    let page = served.loopback("GET /", &[HOST, &cookie], "");
    assert_eq!(page.header("cache-control"), Some("no-cache"));
    for at in [
        "/lists/web",
        "/lists/web/tasks/7",
        "/inbox/W1/3",
        "/runs/20261122-140200",
    ] {
        let told = served.loopback(&format!("GET {at}"), &[HOST, &cookie], "");
        assert_eq!((told.status, &told.text), (200, &page.text), "{at}");
        let told = served.loopback(&format!("GET {at}"), &[HOST], "");
        assert_eq!(told.status, 401, "{at}");
        assert!(told.text.contains("flagpost board"), "{told:?}");
    }
    let (_, file) = page.text.split_once("src=\"").unwrap();
    let (file, _) = file.split_once('"').unwrap();
    let told = served.loopback(&format!("GET {file}"), &[HOST, &cookie], "");
    assert_eq!(told.status, 200, "{file}: {told:?}");
    assert!(told.header("cache-control").unwrap().contains("immutable"));
    let mut of_another: Vec<&str> = file.split('/').collect();
    of_another[2] = "0123456789abcdef";
    let of_another = of_another.join("/");
    let told = served.loopback(&format!("GET {of_another}"), &[HOST, &cookie], "");
    assert_eq!(told.status, 404, "{of_another}");
}
