//! What a route is: an entry of a table.
//!
//! Owns the one description of each route, which is checked against what is asked, dispatched on,
//! and published. A route's work is one operation of `core`, synchronous.

use axum::response::Response;
use flagpost_core::operations::Operation;
use serde_json::{Value, json};

use super::{answer::HttpError, asked::Asked, request_context::RequestContext};

/// A route.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route {
    /// How it is asked.
    pub(crate) verb: Verb,
    /// Where, with `{name}` for each part of the path that varies.
    pub(crate) path: &'static str,
    /// What it does, in a line.
    pub(crate) about: &'static str,
    /// What it asks of the table of who may do what; its work asks again where that depends on words.
    pub(crate) operation: Operation,
    /// What may be said with it.
    pub(crate) params: &'static [Param],
    /// What it does.
    pub(crate) work: RouteHandler,
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
pub(crate) enum RouteHandler {
    /// An answer of ours: `task` is `flagpost.task/1`.
    Answer(&'static str, RouteFn<Value>),
    /// One that may be waited for: in the first shape where there is something, in the second where
    /// there is not. Its parameters have [`WAIT`].
    Awaited([&'static str; 2], RouteFn<Option<Value>>),
    /// An answer whose shape is somebody else's.
    Foreign(fn() -> Value, RouteFn<Value>),
    /// Something else than JSON.
    Page(RouteFn<Response>),
    /// Events, for as long as somebody listens.
    Stream(Whose, RouteFn<Response>),
}

impl RouteHandler {
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
pub(crate) type RouteFn<T> = fn(&RequestContext<'_>, &Asked) -> Result<T, HttpError>;

/// Something that may be said with a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Param {
    /// Its name.
    pub(crate) name: &'static str,
    /// Where it stands.
    pub(crate) place: ParamLocation,
    /// What it may be.
    pub(crate) kind: ParamKind,
    /// Whether it must be said.
    pub(crate) need: Presence,
    /// What it means.
    pub(crate) about: &'static str,
}

/// Where in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParamLocation {
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
pub(crate) enum Presence {
    /// It must.
    Required,
    /// It may.
    Optional,
    /// As the form says that is meant: what is sent is one of these.
    In(&'static [Form]),
}

/// One way to say what is sent, where there are several.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// What must be said.
    pub(crate) must: &'static [&'static str],
    /// What may be said as well.
    pub(crate) may: &'static [&'static str],
    /// One of them, and the only words that it may be here.
    pub(crate) word: Option<(&'static str, &'static [&'static str])>,
}

/// What a value may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParamKind {
    /// A text.
    Text,
    /// A text that is not blank.
    Line,
    /// The name of a worker, a list, a task: letters, digits, `.`, `_`, `-`.
    Id,
    /// The name of a directory that anybody may see, in any script.
    Directory,
    /// A whole number, at least this.
    Number(u64),
    /// Yes or no.
    Flag,
    /// Several texts; in what is sent, and nowhere else.
    Texts,
    /// A length of time: a number and its unit.
    Time,
    /// The same of a lease, which lasts a second at least.
    Lease,
    /// A day.
    Day,
    /// A process.
    Process,
    /// A SHA-256.
    Hash,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// A name as ids have it.
const ID: &str = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";
/// A name as directories have it: no dot in front, no separator, nothing that is not seen.
const DIRECTORY: &str =
    "^[^./:\\u0000-\\u001f\\u007f-\\u009f][^/:\\u0000-\\u001f\\u007f-\\u009f]{0,254}$";
/// Something that is seen: no white space, as Unicode has it.
const SEEN: &str = "[^\\u0009-\\u000d\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
/// What [`is_lease`] takes.
const LEASES: &str =
    "^([1-9][0-9]{0,4}s|[1-9][0-9]{0,3}m|([1-9][0-9]?|[1-6][0-9]{2}|7[01][0-9]|720)h)$";
/// What [`is_time`] takes.
const TIMES: &str = "^([1-9][0-9]{0,5}ms|[1-9][0-9]{0,4}s|[1-9][0-9]{0,3}m|([1-9][0-9]?|[1-6][0-9]{2}|7[01][0-9]|720)h)$";

/// Whether this is a length of time, up to thirty days.
pub(crate) fn is_time(text: &str) -> bool {
    match text.strip_suffix("ms") {
        Some(number) => is_number(number, 999_999),
        None => is_lease(text),
    }
}

/// Whether this is one that a lease may last.
pub(crate) fn is_lease(text: &str) -> bool {
    let units = [('s', 99_999), ('m', 9_999), ('h', 720)];
    let of = |(unit, most): (char, u32)| text.strip_suffix(unit).map(|it| is_number(it, most));
    units.into_iter().find_map(of).unwrap_or_default()
}

fn is_number(text: &str, most: u32) -> bool {
    let is_plain = text.bytes().all(|it| it.is_ascii_digit()) && !text.starts_with('0');
    is_plain && text.parse().is_ok_and(|it: u32| it <= most)
}

impl ParamKind {
    /// The same as a JSON Schema.
    pub(crate) fn schema(self) -> Value {
        match self {
            Self::Text => json!({"type": "string"}),
            Self::Line => json!({"type": "string", "pattern": SEEN}),
            Self::Time => json!({"type": "string", "pattern": TIMES}),
            Self::Lease => json!({"type": "string", "pattern": LEASES}),
            Self::Day => json!({"type": "string", "format": "date"}),
            Self::Hash => json!({"type": "string", "pattern": "^[0-9A-Fa-f]{64}$"}),
            Self::Id => json!({"type": "string", "pattern": ID}),
            Self::Directory => json!({"type": "string", "pattern": DIRECTORY}),
            Self::Number(least) => {
                json!({"type": "integer", "minimum": least, "maximum": MOST})
            }
            Self::Process => json!({"type": "integer", "minimum": 1, "maximum": u32::MAX}),
            Self::Flag => json!({"type": "boolean"}),
            Self::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Self::Word(words) => json!({"type": "string", "enum": words}),
        }
    }
}

/// The greatest number that JSON holds everywhere.
pub(crate) const MOST: u64 = (1 << 53) - 1;

impl Param {
    const fn new(
        place: ParamLocation,
        need: Presence,
        name: &'static str,
        kind: ParamKind,
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
    pub(crate) const fn path(name: &'static str, kind: ParamKind, about: &'static str) -> Self {
        Self::new(ParamLocation::Path, Presence::Required, name, kind, about)
    }

    /// What may be asked.
    pub(crate) const fn query(name: &'static str, kind: ParamKind, about: &'static str) -> Self {
        Self::new(ParamLocation::Query, Presence::Optional, name, kind, about)
    }

    /// What a header may say.
    pub(crate) const fn header(name: &'static str, kind: ParamKind, about: &'static str) -> Self {
        Self::new(ParamLocation::Header, Presence::Optional, name, kind, about)
    }

    /// What may be sent.
    pub(crate) const fn body(name: &'static str, kind: ParamKind, about: &'static str) -> Self {
        Self::new(ParamLocation::Body, Presence::Optional, name, kind, about)
    }

    /// The same, which belongs to forms.
    pub(crate) const fn within(self, forms: &'static [Form]) -> Self {
        Self {
            need: Presence::In(forms),
            ..self
        }
    }

    /// The same, which must be said.
    pub(crate) const fn required(self) -> Self {
        Self {
            need: Presence::Required,
            ..self
        }
    }
}

/// Which repository.
pub(crate) const REPO: Param = Param::query(
    "repo",
    ParamKind::Text,
    "The repository, by name or id; may be left out where there is only one.",
);

/// How long to wait for something.
pub(crate) const WAIT: Param = Param::query(
    "wait",
    ParamKind::Time,
    "How long to wait until there is something, as in 30s; five minutes at most.",
);

/// Which agent it is that asks.
pub(crate) const AGENT: Param = Param::header(
    "flagpost-worker",
    ParamKind::Id,
    "Which worker it is that asks, as FLAGPOST_WORKER says of a command: it acts for itself only.",
);

/// Who acts.
pub(crate) const AS: Param = Param::query(
    "as",
    ParamKind::Id,
    "Who acts; without it, the daemon's user.",
);

#[cfg(test)]
mod tests {
    use flagpost_core::config::keys::CLAIM_LEASE;
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn a_lease_that_is_taken_is_one_that_a_claim_may_have() {
        for good in ["1s", "99999s", "1m", "9999m", "1h", "720h"] {
            assert!(is_lease(good) && is_time(good), "{good}");
            let lease: SignedDuration = good.parse().unwrap();
            assert!(CLAIM_LEASE.kind.contains(lease), "{good}");
        }
        for bad in [
            "",
            "s",
            "0s",
            "01s",
            "1",
            "721h",
            "100000s",
            "10000m",
            "-1s",
            "+1s",
            "1.5s",
            "1 s",
            "1h30m",
            "1d",
            "\u{0661}s",
            "soon",
        ] {
            assert!(!is_lease(bad) && !is_time(bad), "{bad}");
        }
        assert!(is_time("1ms") && is_time("999999ms") && !is_lease("1ms"));
        assert!(!is_time("0ms") && !is_time("1000000ms"));
    }
}
