//! `rm`: remove tasks.

use std::io::IsTerminal;

use flagpost_core::tasks;

use super::selection::{self, Ids};
use crate::{context::Context, error::usage, output::Answer, terminal::line};

/// Remove tasks and their names from those that wait for them
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost task rm 7 --dry-run\n\
    'flagpost task undo' brings them back; 'flagpost task cancel' keeps the record in sight.")]
pub struct Args {
    #[command(flatten)]
    ids: Ids,
    /// Say what would happen, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// Removes them.
pub fn run(context: &Context, args: &Args) -> anyhow::Result<Answer> {
    let list = match args.dry_run {
        true => context.list()?,
        false => context.list_to_change()?,
    };
    let ids = args.ids.resolve(&list)?;
    let actor = context.actor()?;
    let mut tasks = tasks::preview_removal(&list, &actor, &ids)?;
    let would = match args.dry_run {
        true => "would remove",
        false => {
            let names: Vec<_> = tasks
                .iter()
                .map(|task| format!("{} {}", task.id, line(&task.subject)))
                .collect();
            confirm(args, &format!("remove {}?", names.join(", ")))?;
            tasks = tasks::remove_all(&list, &actor, &ids)?;
            "removed"
        }
    };
    let each = tasks.iter().map(|task| {
        let waiting = match task.blocks.len() {
            0 => String::new(),
            n => format!("; {n} waiting for it"),
        };
        format!("{would} {} {}{waiting}\n", task.id, line(&task.subject))
    });
    let mut answer = selection::answer(&tasks, each.collect());
    answer
        .body
        .insert("dry_run".to_owned(), args.dry_run.into());
    Ok(answer)
}

fn confirm(args: &Args, question: &str) -> anyhow::Result<()> {
    if args.yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return Err(usage(
            "nobody is there to confirm; --dry-run shows what would go, and 'flagpost task cancel' keeps the record",
        ));
    }
    crate::output::say(&format!("{question} [y/N]"));
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    if line.trim().eq_ignore_ascii_case("y") {
        Ok(())
    } else {
        Err(usage("not removed"))
    }
}
