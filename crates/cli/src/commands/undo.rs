//! `undo`: take back your last change.

use flagpost_core::tasks::{self, UndoMode};
use serde_json::{Value, json};

use crate::{context::Context, output::Answer, shape, terminal::title};

/// Take back your last change of the list, if nobody built on it
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost task undo --dry-run\n\
    Again takes back the change before. Whatever a change removed comes back whole.")]
pub struct Args {
    /// Say what would be taken back, and do nothing
    #[arg(long)]
    dry_run: bool,
}

/// Takes it back.
pub fn run(context: &Context, args: &Args) -> anyhow::Result<Answer> {
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
        was.push(json!({"kind": kind.as_str(), "task": task}));
        let mut tasks = undone.tasks.iter().chain(&undone.removed);
        let task = tasks.find(|it| Some(&it.id) == task.as_ref());
        if let Some(task) = task {
            let (kind, id) = (kind.as_str(), &task.id);
            text += &format!("{would} {kind}: {id} {}\n", title(&task.subject));
        }
    }
    let tasks: Vec<Value> = undone.tasks.iter().map(shape::task).collect();
    let removed: Vec<_> = undone.removed.iter().map(|task| &task.id).collect();
    let ids: Vec<_> = undone.tasks.iter().map(|task| &task.id).collect();
    let body = json!({
        "n": undone.n, "dry_run": args.dry_run, "undone": was, "tasks": tasks, "removed": removed,
    });
    Ok(Answer::new("undo", body).text(text).ids(ids))
}
