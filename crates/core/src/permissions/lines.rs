//! What the history tells of requests.
//!
//! Owns how a request and a decision are told in a line, and how a decision is read from one: the line is the
//! decision. It reads and writes no history.

use flagpost_model::permission::{PermissionDecision, PermissionRequest, Verdict};
use serde_json::{Value, json};

use crate::history::{
    Entry, Kind, Line,
    detail::{REQUEST, RULE},
};

/// So many characters of a tool's name stand in the history.
const TOOL: usize = 64;

/// The kind of line that tells of a verdict.
fn kind(verdict: Verdict) -> Kind {
    match verdict {
        Verdict::Allowed => Kind::PermissionAllowed,
        Verdict::Denied => Kind::PermissionDenied,
        Verdict::Expired => Kind::PermissionExpired,
        Verdict::Withdrawn => Kind::PermissionWithdrawn,
    }
}

/// The decision that a line tells of; none where it tells of something else.
pub(super) fn decision_of(line: &Line) -> Option<PermissionDecision> {
    let entry = &line.entry;
    let verdicts = Verdict::ALL.iter().copied();
    Some(PermissionDecision {
        verdict: verdicts.into_iter().find(|it| kind(*it) == entry.kind)?,
        by: entry.actor.clone()?,
        at: line.at,
        via: text(entry, "via").and_then(|it| it.parse().ok()),
        reason: text(entry, "reason").map(str::to_owned),
        rule: text(entry, RULE).map(str::to_owned),
        policy: text(entry, "policy").and_then(|it| it.parse().ok()),
        hand: entry
            .detail
            .get("hand")
            .and_then(|it| serde_json::from_value(it.clone()).ok()),
        line: line.n,
    })
}

/// A line of this kind about a request.
pub(super) fn entry(kind: Kind, n: u64, request: &PermissionRequest) -> Entry {
    let tool: String = request.tool.chars().take(TOOL).collect();
    let mut entry = Entry::new(kind)
        .mail(&request.worker, None)
        .detail(REQUEST, n)
        .detail("tool", tool)
        .detail("sha256", request.sha256.as_str());
    entry.list = request.list.as_ref().and_then(|it| it.name().cloned());
    entry.task = request.task.clone().filter(|_| entry.list.is_some());
    entry
}

/// The line of a decision on a request.
pub(super) fn decided(n: u64, request: &PermissionRequest, decision: &PermissionDecision) -> Entry {
    let mut told = entry(kind(decision.verdict), n, request);
    told.actor = Some(decision.by.clone());
    for (name, text) in [
        ("via", decision.via.map(|it| it.as_str())),
        ("reason", decision.reason.as_deref()),
        (RULE, decision.rule.as_deref()),
        ("policy", decision.policy.as_ref().map(|it| it.as_str())),
    ] {
        if let Some(text) = text {
            told = told.detail(name, text);
        }
    }
    match &decision.hand {
        Some(hand) => told.detail("hand", json!(hand)),
        None => told,
    }
}

/// A text that a line has beside the rest.
pub(super) fn text<'e>(entry: &'e Entry, key: &str) -> Option<&'e str> {
    entry.detail.get(key).and_then(Value::as_str)
}
