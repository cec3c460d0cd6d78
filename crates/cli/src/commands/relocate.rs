//! `move`: tasks go to another list.

use flagpost_core::{
    answers::Task,
    tasks::{self, Ties},
};
use flagpost_model::{ListRef, TaskId, view};

use super::selection::{INSTEAD, Ids, Where};
use crate::{context::Context, output::Answer, terminal::title};

/// Move tasks to another list, where they get new ids
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost task move 7,9 --to backlog\n\
    Tasks that wait for each other, or are parts of each other, move together.")]
pub struct MoveArgs {
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

view! {
    /// Tasks that went to another list.
    ///
    /// After 'flagpost task move'.
    pub struct Moved<'a> {
        /// Whether nothing was done.
        dry_run: bool,
        /// The list they were in.
        from: &'a ListRef,
        /// The list they are in now.
        to: &'a str,
        moved: Vec<Relocated<'a>>,
    }

    /// A task in its new list.
    struct Relocated<'a> {
        /// Its id in the list it left.
        was: &'a TaskId,
        /// As it is now; null in a dry run.
        task: Option<Task<'a>>,
    }
}

/// Moves them.
pub fn run(context: &Context, args: &MoveArgs) -> anyhow::Result<Answer> {
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
        let text: String = each.collect();
        let each = tasks.iter().map(|it| Relocated::new(&it.id, None));
        let moved = Moved::new(true, from.id(), &args.to, each.collect());
        return Ok(Answer::of(&moved).text(text).ids(which.seen()));
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
    let each = moved
        .iter()
        .map(|it| Relocated::new(&it.was, Some((&it.task).into())));
    let answer = Moved::new(false, from.id(), to.id().as_str(), each.collect());
    let ids = moved.iter().map(|it| &it.task.id);
    Ok(Answer::of(&answer).text(text).ids(ids))
}
