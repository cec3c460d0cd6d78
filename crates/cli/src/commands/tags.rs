//! `tags`, `projects`: the names in use, and how many tasks have each.

use flagpost_model::{
    tally::{self, Count},
    task::Outline,
};
use serde_json::json;

use crate::{
    context::Context,
    output::{Answer, Screen},
    shape,
};

/// Show the labels in use, and how many tasks have each
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost task tags --json")]
pub struct TagsArgs {}

/// Show the projects there are, and how many tasks each has
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost task projects")]
pub struct ProjectsArgs {}

/// Shows the labels.
pub fn tags(context: &Context, _: &TagsArgs) -> anyhow::Result<Answer> {
    names(context, "tags", "TAG", tally::tags)
}

/// Shows the projects; tasks of none are counted where there are others.
pub fn projects(context: &Context, _: &ProjectsArgs) -> anyhow::Result<Answer> {
    names(context, "projects", "PROJECT", tally::projects)
}

type Counts = Vec<(Option<String>, Count)>;

fn names(
    context: &Context,
    what: &'static str,
    head: &str,
    count: fn(&[Outline]) -> Counts,
) -> anyhow::Result<Answer> {
    let list = context.list()?;
    let loaded = list.load()?;
    let counts = count(&loaded.outlines);
    let names: Vec<&String> = counts
        .iter()
        .filter_map(|(name, _)| name.as_ref())
        .collect();
    let text = match names.is_empty() {
        true => format!("no task of {} has {what}", list.id()),
        false => {
            let rows = counts
                .iter()
                .map(|(name, count)| row(name.as_deref(), *count));
            Screen::of(context).table(&["OPEN", "ALL", head], rows.collect())
        }
    };
    let each: Vec<_> = counts
        .iter()
        .map(|(name, count)| json!({"name": name, "open": count.open, "all": count.all}))
        .collect();
    let body = json!({"list": list.id(), what: each, "skipped": shape::skipped(&loaded.skipped)});
    Ok(Answer::new(what, body)
        .text(text)
        .ids(names)
        .notes(shape::skipped_notes(&loaded.skipped)))
}

fn row(name: Option<&str>, count: Count) -> Vec<String> {
    let name = name.unwrap_or("none").to_owned();
    vec![count.open.to_string(), count.all.to_string(), name]
}
