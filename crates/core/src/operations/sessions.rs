//! Sessions: the runs of a list.

use serde_json::{Value, json};

use super::{Arguments, Caller, CallerPart, Operation, OperationEntry, Parameter, Run};
use crate::{error::Result, sessions::Sessions, shape};

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
];

fn list(caller: &Caller, _: &Arguments) -> Result<Value> {
    let all = Sessions::of(caller.home(), &caller.repository()?).all()?;
    Ok(json!({
        "sessions": all.iter().map(shape::session).collect::<Vec<_>>(),
        "total": all.len(),
        "truncated": false,
    }))
}

fn show(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let sessions = Sessions::of(caller.home(), &caller.repository()?);
    let session = sessions.find(arguments.needed("id"))?;
    let told = session.attempts(caller.home())?;
    Ok(shape::session_with(&session, &told))
}
