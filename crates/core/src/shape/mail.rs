//! The relay's mail and its workers as JSON.

use flagpost_model::{
    decision::{DecisionRecord, DecisionState},
    envelope::{Brief, Report},
};
use serde_json::{Value, json};

use crate::error::describe;
use crate::relay::{
    brief_snapshots::Before,
    briefs::{BriefView, Proposed},
    fleet::Ratified,
    reports::ReportView,
    slash::SlashOutput,
    workers::WorkerView,
};

/// A brief without its body.
pub fn brief(brief: &Brief) -> Value {
    json!({
        "worker": brief.target_worker,
        "seq": brief.seq,
        "kind": brief.kind,
        "ticket": brief.target_ticket,
        "summary": brief.summary,
        "controller": brief.controller_session_id,
        "submitted_at": brief.submitted_at,
        "expires_at": brief.expires_at,
        "in_reply_to": brief.in_reply_to,
        "id": brief.extras.id,
    })
}

/// A brief with its body, how it stands and how far it is.
pub fn brief_view(letter: &BriefView) -> Value {
    json!({
        "brief": brief(&letter.brief),
        "body": letter.body,
        "stage": letter.stage.as_str(),
        "decision": letter.standing.decision(),
        "verdict": match &letter.standing {
            DecisionState::Decided(it) => verdict(it),
            DecisionState::Pending | DecisionState::Flagged(_) | DecisionState::Foreign(_) => Value::Null,
        },
        "envelope": letter.prints.envelope,
        "withheld": withheld(letter),
        "unproposed": letter.is_unproposed(),
    })
}

/// Why a brief is withheld, and the command that shows it and what settles it.
pub fn withheld(letter: &BriefView) -> Value {
    letter.held.map_or(
        Value::Null,
        |held| json!({"why": held, "told": letter.why_withheld(), "settle_with": letter.shown_by()}),
    )
}

/// A brief in full, and as what it was proposed or decided on where it is withheld.
pub fn brief_in_full(it: &BriefView, before: Option<&Before>) -> Value {
    let mut shown = brief_view(it);
    if let Some(command) = it.resolving_command() {
        shown["withheld"]["settle_with"] = command.into();
    }
    shown["before"] = before.map_or(Value::Null, |before| {
        let changes = before.changes.iter();
        let changes = changes.map(|it| json!({"part": it.part, "was": it.was, "now": it.now}));
        json!({"body": before.body, "changes": changes.collect::<Vec<_>>()})
    });
    shown
}

/// A decision on record.
pub fn verdict(verdict: &DecisionRecord) -> Value {
    json!({
        "decision": verdict.decision,
        "by": verdict.by,
        "at": verdict.at,
        "sha256": verdict.sha256,
        "envelope": verdict.envelope,
        "via": verdict.via,
        "reason": verdict.reason,
        "rule": verdict.rule,
        "policy": verdict.policy,
        "hand": verdict.hand,
        "line": verdict.line,
    })
}

/// A report.
pub fn report(report: &Report) -> Value {
    json!({
        "worker": report.worker_id,
        "seq": report.seq,
        "kind": report.kind,
        "ticket": report.ticket_id,
        "body": report.body,
        "pr": report.pr_number,
        "next_action": report.next_action,
        "in_reply_to": report.in_reply_to,
        "session": report.claude_session_id,
        "produced_at": report.produced_at,
        "id": report.extras.id,
    })
}

/// A report, and whether somebody read it.
pub fn report_view(paper: &ReportView) -> Value {
    json!({
        "report": report(&paper.report), "read": paper.read, "confirmed": paper.confirmed,
    })
}

/// A brief that was proposed.
pub fn proposed(proposed: &Proposed) -> Value {
    json!({
        "brief": brief(&proposed.brief),
        "replay": proposed.replay,
        "verdict": proposed.verdict.as_ref().map(verdict),
        "policy_fault": proposed.policy_fault,
    })
}

/// What was decided on, and what could not be.
pub fn decided(all: &Ratified) -> Value {
    let done = all.done.iter().map(
        |it| json!({"brief": brief(&it.brief), "decision": it.decision, "already": it.already}),
    );
    let failed = all.failed.iter().map(
        |(worker, it)| json!({"worker": worker, "seq": it.seq, "reason": describe(&it.error)}),
    );
    let arrived = all.arrived.iter().map(|it| {
        json!({"worker": it.brief.target_worker, "seq": it.brief.seq, "summary": it.brief.summary})
    });
    let left_aside = all.left_aside.iter().map(|it| {
        let mut left = withheld(it);
        left["worker"] = json!(it.brief.target_worker);
        left["seq"] = json!(it.brief.seq);
        left
    });
    json!({
        "decided": done.collect::<Vec<_>>(), "failed": failed.collect::<Vec<_>>(),
        "arrived": arrived.collect::<Vec<_>>(), "left_aside": left_aside.collect::<Vec<_>>(),
    })
}

/// What a slash command did.
pub fn slash_output(command: &str, said: &SlashOutput) -> Value {
    json!({
        "command": command.trim(), "lines": said.lines, "faults": said.faults,
        "exit_status": said.status,
    })
}

/// A worker, and how it is.
pub fn worker(seen: &WorkerView) -> Value {
    let worker = &seen.worker;
    json!({
        "id": worker.id,
        "agent": worker.agent,
        "capabilities": worker.capabilities,
        "registered_at": worker.registered_at,
        "last_seen": worker.last_seen,
        "pid": worker.pid,
        "tmux": worker.tmux,
        "worktree": worker.worktree,
        "status": worker.standing,
        "liveness": seen.liveness,
        "to_decide": seen.pending,
        "withheld": seen.withheld,
        "to_read": seen.unread,
        "reports": seen.reports,
    })
}
