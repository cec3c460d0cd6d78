//! `move`: tasks go to another list.

use flagpost_core::tasks::{self, Ties};
use serde_json::json;

use super::selection::Ids;
use crate::{context::Context, output::Answer, shape, terminal::line};

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
    /// Say what would happen, and do nothing
    #[arg(long)]
    dry_run: bool,
}

/// Moves them.
pub fn run(context: &Context, args: &Args) -> anyhow::Result<Answer> {
    let ties = match args.cut {
        true => Ties::Cut,
        false => Ties::Hold,
    };
    let from = match args.dry_run {
        true => context.list()?,
        false => context.list_to_change()?,
    };
    let ids = args.ids.resolve(&from)?;
    if args.dry_run {
        let tasks = tasks::preview_relocation(&from, &ids, ties)?;
        let each = tasks.iter().map(|task| {
            let (id, subject) = (&task.id, line(&task.subject));
            format!("would move {id} {subject} to {}\n", args.to)
        });
        let body = json!({
            "dry_run": true, "from": from.id(), "to": args.to,
            "moved": tasks.iter().map(|it| json!({"was": it.id, "task": null})).collect::<Vec<_>>(),
        });
        let text: String = each.collect();
        return Ok(Answer::new("moved", body).text(text).ids(&ids));
    }
    // What cannot go leaves no new list behind.
    tasks::preview_relocation(&from, &ids, ties)?;
    let to = context.other_list(&args.to, args.create)?;
    let moved = tasks::relocate(&from, &to, &context.actor()?, &ids, ties)?;
    let each = moved.iter().map(|it| {
        let (was, id, subject) = (&it.was, &it.task.id, line(&it.task.subject));
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
