//! Tasks under headings.
//!
//! Owns which heading a task stands under, and the headings' order. A task with several tags stands
//! under each; one without a value stands last, under none.

use std::collections::BTreeMap;

use jiff::civil::Date;

use super::value::in_week_ahead;
use crate::{names::names, task::Outline};

names!(
    /// What a list can be grouped by.
    GroupBy {
        /// The state.
        State = "state",
        /// The urgency.
        Priority = "priority",
        /// The project.
        Project = "project",
        /// The owner.
        Owner = "owner",
        /// The feature.
        Group = "group",
        /// The labels.
        Tag = "tag",
        /// How soon it is due.
        Due = "due",
        /// The task it is part of.
        Parent = "parent",
    }
);

/// The tasks under one heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group<'o> {
    /// The heading.
    pub name: Option<String>,
    /// The tasks under it, in the order in which they came.
    pub tasks: Vec<&'o Outline>,
}

/// The tasks under their headings.
pub fn groups<'o>(tasks: &[&'o Outline], by: GroupBy, today: Date) -> Vec<Group<'o>> {
    // By what they are sorted by, then by the heading; without a heading last.
    let mut found: BTreeMap<(bool, u64, Option<String>), Vec<&'o Outline>> = BTreeMap::new();
    for &task in tasks {
        for (rank, name) in headings(task, by, today) {
            let key = (name.is_none(), rank, name);
            found.entry(key).or_default().push(task);
        }
    }
    let groups = found.into_iter();
    let groups = groups.map(|((_, _, name), tasks)| Group { name, tasks });
    groups.collect()
}

fn headings(task: &Outline, by: GroupBy, today: Date) -> Vec<(u64, Option<String>)> {
    let named = |name: &Option<String>| vec![(0, name.clone())];
    match by {
        GroupBy::State => {
            let state = task.state.name();
            vec![(state as u64, Some(state.to_string()))]
        }
        GroupBy::Priority => vec![match task.priority {
            None => (0, None),
            Some(priority) => (priority as u64, Some(priority.to_string())),
        }],
        GroupBy::Project => named(&task.project),
        GroupBy::Owner => named(&task.owner),
        GroupBy::Group => named(&task.group),
        GroupBy::Tag if task.tags.is_empty() => vec![(0, None)],
        GroupBy::Tag => task.tags.iter().map(|tag| (0, Some(tag.clone()))).collect(),
        GroupBy::Due => vec![match task.due.map(|due| soon(due, today)) {
            None => (0, None),
            Some((rank, name)) => (rank, Some(name.to_owned())),
        }],
        GroupBy::Parent => vec![match &task.parent {
            None => (0, None),
            Some(id) => (id.number().unwrap_or(u64::MAX), Some(id.to_string())),
        }],
    }
}

fn soon(due: Date, today: Date) -> (u64, &'static str) {
    match due {
        _ if due < today => (0, "before today"),
        _ if due == today => (1, "today"),
        _ if today.tomorrow().is_ok_and(|it| it == due) => (2, "tomorrow"),
        _ if in_week_ahead(due, today) => (3, "within a week"),
        _ => (4, "later"),
    }
}
