//! `ratify`, `reject`: open the gate, or do not.

use crate::{
    context::Context,
    error::{Kind, usage},
    output::Answer,
};
use flagpost_core::{
    relay::{
        decide::{self, Decided, Wish},
        fleet::{Ratified, ratify_all},
        slash::{count_status, decided_line, said_all},
    },
    shape,
};
use flagpost_model::{
    Seq, WorkerId,
    decision::{Decision, Via},
    glob::Glob,
};

/// Let briefs through: the newest, one by number, or all
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "flagpost ratify [OPTIONS] <WORKER [SEQ]|all>",
    after_help = "Example: flagpost ratify W3 7\n\
    flagpost ratify all --scope 'W{1,2}'"
)]
pub struct RatifyArgs {
    /// The worker; all is every worker
    worker: String,
    /// Which brief [default: the newest that waits]
    seq: Option<String>,
    /// Of all, only the workers that this pattern takes, as in W{1,2}
    #[arg(long, value_name = "GLOB")]
    scope: Option<String>,
    /// Exit with the number of briefs ratified, at most 125
    #[arg(long)]
    count_status: bool,
}

/// Keep a brief from its worker, and tell the worker so
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost relay reject W3 7 --reason 'Too large: split it'")]
pub struct RejectArgs {
    /// The worker
    worker: String,
    /// Which brief [default: the newest that waits]
    seq: Option<String>,
    /// Why; the worker is told; - is stdin
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Ratifies.
pub fn ratify(context: &Context, args: &RatifyArgs) -> anyhow::Result<Answer> {
    if args.worker == "all" {
        return all(context, args);
    }
    if args.scope.is_some() || args.count_status {
        return Err(usage(
            "--scope and --count-status go with all, as in ratify all",
        ));
    }
    let wish = Wish::new(Decision::Ratified, Via::Cli);
    one(context, &args.worker, args.seq.as_deref(), &wish)
}

/// Rejects.
pub fn reject(context: &Context, args: &RejectArgs) -> anyhow::Result<Answer> {
    let mut wish = Wish::new(Decision::Rejected, Via::Cli);
    wish.reason = args
        .reason
        .as_deref()
        .map(crate::text::one_line)
        .transpose()?;
    one(context, &args.worker, args.seq.as_deref(), &wish)
}

fn one(context: &Context, worker: &str, seq: Option<&str>, wish: &Wish) -> anyhow::Result<Answer> {
    let worker: WorkerId = worker.parse()?;
    let seq: Option<Seq> = seq.map(str::parse).transpose()?;
    let operator = context.operator()?;
    let mail = context.fleet()?.mail(&worker)?;
    let decided = decide::decide(&mail, &operator, seq, wish)?;
    Ok(answer(&decided))
}

/// What is said about a decision.
pub fn answer(decided: &Decided) -> Answer {
    let all = Ratified {
        done: vec![decided.clone()],
        failed: Vec::new(),
    };
    shown(&all).text(decided_line(decided))
}

fn all(context: &Context, args: &RatifyArgs) -> anyhow::Result<Answer> {
    if args.seq.is_some() {
        return Err(usage("a number goes with one worker, as in ratify W3 7"));
    }
    let scope: Option<Glob> = args.scope.as_deref().map(str::parse).transpose()?;
    let (operator, fleet) = (context.operator()?, context.fleet()?);
    let all = ratify_all(&fleet, &operator, scope.as_ref(), Via::Cli)?;
    let said = said_all(&all);
    let text = match (all.done.is_empty(), all.failed.is_empty()) {
        (true, true) => "nothing waits for you".to_owned(),
        _ => said.lines.join("\n"),
    };
    let mut answer = shown(&all).text(text).notes(said.faults);
    answer.code = match (args.count_status, all.failed.is_empty()) {
        (true, _) => count_status(all.done.len()),
        (false, true) => 0,
        (false, false) => Kind::Failed as u8,
    };
    Ok(answer)
}

fn shown(all: &Ratified) -> Answer {
    Answer::new("decided", shape::decided(all))
        .ids(all.done.iter().map(|it| super::name(&it.brief)))
}
