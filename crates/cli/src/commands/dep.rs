//! `dep`: which task waits for which.

use clap::Subcommand;
use flagpost_core::{Error, answers::TaskAnswer, tasks};
use flagpost_model::TaskId;

use crate::{context::Context, output::Answer};

/// Say which task waits for which
#[derive(Debug, Subcommand)]
#[command(after_help = "Example: flagpost task dep add 7 3 4")]
pub enum DepCommand {
    /// Make a task wait for others
    #[command(after_help = "Example: flagpost task dep add 7 3 4")]
    Add(DepArgs),
    /// Make a task not wait for others any more
    #[command(after_help = "Example: flagpost task dep rm 7 3")]
    Rm(DepArgs),
}

/// The two sides.
#[derive(Debug, clap::Args)]
pub struct DepArgs {
    /// The task that waits
    id: String,
    /// What it waits for
    #[arg(required = true, value_name = "BLOCKER")]
    blockers: Vec<String>,
}

/// Links or unlinks.
pub fn run(context: &Context, verb: &DepCommand) -> anyhow::Result<Answer> {
    let list = context.list_to_change()?;
    let actor = context.actor()?;
    let (DepCommand::Add(args) | DepCommand::Rm(args)) = verb;
    let id = list.resolve(&args.id)?;
    let mut task = list.task(&id)?.task;
    // All are known before the first is linked: a slip of the finger changes nothing.
    let named = args.blockers.iter().map(|given| match verb {
        DepCommand::Add(_) => list.resolve(given),
        DepCommand::Rm(_) => tasks::blocker(&list, given),
    });
    let blockers = named.collect::<Result<Vec<TaskId>, Error>>()?;
    match verb {
        DepCommand::Add(_) => task = tasks::link(&list, &actor, &id, &blockers)?,
        DepCommand::Rm(_) => {
            for blocker in &blockers {
                task = tasks::unlink(&list, &actor, &id, blocker)?;
            }
        }
    }
    let waits: Vec<_> = task.blocked_by.iter().map(TaskId::as_str).collect();
    let waits = if waits.is_empty() {
        "nothing".to_owned()
    } else {
        waits.join(", ")
    };
    let text = format!("{} waits for {waits}", task.id);
    Ok(Answer::of(&TaskAnswer::from(&task))
        .text(text)
        .ids([&task.id]))
}
