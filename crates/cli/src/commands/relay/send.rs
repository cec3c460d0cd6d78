//! `relay redirect`, `relay merge`: short briefs.

use flagpost_core::slash::{self, proposed_line};
use flagpost_model::WorkerId;

use super::assign::answer;
use crate::{context::Context, error::usage, output::Answer, text::TextArg};

/// Turn a worker to something else
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost relay redirect W3 'Look at #1244 first'")]
pub struct RedirectArgs {
    /// The worker
    worker: String,
    /// What to say; - is stdin
    text: Option<String>,
    #[command(flatten)]
    source: TextArg,
}

/// Give the worker that reported on a pull request leave to merge it
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost relay merge 1192")]
pub struct MergeArgs {
    /// The pull request's number
    pr: u64,
}

/// Redirects.
pub fn redirect(context: &Context, args: &RedirectArgs) -> anyhow::Result<Answer> {
    let worker: WorkerId = args.worker.parse()?;
    let fleet = context.fleet()?;
    let text = args.source.read(args.text.as_deref())?;
    let text = text.ok_or_else(|| usage("say what to do, as in redirect W3 'Stop'"))?;
    let proposed = slash::redirect(&fleet, &context.actor()?, &worker, text)?;
    Ok(answer(
        context,
        &proposed,
        proposed_line("REDIRECTED", &proposed),
    ))
}

/// Gives leave.
pub fn merge(context: &Context, args: &MergeArgs) -> anyhow::Result<Answer> {
    let proposed = slash::merge(&context.fleet()?, &context.actor()?, args.pr)?;
    let line = proposed_line(&format!("MERGE #{}", args.pr), &proposed);
    Ok(answer(context, &proposed, line))
}
