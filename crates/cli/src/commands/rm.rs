//! `rm`: remove tasks.

use flagpost_core::{
    answers::{self, Removed},
    tasks,
};

use super::selection::{Ids, Where};
use crate::{context::Context, output::Answer, terminal::title};

/// Remove tasks, and their names from others
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost rm 7 --dry-run\n\
    'flagpost undo' brings them back; 'flagpost cancel' keeps the record in sight.")]
pub struct RmArgs {
    #[command(flatten)]
    ids: Ids,
    #[command(flatten)]
    which: Where,
}

const INSTEAD: &str = "--dry-run shows what would go, and 'flagpost cancel' keeps the record";

/// Removes them.
pub fn run(context: &Context, args: &RmArgs) -> anyhow::Result<Answer> {
    let list = args.which.list(context)?;
    let which = args
        .which
        .which(context, &list, || args.ids.resolve(&list))?;
    let actor = context.actor()?;
    let mut tasks = tasks::preview_removal(&list, &actor, which.seen())?;
    let would = match args.which.dry_run {
        true => "would remove",
        false => {
            args.which.confirm("remove", &tasks, INSTEAD)?;
            tasks = tasks::remove_all(&list, &actor, which)?;
            "removed"
        }
    };
    let each = tasks.iter().map(|task| {
        let waiting = match task.blocks.len() {
            0 => String::new(),
            n => format!("; {n} waiting for it"),
        };
        format!("{would} {} {}{waiting}\n", task.id, title(&task.subject))
    });
    let removed = Removed::new(args.which.dry_run, answers::each(&tasks));
    Ok(Answer::of(&removed)
        .text(each.collect::<String>())
        .ids(tasks.iter().map(|task| &task.id)))
}
