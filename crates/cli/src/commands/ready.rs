//! `ready`: what can begin now.

use flagpost_core::tasks::{self, Selected};

use crate::{context::Context, output::Answer};

/// List the tasks that can begin now, in order
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost ready --limit 1 --quiet")]
pub struct ReadyArgs {
    /// At most this many; 0 for all
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

/// Shows them.
pub fn run(context: &Context, args: &ReadyArgs) -> anyhow::Result<Answer> {
    let list = context.list()?;
    let loaded = list.load()?;
    let mut tasks = tasks::ready(&loaded.outlines, context.home.now());
    let total = tasks.len();
    if args.limit > 0 {
        tasks.truncate(args.limit);
    }
    let selected = Selected { tasks, total };
    let answer = super::list::answer(context, &list, &loaded, &selected);
    Ok(match total == 0 {
        true => answer.text(format!(
            "no task of {} is ready; 'flagpost list' shows what there is and what it waits for",
            list.id()
        )),
        false => answer,
    })
}
