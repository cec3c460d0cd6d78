//! One step of a script: what the model answers to one turn.
//!
//! Owns the words in which a test says it, the same for every API.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::Value;

use super::Request;

/// One answer, now or after a while.
#[derive(Debug, Clone)]
pub struct Step {
    pub(super) answer: ModelAnswer,
    pub(super) after: Duration,
    pub(super) headers: Vec<(String, String)>,
    pub(super) stays: bool,
}

/// What the model answers.
#[derive(Clone)]
pub enum ModelAnswer {
    /// Words; the turn ends.
    Text(String),
    /// Calls of the client's tools, after some words where there are any.
    Calls(String, Vec<Call>),
    /// An answer of HTTP instead of one of a model.
    Status(u16, Value),
    /// Nothing, for ever.
    Hang,
    /// The connection is closed without an answer.
    Cut,
    /// Whatever this says to the request. It may wait for something, and has a thread for it.
    By(Arc<dyn Fn(&Request) -> Step + Send + Sync>),
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// What it is given: an object; or a text, where the tool takes one as it is.
    pub input: Value,
}

impl Call {
    /// A call of this tool.
    pub fn new(tool: &str, input: Value) -> Self {
        Self {
            tool: tool.to_owned(),
            input,
        }
    }
}

impl Step {
    /// Words, which end the turn.
    pub fn text(text: impl Into<String>) -> Self {
        ModelAnswer::Text(text.into()).into()
    }

    /// The call of one tool.
    pub fn tool(tool: &str, input: Value) -> Self {
        Self::calls([Call::new(tool, input)])
    }

    /// Calls of several tools at once.
    pub fn calls(calls: impl IntoIterator<Item = Call>) -> Self {
        ModelAnswer::Calls(String::new(), calls.into_iter().collect()).into()
    }

    /// An answer of HTTP.
    pub fn status(status: u16, body: Value) -> Self {
        ModelAnswer::Status(status, body).into()
    }

    /// No answer at all: the client waits until it gives up or is ended.
    pub fn hang() -> Self {
        ModelAnswer::Hang.into()
    }

    /// No answer, and the connection is gone.
    pub fn cut() -> Self {
        ModelAnswer::Cut.into()
    }

    /// What is made of the request: a path that its prompt names, say.
    pub fn by(make: impl Fn(&Request) -> Self + Send + Sync + 'static) -> Self {
        ModelAnswer::By(Arc::new(make)).into()
    }

    /// The same, so much later.
    #[must_use]
    pub fn after(mut self, wait: Duration) -> Self {
        self.after = wait;
        self
    }

    /// With another header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: impl ToString) -> Self {
        self.headers.push((name.to_owned(), value.to_string()));
        self
    }

    /// For this turn and all that follow, until the script is replaced.
    #[must_use]
    pub fn for_ever(mut self) -> Self {
        self.stays = true;
        self
    }
}

impl From<ModelAnswer> for Step {
    fn from(answer: ModelAnswer) -> Self {
        Self {
            answer,
            after: Duration::ZERO,
            headers: Vec::new(),
            stays: false,
        }
    }
}

impl fmt::Debug for ModelAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.debug_tuple("Text").field(text).finish(),
            Self::Calls(text, calls) => f.debug_tuple("Calls").field(text).field(calls).finish(),
            Self::Status(status, body) => {
                f.debug_tuple("Status").field(status).field(body).finish()
            }
            Self::Hang => f.write_str("Hang"),
            Self::Cut => f.write_str("Cut"),
            Self::By(_) => f.write_str("By(…)"),
        }
    }
}

/// An id that no other answer of this process has.
pub(super) fn id(kind: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{kind}_{:04}", NEXT.fetch_add(1, Ordering::Relaxed))
}
