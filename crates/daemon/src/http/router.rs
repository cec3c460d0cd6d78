//! From a request to the work of its route, and back.
//!
//! Owns the one way that every request takes: through its door, against its description, to a thread
//! where the operation may wait for locks and disks, and out as an answer.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::{Bytes, to_bytes},
    extract::{Query, RawPathParams, Request, State, rejection::RawPathParamsRejection},
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{MethodFilter, on, post},
};
use flagpost_core::{
    answers,
    operations::{Arguments, EntryOutcome, Operation, OperationEntry},
};
use jiff::SignedDuration;
use serde_json::{Map, Value, json};
use tokio::time::timeout;
use tracing::debug;

use super::{
    Shared,
    answer::{HttpError, json_answer},
    asked::{self, Parts},
    auth::{self, AuthRefusal, Door, Guard, RequiredAuth, Shown, TOOLS},
    pages,
    route::{ParamLocation, RequestContext, Route, RouteFn, RouteHandler, Verb, WAIT, Whose},
    routes, tools,
};
use crate::{events::ended_by, strangers::Visitor};

/// The most that may be sent with a request: 2 MiB.
const LARGEST: usize = 2 << 20;
/// As long as one may wait for something.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// How often to look all the same.
const RECHECK: Duration = Duration::from_secs(1);
/// So long it may take to come.
const PATIENCE: Duration = Duration::from_secs(30);

/// Every route, open to whoever gets here.
pub(crate) fn router(shared: &Arc<Shared>) -> Router {
    let mut router = Router::new();
    for route in routes::all() {
        let filter = match route.verb {
            Verb::Get => MethodFilter::GET,
            Verb::Post => MethodFilter::POST,
        };
        let serve = move |State(shared): State<Arc<Shared>>,
                          path: Result<RawPathParams, RawPathParamsRejection>,
                          request: Request| async move {
            respond(route, serve(shared, route, path.ok(), request).await)
        };
        if is_kanban(route) {
            router = router.route(&format!("{}/", route.path), on(filter, serve));
            router = router.route(route.path, on(MethodFilter::OPTIONS, options));
        }
        router = router.route(route.path, on(filter, serve));
    }
    router
        .route(TOOLS, post(tools::answer))
        .fallback(
            async |headers: HeaderMap, uri: Uri| match auth::shows_pages(&headers) {
                true => pages::nowhere(),
                false => HttpError::no_route(uri.path()).into_response(),
            },
        )
        .method_not_allowed_fallback(async || HttpError::no_method())
        .with_state(Arc::clone(shared))
}

/// What the clients of the Kanban bus may ask in, before they ask.
async fn options() -> Response {
    (StatusCode::NO_CONTENT, [(header::ALLOW, "GET")]).into_response()
}

/// Whether the route is shaped as the clients of the Kanban bus expect it.
fn is_kanban(route: &Route) -> bool {
    matches!(
        route.work,
        RouteHandler::Foreign(..) | RouteHandler::Stream(Whose::Kanban, _)
    )
}

/// The same for those who came in by this door.
pub(crate) fn guarded(app: &Router, shared: &Arc<Shared>, door: Door) -> Router {
    let app = match door {
        // The system let in nobody but us.
        Door::Socket => app.clone(),
        Door::Loopback => app
            .clone()
            .layer(middleware::from_fn_with_state(Arc::clone(shared), admit)),
    };
    app.layer(middleware::map_response(unkept))
}

async fn admit(State(shared): State<Arc<Shared>>, mut request: Request, next: Next) -> Response {
    let (method, path) = (request.method(), request.uri().path());
    let now = Instant::now();
    let admitted = shared.guard.admit(method, path, request.headers(), now);
    match admitted {
        Ok(shown) => {
            if shown != Shown::Little
                && let Some(visitor) = request.extensions().get::<Visitor>()
            {
                visitor.welcome();
            }
            request.extensions_mut().insert(Door::Loopback);
            let signing_out = shared.guard.signing_out();
            let response = next.run(request).await;
            match shown {
                Shown::Session => response.map(|body| ended_by(body, signing_out)),
                Shown::Little | Shown::Token => response,
            }
        }
        Err(refusal) => {
            debug!(%refusal, path, "turned away");
            let mut told = match (refusal, RequiredAuth::of(method, path)) {
                (AuthRefusal::Token, RequiredAuth::Cookie) => pages::refused(),
                (AuthRefusal::Token, _)
                    if shared.guard.is_visited(method, request.headers(), now) =>
                {
                    pages::nowhere()
                }
                _ => HttpError::from(refusal).into_response(),
            };
            let close = HeaderValue::from_static("close");
            told.headers_mut().insert(header::CONNECTION, close);
            told
        }
    }
}

/// No answer is kept by whoever hears it, but for files that say so; and none is taken for something else
/// than it says.
async fn unkept(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let no_sniff = HeaderValue::from_static("nosniff");
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, no_sniff);
    let kept = headers.entry(header::CACHE_CONTROL);
    kept.or_insert(HeaderValue::from_static("no-store"));
    response
}

fn respond(route: &Route, worked: Result<Response, HttpError>) -> Response {
    match (worked, route.work) {
        (Ok(response), _) => response,
        (Err(fault), RouteHandler::Foreign(..) | RouteHandler::Stream(Whose::Kanban, _)) => {
            fault.into_kanban()
        }
        (
            Err(fault),
            RouteHandler::Entry(_)
            | RouteHandler::Own(..)
            | RouteHandler::Page(_)
            | RouteHandler::Stream(Whose::Ours, _),
        ) => fault.into_response(),
    }
}

async fn serve(
    shared: Arc<Shared>,
    route: &'static Route,
    path: Option<RawPathParams>,
    request: Request,
) -> Result<Response, HttpError> {
    let path = path.ok_or_else(|| HttpError::usage("the path is no UTF-8"))?;
    let path = path.iter().map(|(a, b)| (a.to_owned(), b.to_owned()));
    let path = path.collect();
    let query: Query<Vec<(String, String)>> =
        Query::try_from_uri(request.uri()).map_err(|error| HttpError::usage(error.body_text()))?;
    let parameters = route.parameters();
    let headers = parameters
        .iter()
        .filter(|(place, _)| *place == ParamLocation::Header);
    let headers = headers.flat_map(|(_, it)| {
        let said = request.headers().get_all(it.name).iter();
        said.map(|value| (it.name.to_owned(), value.to_str().unwrap_or("?").to_owned()))
    });
    let headers = headers.collect();
    let body = match route.verb {
        Verb::Post => sent(request).await?,
        Verb::Get => Map::new(),
    };
    let mut query = query.0;
    if is_kanban(route) {
        // Its clients say more than they mean, such as the time against caches.
        query.retain(|(name, _)| parameters.iter().any(|(_, it)| it.name == name));
    }
    let parts = Parts {
        path,
        query,
        headers,
        body,
    };
    let arguments = Arc::new(asked::read(route, parts)?);
    match route.work {
        RouteHandler::Entry(entry) => wait_for(shared, arguments, entry).await,
        RouteHandler::Own(name, act) => {
            let body = carry_out(shared, arguments, route.operation, act).await?;
            Ok(json_answer(&answers::with_schema(name, body)))
        }
        RouteHandler::Foreign(_, act) => Ok(json_answer(
            &carry_out(shared, arguments, route.operation, act).await?,
        )),
        RouteHandler::Page(act) | RouteHandler::Stream(_, act) => {
            carry_out(shared, arguments, route.operation, act).await
        }
    }
}

/// Carries the work of a route out that is none of the table's.
async fn carry_out<T: Send + 'static>(
    shared: Arc<Shared>,
    arguments: Arc<Arguments>,
    operation: Operation,
    act: RouteFn<T>,
) -> Result<T, HttpError> {
    aside(move || {
        let caller = asked::caller(&shared, &arguments)?;
        caller.admit(operation)?;
        let shared = &*shared;
        act(&RequestContext { shared, caller }, &arguments)
    })
    .await
}

/// Works where one may wait for locks and disks.
pub(super) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, HttpError> + Send + 'static,
) -> Result<T, HttpError> {
    let worked = tokio::task::spawn_blocking(work).await;
    worked.map_err(|_| HttpError::broken("this operation panicked"))?
}

/// Carries an operation out; where there is nothing yet, again whenever something has changed, until
/// there is something, the time is over or the daemon ends. Nothing is held up meanwhile: between two
/// looks it is no operation.
async fn wait_for(
    shared: Arc<Shared>,
    arguments: Arc<Arguments>,
    entry: &'static OperationEntry,
) -> Result<Response, HttpError> {
    let wait: Option<SignedDuration> = arguments.parsed(WAIT.name)?;
    let wait = wait.unwrap_or_default();
    if wait.is_negative() {
        return Err(HttpError::invalid("wait must be a time, as in 30s"));
    }
    let until = Instant::now() + wait.unsigned_abs().min(LONGEST_WAIT);
    let (mut looks, mut ended) = (shared.hub.looks(), shared.ended.clone());
    loop {
        looks.mark_unchanged();
        let (shared, arguments) = (Arc::clone(&shared), Arc::clone(&arguments));
        let look = aside(move || {
            let caller = asked::caller(&shared, &arguments)?;
            Ok(entry.carry_out(&caller, &arguments)?)
        });
        let none = match look.await? {
            EntryOutcome::Answer(answer) | EntryOutcome::Kept(answer) => {
                return Ok(json_answer(&answer));
            }
            EntryOutcome::Nothing(none) => none,
        };
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || *ended.borrow() {
            let body = json!({"waited": !wait.is_zero()});
            return Ok(json_answer(&answers::with_schema(none, body)));
        }
        tokio::select! {
            // A lease ends without a notice.
            _ = timeout(left.min(RECHECK), looks.changed()) => {}
            _ = ended.wait_for(|it| *it) => {}
        }
    }
}

/// The JSON object that was sent; nothing counts as an empty one.
async fn sent(request: Request) -> Result<Map<String, Value>, HttpError> {
    if request.extensions().get() == Some(&Door::Loopback) {
        Guard::takes(request.headers())?;
    }
    let bytes = received(request).await?;
    if bytes.is_empty() {
        return Ok(Map::new());
    }
    object(&bytes)
}

/// The JSON object that these bytes are.
pub(super) fn object(bytes: &[u8]) -> Result<Map<String, Value>, HttpError> {
    let object = serde_json::from_slice(bytes)
        .map_err(|error| HttpError::usage(format!("what was sent is no JSON object: {error}")))?;
    let once = flagpost_disk::json::each_key_once(bytes);
    once.map_err(|error| {
        HttpError::usage(format!("what was sent can be read in two ways: {error}"))
    })?;
    Ok(object)
}

/// The bytes that were sent, as many as are taken, in the time that they may take.
pub(super) async fn received(request: Request) -> Result<Bytes, HttpError> {
    let mut codings = request.headers().get_all(header::CONTENT_ENCODING).iter();
    if codings.any(|it| !it.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(HttpError::coded());
    }
    let bytes = timeout(PATIENCE, to_bytes(request.into_body(), LARGEST)).await;
    let bytes = bytes.map_err(|_| HttpError::too_slow())?;
    bytes.map_err(|_| HttpError::too_large(LARGEST))
}
