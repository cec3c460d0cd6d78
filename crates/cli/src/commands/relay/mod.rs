//! `relay`: the mail between controllers and workers.
//!
//! Owns which verb is which function.

pub mod amend;
pub mod assign;
pub mod decide;
pub mod gc;
pub mod mail;
pub mod send;
pub mod slash;
pub mod withheld;

use clap::Subcommand;
use flagpost_core::slash as core;
use flagpost_model::{Seq, WorkerId, envelope::Brief, task::Origin};

use crate::{context::Context, output::Answer};

/// The verbs of the relay that are typed without it too.
#[derive(Debug, Subcommand)]
pub enum GateCommand {
    Assign(assign::AssignArgs),
    Ratify(decide::RatifyArgs),
    Reject(decide::RejectArgs),
    Outbox(mail::OutboxArgs),
}

/// The verbs of the relay.
#[derive(Debug, Subcommand)]
pub enum RelayCommand {
    #[command(flatten)]
    Gate(GateCommand),
    Edit(amend::RelayEditArgs),
    Redirect(send::RedirectArgs),
    Merge(send::MergeArgs),
    #[command(alias = "show")]
    Inbox(mail::InboxArgs),
    Gc(gc::GcArgs),
}

/// Carries out a verb at the gate.
pub fn gate(context: &Context, verb: &GateCommand) -> anyhow::Result<Answer> {
    match verb {
        GateCommand::Assign(args) => assign::run(context, args),
        GateCommand::Ratify(args) => decide::ratify(context, args),
        GateCommand::Reject(args) => decide::reject(context, args),
        GateCommand::Outbox(args) => mail::outbox(context, args),
    }
}

/// Carries out the verb.
pub fn run(context: &Context, verb: &RelayCommand) -> anyhow::Result<Answer> {
    match verb {
        RelayCommand::Gate(verb) => gate(context, verb),
        RelayCommand::Edit(args) => amend::run(context, args),
        RelayCommand::Redirect(args) => send::redirect(context, args),
        RelayCommand::Merge(args) => send::merge(context, args),
        RelayCommand::Inbox(args) => mail::inbox(context, args),
        RelayCommand::Gc(args) => gc::run(context, args),
    }
}

/// A message as `--quiet` names it: `W3/7`.
pub fn name(brief: &Brief) -> String {
    format!("{}/{}", brief.target_worker, brief.seq.get())
}

/// Notes that a person wrote this brief, who has seen it therefore.
pub fn wrote(context: &Context, worker: &WorkerId, seq: Seq) {
    if context.settings.origin() == Origin::Person
        && let (Ok(fleet), Ok(actor)) = (context.fleet(), context.actor())
    {
        core::wrote(&fleet, &actor, worker, seq);
    }
}
