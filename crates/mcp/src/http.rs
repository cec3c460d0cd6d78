//! The tools over HTTP: a request, an answer, and nothing in between.
//!
//! Owns which way of the protocol's streamable HTTP is taken: no session, an answer in JSON. Who may come
//! in, and as which worker, was seen to before.

use std::sync::Arc;

use axum::{
    body::Body,
    http::{Request, Response, StatusCode},
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};

use crate::{seat::AgentSeat, server::ToolServer, watched::Watched};

/// Answers a request of the agent in this seat.
pub async fn answer(
    seat: AgentSeat,
    version: &'static str,
    watched: Watched,
    request: Request<Body>,
) -> Response<Body> {
    let server = ToolServer::new(&Arc::new(seat), version).beside_others(watched);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        // The door has looked at it, and at the origin.
        .disable_allowed_hosts();
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    let mut response = service.handle(request).await.map(Body::new);
    if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        // It is JSON, as the door has seen, and no message of the protocol.
        *response.status_mut() = StatusCode::BAD_REQUEST;
    }
    response
}
