//! `rm`: remove a task.

use std::io::IsTerminal;

use flagpost_core::tasks;
use serde_json::Value;

use crate::{context::Context, error::usage, output::Answer, shape, terminal::line};

/// Remove a task and its name from those that wait for it
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost task rm 7 --dry-run\n\
    'flagpost task cancel' keeps the record instead.")]
pub struct Args {
    /// The task
    id: String,
    /// Say what would happen, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// Removes it.
pub fn run(context: &Context, args: &Args) -> anyhow::Result<Answer> {
    let list = match args.dry_run {
        true => context.list()?,
        false => context.list_to_change()?,
    };
    let id = list.resolve(&args.id)?;
    let task = if args.dry_run {
        list.task(&id)?.task
    } else {
        confirm(
            args,
            &format!("remove {id} {}?", line(&list.task(&id)?.task.subject)),
        )?;
        tasks::remove(&list, &context.actor()?, &id)?
    };
    let mut body = shape::task(&task);
    if let Value::Object(body) = &mut body {
        body.insert("dry_run".to_owned(), args.dry_run.into());
    }
    let would = if args.dry_run {
        "would remove"
    } else {
        "removed"
    };
    let waiting = match task.blocks.len() {
        0 => String::new(),
        n => format!("; {n} waiting for it"),
    };
    let text = format!("{would} {} {}{waiting}", task.id, line(&task.subject));
    Ok(Answer::new("task", body).text(text).ids([&task.id]))
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
