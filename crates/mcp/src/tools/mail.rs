//! The tools of a worker's mail.

use std::time::{Duration, Instant};

use flagpost_core::{Error, operations::Operation, relay::Fleet, waiting::until};
use flagpost_model::{WorkerId, envelope::Direction};
use jiff::SignedDuration;
use serde_json::{Map, Value, json};

use super::only;
use crate::{refusal::ToolRefusal, seat::AgentSeat};

/// What a report may be.
pub(super) const REPORTS: &[&str] = &["answer", "question", "progress"];

/// Who waits looks so often whether anybody listens yet.
const SLICE: Duration = Duration::from_millis(500);

/// What waits for the worker.
pub(super) fn inbox(seat: &AgentSeat, said: Map<String, Value>) -> Result<Value, ToolRefusal> {
    let mut said = said;
    let wait = said.remove(super::WAIT).and_then(|it| it.as_u64());
    let ends = Instant::now() + Duration::from_secs(wait.unwrap_or_default());
    let look = || seat.ask(Operation::BriefNext, said.clone());
    let mut answer = look()?;
    while is_empty(&answer) && !seat.is_over() {
        let (left, Some(worker)) = (ends.saturating_duration_since(Instant::now()), &seat.worker)
        else {
            break;
        };
        if left.is_zero() {
            break;
        }
        let repository = seat.repository()?;
        let mail = Fleet::of(&seat.home, &repository.id).mail(worker)?;
        let slice = SignedDuration::try_from(left.min(SLICE)).unwrap_or_default();
        let found = until(&[mail.dir(Direction::Inbox)], Some(slice), || {
            let answer = look()?;
            Ok((!is_empty(&answer)).then_some(answer))
        })?;
        answer = found.unwrap_or(answer);
    }
    Ok(only(&answer, &["items", "more"]))
}

/// Whether nothing waits.
pub(crate) fn is_empty(inbox: &Value) -> bool {
    inbox["items"].as_array().is_none_or(Vec::is_empty)
}

/// The worker has a brief.
pub(super) fn ack(seat: &AgentSeat, said: Map<String, Value>) -> Result<Value, ToolRefusal> {
    let acked = seat.tell(Operation::BriefAck, said, |answer| {
        let mut acked = json!({"seq": answer["seq"], "again": answer["already"]});
        if answer["already"] == false {
            acked["acked_at"] = json!(seat.home.now());
        }
        acked
    });
    Ok(acked?)
}

/// What the worker tells.
pub(super) fn report(seat: &AgentSeat, said: Map<String, Value>) -> Result<Value, ToolRefusal> {
    let mut said = said;
    let kind = match said.get("kind").and_then(Value::as_str) {
        Some("answer") => "freeform",
        Some("question") => "blocked",
        _ => "cycle_report",
    };
    said.insert("kind".to_owned(), kind.into());
    let reported = seat.tell(Operation::ReportSend, said, |answer| {
        let report = &answer["report"];
        let bytes = report["body"].as_str().map_or(0, str::len);
        json!({"seq": report["seq"], "bytes": bytes})
    });
    Ok(reported?)
}

/// A message: to a worker as a brief, which takes the way of every brief; to anybody else at once.
pub(super) fn send(seat: &AgentSeat, said: Map<String, Value>) -> Result<Value, ToolRefusal> {
    let mut said = said;
    let to = said.remove("to").unwrap_or_default();
    let text = said.remove("text").unwrap_or_default();
    let repository = seat.repository()?;
    let is_worker = match to.as_str().unwrap_or_default().parse::<WorkerId>() {
        Ok(worker) => match Fleet::of(&seat.home, &repository.id).mail(&worker) {
            Ok(_) => true,
            Err(Error::NotFound { .. }) => false,
            Err(error) => return Err(error.into()),
        },
        Err(error) => return Err(Error::from(error).into()),
    };
    if is_worker {
        said.insert("worker".to_owned(), to);
        said.insert("text".to_owned(), text);
        let answer = seat.ask(Operation::BriefPropose, said)?;
        let state = match answer["verdict"].is_null() {
            true => "waits_for_person",
            false => "delivered",
        };
        return Ok(json!({"id": answer["brief"]["id"], "state": state}));
    }
    said.insert("to".to_owned(), to);
    said.insert("body".to_owned(), text);
    said.insert("subject".to_owned(), "QUERY".into());
    let answer = seat.ask(Operation::MessageSend, said)?;
    Ok(json!({"id": answer["message"]["id"], "state": "delivered"}))
}
