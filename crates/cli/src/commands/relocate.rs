//! `move`: tasks go to another list.

use flagpost_core::tasks::{self, Ties};
use serde_json::json;

use super::selection::{INSTEAD, Ids, Where};
use crate::{context::Context, output::Answer, shape, terminal::title};

/// Move tasks to another list, where they get new ids
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost task move 7,9 --to backlog\n\
    Tasks that wait for each other, or are parts of each other, move together.")]
pub struct Args {
    #[command(flatten)]
    ids: Ids,
    /// The list they go to
    #[arg(long, value_name = "NAME")]
    to: String,
    /// Make that list where there is none
    #[arg(long)]
    create: bool,
    /// Leave dependencies and parts behind that do not move along
    #[arg(long)]
    cut: bool,
    #[command(flatten)]
    which: Where,
}

/// Moves them.
pub fn run(context: &Context, args: &Args) -> anyhow::Result<Answer> {
    let ties = match args.cut {
        true => Ties::Cut,
        false => Ties::Hold,
    };
    let from = args.which.list(context)?;
    let named = || args.ids.resolve(&from);
    let which = args.which.which(context, &from, named)?;
    // What cannot go leaves no new list behind.
    let tasks = tasks::preview_relocation(&from, &args.to.parse()?, which.seen(), ties)?;
    if args.which.dry_run {
        let each = tasks.iter().map(|task| {
            let (id, subject) = (&task.id, title(&task.subject));
            format!("would move {id} {subject} to {}\n", args.to)
        });
        let body = json!({
            "dry_run": true, "from": from.id(), "to": args.to,
            "moved": tasks.iter().map(|it| json!({"was": it.id, "task": null})).collect::<Vec<_>>(),
        });
        let text: String = each.collect();
        return Ok(Answer::new("moved", body).text(text).ids(which.seen()));
    }
    if args.which.given() {
        args.which.confirm("move", &tasks, INSTEAD)?;
    }
    let to = context.other_list(&args.to, args.create)?;
    let moved = tasks::relocate(&from, &to, &context.actor()?, which, ties)?;
    let each = moved.iter().map(|it| {
        let (was, id, subject) = (&it.was, &it.task.id, title(&it.task.subject));
        format!("moved {was} to {} as {id} {subject}\n", to.id())
    });
    let text: String = each.collect();
    let moves = moved
        .iter()
        .map(|it| json!({"was": it.was, "task": shape::task(&it.task)}));
    let body = json!({
        "dry_run": false, "from": from.id(), "to": to.id(), "moved": moves.collect::<Vec<_>>(),
    });
    let ids = moved.iter().map(|it| &it.task.id);
    Ok(Answer::new("moved", body).text(text).ids(ids))
}
