//! `assign`: give a ticket to a worker.

use std::path::PathBuf;

use flagpost_core::{
    Error,
    relay::{briefs::Proposed, workers},
    slash::{self, assigned_line},
};
use flagpost_model::{WorkerId, envelope::Ticket};
use jiff::SignedDuration;

use crate::{
    context::Context,
    error::usage,
    output::Answer,
    text::{self, TextArg},
};

/// Propose a brief on a ticket to a worker
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost assign '#1244' W7 --brief brief.md\n\
    The text is read from stdin where neither --brief nor --inline gives it. The worker sees it once\n\
    it is ratified.")]
pub struct AssignArgs {
    /// The ticket, as in 1244 or #1244
    ticket: String,
    /// The worker
    worker: String,
    /// Read the brief from this file; - is stdin
    #[arg(
        long,
        value_name = "PATH",
        visible_alias = "file",
        conflicts_with = "inline"
    )]
    brief: Option<PathBuf>,
    /// The brief itself; - is stdin
    #[arg(long, value_name = "TEXT")]
    inline: Option<String>,
    /// What it says in a line [default: its first line]
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// Nobody can decide on it any more after so long, as in 2h
    #[arg(long, value_name = "TIME", value_parser = time)]
    expires_in: Option<SignedDuration>,
}

fn time(text: &str) -> Result<SignedDuration, String> {
    let time: Option<SignedDuration> = text.parse().ok();
    let time = time.filter(|it| it.is_positive());
    time.ok_or_else(|| "use a time, as in 30m or 2h".to_owned())
}

/// Assigns it.
pub fn run(context: &Context, args: &AssignArgs) -> anyhow::Result<Answer> {
    let ticket: Ticket = args.ticket.parse()?;
    let worker: WorkerId = args.worker.parse()?;
    let fleet = context.fleet()?;
    // Before the text is waited for.
    fleet.mail(&worker)?;
    let body = match (&args.brief, &args.inline) {
        (None, None) => text::piped("say --brief PATH or --inline TEXT, or pipe the brief in")?,
        (file, inline) => {
            let source = TextArg { file: file.clone() };
            let read = source.read(inline.as_deref())?;
            read.ok_or_else(|| usage("say --brief PATH or --inline TEXT"))?
        }
    };
    let mut proposal = slash::dispatch(&ticket, body);
    proposal.summary = args.summary.clone();
    let until = |time| context.home.now().saturating_add(time);
    proposal.expires_at = args.expires_in.map(until).transpose()?;
    let proposed = slash::queue(&fleet, &context.actor()?, &worker, proposal)?;
    Ok(answer(context, &proposed, assigned_line(&proposed)))
}

/// What is said about a brief that was proposed.
pub fn answer(context: &Context, proposed: &Proposed, line: String) -> Answer {
    super::wrote(context, &proposed.brief.target_worker, proposed.brief.seq);
    let mut text = format!("{line}\n");
    if let Some(rule) = proposed.verdict.as_ref().and_then(|it| it.rule.as_ref()) {
        text += &format!("ratified by the policy: {rule}\n");
    }
    let replay = proposed
        .replay
        .then(|| "the same was proposed a moment ago: nothing was added".to_owned());
    let fault = proposed.policy_fault.as_ref();
    let fault = fault.map(|it| format!("the policy was not asked: {it}"));
    let worker = &proposed.brief.target_worker;
    let silent = is_silent(context, worker)
        .then(|| format!("{worker} is not running: it reads this when it starts"));
    Answer::of(proposed)
        .text(text)
        .ids([super::name(&proposed.brief)])
        .notes(replay.into_iter().chain(fault).chain(silent))
}

/// Whether nobody answers for a worker now; one that cannot be looked at may be live.
fn is_silent(context: &Context, worker: &WorkerId) -> bool {
    let mail = context.fleet().and_then(|fleet| {
        let mail = fleet.mail(worker)?;
        Ok(workers::must_be_live(&mail))
    });
    matches!(mail, Ok(Err(Error::NotLive { .. })))
}
