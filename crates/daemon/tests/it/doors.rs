//! Who comes in over the loopback, and who does not.

use crate::served::Place;

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
        ("GET /v1/daemon", &["Host: localhost:[port]", TOKEN], 200),
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

#[test]
fn a_link_lets_a_browser_in_once() {
    let place = Place::new();
    let served = place.serve();
    let link = served.post("/v1/links", "").json();
    let link = link["url"].as_str().unwrap();
    let path = link.strip_prefix(&served.instance.http).unwrap();
    let line = format!("GET {path}");
    let told = served.loopback(&line, &[HOST, "Sec-Fetch-Site: none"], "");
    assert_eq!(
        (told.status, told.header("location")),
        (303, Some("/")),
        "{told:?}"
    );
    let cookie = told.header("set-cookie").unwrap();
    assert!(cookie.contains("httponly; samesite=strict"), "{cookie}");
    let cookie = format!("Cookie: {}", cookie.split(';').next().unwrap());
    let told = served.loopback("GET /v1/daemon", &[HOST, &cookie], "");
    assert_eq!(told.status, 200, "{told:?}");

    assert_eq!(served.loopback(&line, &[HOST], "").status, 410);
    assert_eq!(served.loopback("GET /login/x", &[HOST], "").status, 410);
    assert_eq!(
        served.loopback(&line, &["Host: evil.example"], "").status,
        421
    );
    // Nobody makes one who is not in.
    assert_eq!(
        served.loopback("POST /v1/links", &[HOST, JSON], "").status,
        401
    );
    assert_eq!(
        served
            .loopback("POST /v1/links", &[HOST, TOKEN, JSON], "")
            .status,
        200
    );
}
