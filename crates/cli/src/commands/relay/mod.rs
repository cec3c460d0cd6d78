//! `relay`: the mail between controllers and workers.
//!
//! Owns which verb is which function, and what a brief and a report look like in JSON.

pub mod amend;
pub mod assign;
pub mod decide;
pub mod gc;
pub mod mail;
pub mod send;
pub mod slash;

use clap::Subcommand;
use flagpost_core::relay::briefs::Letter;
use flagpost_model::{
    decision::{Standing, Verdict},
    envelope::{Brief, Report},
};
use serde_json::{Value, json};

use crate::{context::Context, output::Answer};

/// The verbs of the relay.
#[derive(Debug, Subcommand)]
pub enum Relay {
    Assign(assign::Args),
    Ratify(decide::RatifyArgs),
    Reject(decide::RejectArgs),
    Edit(amend::Args),
    Redirect(send::RedirectArgs),
    Merge(send::MergeArgs),
    Inbox(mail::InboxArgs),
    Outbox(mail::OutboxArgs),
    Gc(gc::Args),
}

/// Carries out the verb.
pub fn run(context: &Context, verb: &Relay) -> anyhow::Result<Answer> {
    match verb {
        Relay::Assign(args) => assign::run(context, args),
        Relay::Ratify(args) => decide::ratify(context, args),
        Relay::Reject(args) => decide::reject(context, args),
        Relay::Edit(args) => amend::run(context, args),
        Relay::Redirect(args) => send::redirect(context, args),
        Relay::Merge(args) => send::merge(context, args),
        Relay::Inbox(args) => mail::inbox(context, args),
        Relay::Outbox(args) => mail::outbox(context, args),
        Relay::Gc(args) => gc::run(context, args),
    }
}

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
pub fn letter(letter: &Letter) -> Value {
    json!({
        "brief": brief(&letter.brief),
        "body": letter.body,
        "stage": letter.stage.as_str(),
        "decision": letter.standing.decision(),
        "verdict": match &letter.standing {
            Standing::Decided(it) => verdict(it),
            Standing::Pending | Standing::Flagged(_) => Value::Null,
        },
    })
}

/// A decision on record.
pub fn verdict(verdict: &Verdict) -> Value {
    json!({
        "decision": verdict.decision,
        "by": verdict.by,
        "at": verdict.at,
        "sha256": verdict.sha256,
        "via": verdict.via,
        "reason": verdict.reason,
        "rule": verdict.rule,
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

/// A message as `--quiet` names it: `W3/7`.
pub fn name(brief: &Brief) -> String {
    format!("{}/{}", brief.target_worker, brief.seq.get())
}
