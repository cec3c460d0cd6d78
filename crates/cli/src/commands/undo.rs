//! `undo`: take back your last change.

use flagpost_core::{
    answers::UndoneAnswer,
    tasks::{self, UndoMode},
};

use crate::{context::Context, output::Answer, terminal::title};

/// Take back your last change of the list
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost undo --dry-run\n\
    Again takes back the change before. Whatever a change removed comes back whole.")]
pub struct UndoArgs {
    /// Say what would be taken back, and do nothing
    #[arg(long)]
    dry_run: bool,
}

/// Takes it back.
pub fn run(context: &Context, args: &UndoArgs) -> anyhow::Result<Answer> {
    let list = context.list_to_change()?;
    let mode = match args.dry_run {
        true => UndoMode::DryRun,
        false => UndoMode::Undo,
    };
    let undone = tasks::undo(&list, &context.actor()?, mode)?;
    let would = match mode {
        UndoMode::DryRun => "would take back",
        UndoMode::Undo => "took back",
    };
    let mut text = String::new();
    for (kind, task) in &undone.was {
        let mut tasks = undone.tasks.iter().chain(&undone.removed);
        let task = tasks.find(|it| Some(&it.id) == task.as_ref());
        if let Some(task) = task {
            let (kind, id) = (kind.as_str(), &task.id);
            text += &format!("{would} {kind}: {id} {}\n", title(&task.subject));
        }
    }
    let ids = undone.tasks.iter().map(|task| &task.id);
    Ok(Answer::of(&UndoneAnswer::new(&undone, mode))
        .text(text)
        .ids(ids))
}
