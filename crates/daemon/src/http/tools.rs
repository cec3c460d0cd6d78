//! Agents' tools, `/mcp`: the Model Context Protocol for whoever shows a worker's token.
//!
//! Owns who it is that comes: the token says which worker, and nothing else does, at neither door. A token that
//! is not one, or no more, opens nothing, and neither does the daemon's own.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};
use flagpost_mcp::{AgentSeat, Watched};
use tracing::{debug, warn};

use super::{
    Shared,
    answer::HttpError,
    auth::{self, AuthRefusal, Guard},
    router::{aside, object, received},
};
use crate::strangers::Visitor;

/// Answers a request of an agent.
pub(crate) async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let seat = match seat(&shared, request.headers()).await {
        Ok(seat) => seat,
        Err(fault) => {
            let close = HeaderValue::from_static("close");
            return ([(header::CONNECTION, close)], fault).into_response();
        }
    };
    if let Some(visitor) = request.extensions().get::<Visitor>() {
        visitor.welcome();
    }
    let request = match whole(request).await {
        Ok(request) => request,
        Err(fault) => return fault.into_response(),
    };
    let watched = Watched::new(shared.hub.looks(), shared.ended.clone());
    flagpost_mcp::answer(seat, env!("CARGO_PKG_VERSION"), watched, request).await
}

/// The request once it has come: a JSON object that can be read in one way.
async fn whole(request: Request) -> Result<Request, HttpError> {
    Guard::takes(request.headers())?;
    let mut whole = Request::new(Body::empty());
    *whole.method_mut() = request.method().clone();
    *whole.headers_mut() = request.headers().clone();
    let bytes = received(request).await?;
    object(&bytes)?;
    *whole.body_mut() = bytes.into();
    Ok(whole)
}

/// The seat of the worker that comes.
async fn seat(shared: &Arc<Shared>, headers: &HeaderMap) -> Result<AgentSeat, HttpError> {
    let (shared, shown) = (Arc::clone(shared), auth::bearer(headers).map(str::to_owned));
    aside(move || {
        let token = shown.ok_or(AuthRefusal::Worker)?;
        let (home, user) = (shared.home.clone(), shared.actor.clone());
        let seat = AgentSeat::of_token(home, &token, user).unwrap_or_else(|error| {
            // What lies in the home is nothing for whoever is not in.
            warn!(%error, "a worker's token could not be held against anything");
            None
        });
        let seat = seat.ok_or(AuthRefusal::Worker);
        Ok(seat.inspect_err(|refusal| debug!(%refusal, "turned away"))?)
    })
    .await
}
