//! `list`: the tasks there are.

use flagpost_core::{List, Loaded};
use flagpost_model::{
    ListId,
    plan::Graph,
    task::{Outline, StateName},
};
use serde_json::json;

use crate::{
    context::Context,
    output::{Answer, Screen},
    shape,
};

/// List tasks: what is still to be done, unless asked otherwise
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost list --state in_progress,claimed --json")]
pub struct Args {
    /// Only tasks in these states
    #[arg(long, value_name = "STATE", value_delimiter = ',', value_parser = state)]
    state: Vec<StateName>,
    /// Finished ones too
    #[arg(long, short, conflicts_with = "state")]
    all: bool,
    /// At most this many; 0 for all
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

fn state(text: &str) -> Result<StateName, String> {
    text.parse()
        .map_err(|error: flagpost_model::names::UnknownName| error.to_string())
}

/// Lists them.
pub fn run(context: &Context, args: &Args) -> anyhow::Result<Answer> {
    let list = context.list()?;
    let loaded = list.load()?;
    let wanted = |task: &&Outline| match task.state.name() {
        _ if args.all => true,
        StateName::Completed | StateName::Cancelled if args.state.is_empty() => false,
        state => args.state.is_empty() || args.state.contains(&state),
    };
    let all: Vec<&Outline> = loaded.outlines.iter().filter(wanted).collect();
    let answer = answer(context, &list, &loaded, &all, args.limit);
    Ok(match all.is_empty() {
        true => answer.text(none(&loaded.outlines, list.id())),
        false => answer,
    })
}

/// These tasks of a list, as many as the limit lets through; where there are none, the caller says
/// why.
pub fn answer(
    context: &Context,
    list: &List<'_>,
    loaded: &Loaded,
    all: &[&Outline],
    limit: usize,
) -> Answer {
    let shown = &all[..cut(all.len(), limit)];
    let hidden = all.len() - shown.len();
    let mut text = String::new();
    if !all.is_empty() {
        text = table(context, shown, &Graph::new(&loaded.outlines)) + &more(hidden);
    }
    let body = json!({
        "list": list.id(),
        "tasks": shown.iter().map(|task| shape::outline(task)).collect::<Vec<_>>(),
        "total": all.len(),
        "truncated": hidden > 0,
        "skipped": shape::skipped(&loaded.skipped),
    });
    Answer::new("tasks", body)
        .text(text)
        .ids(shown.iter().map(|task| &task.id))
        .notes(unseen(context, hidden))
        .notes(shape::skipped_notes(&loaded.skipped))
}

/// Says why there is nothing to show.
fn none(all: &[Outline], list: &ListId) -> String {
    if all.is_empty() {
        return format!("{list} has no tasks yet; 'flagpost add' makes one");
    }
    format!(
        "none of the {} {list} is one of these; --all shows every task",
        counted(all.len(), "task of", "tasks of")
    )
}

/// A number and what it counts.
pub fn counted(n: usize, one: &str, several: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { several })
}

/// What a reader of bare ids would not notice: that there are more.
fn unseen(context: &Context, hidden: usize) -> Option<String> {
    (context.globals.quiet && hidden > 0).then(|| more(hidden).trim_end().to_owned())
}

/// How many of `total` a limit lets through.
fn cut(total: usize, limit: usize) -> usize {
    if limit == 0 { total } else { total.min(limit) }
}

/// Says that a table was cut.
fn more(hidden: usize) -> String {
    match hidden {
        0 => String::new(),
        hidden => format!("… and {hidden} more: --limit 0 shows all\n"),
    }
}

/// Tasks as rows.
fn table(context: &Context, tasks: &[&Outline], graph: &Graph<'_>) -> String {
    let screen = Screen::of(context);
    let rows = tasks.iter().map(|task| {
        let open = graph.open_blockers(&task.id);
        let open: Vec<_> = open.iter().map(|id| id.as_str()).collect();
        vec![
            task.id.to_string(),
            screen.state(task.state.name()),
            task.priority
                .map(|priority| priority.to_string())
                .unwrap_or_default(),
            task.owner.clone().unwrap_or_default(),
            open.join(" "),
            task.subject.clone(),
        ]
    });
    screen.table(
        &["ID", "STATE", "PRIORITY", "OWNER", "WAITS FOR", "SUBJECT"],
        rows.collect(),
    )
}
