//! `undo`: take back your last change.

use flagpost_core::{
    answers::{self, Task},
    history::Kind,
    tasks::{self, UndoMode},
};
use flagpost_model::{TaskId, view};
use schemars::JsonSchema;
use serde::Serialize;

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

/// A change that was taken back.
///
/// After 'flagpost undo'.
#[derive(Serialize, JsonSchema)]
pub struct Undone<'a> {
    /// The number of the change in the history.
    n: u64,
    /// Whether nothing was done.
    dry_run: bool,
    undone: Vec<Was<'a>>,
    /// The tasks that are again as they were.
    tasks: Vec<Task<'a>>,
    /// The tasks that the change had added, gone again.
    removed: Vec<&'a TaskId>,
}

view! {
    /// A part of the change.
    struct Was<'a> {
        /// What it was, as the history calls it: task.edited.
        kind: &'a Kind,
        /// The task it was about; null where it was about the list.
        task: &'a Option<TaskId>,
    }
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
    let mut was = Vec::new();
    for (kind, task) in &undone.was {
        was.push(Was::new(kind, task));
        let mut tasks = undone.tasks.iter().chain(&undone.removed);
        let task = tasks.find(|it| Some(&it.id) == task.as_ref());
        if let Some(task) = task {
            let (kind, id) = (kind.as_str(), &task.id);
            text += &format!("{would} {kind}: {id} {}\n", title(&task.subject));
        }
    }
    let answer = Undone {
        n: undone.n,
        dry_run: args.dry_run,
        undone: was,
        tasks: answers::each(&undone.tasks),
        removed: undone.removed.iter().map(|task| &task.id).collect(),
    };
    let ids = undone.tasks.iter().map(|task| &task.id);
    Ok(Answer::of(&answer).text(text).ids(ids))
}
