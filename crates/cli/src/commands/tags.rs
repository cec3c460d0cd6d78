//! `tags`, `projects`: the names in use, and how many tasks have each.

use flagpost_core::{Skipped, answers};
use flagpost_model::{
    ListRef,
    tally::{self, Count},
    task::Outline,
    view,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{context::Context, output::Answer, screen::Screen, shape};

/// Show the labels in use, and how many tasks have each
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost task tags --json")]
pub struct TagsArgs {}

/// Show the projects there are, and how many tasks each has
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost task projects")]
pub struct ProjectsArgs {}

view! {
    /// The labels in use.
    ///
    /// After 'flagpost task tags'.
    pub struct Tags<'a> {
        /// The list's name.
        list: &'a ListRef,
        /// How many tasks have each.
        tags: Vec<Counted<'a, String>>,
        /// Files of the list that are no tasks and were passed over.
        skipped: &'a [Skipped],
    }

    /// The projects in use.
    ///
    /// After 'flagpost task projects'.
    pub struct Projects<'a> {
        /// The list's name.
        list: &'a ListRef,
        /// How many tasks have each.
        projects: Vec<Counted<'a, String>>,
        /// Files of the list that are no tasks and were passed over.
        skipped: &'a [Skipped],
    }
}

/// How many tasks have something in common.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Counted<'a, T> {
    /// Null for tasks without one.
    name: &'a Option<T>,
    #[serde(flatten)]
    count: Count,
}

impl<'a, T> From<&'a (Option<T>, Count)> for Counted<'a, T> {
    fn from((name, count): &'a (Option<T>, Count)) -> Self {
        let count = *count;
        Self { name, count }
    }
}

/// Shows the labels.
pub fn tags(context: &Context, _: &TagsArgs) -> anyhow::Result<Answer> {
    names(
        context,
        ["tags", "TAG"],
        tally::tags,
        |list, tags, skipped| Answer::of(&Tags::new(list, tags, skipped)),
    )
}

/// Shows the projects; tasks of none are counted where there are others.
pub fn projects(context: &Context, _: &ProjectsArgs) -> anyhow::Result<Answer> {
    names(
        context,
        ["projects", "PROJECT"],
        tally::projects,
        |list, projects, skipped| Answer::of(&Projects::new(list, projects, skipped)),
    )
}

type TagCounts = Vec<(Option<String>, Count)>;

fn names(
    context: &Context,
    [what, head]: [&str; 2],
    count: fn(&[Outline]) -> TagCounts,
    answer: fn(&ListRef, Vec<Counted<'_, String>>, &[Skipped]) -> Answer,
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
    Ok(answer(list.id(), answers::each(&counts), &loaded.skipped)
        .text(text)
        .ids(names)
        .notes(shape::skipped_notes(&loaded.skipped)))
}

fn row(name: Option<&str>, count: Count) -> Vec<String> {
    let name = name.unwrap_or("none").to_owned();
    vec![count.open.to_string(), count.all.to_string(), name]
}
