//! What is answered, and how it went.
//!
//! Owns the one step from a kind of failure to a status of HTTP. A failure is told in the same shape
//! as a command tells it; to clients of the Kanban bus as they expect it.

use axum::{
    Json,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use flagpost_core::{
    self as core, FailureKind,
    answers::{self, ErrorAnswer},
    error::judge,
};
use serde_json::{Value, json};

use super::auth::AuthRefusal;

/// What helps whoever asked wrongly.
const ASK: &str = "/v1/openapi.json tells what may be asked";

/// A request that came to nothing.
#[derive(Debug)]
pub(crate) struct HttpError {
    status: StatusCode,
    kind: FailureKind,
    message: String,
    hint: Option<String>,
    causes: Vec<String>,
}

impl HttpError {
    fn new(status: StatusCode, kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            status,
            kind,
            message: message.into(),
            hint: None,
            causes: Vec::new(),
        }
    }

    /// It was asked for wrongly.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, FailureKind::Usage, message).hint(ASK)
    }

    /// A value that cannot be taken.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(status(FailureKind::Invalid), FailureKind::Invalid, message)
    }

    /// There is no such route.
    pub(crate) fn no_route(path: &str) -> Self {
        let fault = Self::new(
            StatusCode::NOT_FOUND,
            FailureKind::NotFound,
            format!("there is no {path} here"),
        );
        fault.hint("/v1/openapi.json tells what there is")
    }

    /// The route is asked in another way.
    pub(crate) fn no_method() -> Self {
        let text = "this is not asked in that way";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, FailureKind::Usage, text).hint(ASK)
    }

    /// More was sent than is taken.
    pub(crate) fn too_large(limit: usize) -> Self {
        let text = format!("what was sent has more than {limit} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, FailureKind::Invalid, text)
    }

    /// The client takes too long.
    pub(crate) fn too_slow() -> Self {
        let text = "what was sent did not come in time";
        Self::new(StatusCode::REQUEST_TIMEOUT, FailureKind::TimedOut, text)
    }

    /// What is asked for is not there.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(
            status(FailureKind::NotFound),
            FailureKind::NotFound,
            message,
        )
    }

    /// It was sent in a coding that nobody here reads.
    pub(crate) fn coded() -> Self {
        let text =
            "what was sent is in a Content-Encoding that is not understood here: send it as it is";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, FailureKind::Usage, text)
    }

    /// Something broke that should not.
    pub(crate) fn broken(message: impl Into<String>) -> Self {
        Self::new(status(FailureKind::Failed), FailureKind::Failed, message)
    }

    fn hint(mut self, text: &str) -> Self {
        self.hint = Some(text.to_owned());
        self
    }

    /// As clients of the Kanban bus expect it.
    pub(crate) fn into_kanban(self) -> Response {
        // They know that something was asked for wrongly, and that something broke.
        let status = match self.kind {
            FailureKind::Invalid | FailureKind::Usage => StatusCode::BAD_REQUEST,
            FailureKind::NotFound
            | FailureKind::Conflict
            | FailureKind::TimedOut
            | FailureKind::Failed => self.status,
        };
        (status, Json(json!({"error": self.message}))).into_response()
    }
}

/// The status of a kind of failure.
fn status(kind: FailureKind) -> StatusCode {
    match kind {
        FailureKind::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        FailureKind::Usage => StatusCode::BAD_REQUEST,
        FailureKind::NotFound => StatusCode::NOT_FOUND,
        FailureKind::Conflict => StatusCode::CONFLICT,
        FailureKind::TimedOut => StatusCode::SERVICE_UNAVAILABLE,
        FailureKind::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

impl From<core::Error> for HttpError {
    fn from(error: core::Error) -> Self {
        let (kind, hint) = judge(&error);
        let ask = (kind == FailureKind::Usage).then(|| ASK.to_owned());
        let mut causes = Vec::new();
        let mut below = std::error::Error::source(&error);
        while let Some(cause) = below {
            causes.push(cause.to_string());
            below = cause.source();
        }
        Self {
            status: status(kind),
            kind,
            message: error.to_string(),
            hint: hint.or(ask),
            causes,
        }
    }
}

impl From<AuthRefusal> for HttpError {
    fn from(refusal: AuthRefusal) -> Self {
        let status = match refusal {
            AuthRefusal::Host => StatusCode::MISDIRECTED_REQUEST,
            AuthRefusal::Origin => StatusCode::FORBIDDEN,
            AuthRefusal::Token | AuthRefusal::Worker => StatusCode::UNAUTHORIZED,
            AuthRefusal::Type => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        };
        let fault = Self::new(status, FailureKind::Usage, refusal.to_string());
        match refusal {
            AuthRefusal::Token => fault.hint(
                "it is in run/token in the home, another at each start: Authorization: Bearer …",
            ),
            AuthRefusal::Worker => {
                fault.hint("'flagpost worker token W3' gives W3 one: Authorization: Bearer …")
            }
            AuthRefusal::Host | AuthRefusal::Origin | AuthRefusal::Type => fault,
        }
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let hint = self.hint.as_deref();
        let body = ErrorAnswer::new(self.kind, &self.message, hint, &self.causes);
        let body = answers::document(&body);
        let mut response = (self.status, Json(body)).into_response();
        let headers = response.headers_mut();
        match self.status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(
                    header::WWW_AUTHENTICATE,
                    header::HeaderValue::from_static("Bearer"),
                );
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
            }
            StatusCode::UNSUPPORTED_MEDIA_TYPE => {
                headers.insert(
                    header::ACCEPT_ENCODING,
                    header::HeaderValue::from_static("identity"),
                );
            }
            _ => {}
        }
        response
    }
}

/// A JSON answer.
pub(crate) fn json_answer(body: &Value) -> Response {
    Json(body).into_response()
}
