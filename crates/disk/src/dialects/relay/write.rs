//! Model → files of a worker's directory.
//!
//! Owns the order of the keys, which is the seed's, and that a rewrite touches only those whose
//! meaning changed.

use flagpost_model::{
    decision::DecisionRecord,
    envelope::{Brief, Extras, Report},
    message::Lease,
    worker::Worker,
};
use serde_json::{Map, Value, json};

use super::{BriefFile, BriefSnapshot, File, ReportFile, WorkerFile, to_bytes};
use crate::record::{Keys, rewrite};

/// A sidecar, keeping what `before` holds beyond it.
pub fn write_brief(before: Option<&BriefFile>, brief: &Brief) -> Vec<u8> {
    keeping(before, brief, brief_keys)
}

/// A new brief as it will lie there.
pub fn new_brief(brief: &Brief) -> BriefFile {
    let mut raw = Map::new();
    rewrite(&mut raw, Keys::default(), brief_keys(brief));
    File {
        content: brief.clone(),
        raw,
    }
}

/// A report, keeping what `before` holds beyond it.
pub fn write_report(before: Option<&ReportFile>, report: &Report) -> Vec<u8> {
    keeping(before, report, report_keys)
}

/// Who a worker is, keeping what `before` holds beyond it.
pub fn write_worker(before: Option<&WorkerFile>, worker: &Worker) -> Vec<u8> {
    keeping(before, worker, worker_keys)
}

/// A decision.
pub fn write_verdict(verdict: &DecisionRecord) -> Vec<u8> {
    let keys = vec![
        ("decision", Some(json!(verdict.decision))),
        ("by", Some(json!(verdict.by))),
        ("at", Some(json!(verdict.at))),
        ("sha256", Some(json!(verdict.sha256))),
        ("envelope", verdict.envelope.as_ref().map(|it| json!(it))),
        ("via", Some(json!(verdict.via))),
        ("reason", verdict.reason.as_ref().map(|it| json!(it))),
        ("rule", verdict.rule.as_ref().map(|it| json!(it))),
        ("policy", verdict.policy.as_ref().map(|it| json!(it))),
        ("hand", verdict.hand.as_ref().map(|it| json!(it))),
        ("line", verdict.line.map(|it| json!(it))),
    ];
    let there = keys
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)));
    to_bytes(there.collect())
}

/// What a brief once was.
pub fn write_words(words: &BriefSnapshot) -> Vec<u8> {
    let keys = [
        ("line", json!(words.line)),
        ("sidecar", Value::Object(words.sidecar.raw.clone())),
        ("body", json!(words.body)),
    ];
    let keys = keys.map(|(key, value)| (key.to_owned(), value));
    to_bytes(keys.into_iter().collect())
}

/// In whose hands a message is.
pub fn write_lease(lease: &Lease) -> Vec<u8> {
    let keys = [
        ("by", json!(lease.by)),
        ("at", json!(lease.at)),
        ("until", json!(lease.until)),
        ("count", json!(lease.count)),
    ];
    let keys = keys.map(|(key, value)| (key.to_owned(), value));
    to_bytes(keys.into_iter().collect())
}

fn keeping<T>(before: Option<&File<T>>, now: &T, keys: fn(&T) -> Keys) -> Vec<u8> {
    let mut raw: Map<String, Value> = before.map(|file| file.raw.clone()).unwrap_or_default();
    let was = before.map(|file| keys(&file.content)).unwrap_or_default();
    rewrite(&mut raw, was, keys(now));
    to_bytes(raw)
}

fn brief_keys(brief: &Brief) -> Keys {
    let mut keys = vec![
        ("seq", Some(json!(brief.seq))),
        ("version", Some(json!(brief.version))),
        ("kind", Some(json!(brief.kind))),
        ("submitted_at", Some(json!(brief.submitted_at))),
        (
            "controller_session_id",
            Some(json!(brief.controller_session_id)),
        ),
        ("target_worker", Some(json!(brief.target_worker))),
        ("target_ticket", Some(json!(brief.target_ticket))),
        ("expires_at", Some(json!(brief.expires_at))),
        ("summary", Some(json!(brief.summary))),
        ("in_reply_to", Some(json!(brief.in_reply_to))),
        ("idempotency_key", Some(json!(brief.idempotency_key))),
    ];
    keys.extend(extras(&brief.extras, "from"));
    keys
}

fn report_keys(report: &Report) -> Keys {
    let mut keys = vec![
        ("seq", Some(json!(report.seq))),
        ("version", Some(json!(report.version))),
        ("kind", Some(json!(report.kind))),
        ("produced_at", Some(json!(report.produced_at))),
        ("worker_id", Some(json!(report.worker_id))),
        ("ticket_id", Some(json!(report.ticket_id))),
        ("claude_session_id", Some(json!(report.claude_session_id))),
        ("body", Some(json!(report.body))),
        ("pr_number", report.pr_number.map(|it| json!(it))),
        ("next_action", text(report.next_action.as_ref())),
        ("in_reply_to", report.in_reply_to.map(|it| json!(it))),
        ("idempotency_key", Some(json!(report.idempotency_key))),
    ];
    keys.extend(extras(&report.extras, "to"));
    keys
}

fn worker_keys(worker: &Worker) -> Keys {
    vec![
        ("id", Some(json!(worker.id))),
        ("agent", text(worker.agent.as_ref())),
        ("capabilities", Some(json!(worker.capabilities))),
        ("registered_at", Some(json!(worker.registered_at))),
        ("last_seen", Some(json!(worker.last_seen))),
        ("pid", worker.pid.map(|it| json!(it))),
        ("tmux", text(worker.tmux.as_ref())),
        ("worktree", text(worker.worktree.as_ref())),
        ("status", Some(json!(worker.standing))),
    ]
}

fn extras(extras: &Extras, party: &'static str) -> Keys {
    vec![
        ("id", text(extras.id.as_ref())),
        ("subject", text(extras.subject.as_ref())),
        ("thread_id", text(extras.thread_id.as_ref())),
        (party, text(extras.party.as_ref())),
        ("by", text(extras.by.as_ref())),
        ("data", extras.data.clone()),
    ]
}

fn text(text: Option<&String>) -> Option<Value> {
    text.map(|it| json!(it))
}
