//! The tools of tasks.

use std::collections::BTreeSet;

use flagpost_core::{
    Error,
    operations::{ArgumentRefusal, Operation},
    tasks,
};
use flagpost_model::{TaskId, query::Query, task::Outline};
use serde_json::{Map, Value, json};

use super::{each, only};
use crate::{refusal::ToolRefusal, seat::AgentSeat};

/// How a claim may end.
pub(super) const OUTCOMES: &[&str] = &["completed", "failed", "stuck"];

/// So many tasks are shown where nobody says how many.
const SHOWN: usize = 20;

/// The tasks that fit, or that can be claimed.
pub(super) fn tasks(seat: &AgentSeat, said: Map<String, Value>) -> Result<Value, ToolRefusal> {
    let limit = said.get("limit").and_then(Value::as_u64);
    let limit = limit.map_or(SHOWN, |it| usize::try_from(it).unwrap_or(SHOWN));
    let list = seat.list()?;
    let loaded = list.load()?;
    let ready = tasks::ready(&loaded.outlines, seat.home.now());
    let (shown, total) = match said.get("query").and_then(Value::as_str) {
        None => (ready.iter().take(limit).copied().collect(), ready.len()),
        Some(text) => {
            let query: Query = text.parse().map_err(|error| Error::Invalid {
                what: "query".to_owned(),
                reason: format!("{error}"),
            })?;
            let me = seat.worker.as_ref();
            let selected = tasks::select(&list, &loaded, &query, me, limit)?;
            (selected.tasks, selected.total)
        }
    };
    let ready: BTreeSet<&TaskId> = ready.iter().map(|it| &it.id).collect();
    let row = |it: &&Outline| {
        json!({
            "id": it.id,
            "subject": it.subject,
            "state": it.state.name(),
            "owner": it.owner,
            "priority": it.priority,
            "ready": ready.contains(&it.id),
        })
    };
    let rows: Vec<Value> = shown.iter().map(row).collect();
    Ok(json!({"tasks": rows, "total": total}))
}

/// A task.
pub(super) fn task(seat: &AgentSeat, said: Map<String, Value>) -> Result<Value, ToolRefusal> {
    Ok(seat.ask(Operation::TaskShow, named(said))?)
}

/// A claim.
pub(super) fn claim(seat: &AgentSeat, said: Map<String, Value>) -> Result<Value, ToolRefusal> {
    let operation = match (said.contains_key("task"), said.contains_key("query")) {
        (true, true) => {
            return Err(ToolRefusal::from(Error::Invalid {
                what: "task".to_owned(),
                reason: "say a task or a query, not both".to_owned(),
            }));
        }
        (true, false) => Operation::TaskClaim,
        (false, _) => Operation::TaskNext,
    };
    let answer = seat.ask(operation, named(said))?;
    let held = match seat.ask(Operation::ReservationList, Map::new()) {
        Ok(held) => held,
        // A list may be claimed from where no repository is.
        Err(Error::NoRepository { .. }) => Value::Null,
        Err(error) => return Err(error.into()),
    };
    let me = json!(seat.worker);
    let others = each(&held, "reservations").filter(|it| it["worker"] != me);
    let others: Vec<Value> = others.map(|it| it["path"].clone()).collect();
    Ok(json!({
        "task": answer["id"],
        "token": answer["claim"]["token"],
        "until": answer["claim"]["expires_at"],
        "subject": answer["subject"],
        "description": answer["description"],
        "paths_held_by_others": others,
    }))
}

/// The end of one.
pub(super) fn end(seat: &AgentSeat, said: Map<String, Value>) -> Result<Value, ToolRefusal> {
    let mut said = named(said);
    if !said.contains_key("token") {
        let task = said.get("id").and_then(Value::as_str).unwrap_or_default();
        let token = seat.token_of(task);
        let token = token.ok_or_else(|| Error::from(ArgumentRefusal::Missing("token")))?;
        said.insert("token".to_owned(), token.0.into());
    }
    let operation = match said.remove("outcome").as_ref().and_then(Value::as_str) {
        Some("completed") => Operation::TaskDone,
        Some("failed") => Operation::TaskFail,
        _ => Operation::TaskStuck,
    };
    let ended = seat.tell(
        operation,
        said,
        |answer| json!({"task": answer["id"], "state": answer["state"], "late": false}),
    );
    Ok(ended?)
}

/// A new task.
pub(super) fn add(seat: &AgentSeat, said: Map<String, Value>) -> Result<Value, ToolRefusal> {
    let mut said = said;
    if let Some(key) = said.remove("key") {
        said.insert("uid".to_owned(), key);
        said.insert("once".to_owned(), true.into());
    }
    let answer = seat.ask(Operation::TaskAdd, said)?;
    Ok(json!({"id": answer["id"], "existed": answer["existed"] == true}))
}

/// A remark.
pub(super) fn note(seat: &AgentSeat, said: Map<String, Value>) -> Result<Value, ToolRefusal> {
    let answer = seat.ask(Operation::TaskNote, named(said))?;
    let count = answer["notes"].as_array().map_or(0, Vec::len);
    let mut noted = only(&answer, &[]);
    noted["task"] = answer["id"].clone();
    noted["n"] = count.into();
    Ok(noted)
}

/// What an operation calls `id` is a task to an agent.
fn named(said: Map<String, Value>) -> Map<String, Value> {
    let mut said = said;
    if let Some(task) = said.remove("task") {
        said.insert("id".to_owned(), task);
    }
    said
}
