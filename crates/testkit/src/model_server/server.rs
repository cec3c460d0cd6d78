//! The server's thread: HTTP in, HTTP out.
//!
//! Owns the runtime and the connections. It ends when it is told to, and waits for nobody longer than
//! [`GRACE`].

use std::{
    convert::Infallible,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::Request as Incoming,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{
    Api, Play, Request, SIDE, Step, anthropic, chat, gemini, pack::unpacked, responses,
    step::ModelAnswer,
};

/// How long a step that is being made may keep the server from ending.
const GRACE: Duration = Duration::from_secs(2);

/// More than any client sends.
const LARGEST: usize = 64 << 20;

/// Listens, and answers on a thread of its own until it is told to stop.
pub(super) fn start(
    play: Arc<Play>,
    stopped: oneshot::Receiver<()>,
) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port of loopback is free");
    listener
        .set_nonblocking(true)
        .expect("a socket need not block");
    let address = listener.local_addr().expect("a socket has an address");
    let thread = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime can be made");
        runtime.block_on(async move {
            let listener =
                tokio::net::TcpListener::from_std(listener).expect("the runtime takes a socket");
            let routes =
                Router::new().fallback(move |incoming| answer(Arc::clone(&play), incoming));
            tokio::select! {
                served = axum::serve(listener, routes) => served.expect("a server serves"),
                _ = stopped => {}
            }
        });
        runtime.shutdown_timeout(GRACE);
    });
    (address, thread)
}

async fn answer(play: Arc<Play>, incoming: Incoming) -> Result<Response, Infallible> {
    let request = read(incoming).await;
    Ok(match play.take(&request) {
        Some(step) => perform(step, request).await,
        None => aside(&request),
    })
}

async fn read(incoming: Incoming) -> Request {
    let (head, body) = incoming.into_parts();
    let headers = head.headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes());
        (name.as_str().to_owned(), value.into_owned())
    });
    let encoding = head.headers.get(header::CONTENT_ENCODING);
    let encoding = encoding.and_then(|value| value.to_str().ok());
    let body: Bytes = to_bytes(body, LARGEST).await.unwrap_or_default();
    let body = serde_json::from_slice(&unpacked(encoding, &body)).unwrap_or(Value::Null);
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    Request::new(head.method.as_str(), path, headers.collect(), body)
}

/// Plays a step; one that makes another is followed by that.
async fn perform(mut step: Step, request: Request) -> Response {
    loop {
        tokio::time::sleep(step.after).await;
        let ModelAnswer::By(make) = step.answer else {
            break;
        };
        let asked = request.clone();
        // It may wait for a file or a process, and others must be heard meanwhile.
        let made = tokio::task::spawn_blocking(move || make(&asked)).await;
        step = made.unwrap_or_else(|error| {
            Step::status(
                400,
                json!({"error": {"message": format!("the step: {error}")}}),
            )
        });
    }
    let mut response = match &step.answer {
        ModelAnswer::Text(text) => said(&request, text, &[]),
        ModelAnswer::Calls(text, calls) => said(&request, text, calls),
        ModelAnswer::Status(status, body) => {
            let status = StatusCode::from_u16(*status).expect("a status of HTTP");
            plain(status, "application/json", body.to_string())
        }
        ModelAnswer::Cut => cut(),
        ModelAnswer::Hang | ModelAnswer::By(_) => std::future::pending().await,
    };
    for (name, value) in &step.headers {
        let name = HeaderName::try_from(name.as_str()).expect("a header's name");
        let value = HeaderValue::try_from(value.as_str()).expect("a header's value");
        response.headers_mut().insert(name, value);
    }
    response
}

/// The answer to what is no turn.
fn aside(request: &Request) -> Response {
    let path = request.path.split('?').next().unwrap_or_default();
    match request.api {
        Some(Api::Gemini) => said(request, &gemini::side(request), &[]),
        Some(_) => said(request, SIDE, &[]),
        None if request.method == "HEAD" => plain(StatusCode::OK, "text/plain", String::new()),
        None if path.ends_with("/count_tokens") => object(&json!({"input_tokens": super::INPUT})),
        None if path.ends_with(":countTokens") => object(&json!({"totalTokens": super::INPUT})),
        None if path.ends_with("/models") => object(&json!({"object": "list", "data": []})),
        None => {
            let body = json!({"error": {"message": "nothing is here"}}).to_string();
            plain(StatusCode::NOT_FOUND, "application/json", body)
        }
    }
}

/// Words and calls, in the API that was asked and as a stream where one was asked for.
fn said(request: &Request, text: &str, calls: &[super::Call]) -> Response {
    let streams = request.body["stream"] == json!(true);
    match request.api {
        Some(Api::Anthropic) if streams => events(anthropic::stream(text, calls)),
        Some(Api::Anthropic) => object(&anthropic::message(text, calls)),
        Some(Api::Responses) => events(responses::stream(text, calls)),
        Some(Api::Chat) if streams => events(chat::stream(text, calls)),
        Some(Api::Chat) => object(&chat::completion(text, calls)),
        Some(Api::Gemini) if request.path.contains("alt=sse") => {
            events(format!("data: {}\n\n", gemini::content(text, calls)))
        }
        Some(Api::Gemini) => object(&gemini::content(text, calls)),
        None => plain(StatusCode::NOT_FOUND, "text/plain", String::new()),
    }
}

fn events(stream: String) -> Response {
    let mut response = plain(StatusCode::OK, "text/event-stream", stream);
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}

fn object(value: &Value) -> Response {
    plain(StatusCode::OK, "application/json", value.to_string())
}

fn plain(status: StatusCode, kind: &'static str, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// A body that promises more than comes: the connection breaks.
fn cut() -> Response {
    let mut response = plain(StatusCode::OK, "text/event-stream", String::new());
    let promised = HeaderValue::from_static("1000");
    response
        .headers_mut()
        .insert(header::CONTENT_LENGTH, promised);
    response
}

/// Events as they are written, each with its name.
pub(super) fn named_events(events: &[(&str, Value)]) -> String {
    let line = |(name, data): &(&str, Value)| format!("event: {name}\ndata: {data}\n\n");
    events.iter().map(line).collect()
}
