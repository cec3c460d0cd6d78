//! Files of a worker's directory → model.
//!
//! Owns what must be in each of them. An error says in a sentence why a file is not what its name
//! promises.

use flagpost_model::{
    Seq, WorkerId,
    decision::{DecisionRecord, ProcessIdentity},
    envelope::{Brief, BriefKind, Extras, Report},
    message::Lease,
    worker::{Worker, WorkerStatus},
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{BriefFile, BriefSnapshot, File, ReportFile, WorkerFile};
use crate::{fields::Fields, json};

/// Reads the sidecar of brief `seq` of `worker`.
pub fn read_brief(worker: &WorkerId, seq: Seq, bytes: &[u8]) -> Result<BriefFile, String> {
    brief(worker, seq, object(bytes)?)
}

fn brief(worker: &WorkerId, seq: Seq, raw: Map<String, Value>) -> Result<BriefFile, String> {
    let fields = Fields(&raw);
    expect(fields, "seq", &seq)?;
    let kind = fields.required("kind")?;
    let content = Brief {
        seq,
        version: version(fields)?,
        kind,
        submitted_at: fields.required("submitted_at")?,
        controller_session_id: fields.required("controller_session_id")?,
        target_worker: expect(fields, "target_worker", worker)?,
        target_ticket: fields
            .optional("target_ticket")?
            .filter(|it: &String| !it.is_empty()),
        expires_at: fields.optional("expires_at")?,
        summary: fields.required("summary")?,
        in_reply_to: fields.optional("in_reply_to")?,
        idempotency_key: fields.required("idempotency_key")?,
        extras: extras(fields, "from"),
    };
    if content.kind == BriefKind::Dispatch && content.target_ticket.is_none() {
        return Err("it has no target_ticket".to_owned());
    }
    Ok(File { content, raw })
}

/// Reads report `seq` of `worker`.
pub fn read_report(worker: &WorkerId, seq: Seq, bytes: &[u8]) -> Result<ReportFile, String> {
    let raw = object(bytes)?;
    let fields = Fields(&raw);
    expect(fields, "seq", &seq)?;
    let Some(Value::String(body)) = raw.get("body") else {
        return Err("it has no body that is a text".to_owned());
    };
    let content = Report {
        seq,
        version: version(fields)?,
        kind: fields.required("kind")?,
        produced_at: fields.required("produced_at")?,
        worker_id: expect(fields, "worker_id", worker)?,
        ticket_id: fields.nullable("ticket_id")?,
        claude_session_id: fields.required("claude_session_id")?,
        body: body.clone(),
        pr_number: fields.optional("pr_number")?,
        next_action: fields.text("next_action"),
        in_reply_to: fields.optional("in_reply_to")?,
        idempotency_key: fields.required("idempotency_key")?,
        extras: extras(fields, "to"),
    };
    Ok(File { content, raw })
}

/// Reads the decision on a brief.
pub fn read_verdict(bytes: &[u8]) -> Result<DecisionRecord, String> {
    let raw = object(bytes)?;
    let fields = Fields(&raw);
    Ok(DecisionRecord {
        decision: fields.required("decision")?,
        by: fields.required("by")?,
        at: fields.required("at")?,
        sha256: fields.required("sha256")?,
        envelope: fields.optional("envelope")?,
        via: fields.required("via")?,
        reason: fields.text("reason"),
        rule: fields.text("rule"),
        policy: fields.optional("policy")?,
        hand: process_identity(&raw)?,
        line: fields.optional("line")?,
    })
}

fn process_identity(raw: &Map<String, Value>) -> Result<Option<ProcessIdentity>, String> {
    match raw.get("hand") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => ProcessIdentity::deserialize(value)
            .map(Some)
            .map_err(|error| format!("its hand: {error}")),
    }
}

/// Reads what brief `seq` of `worker` once was.
pub fn read_words(worker: &WorkerId, seq: Seq, bytes: &[u8]) -> Result<BriefSnapshot, String> {
    let mut raw = object(bytes)?;
    let line = Fields(&raw).required("line")?;
    let Some(Value::String(body)) = raw.remove("body") else {
        return Err("it has no body that is a text".to_owned());
    };
    let Some(Value::Object(sidecar)) = raw.remove("sidecar") else {
        return Err("it has no sidecar".to_owned());
    };
    Ok(BriefSnapshot {
        line,
        sidecar: brief(worker, seq, sidecar)?,
        body,
    })
}

/// Reads in whose hands a message is. A bare mark says only that it was given out.
pub fn read_lease(bytes: &[u8]) -> Result<Option<Lease>, String> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let raw = object(bytes)?;
    let fields = Fields(&raw);
    Ok(Some(Lease {
        by: fields.required("by")?,
        at: fields.required("at")?,
        until: fields.required("until")?,
        count: fields.required("count")?,
    }))
}

/// Reads who `worker` is.
pub fn read_worker(worker: &WorkerId, bytes: &[u8]) -> Result<WorkerFile, String> {
    let raw = object(bytes)?;
    let fields = Fields(&raw);
    let registered_at = fields.required("registered_at")?;
    let capabilities = match raw.get("capabilities") {
        Some(Value::Array(items)) => items
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    };
    let content = Worker {
        id: expect(fields, "id", worker)?,
        agent: fields.text("agent"),
        capabilities,
        registered_at,
        last_seen: fields.optional("last_seen")?,
        // What is no process id names no process that could run.
        pid: fields.optional("pid").ok().flatten(),
        tmux: fields.text("tmux"),
        worktree: fields.text("worktree"),
        standing: fields
            .optional("status")
            .ok()
            .flatten()
            .unwrap_or(WorkerStatus::Active),
        // What is no hash opens nothing.
        token: fields.optional("token_sha256").ok().flatten(),
    };
    Ok(File { content, raw })
}

fn object(bytes: &[u8]) -> Result<Map<String, Value>, String> {
    // Some editors begin a file with a byte order mark.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match serde_json::from_slice(bytes) {
        // Another reader may take the other value of a key.
        Ok(Value::Object(raw)) => json::each_key_once(bytes)
            .map(|()| raw)
            .map_err(|error| error.to_string()),
        Ok(_) => Err("it is not a JSON object".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn version(fields: Fields<'_>) -> Result<u64, String> {
    match fields.required("version")? {
        0 => Err("its version is 0".to_owned()),
        version => Ok(version),
    }
}

/// A key that repeats what the file's place says.
fn expect<T>(fields: Fields<'_>, key: &str, place: &T) -> Result<T, String>
where
    T: std::str::FromStr<Err: std::fmt::Display> + PartialEq + std::fmt::Display,
{
    let said: T = fields.required(key)?;
    if said == *place {
        Ok(said)
    } else {
        Err(format!("its {key} is {said}, its place says {place}"))
    }
}

fn extras(fields: Fields<'_>, party: &str) -> Extras {
    Extras {
        id: fields.text("id"),
        subject: fields.text("subject"),
        thread_id: fields.text("thread_id"),
        party: fields.text(party),
        by: fields.text("by"),
        data: fields.0.get("data").cloned(),
    }
}
