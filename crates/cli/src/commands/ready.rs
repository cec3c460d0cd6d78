//! `ready`: what can begin now.

use flagpost_core::tasks;

use crate::{context::Context, output::Answer};

/// Show what can begin now, in the order it would be claimed
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost ready --limit 1 --quiet")]
pub struct Args {
    /// At most this many; 0 for all
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

/// Shows them.
pub fn run(context: &Context, args: &Args) -> anyhow::Result<Answer> {
    let list = context.list()?;
    let loaded = list.load()?;
    let ready = tasks::ready(&loaded.outlines, context.home.now());
    let answer = super::list::answer(context, &list, &loaded, &ready, args.limit);
    Ok(match ready.is_empty() {
        true => answer.text(format!(
            "no task of {} is ready; 'flagpost list' shows what there is and what it waits for",
            list.id()
        )),
        false => answer,
    })
}
