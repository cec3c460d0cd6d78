//! The relay: briefs, reports, numbers, decisions.
//!
//! The daemon gives out numbers and carries decisions out; an envelope it writes only where the
//! operator edits one.

use flagpost_core::{
    operations::Operation,
    relay::{
        brief_snapshots,
        decide::{self, Decided, DecisionRequest},
        fleet::{Ratified, ratify_all},
        reports, slash,
    },
    shape,
};
use flagpost_model::{
    Seq, WorkerId,
    decision::{Decision, Via},
    envelope::{Direction, Hash},
    glob::Glob,
};
use serde_json::{Value, json};

use crate::http::{
    answer::HttpError,
    asked::Asked,
    request_context::RequestContext,
    route::{AGENT, AS, Form, Param, ParamKind, REPO, Route, RouteHandler, Verb},
};

const WORKER: Param = Param::path("worker", ParamKind::Id, "The worker.");
const SEQ: Param = Param::path("seq", ParamKind::Number(1), "Which message.");
const OF: Param = Param::query("worker", ParamKind::Id, "Only this worker's.");

/// What is decided: on one brief, on all that wait, or on new words for one.
const DECISIONS: &[Form] = &[
    Form {
        must: &["worker"],
        may: &["seq", "decision", "reason", "seen"],
        word: Some(("decision", &["ratified", "rejected"])),
    },
    Form {
        must: &["scope"],
        may: &["decision"],
        word: Some(("decision", &["ratified"])),
    },
    Form {
        must: &["worker", "seq", "decision", "seen", "body"],
        may: &[],
        word: Some(("decision", &["edited"])),
    },
];

pub(crate) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Post,
        path: "/v1/relay/allocate-seq",
        about: "The next number of a direction, for a writer who puts the message there",
        operation: Operation::MailAllocate,
        params: &[
            REPO,
            Param::query("worker", ParamKind::Id, "Whose mail.").required(),
            Param::query(
                "direction",
                ParamKind::Word(&["inbox", "outbox"]),
                "Which way the message goes.",
            )
            .required(),
        ],
        work: RouteHandler::Answer("number", allocate),
    },
    Route {
        verb: Verb::Get,
        path: "/v1/relay/inbox",
        about: "The briefs that wait for a decision",
        operation: Operation::BriefShow,
        params: &[
            REPO,
            OF,
            Param::query("all", ParamKind::Flag, "Decided ones too."),
        ],
        work: RouteHandler::Answer("briefs", inbox),
    },
    Route {
        verb: Verb::Get,
        path: "/v1/relay/inbox/{worker}/{seq}",
        about: "A brief in full",
        operation: Operation::BriefShow,
        params: &[REPO, WORKER, SEQ],
        work: RouteHandler::Answer("brief", brief),
    },
    Route {
        verb: Verb::Get,
        path: "/v1/relay/outbox",
        about: "The workers' reports",
        operation: Operation::ReportShow,
        params: &[
            REPO,
            OF,
            Param::query("unread", ParamKind::Flag, "Only those that nobody has read."),
        ],
        work: RouteHandler::Answer("reports", outbox),
    },
    Route {
        verb: Verb::Post,
        path: "/v1/relay/outbox/{worker}/{seq}/read",
        about: "A report in full, which counts as read from now on",
        operation: Operation::ReportRead,
        params: &[REPO, AS, AGENT, WORKER, SEQ],
        work: RouteHandler::Answer("report", read),
    },
    Route {
        verb: Verb::Post,
        path: "/v1/relay/outbox/ratify",
        about: "Decides on a brief, or ratifies all that wait",
        operation: Operation::BriefRatify,
        params: &[
            REPO,
            AS,
            AGENT,
            Param::body("worker", ParamKind::Id, "Whose brief.").within(DECISIONS),
            Param::body(
                "seq",
                ParamKind::Number(1),
                "Which one; without it, the newest that waits.",
            )
            .within(DECISIONS),
            Param::body(
                "scope",
                ParamKind::Text,
                "In place of a worker: all, or a pattern over workers such as W{1,2}.",
            )
            .within(DECISIONS),
            Param::body(
                "decision",
                ParamKind::Word(&["ratified", "rejected", "edited"]),
                "Without it, ratified.",
            )
            .within(DECISIONS),
            Param::body("reason", ParamKind::Text, "Why; the worker is told.").within(DECISIONS),
            Param::body(
                "seen",
                ParamKind::Hash,
                "The SHA-256 of the body that was seen, or the brief's envelope: another one is not decided on. Of a withheld brief it is the envelope.",
            )
            .within(DECISIONS),
            Param::body("body", ParamKind::Line, "The new body, where it is edited.").within(DECISIONS),
        ],
        work: RouteHandler::Answer("decided", ratify),
    },
];

fn allocate(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let (worker, direction): (WorkerId, Direction) = (asked.id("worker")?, asked.id("direction")?);
    let seq = desk.fleet(asked)?.allocate(&worker, direction)?;
    Ok(json!({"worker": worker, "direction": direction, "seq": seq}))
}

fn inbox(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let worker: Option<WorkerId> = asked.parsed("worker")?;
    let (mut letters, skipped) = slash::inbox(&desk.fleet(asked)?, worker.as_ref())?;
    letters.retain(|it| asked.flag("all") || it.waits());
    Ok(json!({
        "briefs": letters.iter().map(shape::brief_view).collect::<Vec<_>>(),
        "total": letters.len(),
        "truncated": false,
        "skipped": shape::skipped(&skipped),
    }))
}

fn brief(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let mail = desk.fleet(asked)?.mail(&asked.id("worker")?)?;
    let (letter, before) = brief_snapshots::show(&mail, seq(asked)?.ok_or_else(no_number)?)?;
    Ok(shape::brief_in_full(&letter, before.as_ref()))
}

fn outbox(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let worker: Option<WorkerId> = asked.parsed("worker")?;
    let (mut papers, skipped) = slash::outbox(&desk.fleet(asked)?, worker.as_ref())?;
    papers.retain(|it| !asked.flag("unread") || !it.read);
    papers.sort_by_key(|it| it.report.produced_at);
    Ok(json!({
        "reports": papers.iter().map(shape::report_view).collect::<Vec<_>>(),
        "total": papers.len(),
        "truncated": false,
        "skipped": shape::skipped(&skipped),
    }))
}

fn read(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let mail = desk.fleet(asked)?.mail(&asked.id("worker")?)?;
    let seq = seq(asked)?.ok_or_else(no_number)?;
    let paper = reports::read(&mail, &desk.actor(asked)?, seq)?;
    Ok(shape::report_view(&paper))
}

fn ratify(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let (fleet, actor) = (desk.fleet(asked)?, desk.actor(asked)?);
    let decision = asked.parsed("decision")?.unwrap_or(Decision::Ratified);
    let worker: Option<WorkerId> = asked.parsed("worker")?;
    let all = match worker {
        Some(worker) => {
            let mail = fleet.mail(&worker)?;
            let decided = one(&mail, &actor, decision, asked)?;
            Ratified {
                done: vec![decided],
                ..Ratified::default()
            }
        }
        None => {
            let scope: Option<Glob> = match asked.text("scope") {
                Some("all") => None,
                _ => asked.parsed("scope")?,
            };
            ratify_all(&fleet, &actor, scope.as_ref(), Via::Api, &mut |_| {})?
        }
    };
    Ok(shape::decided(&all))
}

fn one(
    mail: &flagpost_core::relay::Mail<'_>,
    actor: &WorkerId,
    decision: Decision,
    asked: &Asked,
) -> Result<Decided, HttpError> {
    let (number, seen) = (seq(asked)?, asked.parsed::<Hash>("seen")?);
    if decision == Decision::Edited {
        let (Some(seq), Some(seen)) = (number, seen) else {
            return Err(HttpError::usage("edited goes with seq and seen"));
        };
        let body = asked.needed("body");
        return Ok(decide::edit(mail, actor, seq, &seen, body, Via::Api)?);
    }
    let mut wish = DecisionRequest::new(decision, Via::Api);
    wish.seen = seen;
    wish.reason = asked.text("reason").map(str::to_owned);
    Ok(decide::decide(mail, actor, number, &wish)?)
}

fn seq(asked: &Asked) -> Result<Option<Seq>, HttpError> {
    let number = asked.number("seq").map(Seq::try_from).transpose();
    number.map_err(|error| HttpError::invalid(format!("seq: {error}")))
}

fn no_number() -> HttpError {
    HttpError::usage("seq is missing")
}
