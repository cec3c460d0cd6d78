//! What a drawing of a graph shows.
//!
//! Owns its tasks and its edges, each once, and which of them are drawn in a special way.

use std::collections::HashSet;

use crate::{
    id::TaskId,
    plan::{Graph, closing, critical},
    task::Outline,
};

/// A graph, ready to be drawn.
#[derive(Debug)]
pub struct Picture<'o> {
    /// What it is a picture of.
    pub title: &'o str,
    /// The tasks, in the list's order.
    pub tasks: Vec<&'o Outline>,
    /// Who waits for whom.
    pub edges: Vec<Edge>,
    /// The critical path, first task first.
    pub critical: Vec<&'o TaskId>,
}

/// One task waits for another; both by position in the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The task that comes first.
    pub from: usize,
    /// The task that waits for it.
    pub to: usize,
    /// How it is drawn.
    pub line: EdgeStyle,
}

/// How an edge is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeStyle {
    /// As most are.
    Plain,
    /// It is part of the critical path.
    Critical,
    /// It closes a circle: the tasks on it can never begin.
    Closing,
}

impl<'o> Picture<'o> {
    /// A picture of all that is in `graph`. The weight of a task is how long it takes.
    pub fn new(title: &'o str, graph: &Graph<'o>, weight: impl Fn(&Outline) -> u64) -> Self {
        let nodes: Vec<(usize, &Outline)> = graph.nodes().collect();
        let mut place = vec![0; graph.len()];
        for (n, &(at, _)) in nodes.iter().enumerate() {
            place[at] = n;
        }
        let path = critical(graph, weight);
        let at = |task: &&Outline| graph.position(&task.id);
        let steps = path.iter().skip(1).filter_map(at);
        let steps: HashSet<_> = steps.zip(path.iter().filter_map(at)).collect();
        let closing = closing(graph);
        let line = |edge: &(usize, usize)| match () {
            () if closing.contains(edge) => EdgeStyle::Closing,
            () if steps.contains(edge) => EdgeStyle::Critical,
            () => EdgeStyle::Plain,
        };
        let edges = nodes.iter().flat_map(|&(to, _)| {
            let blockers = graph.blockers_at(to).iter();
            blockers.map(move |&from| (from, to))
        });
        let edges = edges.map(|(from, to)| Edge {
            from: place[from],
            to: place[to],
            line: line(&(to, from)),
        });
        Self {
            title,
            edges: edges.collect(),
            tasks: nodes.into_iter().map(|(_, task)| task).collect(),
            critical: path.into_iter().map(|task| &task.id).collect(),
        }
    }

    /// The tasks of the critical path, where it is a path: one task alone decides nothing.
    pub fn marked(&self) -> HashSet<&'o TaskId> {
        let path = self.critical.iter().copied();
        path.filter(|_| self.critical.len() > 1).collect()
    }
}
