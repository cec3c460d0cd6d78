//! What a row of somebody else's database becomes.
//!
//! Owns its envelope: the row's own times and words, under an id that its content gives it, so that
//! nothing comes twice.

use flagpost_model::{
    Seq, WorkerId,
    envelope::{Brief, BriefKind, Extras, Hash, Key, Report, ReportKind, VERSION},
    message::{Message, Subject, foreign::MessageRow},
};
use serde_json::json;

/// The same for the same row, wherever its database lies. It begins with the row's time and number, as
/// rows of one second have an order too: that of their numbers.
pub(super) fn id_of(row: &MessageRow) -> String {
    let hash = hash_of(row);
    let time = row.at.as_millisecond().clamp(0, (1 << 48) - 1);
    let number = row.id.clamp(0, (1 << 26) - 1);
    let (high, low) = (number >> 14, number & 0x3fff);
    let time = format!("{time:012x}");
    let (first, second) = time.split_at(8);
    let rest = hash.as_str().get(..12).unwrap_or_default();
    format!("{first}-{second}-8{high:03x}-{:04x}-{rest}", 0x8000 | low)
}

/// The id that an earlier version gave a row: what it brought is known by it.
pub(super) fn earlier_id_of(row: &MessageRow) -> String {
    let hash = hash_of(row);
    let parts = [(0, 8), (8, 12), (13, 16), (17, 20), (20, 32)];
    let part = |(from, to)| hash.as_str().get(from..to).unwrap_or_default();
    let [a, b, c, d, e] = parts.map(part);
    // A UUID of version 8, which is a hash of whatever its maker says.
    format!("{a}-{b}-8{c}-8{d}-{e}")
}

fn hash_of(row: &MessageRow) -> Hash {
    let MessageRow {
        id, subject, body, ..
    } = row;
    let content = json!([id, subject, row.from, row.to, body, row.thread, row.at]);
    Hash::of(content.to_string().as_bytes())
}

/// The brief that a row becomes in its worker's inbox.
pub(super) fn brief(row: &MessageRow, id: &str, (worker, seq): (&WorkerId, Seq)) -> Brief {
    let mut brief = Brief {
        seq,
        version: VERSION,
        kind: BriefKind::Freeform,
        submitted_at: row.at,
        controller_session_id: row.from.clone(),
        target_worker: worker.clone(),
        target_ticket: None,
        expires_at: None,
        summary: String::new(),
        in_reply_to: None,
        idempotency_key: Key::of(&row.body),
        extras: extras(row, id, &row.from),
    };
    let message = Message::of_brief(&brief, &row.body);
    brief.summary = message.summary();
    if brief.summary.is_empty() {
        brief.summary.clone_from(&row.subject);
    }
    brief.target_ticket = message.task();
    // A TASK that names none is kept as what it says.
    if brief.target_ticket.is_some() && row.known_subject() == Some(Subject::Task) {
        brief.kind = BriefKind::Dispatch;
    }
    brief
}

/// The report that a row becomes in its worker's outbox.
pub(super) fn report(row: &MessageRow, id: &str, (worker, seq): (&WorkerId, Seq)) -> Report {
    let kind = row.known_subject().map(Subject::report_kind);
    let mut report = Report {
        seq,
        version: VERSION,
        kind: kind.unwrap_or(ReportKind::Freeform),
        produced_at: row.at,
        worker_id: worker.clone(),
        ticket_id: None,
        claude_session_id: row.from.clone(),
        body: row.body.clone(),
        pr_number: None,
        next_action: None,
        in_reply_to: None,
        idempotency_key: Key::of(&row.body),
        extras: extras(row, id, &row.to),
    };
    report.ticket_id = Message::of_report(&report).task();
    report
}
fn extras(row: &MessageRow, id: &str, party: &str) -> Extras {
    Extras {
        id: Some(id.to_owned()),
        subject: Some(row.subject.clone()),
        thread_id: row.thread.clone(),
        party: Some(party.to_owned()),
        by: None,
        data: None,
    }
}
