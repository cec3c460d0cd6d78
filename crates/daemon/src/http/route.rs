//! What a route is: where an operation is asked for over HTTP.
//!
//! Owns the verb and the path of each, and where in a request its parameters stand. Operations of the
//! table of `core` are described there; what only this daemon answers is described with its route.

use axum::response::Response;
use flagpost_core::operations::{
    Arguments, Caller, CallerPart, Operation, OperationEntry, ParamKind, Parameter, Run, entry,
};
use serde_json::Value;

use super::{Shared, answer::HttpError};

/// A route.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route {
    /// How it is asked.
    pub(crate) verb: Verb,
    /// Where, with `{name}` for each part of the path that varies.
    pub(crate) path: &'static str,
    /// What it does, in a line.
    pub(crate) about: &'static str,
    /// What it asks of the table of who may do what.
    pub(crate) operation: Operation,
    /// What it does.
    pub(crate) work: RouteHandler,
    asks: &'static [CallerPart],
    parameters: &'static [Parameter],
    elsewhere: (ParamLocation, &'static [&'static str]),
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
    /// An operation of the table.
    Entry(&'static OperationEntry),
    /// An answer about this daemon: `daemon` is `flagpost.daemon/1`.
    Own(&'static str, RouteFn<Value>),
    /// An answer whose shape is somebody else's.
    Foreign(fn() -> Value, RouteFn<Value>),
    /// Something else than JSON.
    Page(RouteFn<Response>),
    /// Events, for as long as somebody listens.
    Stream(Whose, RouteFn<Response>),
}

/// Whose clients listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Ours.
    Ours,
    /// Those of the Kanban bus.
    Kanban,
}

/// The work of a route that is none of the table's.
pub(crate) type RouteFn<T> = fn(&RequestContext<'_>, &Arguments) -> Result<T, HttpError>;

/// Where a request is worked on.
#[derive(Debug)]
pub(crate) struct RequestContext<'s> {
    pub(crate) shared: &'s Shared,
    pub(crate) caller: Caller,
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

impl Route {
    /// Where an operation of the table is asked for.
    pub(crate) const fn to(verb: Verb, path: &'static str, operation: Operation) -> Self {
        let Some(entry) = entry(operation) else {
            panic!("a route leads to an operation that has no entry")
        };
        let work = RouteHandler::Entry(entry);
        Self::own(verb, path, entry.about, operation, work)
            .asking(entry.asks)
            .taking(entry.parameters)
    }

    /// What is none of the table's.
    pub(crate) const fn own(
        verb: Verb,
        path: &'static str,
        about: &'static str,
        operation: Operation,
        work: RouteHandler,
    ) -> Self {
        Self {
            verb,
            path,
            about,
            operation,
            work,
            asks: &[],
            parameters: &[],
            elsewhere: (ParamLocation::Query, &[]),
        }
    }

    /// The same, which asks this of its caller.
    pub(crate) const fn asking(self, asks: &'static [CallerPart]) -> Self {
        Self { asks, ..self }
    }

    /// The same, with which this may be said.
    pub(crate) const fn taking(self, parameters: &'static [Parameter]) -> Self {
        Self { parameters, ..self }
    }

    /// The same, where parameters of these names stand somewhere of their own.
    pub(crate) const fn with(self, place: ParamLocation, names: &'static [&'static str]) -> Self {
        let elsewhere = (place, names);
        Self { elsewhere, ..self }
    }

    /// The same, which does something else.
    pub(crate) const fn doing(self, about: &'static str, work: RouteHandler) -> Self {
        Self {
            about,
            work,
            ..self
        }
    }

    /// What may be said, and where it stands.
    pub(crate) fn parameters(&self) -> Vec<(ParamLocation, &'static Parameter)> {
        let of_caller = self.asks.iter().flat_map(|part| match part {
            CallerPart::Repo => &[(ParamLocation::Query, &REPO)][..],
            CallerPart::Actor => &[(ParamLocation::Query, &AS), (ParamLocation::Header, &AGENT)],
            CallerPart::Agent => &[(ParamLocation::Header, &AGENT)],
        });
        let own = self.parameters.iter().map(|it| (self.place(it.name), it));
        let mut all: Vec<_> = of_caller.copied().chain(own).collect();
        if let RouteHandler::Entry(entry) = self.work
            && matches!(entry.run, Run::Awaited(..))
        {
            all.push((ParamLocation::Query, &WAIT));
        }
        all
    }

    fn place(&self, name: &str) -> ParamLocation {
        let (place, names) = self.elsewhere;
        match self.verb {
            _ if names.contains(&name) => place,
            _ if self.path.contains(&format!("{{{name}}}")) => ParamLocation::Path,
            Verb::Get => ParamLocation::Query,
            Verb::Post => ParamLocation::Body,
        }
    }

    /// The shapes of ours that it answers in.
    pub(crate) fn shapes(&self) -> Vec<&'static str> {
        match self.work {
            RouteHandler::Entry(entry) => entry.answers(),
            RouteHandler::Own(name, _) => vec![name],
            RouteHandler::Foreign(..) | RouteHandler::Page(_) | RouteHandler::Stream(..) => {
                Vec::new()
            }
        }
    }
}

/// Which repository.
pub(crate) const REPO: Parameter = Parameter::text(
    "repo",
    "The repository, by name or id; may be left out where there is only one.",
);

/// How long to wait for something.
pub(crate) const WAIT: Parameter = Parameter::new(
    "wait",
    ParamKind::Time,
    "How long to wait until there is something, as in 30s; five minutes at most.",
);

/// Which agent it is that asks.
pub(crate) const AGENT: Parameter = Parameter::new(
    "flagpost-worker",
    ParamKind::Id,
    "Which worker it is that asks, as FLAGPOST_WORKER says of a command: it acts for itself only.",
);

/// Who acts.
pub(crate) const AS: Parameter = Parameter::new(
    "as",
    ParamKind::Id,
    "Who acts; without it, the daemon's user.",
);
