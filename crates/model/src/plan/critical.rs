//! The critical path: what decides how long the rest takes.
//!
//! Owns the longest chain of unfinished tasks, each waiting for the one before. Invariant: the
//! same list gives the same path; of two as long the one with the lower ids. Tasks that wait in a
//! circle, or for one, are in no chain: nobody can say when they come.

use std::cmp::Reverse;

use super::{Graph, is_unfinished};
use crate::task::Outline;

/// The longest chain by the sum of its tasks' weights, first task first; empty where nothing is
/// left to do.
pub fn critical<'o>(graph: &Graph<'o>, weight: impl Fn(&Outline) -> u64) -> Vec<&'o Outline> {
    let is_left = |at: usize| is_unfinished(&graph.outline(at).state);
    let mut waits_for: Vec<usize> = (0..graph.len())
        .map(|at| {
            graph
                .blockers_at(at)
                .iter()
                .filter(|&&on| is_left(on))
                .count()
        })
        .collect();
    let nodes = graph.nodes().map(|(at, _)| at);
    let mut order: Vec<usize> = nodes
        .filter(|&at| is_left(at) && waits_for[at] == 0)
        .collect();
    // For each task the length of the longest chain that ends in it, and the task before it there.
    let mut chains: Vec<Option<(u64, Option<usize>)>> = vec![None; graph.len()];
    let length = |chains: &[Option<(u64, Option<usize>)>], at: usize| {
        let (length, _) = chains[at]?;
        Some((length, Reverse(&graph.outline(at).id)))
    };
    let mut next = 0;
    while let Some(&at) = order.get(next) {
        next += 1;
        let blockers = graph
            .blockers_at(at)
            .iter()
            .copied()
            .filter(|&on| is_left(on));
        let before = blockers.max_by_key(|&on| length(&chains, on));
        let until = before
            .and_then(|on| chains[on])
            .map_or(0, |(length, _)| length);
        chains[at] = Some((until.saturating_add(weight(graph.outline(at))), before));
        for &dependant in graph.dependants_at(at) {
            waits_for[dependant] -= 1;
            if waits_for[dependant] == 0 && is_left(dependant) {
                order.push(dependant);
            }
        }
    }
    let last = order.into_iter().max_by_key(|&at| length(&chains, at));
    let back = |&at: &usize| chains[at].and_then(|(_, before)| before);
    let mut path: Vec<_> = std::iter::successors(last, back)
        .map(|at| graph.outline(at))
        .collect();
    path.reverse();
    path
}

/// The weight of a task as far as anybody said: its estimate in minutes, or 1 where it has none.
pub fn expected(task: &Outline) -> u64 {
    task.estimate
        .map_or(1, |estimate| estimate.minutes().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        id::TaskId,
        task::{Effort, State, Task},
    };

    /// Tasks 1, 2, … with these blockers.
    fn list(blockers: &[&[u64]]) -> Vec<Outline> {
        let task = |(n, blockers): (u64, &&[u64])| {
            let mut task = Task::new(n.into(), "");
            task.blocked_by = blockers.iter().map(|&on| TaskId::from(on)).collect();
            Outline::from(&task)
        };
        (1..).zip(blockers).map(task).collect()
    }

    fn path(outlines: &[Outline], weight: impl Fn(&Outline) -> u64) -> Vec<u64> {
        let graph = Graph::new(outlines);
        let path = critical(&graph, weight).into_iter();
        path.map(|task| task.id.number().unwrap()).collect()
    }

    #[test]
    fn the_longest_chain_of_what_is_left_is_critical() {
        // Blockers, what is done, the path.
        type Case = (&'static [&'static [u64]], &'static [u64], &'static [u64]);
        let cases: &[Case] = &[
            (&[], &[], &[]),
            (&[&[], &[]], &[], &[1]),
            (&[&[], &[1], &[1], &[2, 3]], &[], &[1, 2, 4]),
            (&[&[], &[1], &[2], &[]], &[], &[1, 2, 3]),
            // What is done takes no time any more.
            (&[&[], &[1], &[2], &[], &[4]], &[1, 2], &[4, 5]),
            (&[&[], &[1]], &[1, 2], &[]),
            // Circles have no length, nor has what waits for them.
            (&[&[2], &[1], &[2], &[], &[4]], &[], &[4, 5]),
            (&[&[1]], &[], &[]),
        ];
        for (blockers, done, expected) in cases {
            let mut list = list(blockers);
            for id in *done {
                list[*id as usize - 1].state = State::Completed;
            }
            assert_eq!(path(&list, |_| 1), *expected, "{blockers:?}");
        }
    }

    #[test]
    fn weights_decide() {
        let list = list(&[&[], &[1], &[2], &[1]]);
        let slow = |task: &Outline| if task.id == 4.into() { 10 } else { 1 };
        assert_eq!(path(&list, slow), [1, 4]);
        assert_eq!(path(&list, |_| u64::MAX), [1]);
    }

    #[test]
    fn an_estimate_is_a_weight() {
        let mut list = list(&[&[], &[1], &[2], &[1]]);
        assert_eq!(path(&list, expected), [1, 2, 3]);
        list[3].estimate = Some(Effort::from_minutes(90));
        assert_eq!(path(&list, expected), [1, 4]);
        list[3].estimate = Some(Effort::from_seconds(1));
        assert_eq!(path(&list, expected), [1, 2, 3]);
    }

    #[test]
    fn what_was_given_up_and_not_dropped_is_still_to_do() {
        let mut list = list(&[&[], &[1], &[2]]);
        list[0].state = State::Failed;
        assert_eq!(path(&list, |_| 1), [1, 2, 3]);
        list[1].state = State::Cancelled;
        assert_eq!(path(&list, |_| 1), [1]);
    }
}
