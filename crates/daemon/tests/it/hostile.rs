//! Whatever is sent, the daemon answers the next one.

use std::{
    io::{Read, Write},
    thread,
};

use crate::served::{Place, Served, exchange};

fn still_there(served: &Served) {
    let told = served.get("/api/health");
    assert_eq!(told.status, 200, "{told:?}");
}

#[test]
fn bodies_of_any_size_and_kind() {
    let place = Place::new();
    let served = place.serve();
    let path = "/v1/controller/dispatch";
    let large = format!(r#"{{"command":"{}"}}"#, "x".repeat(10 << 20));
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    for (body, status) in [
        (large.as_str(), 413),
        (deep.as_str(), 400),
        ("{", 400),
        ("[]", 400),
        ("null", 400),
        ("\"x\"", 400),
        ("", 400),
        ("{\"command\": 7}", 422),
        ("{\"command\": \"\\ud800\"}", 400),
        ("{\"command\": \"/inbox\", \"command\": 1}", 400),
        ("{\"command\": \"/inbox\"} x", 400),
        ("\u{feff}{}", 400),
    ] {
        let told = served.post(path, body);
        let shown: String = body.chars().take(40).collect();
        // What is too large may be cut off before the answer is heard.
        let cut = told.status == 0 && body.len() > 1 << 20;
        assert!(told.status == status || cut, "{shown}: {told:?}");
    }
    still_there(&served);
}

#[test]
fn a_key_that_is_sent_twice_is_refused() {
    let place = Place::new();
    let served = place.serve();
    for body in [
        r#"{"subject":"seen","subject":"done"}"#,
        r#"{"subject":"seen","metadata":{"a":1,"b":{"c":1,"c":2}}}"#,
        r#"{"subject":"seen","sub\u006aect":"done"}"#,
    ] {
        let told = served.post("/v1/tasks", body);
        assert_eq!(told.status, 400, "{body}: {told:?}");
        assert!(told.text.contains("twice"), "{body}: {told:?}");
    }
    still_there(&served);
}

#[test]
fn requests_that_are_none() {
    let place = Place::new();
    let served = place.serve();
    for bytes in [
        &b"\0\0\0\0\r\n\r\n"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /v1/tasks/%ff/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET /v1/tasks?list=%ff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET /v1/daemon HTTP/1.1\r\nHost: x\r\nHost: y\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST /v1/links HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let told = exchange(served.socket(), bytes);
        assert!(told.status < 500, "{}: {told:?}", String::from_utf8_lossy(bytes));
    }
    let long = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(1 << 20));
    let told = exchange(served.socket(), long.as_bytes());
    assert!(told.status < 500, "{told:?}");
    still_there(&served);
}

#[test]
fn clients_that_go_away_in_the_middle() {
    let place = Place::new();
    let served = place.serve();
    for cut in [
        &b"GET /v1/his"[..],
        b"POST /v1/controller/dispatch HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
        b"GET /v1/history HTTP/1.1\r\nHost: x\r\n\r\n",
    ] {
        for _ in 0..20 {
            let mut stream = served.socket();
            stream.write_all(cut).unwrap();
        }
    }
    still_there(&served);
}

/// As many as this machine lets one process open.
#[test]
fn a_thousand_connections() {
    let place = Place::new();
    let served = place.serve();
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    // Both ends are ours here.
    let most = files
        .map_or(1_000, |files| files.saturating_sub(200) / 2)
        .min(1_000);
    println!("{most} connections");
    let request = b"GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut streams: Vec<_> = (0..most).map(|_| served.socket()).collect();
    for stream in &mut streams {
        stream.write_all(request).unwrap();
    }
    let mut answered = 0;
    for stream in &mut streams {
        let mut head = [0; 15];
        stream.read_exact(&mut head).unwrap();
        answered += u64::from(head.starts_with(b"HTTP/1.1 200"));
    }
    assert_eq!(answered, most);
    still_there(&served);
}

#[test]
fn many_at_once() {
    let place = Place::new();
    let served = place.serve();
    thread::scope(|scope| {
        for n in 0..16 {
            let served = &served;
            scope.spawn(move || {
                for path in [
                    "/v1/history",
                    "/v1/tasks",
                    "/v1/workers",
                    "/v1/openapi.json",
                ] {
                    let told = served.get(path);
                    assert!(
                        told.status == 200 || told.status == 404,
                        "{n} {path}: {told:?}"
                    );
                }
            });
        }
    });
}
