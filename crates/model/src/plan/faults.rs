//! What is wrong with a plan: links that only one side tells of, names of nobody, circles.
//!
//! Owns describing the faults that reading tolerates. It mends nothing, and says nothing of what
//! follows from a fault: that is `stranded`'s.

use std::collections::{BTreeMap, HashSet};

use super::{Graph, index::Index};
use crate::{id::TaskId, task::Outline};

/// A dependency that one of its two files does not tell of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OneSided {
    /// Who waits.
    pub waiting: TaskId,
    /// For whom.
    pub blocker: TaskId,
    /// Whose file does not say so.
    pub silent: TaskId,
    /// Both are in one circle, which has to be cut first.
    pub in_circle: bool,
}

/// A circle of tasks that wait for each other: first task repeated at the end, each waits for the
/// next.
pub type Cycle = Vec<TaskId>;

/// The dependencies that only one file tells of, in order.
pub fn one_sided(outlines: &[Outline], graph: &Graph<'_>) -> Vec<OneSided> {
    let index = Index::new(outlines.iter().map(|task| task.id.as_str()));
    let pairs = |named: fn(&Outline) -> &Vec<TaskId>| -> HashSet<(usize, usize)> {
        let mut pairs = HashSet::new();
        for outline in outlines {
            let Some(at) = index.get(outline.id.as_str()) else {
                continue;
            };
            let others = named(outline)
                .iter()
                .filter_map(|id| index.get(id.as_str()));
            pairs.extend(others.map(|other| (at, other)));
        }
        pairs
    };
    let waits = pairs(|outline| &outline.blocked_by);
    let blocks = pairs(|outline| &outline.blocks);
    let knot_of = graph.knot_of();
    let told = |(waiting, blocker): (usize, usize), silent: usize| OneSided {
        waiting: outlines[waiting].id.clone(),
        blocker: outlines[blocker].id.clone(),
        silent: outlines[silent].id.clone(),
        in_circle: knot_of
            .get(&waiting)
            .is_some_and(|knot| knot_of.get(&blocker) == Some(knot)),
    };
    let unblocked = waits.iter().filter(|&&(a, b)| !blocks.contains(&(b, a)));
    let unwaited = blocks.iter().filter(|&&(b, a)| !waits.contains(&(a, b)));
    let mut found: Vec<OneSided> = unblocked
        .map(|&(a, b)| told((a, b), b))
        .chain(unwaited.map(|&(b, a)| told((a, b), a)))
        .collect();
    found.sort();
    found
}

/// Who claims to block a task that does not exist, and which: (blocking, missing).
pub fn dangling(outlines: &[Outline]) -> Vec<(TaskId, TaskId)> {
    let index = Index::new(outlines.iter().map(|task| task.id.as_str()));
    let missing = |outline: &Outline| {
        let unknown = outline
            .blocks
            .iter()
            .filter(|id| index.get(id.as_str()).is_none());
        let pairs = unknown.map(|id| (outline.id.clone(), id.clone()));
        pairs.collect::<Vec<_>>()
    };
    outlines.iter().flat_map(missing).collect()
}

/// The circles in which tasks are part of themselves; `parents` says which is part of which.
pub fn parent_circles(parents: &BTreeMap<TaskId, TaskId>) -> Vec<Cycle> {
    let mut seen: HashSet<&TaskId> = HashSet::new();
    let mut circles = Vec::new();
    for start in parents.keys() {
        let mut walk: Vec<&TaskId> = Vec::new();
        let mut here: HashSet<&TaskId> = HashSet::new();
        let mut at = start;
        while !seen.contains(at) && here.insert(at) {
            walk.push(at);
            match parents.get(at) {
                Some(parent) => at = parent,
                None => break,
            }
        }
        let again = walk.iter().position(|id| *id == at);
        // A walk that ended at a task without a parent came around only if that names itself.
        if let Some(begin) = again.filter(|_| !seen.contains(at) && parents.contains_key(at)) {
            let around = walk[begin..].iter().chain([&at]);
            circles.push(around.map(|id| (*id).clone()).collect());
        }
        seen.extend(walk);
    }
    circles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Task;

    fn id(text: &str) -> TaskId {
        text.parse().unwrap()
    }

    fn ids(text: &str) -> Vec<TaskId> {
        text.split_whitespace().map(id).collect()
    }

    fn task(name: &str, blocks: &str, blocked_by: &str) -> Outline {
        let mut task = Task::new(id(name), "");
        task.blocks = ids(blocks);
        task.blocked_by = ids(blocked_by);
        Outline::from(&task)
    }

    fn told(outlines: &[Outline]) -> Vec<String> {
        one_sided(outlines, &Graph::new(outlines))
            .iter()
            .map(|it| {
                let circle = if it.in_circle { " in a circle" } else { "" };
                format!("{}→{} not by {}{circle}", it.waiting, it.blocker, it.silent)
            })
            .collect()
    }

    #[test]
    fn what_both_files_say_is_no_fault() {
        assert!(told(&[task("1", "2", ""), task("2", "", "1")]).is_empty());
        assert!(told(&[task("1", "9", "8")]).is_empty(), "nobody is silent");
    }

    #[test]
    fn the_silent_side_is_named() {
        assert_eq!(
            told(&[task("1", "2", ""), task("2", "", "")]),
            ["2→1 not by 2"]
        );
        assert_eq!(
            told(&[task("1", "", ""), task("2", "", "1")]),
            ["2→1 not by 1"]
        );
    }

    #[test]
    fn one_within_a_circle_says_so() {
        let outlines = [task("1", "", "2"), task("2", "", "1"), task("3", "", "1")];
        assert_eq!(
            told(&outlines),
            [
                "1→2 not by 2 in a circle",
                "2→1 not by 1 in a circle",
                "3→1 not by 1"
            ]
        );
        assert_eq!(Graph::new(&outlines).circles(), [ids("1 2 1")]);
    }

    #[test]
    fn blocking_nobody_dangles() {
        let outlines = [task("1", "2 9", ""), task("2", "", "1 8")];
        assert_eq!(dangling(&outlines), [(id("1"), id("9"))]);
    }

    #[test]
    fn parents_that_come_around_are_told_once() {
        let circles = |pairs: &[(&str, &str)]| {
            let parents = pairs.iter().map(|(a, b)| (id(a), id(b))).collect();
            parent_circles(&parents)
        };
        assert!(circles(&[]).is_empty());
        assert!(circles(&[("1", "2"), ("2", "3"), ("4", "3")]).is_empty());
        assert_eq!(circles(&[("1", "1")]), [ids("1 1")]);
        assert_eq!(
            circles(&[("1", "2"), ("2", "3"), ("3", "2"), ("4", "3")]),
            [ids("2 3 2")]
        );
        assert_eq!(
            circles(&[("1", "2"), ("2", "1"), ("3", "4"), ("4", "3")]),
            [ids("1 2 1"), ids("3 4 3")]
        );
    }
}
