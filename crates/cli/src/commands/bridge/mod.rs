//! `bridge`: the JSON bridge, for agents that can only read and write files.
//!
//! Owns which verb is which function, and how an answer of the bridge reads in a line.

pub mod outbox;
pub mod send;
pub mod serve;
pub mod snippet;

use clap::Subcommand;
use flagpost_core::bridge::Bridge;
use jiff::Timestamp;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use crate::{context::Context, output::Answer, terminal::line};

/// Its commands name lists.
const NO_BRIDGE: &str = "the bridge works on lists with names";

/// The verbs of the bridge.
#[derive(Debug, Subcommand)]
pub enum BridgeCommand {
    Start(serve::BridgeStartArgs),
    Stop(serve::BridgeStopArgs),
    Status(serve::BridgeStatusArgs),
    Send(send::BridgeSendArgs),
    Outbox(outbox::BridgeOutboxArgs),
    Clear(outbox::ClearArgs),
    Snippet(snippet::SnippetArgs),
}

/// Carries out the verb.
pub fn run(context: &Context, verb: &BridgeCommand) -> anyhow::Result<Answer> {
    match verb {
        BridgeCommand::Start(args) => serve::start(context, args),
        BridgeCommand::Stop(args) => serve::stop(context, args),
        BridgeCommand::Status(args) => serve::status(context, args),
        BridgeCommand::Send(args) => send::run(context, args),
        BridgeCommand::Outbox(args) => outbox::show(context, args),
        BridgeCommand::Clear(args) => outbox::clear(context, args),
        BridgeCommand::Snippet(args) => snippet::run(context, args),
    }
}

/// The bridge of the home; what needs no list asks for none.
fn bridge(context: &Context) -> anyhow::Result<Bridge<'_>> {
    Ok(Bridge::of(&context.home, None)?)
}

/// What all answers have in the protocol of the bridge, which has more in each.
fn reply_schema(generator: &mut SchemaGenerator) -> Schema {
    let timestamp = generator.subschema_for::<Timestamp>();
    json_schema!({
        "type": "object",
        "properties": {
            "commandId": {
                "description": "The id of the command; null where it named none.",
                "type": ["string", "null"]
            },
            "status": {"enum": ["ok", "error"]},
            "timestamp": timestamp
        },
        "required": ["commandId", "status", "timestamp"],
        "additionalProperties": true
    })
}

/// An answer in a line: what went wrong, or what there is to show.
fn reply_line(answer: &Value) -> String {
    if let Some(error) = answer.get("error").and_then(Value::as_str) {
        return format!("error: {}", line(error));
    }
    // Whoever may empty the outbox may write anything into it.
    if answer.get("status").and_then(Value::as_str) != Some("ok") {
        return "no answer of a bridge".to_owned();
    }
    match answer.get("data") {
        Some(Value::Array(items)) => match answer.get("total").and_then(Value::as_u64) {
            Some(total) => format!("ok: {} of {total}", items.len()),
            None => format!("ok: {} in all", items.len()),
        },
        Some(data) => match (text(data, "title"), text(data, "id")) {
            (Some(title), Some(id)) => format!("ok: {} (id: {id})", line(title)),
            _ => match data.get("created").and_then(Value::as_u64) {
                Some(count) => format!("ok: {count} created"),
                None => "ok".to_owned(),
            },
        },
        None => "ok".to_owned(),
    }
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}
