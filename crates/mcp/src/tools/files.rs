//! The tools of reservations, and of who works here.

use flagpost_core::{Error, operations::Operation, questions};
use serde_json::{Map, Value, json};

use super::{each, only};
use crate::{refusal::ToolRefusal, seat::AgentSeat};

/// Reserves paths.
pub(super) fn reserve(seat: &AgentSeat, said: Map<String, Value>) -> Result<Value, ToolRefusal> {
    let mut said = said;
    if let Some(minutes) = said.remove("minutes") {
        said.insert("lease".to_owned(), format!("{minutes}m").into());
    }
    let answer = seat.ask(Operation::ReservationAdd, said)?;
    let held = each(&answer, "reservations").map(|it| only(&it, &["path", "until"]));
    Ok(json!({"held": held.collect::<Vec<_>>(), "refused": []}))
}

/// Gives them back.
pub(super) fn release(seat: &AgentSeat, said: Map<String, Value>) -> Result<Value, ToolRefusal> {
    let answer = seat.ask(Operation::ReservationRelease, said)?;
    let released = each(&answer, "reservations").map(|it| it["path"].clone());
    Ok(json!({"released": released.collect::<Vec<_>>()}))
}

/// Who is here.
pub(super) fn status(seat: &AgentSeat, _: Map<String, Value>) -> Result<Value, ToolRefusal> {
    let ask = |operation| seat.ask(operation, Map::new());
    let (workers, held) = (
        ask(Operation::WorkerList)?,
        ask(Operation::ReservationList)?,
    );
    let workers = each(&workers, "workers");
    let workers = workers.map(|it| only(&it, &["id", "agent", "liveness", "to_read"]));
    let held = each(&held, "reservations");
    let held = held.map(|it| only(&it, &["path", "worker", "mode", "until", "reason"]));
    let briefs = ask(Operation::BriefList)?["total"].as_u64();
    Ok(json!({
        "you": seat.worker,
        "session": session(seat)?,
        "workers": workers.collect::<Vec<_>>(),
        "reservations": held.collect::<Vec<_>>(),
        "waits_for_person": briefs.unwrap_or_default() + questions(seat)?,
    }))
}

/// The session that runs, where one does.
fn session(seat: &AgentSeat) -> Result<Value, Error> {
    let live = Map::from_iter([("id".to_owned(), "live".into())]);
    match seat.ask(Operation::SessionShow, live) {
        Ok(session) => Ok(only(&session, &["id", "stage", "list", "wave", "active"])),
        Err(Error::NotFound { .. } | Error::NoSession { .. }) => Ok(Value::Null),
        Err(error) => Err(error),
    }
}

/// How many questions wait for an answer.
fn questions(seat: &AgentSeat) -> Result<u64, Error> {
    let list = match seat.list() {
        Ok(list) => list,
        // Nobody has added a task yet.
        Err(Error::NotFound { .. }) => return Ok(0),
        Err(error) => return Err(error),
    };
    let outlines = list.load()?.outlines;
    let open = questions::open(&list, Some(&seat.repository()?), &outlines)?;
    Ok(open.len() as u64)
}
