//! The fleet.

use flagpost_core::{
    operations::Operation,
    relay::workers::{self, Traits},
    shape,
};
use flagpost_model::{WorkerId, worker::WorkerStatus};
use serde_json::{Value, json};

use crate::http::{
    answer::HttpError,
    asked::Asked,
    request_context::RequestContext,
    route::{AGENT, AS, Param, ParamKind, REPO, Route, RouteHandler, Verb},
};

pub(crate) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/v1/workers",
        about: "The fleet: who is live, and what waits",
        operation: Operation::WorkerShow,
        params: &[
            REPO,
            Param::query("all", ParamKind::Flag, "Those that were taken off too."),
        ],
        work: RouteHandler::Answer("workers", list),
    },
    Route {
        verb: Verb::Get,
        path: "/v1/workers/{worker}",
        about: "A worker",
        operation: Operation::WorkerShow,
        params: &[REPO, Param::path("worker", ParamKind::Id, "The worker.")],
        work: RouteHandler::Answer("worker", show),
    },
    Route {
        verb: Verb::Post,
        path: "/v1/workers",
        about: "Adds a worker to the fleet",
        // Whoever adds somebody else asks for more.
        operation: Operation::WorkerJoin,
        params: &[
            REPO,
            AS,
            AGENT,
            Param::body("id", ParamKind::Id, "What it is called.").required(),
            PROGRAM,
            CAPABILITIES,
            PID,
            TMUX,
            WORKTREE,
        ],
        work: RouteHandler::Answer("worker", register),
    },
    Route {
        verb: Verb::Post,
        path: "/v1/workers/{worker}/heartbeat",
        about: "A sign of life, and what has changed about the worker",
        operation: Operation::WorkerHeartbeat,
        params: &[
            REPO,
            Param::path("worker", ParamKind::Id, "The worker."),
            AGENT,
            PROGRAM,
            CAPABILITIES,
            PID,
            TMUX,
            WORKTREE,
        ],
        work: RouteHandler::Answer("worker", heartbeat),
    },
];

const PROGRAM: Param = Param::body("agent", ParamKind::Text, "Which agent it is.");
const CAPABILITIES: Param = Param::body("capabilities", ParamKind::Texts, "What it can do.");
const PID: Param = Param::body("pid", ParamKind::Process, "Its process.");
const TMUX: Param = Param::body("tmux", ParamKind::Text, "Its pane.");
const WORKTREE: Param = Param::body("worktree", ParamKind::Text, "Where it works.");

fn list(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let (mut all, skipped) = workers::list(&desk.fleet(asked)?)?;
    all.retain(|it| asked.flag("all") || it.worker.standing == WorkerStatus::Active);
    Ok(json!({
        "workers": all.iter().map(shape::worker).collect::<Vec<_>>(),
        "total": all.len(),
        "truncated": false,
        "skipped": shape::skipped(&skipped),
    }))
}

fn show(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let mail = desk.fleet(asked)?.mail(&asked.id("worker")?)?;
    Ok(shape::worker(&workers::show(&mail)?))
}

fn register(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let (fleet, id): (_, WorkerId) = (desk.fleet(asked)?, asked.id("id")?);
    let agent = desk.agent(asked)?;
    desk.permit(asked, Operation::adding(&id, agent.as_ref()))?;
    workers::register(&fleet, &desk.actor(asked)?, &id, traits(asked)?)?;
    Ok(shape::worker(&workers::show(&fleet.mail(&id)?)?))
}

fn heartbeat(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let mail = desk.fleet(asked)?.mail(&desk.worker(asked)?)?;
    workers::heartbeat(&mail, traits(asked)?)?;
    Ok(shape::worker(&workers::show(&mail)?))
}

fn traits(asked: &Asked) -> Result<Traits, HttpError> {
    let text = |param: Param| asked.text(param.name).map(str::to_owned);
    let pid = asked.number(PID.name).map(u32::try_from).transpose();
    Ok(Traits {
        agent: text(PROGRAM),
        capabilities: asked.texts(CAPABILITIES.name).unwrap_or_default(),
        pid: pid.map_err(|_| HttpError::invalid("pid: no process has this number"))?,
        tmux: text(TMUX),
        worktree: text(WORKTREE),
    })
}
