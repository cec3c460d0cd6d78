//! The fleet.

use flagpost_model::{WorkerId, worker::WorkerStatus};
use serde_json::{Value, json};

use super::{
    Arguments, Caller,
    CallerPart::{Actor, Agent, Repo},
    Operation, OperationEffect, OperationEntry, ParamKind, Parameter, Run,
};
use crate::{
    answers::WorkersPage,
    error::Result,
    relay::workers::{self, Traits},
};

const WORKER: Parameter = Parameter::new("worker", ParamKind::Id, "The worker.").required();
const PROGRAM: Parameter = Parameter::text("agent", "Which agent it is.");
const CAPABILITIES: Parameter = Parameter::new("capabilities", ParamKind::Texts, "What it can do.");
const PID: Parameter = Parameter::new("pid", ParamKind::Process, "Its process.");
const TMUX: Parameter = Parameter::text("tmux", "Its pane.");
const WORKTREE: Parameter = Parameter::text("worktree", "Where it works.");

pub(super) const ENTRIES: &[OperationEntry] = &[
    OperationEntry::new(
        Operation::WorkerList,
        "The fleet: who is live, and what waits",
        Run::Answer("workers", list),
    )
    .asking(&[Repo])
    .taking(&[Parameter::flag("all", "Those that were taken off too.")]),
    OperationEntry::new(
        Operation::WorkerShow,
        "A worker",
        Run::Answer("worker", show),
    )
    .asking(&[Repo])
    .taking(&[WORKER]),
    // Whoever adds somebody else asks for more.
    OperationEntry::new(
        Operation::WorkerJoin,
        "Adds a worker to the fleet",
        Run::Answer("worker", register),
    )
    .asking(&[Repo, Actor])
    .taking(&[
        Parameter::new("id", ParamKind::Id, "What it is called.").required(),
        PROGRAM,
        CAPABILITIES,
        PID,
        TMUX,
        WORKTREE,
    ]),
    OperationEntry::new(
        Operation::WorkerHeartbeat,
        "A sign of life, and what has changed about the worker",
        Run::Answer("worker", heartbeat),
    )
    .having(OperationEffect::Idempotent)
    .asking(&[Repo, Agent])
    .taking(&[WORKER, PROGRAM, CAPABILITIES, PID, TMUX, WORKTREE]),
];

fn list(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let (mut all, skipped) = workers::list(&caller.fleet()?)?;
    all.retain(|it| arguments.flag("all") || it.worker.standing == WorkerStatus::Active);
    let total = all.len();
    Ok(json!(WorkersPage::new(
        all.iter().collect(),
        total,
        &skipped
    )))
}

fn show(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let mail = caller.fleet()?.mail(&arguments.id(WORKER.name)?)?;
    Ok(json!(workers::show(&mail)?))
}

fn register(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let (fleet, id): (_, WorkerId) = (caller.fleet()?, arguments.id("id")?);
    caller.permit(Operation::adding(&id, caller.agent()))?;
    workers::register(&fleet, &caller.actor()?, &id, traits(arguments)?)?;
    Ok(json!(workers::show(&fleet.mail(&id)?)?))
}

fn heartbeat(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let (fleet, worker): (_, WorkerId) = (caller.fleet()?, arguments.id(WORKER.name)?);
    caller.must_speak_for(&worker)?;
    let mail = fleet.mail(&worker)?;
    workers::heartbeat(&mail, traits(arguments)?)?;
    Ok(json!(workers::show(&mail)?))
}

fn traits(arguments: &Arguments) -> Result<Traits> {
    Ok(Traits {
        agent: arguments.owned(PROGRAM.name),
        capabilities: arguments.texts(CAPABILITIES.name).unwrap_or_default(),
        pid: arguments.counted(PID.name)?,
        tmux: arguments.owned(TMUX.name),
        worktree: arguments.owned(WORKTREE.name),
    })
}
