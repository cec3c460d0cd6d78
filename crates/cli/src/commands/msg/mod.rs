//! `msg`: what an orchestrator and its workers say to each other.
//!
//! Owns which verb is which function, and what a message looks like in a line.

mod ack;
pub mod import;
mod look;
mod recv;
mod send;
mod words;

use clap::Subcommand;
use flagpost_model::message::Message;

use crate::{context::Context, output::Answer, terminal};

/// The verbs on messages.
#[derive(Debug, Subcommand)]
pub enum MsgCommand {
    Send(Box<send::MsgSendArgs>),
    Recv(recv::RecvArgs),
    Ack(ack::MsgAckArgs),
    Unacked(look::UnackedArgs),
    Thread(look::ThreadArgs),
    List(look::MsgListArgs),
    Show(look::MsgShowArgs),
    Wait(recv::MsgWaitArgs),
    Import(import::MsgImportArgs),
}

/// Carries out the verb.
pub fn run(context: &Context, verb: &MsgCommand) -> anyhow::Result<Answer> {
    match verb {
        MsgCommand::Send(args) => send::run(context, args),
        MsgCommand::Recv(args) => recv::recv(context, args),
        MsgCommand::Ack(args) => ack::run(context, args),
        MsgCommand::Unacked(args) => look::unacked(context, args),
        MsgCommand::Thread(args) => look::thread(context, args),
        MsgCommand::List(args) => look::list(context, args),
        MsgCommand::Show(args) => look::show(context, args),
        MsgCommand::Wait(args) => recv::wait(context, args),
        MsgCommand::Import(args) => import::run(context, args),
    }
}

/// The first line about a message: `DONE W1/outbox/3 from W1 to orchestrator in epic-1`.
fn head(message: &Message) -> String {
    let by = message.by.as_ref().map(|by| format!(" (by {by})"));
    let thread = message.thread.as_ref().map(|it| format!(" in {it}"));
    format!(
        "{} {} from {}{} to {}{}",
        terminal::line(message.title()),
        message.place,
        message.from,
        by.unwrap_or_default(),
        message.to,
        thread.unwrap_or_default(),
    )
}
