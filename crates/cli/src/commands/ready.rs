//! `ready`: what can begin now.

use flagpost_core::tasks;
use flagpost_model::plan::Graph;
use serde_json::json;

use super::list::{cut, more, table, unseen};
use crate::{context::Context, output::Answer, shape};

/// Show the tasks that can begin now, in the order in which they would be claimed
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost ready --limit 1 --quiet")]
pub struct Args {
    /// At most this many; 0 for all
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

/// Shows them.
pub fn run(context: &Context, args: &Args) -> anyhow::Result<Answer> {
    let list = context.list()?;
    let loaded = list.load()?;
    let ready = tasks::ready(&loaded.outlines, context.home.now());
    let shown = &ready[..cut(ready.len(), args.limit)];
    let text = if ready.is_empty() {
        format!(
            "no task of {} is ready; 'flagpost list' shows what there is and what it waits for",
            list.id()
        )
    } else {
        table(context, shown, &Graph::new(&loaded.outlines)) + &more(ready.len() - shown.len())
    };
    let body = json!({
        "list": list.id(),
        "tasks": shown.iter().map(|task| shape::outline(task)).collect::<Vec<_>>(),
        "total": ready.len(),
        "truncated": shown.len() < ready.len(),
        "skipped": shape::skipped(&loaded.skipped),
    });
    Ok(Answer::new("tasks", body)
        .text(text)
        .ids(shown.iter().map(|task| &task.id))
        .notes(unseen(context, ready.len() - shown.len()))
        .notes(shape::skipped_notes(&loaded.skipped)))
}
