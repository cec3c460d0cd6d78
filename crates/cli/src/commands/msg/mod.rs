//! `msg`: what an orchestrator and its workers say to each other.
//!
//! Owns which verb is which function, and what a message looks like in JSON and in a line.

mod ack;
mod import;
mod look;
mod recv;
mod send;
mod words;

use clap::Subcommand;
use flagpost_core::messages::Seen;
use flagpost_model::message::{Body, Lease, Message};
use serde_json::{Value, json};

use crate::{context::Context, output::Answer};

/// The verbs on messages.
#[derive(Debug, Subcommand)]
pub enum Msg {
    Send(Box<send::Args>),
    Recv(recv::RecvArgs),
    Ack(ack::Args),
    Unacked(look::UnackedArgs),
    Thread(look::ThreadArgs),
    List(look::ListArgs),
    Show(look::ShowArgs),
    Wait(recv::WaitArgs),
    Import(import::Args),
}

/// Carries out the verb.
pub fn run(context: &Context, verb: &Msg) -> anyhow::Result<Answer> {
    match verb {
        Msg::Send(args) => send::run(context, args),
        Msg::Recv(args) => recv::recv(context, args),
        Msg::Ack(args) => ack::run(context, args),
        Msg::Unacked(args) => look::unacked(context, args),
        Msg::Thread(args) => look::thread(context, args),
        Msg::List(args) => look::list(context, args),
        Msg::Show(args) => look::show(context, args),
        Msg::Wait(args) => recv::wait(context, args),
        Msg::Import(args) => import::run(context, args),
    }
}

/// A message.
fn shape(message: &Message) -> Value {
    let data = message.typed().filter(|it| !matches!(it, Body::Text(_)));
    json!({
        "place": message.place.to_string(),
        "id": message.id,
        "subject": message.subject,
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
fn seen(seen: &Seen) -> Value {
    json!({
        "message": shape(&seen.message),
        "state": seen.state,
        "decision": seen.decision,
        "lease": seen.lease.as_ref().map(lease),
    })
}

fn lease(lease: &Lease) -> Value {
    json!({"by": lease.by, "at": lease.at, "until": lease.until, "count": lease.count})
}

/// The first line about a message: `DONE W1/outbox/3 from W1 to orchestrator in epic-1`.
fn head(message: &Message) -> String {
    let by = message.by.as_ref().map(|by| format!(" (by {by})"));
    let thread = message.thread.as_ref().map(|it| format!(" in {it}"));
    format!(
        "{} {} from {}{} to {}{}",
        message.title(),
        message.place,
        message.from,
        by.unwrap_or_default(),
        message.to,
        thread.unwrap_or_default(),
    )
}
