//! Sessions: the runs of a list.

use flagpost_model::TaskId;
use serde_json::{Value, json};

use super::{
    Arguments, Caller, CallerPart, Operation, OperationEntry, ParamKind, Parameter, Run,
    tasks::{ID, LIST, OF_LIST},
};
use crate::{
    answers::{
        LogPart, SessionAnswer, SessionDocuments, SessionInFull, StopAsked, TimelineAnswer, each,
    },
    error::Result,
    landing::SessionLanding,
    registry,
    sessions::{self, PartPlace, Sessions, Stop, ask_to_stop},
};

const SESSION: Parameter =
    Parameter::text("id", "Its id, the beginning of it, or live.").required();

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
    .taking(&[SESSION]),
    OperationEntry::new(
        Operation::SessionTimeline,
        "When the attempts of a session ran",
        Run::Answer("timeline", timeline),
    )
    .asking(&[CallerPart::Repo])
    .taking(&[SESSION]),
    OperationEntry::new(
        Operation::SessionDocuments,
        "What a session wrote for people: its plan, its progress, its log, its summary",
        Run::Answer("session_documents", documents),
    )
    .asking(&[CallerPart::Repo])
    .taking(&[SESSION]),
    OperationEntry::new(
        Operation::SessionLog,
        "What a task's agent printed, whole lines, in parts of 256 KiB and 2,500 lines at most",
        Run::Awaited(["log_part", "log_none"], log),
    )
    .taking(&[
        OF_LIST,
        ID,
        Parameter::text(
            "session",
            "The session; without it, the live one, else the newest that has output of the task.",
        ),
        Parameter::new(
            "attempt",
            ParamKind::Number(1),
            "The attempt; without it, the last.",
        ),
        Parameter::new(
            "from",
            ParamKind::Number(0),
            "Where to begin, in bytes; without it, the end is told.",
        ),
        Parameter::new(
            "before",
            ParamKind::Number(0),
            "Where to end, in bytes, in place of where to begin.",
        ),
    ]),
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
        "sessions": each::<_, SessionAnswer<'_>>(&all),
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
    let repository = caller.repository()?;
    let session = Sessions::of(caller.home(), &repository).find(arguments.needed("id"))?;
    let told = session.attempts(caller.home())?;
    let landing = SessionLanding::of(caller.home(), &repository, &session)?;
    Ok(json!(SessionInFull::from((&session, &told, &landing))))
}

fn timeline(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let sessions = Sessions::of(caller.home(), &caller.repository()?);
    let session = sessions.find(arguments.needed("id"))?;
    let timeline = session.timeline(caller.home())?;
    Ok(json!(TimelineAnswer::new(&timeline, None)))
}

fn documents(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let sessions = Sessions::of(caller.home(), &caller.repository()?);
    let session = sessions.find(arguments.needed("id"))?;
    let documents = sessions::documents(caller.home(), &session.dir)?;
    Ok(json!(SessionDocuments::new(each(&documents))))
}

fn log(caller: &Caller, arguments: &Arguments) -> Result<Option<Value>> {
    let list = caller.list(arguments)?;
    let repository = registry::repository(caller.home(), list.repository()?.as_str())?;
    let sessions = Sessions::of(caller.home(), &repository);
    // One that is gone from its list has left its output too.
    let task = list.resolve(arguments.needed("id"));
    let task = task.or_else(|unknown| arguments.id("id").map_err(|_| unknown))?;
    let which = (arguments.text("session"), arguments.counted("attempt")?);
    let mut output = sessions.output(&list, &task, which)?;
    let place = match (arguments.number("before"), arguments.number("from")) {
        (Some(at), _) => PartPlace::Before(at),
        (None, Some(at)) => PartPlace::From(at),
        (None, None) => PartPlace::Last,
    };
    let part = output.part(&sessions, place)?;
    let is_news = part.is_over || part.to > part.from;
    Ok(is_news.then(|| json!(LogPart::from((&output, &part)))))
}
