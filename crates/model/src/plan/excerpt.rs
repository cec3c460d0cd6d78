//! A part of a plan, to be drawn.
//!
//! Owns which tasks belong to it, and what a plan looks like whose tasks are too many: its groups.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Graph, Index, is_unfinished};
use crate::{id::TaskId, task::Outline};

/// Which tasks of a plan are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Excerpt<'r> {
    /// Only this one and what waits for it, however indirectly.
    pub root: Option<&'r TaskId>,
    /// Only what is neither completed nor cancelled, and the root.
    pub only_unfinished: bool,
}

impl Excerpt<'_> {
    /// The tasks that are wanted, in the list's order.
    pub fn of(&self, outlines: &[Outline]) -> Vec<Outline> {
        let whole = Graph::new(outlines);
        let reached = self.root.map(|root| reached(&whole, root));
        let is_wanted = |task: &&Outline| {
            let below = reached.as_ref().is_none_or(|it| it.contains(&task.id));
            let is_due = !self.only_unfinished || is_unfinished(&task.state);
            below && (is_due || self.root == Some(&task.id))
        };
        outlines.iter().filter(is_wanted).cloned().collect()
    }
}

/// A task and all that waits for it, however indirectly.
fn reached<'o>(graph: &Graph<'o>, root: &TaskId) -> HashSet<&'o TaskId> {
    let mut reached = HashSet::new();
    let mut next: Vec<&Outline> = graph.get(root).into_iter().collect();
    while let Some(task) = next.pop() {
        if reached.insert(&task.id) {
            next.extend(graph.dependants(&task.id));
        }
    }
    reached
}

/// A group of tasks, in place of them.
#[derive(Debug)]
pub struct PlanGroup {
    /// Its name; none for tasks without a group.
    pub name: Option<String>,
    /// How many tasks it has.
    pub tasks: usize,
    /// As a task that waits for the groups of its tasks' blockers. It has the id of its first task.
    pub outline: Outline,
}

/// The groups of these tasks, in the order of the first task of each.
pub fn groups(outlines: &[Outline]) -> Vec<PlanGroup> {
    let index = Index::new(outlines.iter().map(|it| it.id.as_str()));
    let mut numbers: HashMap<Option<&str>, usize> = HashMap::new();
    let mut groups: Vec<PlanGroup> = Vec::new();
    let mut of_task = Vec::new();
    for task in outlines {
        let number = *numbers.entry(task.group.as_deref()).or_insert_with(|| {
            groups.push(PlanGroup {
                name: task.group.clone(),
                tasks: 0,
                outline: Outline {
                    blocks: Vec::new(),
                    blocked_by: Vec::new(),
                    ..task.clone()
                },
            });
            groups.len() - 1
        });
        of_task.push(number);
    }
    let mut waits: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); groups.len()];
    for (task, &group) in outlines.iter().zip(&of_task) {
        groups[group].tasks += 1;
        let blockers = task.blocked_by.iter();
        let blockers = blockers.filter_map(|it| Some(of_task[index.get(it.as_str())?]));
        waits[group].extend(blockers.filter(|other| *other != group));
    }
    for (group, waits) in waits.iter().enumerate() {
        let blockers = waits.iter().map(|at| groups[*at].outline.id.clone());
        groups[group].outline.blocked_by = blockers.collect();
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{State, Task};

    fn task(id: &str, state: State, group: &str, blocked_by: &[&str]) -> Outline {
        Outline {
            state,
            group: (!group.is_empty()).then(|| group.to_owned()),
            blocked_by: blocked_by.iter().map(|it| it.parse().unwrap()).collect(),
            ..Outline::from(&Task::new(id.parse().unwrap(), "it".to_owned()))
        }
    }

    fn plan() -> Vec<Outline> {
        vec![
            task("1", State::Completed, "lexer", &[]),
            task("2", State::Pending, "lexer", &["1"]),
            task("3", State::Pending, "parser", &["2"]),
            task("4", State::Pending, "", &["1", "3"]),
            task("5", State::Cancelled, "docs", &["9"]),
        ]
    }

    #[test]
    fn an_excerpt_is_what_waits_for_its_root_and_is_not_done() {
        let plan = plan();
        for (root, only_unfinished, wanted) in [
            (None, false, vec!["1", "2", "3", "4", "5"]),
            (None, true, vec!["2", "3", "4"]),
            (Some("1"), true, vec!["1", "2", "3", "4"]),
            (Some("3"), false, vec!["3", "4"]),
            (Some("9"), false, vec![]),
        ] {
            let root: Option<TaskId> = root.map(|it: &str| it.parse().unwrap());
            let excerpt = Excerpt {
                root: root.as_ref(),
                only_unfinished,
            };
            let found = excerpt.of(&plan);
            let found: Vec<&str> = found.iter().map(|it| it.id.as_str()).collect();
            assert_eq!(found, wanted, "{excerpt:?}");
        }
    }

    #[test]
    fn groups_wait_for_the_groups_of_what_their_tasks_wait_for() {
        let groups = groups(&plan());
        let told: Vec<_> = groups
            .iter()
            .map(|it| {
                let waits = it.outline.blocked_by.iter().map(TaskId::as_str);
                (it.name.as_deref(), it.tasks, waits.collect::<Vec<_>>())
            })
            .collect();
        assert_eq!(
            told,
            [
                (Some("lexer"), 2, vec![]),
                (Some("parser"), 1, vec!["1"]),
                (None, 1, vec!["1", "3"]),
                (Some("docs"), 1, vec![]),
            ]
        );
    }
}
