//! Sessions: the runs of a list.

use flagpost_model::TaskId;
use serde_json::{Value, json};

use super::{
    Arguments, Caller, CallerPart, Operation, OperationEntry, ParamKind, Parameter, Run,
    tasks::LIST,
};
use crate::{
    answers::StopAsked,
    error::Result,
    sessions::{Sessions, Stop, ask_to_stop},
    shape,
};

pub(super) const ENTRIES: &[OperationEntry] = &[
    OperationEntry::new(
        Operation::SessionList,
        "The sessions of a repository, the live one last",
        Run::Answer("sessions", list),
    )
    .asking(&[CallerPart::Repo]),
    OperationEntry::new(
        Operation::SessionShow,
        "How far a session is, or got",
        Run::Answer("session", show),
    )
    .asking(&[CallerPart::Repo])
    .taking(&[Parameter::text("id", "Its id, the beginning of it, or live.").required()]),
    OperationEntry::new(
        Operation::RunStop,
        "Asks the run of a repository to end, or to stop one task",
        Run::Answer("stop_asked", stop),
    )
    .asking(&[CallerPart::Repo, CallerPart::Actor])
    .taking(&[
        LIST,
        Parameter::new(
            "task",
            ParamKind::Id,
            "The task; without it, the whole run.",
        ),
        Parameter::flag("now", "Stops running agents too."),
    ]),
];

fn list(caller: &Caller, _: &Arguments) -> Result<Value> {
    let all = Sessions::of(caller.home(), &caller.repository()?).all()?;
    Ok(json!({
        "sessions": all.iter().map(shape::session).collect::<Vec<_>>(),
        "total": all.len(),
        "truncated": false,
    }))
}

fn stop(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let repository = caller.repository()?;
    let sessions = Sessions::of(caller.home(), &repository);
    let (actor, now) = (caller.actor()?, arguments.flag("now"));
    let list = caller.list(arguments)?;
    let task = arguments.text("task").map(|given| list.resolve(given));
    let task = task.transpose()?;
    let what = match &task {
        Some(id) => Stop::Task(&list, id),
        None if now => Stop::RunNow,
        None => Stop::Run,
    };
    let asked = ask_to_stop(&sessions, &actor, what)?;
    Ok(json!(StopAsked {
        session: &asked.session,
        task: task.as_ref().map(TaskId::as_str),
        now: now && task.is_none(),
        already: asked.already,
    }))
}

fn show(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let sessions = Sessions::of(caller.home(), &caller.repository()?);
    let session = sessions.find(arguments.needed("id"))?;
    let told = session.attempts(caller.home())?;
    Ok(shape::session_with(&session, &told))
}
