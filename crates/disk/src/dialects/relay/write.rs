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
use crate::record::{Keys, put, rewrite, some};

/// A sidecar, keeping what `before` holds beyond it.
pub fn write_brief(before: Option<&BriefFile>, brief: &Brief) -> Vec<u8> {
    keeping(before, brief, brief_keys)
}

/// A new brief as it will lie there.
pub fn new_brief(brief: &Brief) -> BriefFile {
    let mut raw = Map::new();
    put(&mut raw, brief_keys(brief));
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
    bytes(vec![
        ("decision", Some(json!(verdict.decision))),
        ("by", Some(json!(verdict.by))),
        ("at", Some(json!(verdict.at))),
        ("sha256", Some(json!(verdict.sha256))),
        ("envelope", some(&verdict.envelope)),
        ("via", Some(json!(verdict.via))),
        ("reason", some(&verdict.reason)),
        ("rule", some(&verdict.rule)),
        ("policy", some(&verdict.policy)),
        ("hand", some(&verdict.hand)),
        ("line", some(&verdict.line)),
    ])
}

/// What a brief once was.
pub fn write_words(words: &BriefSnapshot) -> Vec<u8> {
    bytes(vec![
        ("line", Some(json!(words.line))),
        ("sidecar", Some(Value::Object(words.sidecar.raw.clone()))),
        ("body", Some(json!(words.body))),
    ])
}

/// In whose hands a message is.
pub fn write_lease(lease: &Lease) -> Vec<u8> {
    bytes(vec![
        ("by", Some(json!(lease.by))),
        ("at", Some(json!(lease.at))),
        ("until", Some(json!(lease.until))),
        ("count", Some(json!(lease.count))),
    ])
}

/// The file of these keys.
fn bytes(keys: Keys) -> Vec<u8> {
    let mut raw = Map::new();
    put(&mut raw, keys);
    to_bytes(raw)
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
        ("pr_number", some(&report.pr_number)),
        ("next_action", some(&report.next_action)),
        ("in_reply_to", some(&report.in_reply_to)),
        ("idempotency_key", Some(json!(report.idempotency_key))),
    ];
    keys.extend(extras(&report.extras, "to"));
    keys
}

fn worker_keys(worker: &Worker) -> Keys {
    vec![
        ("id", Some(json!(worker.id))),
        ("agent", some(&worker.agent)),
        ("capabilities", Some(json!(worker.capabilities))),
        ("registered_at", Some(json!(worker.registered_at))),
        ("last_seen", worker.last_seen.map(|at| json!(at))),
        ("pid", some(&worker.pid)),
        ("tmux", some(&worker.tmux)),
        ("worktree", some(&worker.worktree)),
        ("status", Some(json!(worker.standing))),
        ("token_sha256", some(&worker.token)),
    ]
}

fn extras(extras: &Extras, party: &'static str) -> Keys {
    vec![
        ("id", some(&extras.id)),
        ("subject", some(&extras.subject)),
        ("thread_id", some(&extras.thread_id)),
        (party, some(&extras.party)),
        ("by", some(&extras.by)),
        ("data", extras.data.clone()),
    ]
}
