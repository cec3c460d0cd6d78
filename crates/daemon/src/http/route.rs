//! What a route is: an entry of a table.
//!
//! Owns the one description of each route, which is checked against what is asked, dispatched on,
//! and published. A route's work is one operation of `core`, synchronous.

use axum::response::Response;
use serde_json::{Value, json};

use super::{answer::Fault, asked::Asked, desk::Desk};

/// A route.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route {
    /// How it is asked.
    pub(crate) verb: Verb,
    /// Where, with `{name}` for each part of the path that varies.
    pub(crate) path: &'static str,
    /// What it does, in a line.
    pub(crate) about: &'static str,
    /// What may be said with it.
    pub(crate) params: &'static [Param],
    /// What it does.
    pub(crate) work: Work,
}

/// Whether a route reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    /// It reads: `GET`.
    Get,
    /// It writes: `POST`.
    Post,
}

/// What a route does, and what it answers with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Work {
    /// An answer of ours: `task` is `flagpost.task/1`.
    Answer(&'static str, Act<Value>),
    /// One that may be waited for: in the first shape where there is something, in the second where
    /// there is not. Its parameters have [`WAIT`].
    Awaited([&'static str; 2], Act<Option<Value>>),
    /// An answer whose shape is somebody else's.
    Foreign(fn() -> Value, Act<Value>),
    /// Something else than JSON.
    Page(Act<Response>),
    /// Events, for as long as somebody listens.
    Stream(Whose, Act<Response>),
}

impl Work {
    /// The shapes of ours that it answers in.
    pub(crate) fn shapes(&self) -> Vec<&'static str> {
        match self {
            Self::Answer(name, _) => vec![name],
            Self::Awaited(names, _) => names.to_vec(),
            Self::Foreign(..) | Self::Page(_) | Self::Stream(..) => Vec::new(),
        }
    }
}

/// Whose clients listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Ours.
    Ours,
    /// Those of the Kanban bus.
    Kanban,
}

/// A route's work.
pub(crate) type Act<T> = fn(&Desk<'_>, &Asked) -> Result<T, Fault>;

/// Something that may be said with a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Param {
    /// Its name.
    pub(crate) name: &'static str,
    /// Where it stands.
    pub(crate) place: Place,
    /// What it may be.
    pub(crate) kind: Kind,
    /// Whether it must be said.
    pub(crate) need: Need,
    /// What it means.
    pub(crate) about: &'static str,
}

/// Where in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the path.
    Path,
    /// Behind the question mark.
    Query,
    /// In a header.
    Header,
    /// In the JSON object that is sent.
    Body,
}

/// Whether something must be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// It must.
    Required,
    /// It may.
    Optional,
}

/// What a value may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A text.
    Text,
    /// The name of a worker, a list, a task: letters, digits, `.`, `_`, `-`.
    Id,
    /// A whole number, at least this.
    Number(u64),
    /// Yes or no.
    Flag,
    /// Several texts; in what is sent, and nowhere else.
    Texts,
    /// A length of time.
    Time,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// A name as ids have it.
const ID: &str = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";

impl Kind {
    /// The same as a JSON Schema.
    pub(crate) fn schema(self) -> Value {
        match self {
            Self::Text | Self::Time => json!({"type": "string"}),
            Self::Id => json!({"type": "string", "pattern": ID}),
            Self::Number(least) => {
                json!({"type": "integer", "minimum": least, "maximum": MOST})
            }
            Self::Flag => json!({"type": "boolean"}),
            Self::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Self::Word(words) => json!({"enum": words}),
        }
    }
}

/// The greatest number that JSON holds everywhere.
pub(crate) const MOST: u64 = (1 << 53) - 1;

impl Param {
    const fn new(
        place: Place,
        need: Need,
        name: &'static str,
        kind: Kind,
        about: &'static str,
    ) -> Self {
        Self {
            name,
            place,
            kind,
            need,
            about,
        }
    }

    /// A part of the path.
    pub(crate) const fn path(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self::new(Place::Path, Need::Required, name, kind, about)
    }

    /// What may be asked.
    pub(crate) const fn query(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self::new(Place::Query, Need::Optional, name, kind, about)
    }

    /// What a header may say.
    pub(crate) const fn header(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self::new(Place::Header, Need::Optional, name, kind, about)
    }

    /// What may be sent.
    pub(crate) const fn body(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self::new(Place::Body, Need::Optional, name, kind, about)
    }

    /// The same, which must be said.
    pub(crate) const fn required(self) -> Self {
        Self {
            need: Need::Required,
            ..self
        }
    }
}

/// Which repository.
pub(crate) const REPO: Param = Param::query(
    "repo",
    Kind::Text,
    "The repository, by name or id; may be left out where there is only one.",
);

/// How long to wait for something.
pub(crate) const WAIT: Param = Param::query(
    "wait",
    Kind::Time,
    "How long to wait until there is something, as in 30s; five minutes at most.",
);

/// Which agent it is that asks.
pub(crate) const AGENT: Param = Param::header(
    "flagpost-worker",
    Kind::Id,
    "Which worker it is that asks, as FLAGPOST_WORKER says of a command: it acts for itself only.",
);

/// Who acts.
pub(crate) const AS: Param =
    Param::query("as", Kind::Id, "Who acts; without it, the daemon's user.");
