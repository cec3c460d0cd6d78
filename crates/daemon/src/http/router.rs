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
    body::{Body, to_bytes},
    extract::{Query, RawPathParams, Request, State, rejection::RawPathParamsRejection},
    http::Uri,
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{MethodFilter, on},
};
use flagpost_core::shape;
use jiff::SignedDuration;
use serde_json::{Map, Value, json};
use tokio::time::timeout;
use tracing::debug;

use super::{
    Shared,
    answer::{Fault, json_answer},
    asked::{Asked, Parts},
    auth::Door,
    desk::Desk,
    route::{Act, Place, Route, Verb, WAIT, Whose, Work},
    routes,
};

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
            told(route, serve(shared, route, path.ok(), request).await)
        };
        router = router.route(route.path, on(filter, serve));
    }
    router
        .fallback(async |uri: Uri| Fault::no_route(uri.path()))
        .method_not_allowed_fallback(async || Fault::no_method())
        .with_state(Arc::clone(shared))
}

/// The same for those who came in by this door.
pub(crate) fn guarded(app: &Router, shared: &Arc<Shared>, door: Door) -> Router {
    match door {
        // The system let in nobody but us.
        Door::Socket => app.clone(),
        Door::Loopback => app
            .clone()
            .layer(middleware::from_fn_with_state(Arc::clone(shared), admit)),
    }
}

async fn admit(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let admitted = shared
        .guard
        .admit(request.method(), request.uri().path(), request.headers());
    match admitted {
        Ok(()) => next.run(request).await,
        Err(refusal) => {
            debug!(%refusal, path = request.uri().path(), "turned away");
            Fault::from(refusal).into_response()
        }
    }
}

fn told(route: &Route, worked: Result<Response, Fault>) -> Response {
    match (worked, route.work) {
        (Ok(response), _) => response,
        (Err(fault), Work::Foreign(..) | Work::Stream(Whose::Kanban, _)) => fault.into_kanban(),
        (
            Err(fault),
            Work::Answer(..) | Work::Awaited(..) | Work::Page(_) | Work::Stream(Whose::Ours, _),
        ) => fault.into_response(),
    }
}

async fn serve(
    shared: Arc<Shared>,
    route: &'static Route,
    path: Option<RawPathParams>,
    request: Request,
) -> Result<Response, Fault> {
    let path = path.ok_or_else(|| Fault::usage("the path is no UTF-8"))?;
    let path = path.iter().map(|(a, b)| (a.to_owned(), b.to_owned()));
    let path = path.collect();
    let query: Query<Vec<(String, String)>> =
        Query::try_from_uri(request.uri()).map_err(|error| Fault::usage(error.body_text()))?;
    let headers = route.params.iter().filter(|it| it.place == Place::Header);
    let headers = headers.flat_map(|it| {
        let said = request.headers().get_all(it.name).iter();
        said.map(|value| (it.name.to_owned(), value.to_str().unwrap_or("?").to_owned()))
    });
    let headers = headers.collect();
    let body = match route.verb {
        Verb::Post => sent(request.into_body()).await?,
        Verb::Get => Map::new(),
    };
    let query = query.0;
    let asked = Arc::new(Asked::read(
        route.params,
        Parts {
            path,
            query,
            headers,
            body,
        },
    )?);
    match route.work {
        Work::Answer(name, act) => {
            let body = carry_out(shared, asked, act).await?;
            Ok(json_answer(&shape::answer(name, body)))
        }
        Work::Awaited(names, act) => wait_for(shared, asked, names, act).await,
        Work::Foreign(_, act) => Ok(json_answer(&carry_out(shared, asked, act).await?)),
        Work::Page(act) | Work::Stream(_, act) => carry_out(shared, asked, act).await,
    }
}

/// Carries a route's work out where it may wait for locks and disks.
async fn carry_out<T: Send + 'static>(
    shared: Arc<Shared>,
    asked: Arc<Asked>,
    act: Act<T>,
) -> Result<T, Fault> {
    let work = move || act(&Desk::new(&shared, &asked), &asked);
    let worked = tokio::task::spawn_blocking(work).await;
    worked.map_err(|_| Fault::broken("this operation panicked"))?
}

/// Does the same again whenever something has changed, until there is something, the time is over or
/// the daemon ends. Nothing is held up meanwhile: between two looks it is no operation.
async fn wait_for(
    shared: Arc<Shared>,
    asked: Arc<Asked>,
    [found, none]: [&'static str; 2],
    act: Act<Option<Value>>,
) -> Result<Response, Fault> {
    let wait: Option<SignedDuration> = asked.parsed(WAIT.name)?;
    let wait = wait.unwrap_or_default();
    if wait.is_negative() {
        return Err(Fault::invalid("wait must be a time, as in 30s"));
    }
    let until = Instant::now() + wait.unsigned_abs().min(LONGEST_WAIT);
    let (mut looks, mut ended) = (shared.hub.looks(), shared.ended.clone());
    loop {
        looks.mark_unchanged();
        let there = carry_out(Arc::clone(&shared), Arc::clone(&asked), act).await?;
        if let Some(body) = there {
            return Ok(json_answer(&shape::answer(found, body)));
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || *ended.borrow() {
            let body = json!({"waited": !wait.is_zero()});
            return Ok(json_answer(&shape::answer(none, body)));
        }
        tokio::select! {
            // A lease ends without a notice.
            _ = timeout(left.min(RECHECK), looks.changed()) => {}
            _ = ended.wait_for(|it| *it) => {}
        }
    }
}

/// The JSON object that was sent; nothing counts as an empty one.
async fn sent(body: Body) -> Result<Map<String, Value>, Fault> {
    let bytes = timeout(PATIENCE, to_bytes(body, LARGEST)).await;
    let bytes = bytes.map_err(|_| Fault::too_slow())?;
    let bytes = bytes.map_err(|_| Fault::too_large(LARGEST))?;
    if bytes.is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_slice(&bytes)
        .map_err(|error| Fault::usage(format!("what was sent is no JSON object: {error}")))
}
