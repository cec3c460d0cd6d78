//! Messages as JSON.

use flagpost_model::{
    WorkerId,
    decision::Delivery,
    message::{Body, Lease, Message},
};
use serde_json::{Value, json};

use super::{announced, skipped, verdict};
use crate::{
    list::Skipped,
    messages::{Acked, MessageScan, MessageView, OpenMessage, Received, Sent},
};

/// A message.
pub fn message(message: &Message) -> Value {
    let data = message.typed().filter(|it| !matches!(it, Body::Text(_)));
    json!({
        "place": message.place.to_string(),
        "id": message.id,
        "subject": message.subject,
        "title": message.title(),
        "kind": message.kind,
        "from": message.from,
        "to": message.to,
        "by": message.by,
        "thread": message.thread,
        "answers": message.answers.as_ref().map(ToString::to_string),
        "at": message.at,
        "body": message.body,
        "data": data,
    })
}

/// A message and how far it is.
pub fn seen(seen: &MessageView) -> Value {
    json!({
        "message": message(&seen.message),
        "state": seen.state,
        "decision": seen.decision,
        "lease": seen.lease.as_ref().map(lease),
    })
}

fn lease(lease: &Lease) -> Value {
    json!({"by": lease.by, "at": lease.at, "until": lease.until, "count": lease.count})
}

/// Messages in their order, of so many in all.
pub fn messages(survey: &MessageScan, total: usize) -> Value {
    json!({
        "messages": survey.messages.iter().map(seen).collect::<Vec<_>>(),
        "total": total,
        "truncated": survey.messages.len() < total,
        "skipped": skipped(&survey.skipped),
    })
}

/// What a restart would have to deal with.
pub fn open(open: &[OpenMessage], passed_over: &[Skipped]) -> Value {
    let each = open.iter().map(|it| {
        let mut shape = seen(&it.seen);
        shape["next"] = json!(it.next);
        shape
    });
    json!({
        "messages": each.collect::<Vec<_>>(),
        "total": open.len(), "truncated": false, "skipped": skipped(passed_over),
    })
}

/// A message that was sent.
pub fn sent(sent: &Sent) -> Value {
    json!({
        "message": message(&sent.message),
        "replay": sent.replay,
        "verdict": sent.verdict.as_ref().map(verdict),
        "policy_fault": sent.policy_fault,
        "files": announced(&sent.files),
    })
}

/// A message in its receiver's hands.
pub fn received(received: &Received) -> Value {
    json!({
        "message": message(&received.message),
        "lease": received.lease.as_ref().map(lease),
        "redelivered": received.redelivered,
        "delivery": match received.delivery { Delivery::Brief => "brief", Delivery::Rejection => "rejection" },
        "reason": received.reason,
    })
}

/// A message that its recipient has.
pub fn acked(acked: &Acked) -> Value {
    json!({"message": message(&acked.message), "already": acked.already})
}

/// That there is a message for somebody.
pub fn waiting(recipient: &WorkerId) -> Value {
    json!({"recipient": recipient, "waiting": true})
}

/// That there is none.
pub fn none(waited: bool) -> Value {
    json!({"waited": waited})
}
