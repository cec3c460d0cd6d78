//! `open`: the worktree of a task in the operator's editor, which takes our place.

use std::{os::unix::process::CommandExt, process::Command};

use anyhow::Context as _;
use flagpost_core::{config::keys::RUN_OPEN, landing::worktree_of};
use flagpost_model::{TaskId, view};

use crate::{context::Context, error::usage_with, output::Answer, terminal::line};

/// Open a task's worktree in your editor
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost open 5\n\n\
    The setting run.open names the program, as in 'code'; else it is $VISUAL or $EDITOR. It is given the \
    directory. With --quiet or --json: only where that is.")]
pub struct OpenArgs {
    /// The task
    id: String,
}

view! {
    /// Where the worktree of a task is.
    ///
    /// After 'flagpost open --json'.
    pub struct OpenedWorktree<'a> from (task, dir): (&'a TaskId, &'a std::path::Path) {
        task: &'a TaskId = task,
        /// The directory.
        path: String = dir.display().to_string(),
    }
}

/// Opens it.
pub fn run(context: &Context, args: &OpenArgs) -> anyhow::Result<Answer> {
    let (repository, list) = (context.own_repository()?, context.list()?);
    let id = list.resolve(&args.id)?;
    let dir = worktree_of(&repository, &list, &id)?;
    if context.globals.quiet || context.globals.json {
        return Ok(Answer::of(&OpenedWorktree::from((&id, &*dir))).ids([dir.display()]));
    }
    let chosen = context.config()?.get(&RUN_OPEN)?;
    let editor = chosen.or_else(|| context.settings.editor.clone());
    let editor = editor.ok_or_else(|| {
        usage_with(
            "no editor is known",
            "'flagpost config set run.open code' names one; $VISUAL and $EDITOR do, too",
        )
    })?;
    // A shell reads it, since an editor may have options.
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(format!("exec {editor} \"$0\""))
        .arg(&dir);
    let error = shell.current_dir(&dir).exec();
    Err(error).with_context(|| format!("{} cannot be started", line(&editor)))
}
