//! The graph of dependencies over a list's outlines.
//!
//! Owns who waits for whom: the union of both sides as the files say them, since a crash or a
//! foreign writer may leave only one. Invariants: an edge joins two tasks of the slice, once;
//! whatever names a task outside it is kept apart. Where two outlines share an id the first one
//! stands. It must never copy a task: lists are large.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};

use jiff::Timestamp;
use petgraph::{algo::kosaraju_scc, graph::DiGraph};

use super::index::Index;
use crate::{
    id::TaskId,
    task::{Outline, Priority, State, TaskSummary},
};

/// A task as the graph sees it.
pub trait Node {
    /// Its id.
    fn id(&self) -> &TaskId;
    /// Where it stands.
    fn state(&self) -> &State;
    /// How urgent it is.
    fn priority(&self) -> Option<Priority>;
    /// It is not handed out before.
    fn not_before(&self) -> Option<Timestamp>;
    /// Tasks that wait for it, as its file says.
    fn blocks(&self) -> &[TaskId];
    /// Tasks it waits for, as its file says.
    fn blocked_by(&self) -> &[TaskId];
}

macro_rules! node {
    ($type:ty) => {
        impl Node for $type {
            fn id(&self) -> &TaskId {
                &self.id
            }

            fn state(&self) -> &State {
                &self.state
            }

            fn priority(&self) -> Option<Priority> {
                self.priority
            }

            fn not_before(&self) -> Option<Timestamp> {
                self.not_before
            }

            fn blocks(&self) -> &[TaskId] {
                &self.blocks
            }

            fn blocked_by(&self) -> &[TaskId] {
                &self.blocked_by
            }
        }
    };
}

node!(Outline);
node!(TaskSummary);

/// One that others hold, too.
impl<N: Node> Node for Arc<N> {
    fn id(&self) -> &TaskId {
        N::id(self)
    }
    fn state(&self) -> &State {
        N::state(self)
    }
    fn priority(&self) -> Option<Priority> {
        N::priority(self)
    }
    fn not_before(&self) -> Option<Timestamp> {
        N::not_before(self)
    }
    fn blocks(&self) -> &[TaskId] {
        N::blocks(self)
    }
    fn blocked_by(&self) -> &[TaskId] {
        N::blocked_by(self)
    }
}

/// Who waits for whom.
#[derive(Debug)]
pub struct Graph<'o, N = Outline> {
    outlines: &'o [N],
    index: Index<'o>,
    blockers: Rows,
    dependants: Rows,
    unknown: Vec<(TaskId, TaskId)>,
    /// The waiting side of `unknown`, entry by entry, ascending.
    unknown_at: Vec<usize>,
}

/// A set of tasks that all wait for each other.
pub(super) struct Knot {
    pub members: Vec<usize>,
    /// One circle within it, first task repeated at the end; each waits for the next.
    pub path: Vec<TaskId>,
}

impl<'o, N: Node> Graph<'o, N> {
    /// Reads the dependencies of a whole list.
    pub fn new(outlines: &'o [N]) -> Self {
        let index = Index::new(outlines.iter().map(|task| task.id().as_str()));
        let mut edges = Vec::new();
        let mut unknown = Vec::new();
        for (position, outline) in outlines.iter().enumerate() {
            let at = index.get(outline.id().as_str()).unwrap_or(position);
            for blocker in outline.blocked_by() {
                match index.get(blocker.as_str()) {
                    Some(blocker) => edges.push((at, blocker)),
                    None => unknown.push((at, blocker)),
                }
            }
            for dependant in outline.blocks() {
                // Blocking one that does not exist is harmless: nobody waits.
                edges.extend(
                    index
                        .get(dependant.as_str())
                        .map(|dependant| (dependant, at)),
                );
            }
        }
        edges.sort_unstable();
        edges.dedup();
        unknown.sort_unstable();
        unknown.dedup();
        let nodes = outlines.len();
        Self {
            outlines,
            index,
            blockers: Rows::new(nodes, edges.iter().copied()),
            dependants: Rows::new(nodes, edges.iter().map(|&(waiting, on)| (on, waiting))),
            unknown_at: unknown.iter().map(|&(at, _)| at).collect(),
            unknown: unknown
                .into_iter()
                .map(|(at, missing)| (outlines[at].id().clone(), missing.clone()))
                .collect(),
        }
    }

    /// Who waits for a task that does not exist, and for which: (waiting, missing).
    pub fn unknown(&self) -> &[(TaskId, TaskId)] {
        &self.unknown
    }

    /// The task of that id.
    pub fn get(&self, id: &TaskId) -> Option<&'o N> {
        self.index.get(id.as_str()).map(|at| &self.outlines[at])
    }

    /// The tasks that `id` waits for, in the list's order; unknown ones are not among them.
    pub fn blockers(&self, id: &TaskId) -> impl Iterator<Item = &'o N> + use<'_, 'o, N> {
        self.neighbours(&self.blockers, id)
    }

    /// The tasks that wait for `id`, in the list's order.
    pub fn dependants(&self, id: &TaskId) -> impl Iterator<Item = &'o N> + use<'_, 'o, N> {
        self.neighbours(&self.dependants, id)
    }

    /// What `id` still waits for: blockers that are not completed, cancelled ones included, then
    /// the unknown ones.
    pub fn open_blockers(&self, id: &TaskId) -> Vec<TaskId> {
        let Some(at) = self.index.get(id.as_str()) else {
            return Vec::new();
        };
        let known = self.blockers_at(at).iter().map(|&on| &self.outlines[on]);
        known
            .filter(|blocker| *blocker.state() != State::Completed)
            .map(|blocker| blocker.id().clone())
            .chain(self.unknown_of(at).iter().map(|(_, id)| id.clone()))
            .collect()
    }

    /// A circle, if there is one: first task repeated at the end, each waits for the next.
    pub fn cycle(&self) -> Option<Vec<TaskId>> {
        let first = self.knots(|_| true).into_iter().next()?;
        Some(first.path)
    }

    /// A circle of every set of tasks that wait for each other, by lowest id.
    pub fn circles(&self) -> Vec<Vec<TaskId>> {
        let knots = self.knots(|_| true).into_iter();
        knots.map(|knot| knot.path).collect()
    }

    /// Which knot a position is in, for those that are in one.
    pub(super) fn knot_of(&self) -> HashMap<usize, usize> {
        let knots = self.knots(|_| true).into_iter().enumerate();
        knots
            .flat_map(|(knot, it)| it.members.into_iter().map(move |at| (at, knot)))
            .collect()
    }

    /// A circle that was not in `before`: one in a knot that was not a knot, or part of one, there.
    pub fn new_cycle(&self, before: &Self) -> Option<Vec<TaskId>> {
        let mut knot_of: HashMap<&TaskId, usize> = HashMap::new();
        for (knot, old) in before.knots(|_| true).into_iter().enumerate() {
            knot_of.extend(old.members.into_iter().map(|at| (before.id(at), knot)));
        }
        let is_old = |knot: &Knot| {
            let mut old = knot.members.iter().map(|&at| knot_of.get(self.id(at)));
            let first = old.next().flatten();
            first.is_some() && old.all(|knot| knot == first)
        };
        let knots = self.knots(|_| true).into_iter();
        knots
            .filter(|knot| !is_old(knot))
            .map(|knot| knot.path)
            .next()
    }

    /// The circle that would close if `waiting` waited for `blocker`, as `Refusal::Cycle` wants it.
    /// Either may be a task that is yet to be written: others may name it already.
    pub fn closes_cycle(&self, waiting: &TaskId, blocker: &TaskId) -> Option<Vec<TaskId>> {
        if waiting == blocker {
            return Some(vec![waiting.clone(), waiting.clone()]);
        }
        let start = self.index.get(blocker.as_str())?;
        let target = self.index.get(waiting.as_str());
        let mut came_from = HashMap::from([(start, start)]);
        let mut queue = VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            let waits_for_target = self.blockers_at(at).iter().any(|&on| Some(on) == target)
                || self.unknown_of(at).iter().any(|(_, id)| id == waiting);
            if waits_for_target {
                return Some(self.path_back(waiting, at, &came_from));
            }
            for &on in self.blockers_at(at) {
                came_from.entry(on).or_insert_with(|| {
                    queue.push_back(on);
                    at
                });
            }
        }
        None
    }

    /// `waiting → start → … → last → waiting`, from the steps that led to `last`.
    fn path_back(
        &self,
        waiting: &TaskId,
        last: usize,
        came_from: &HashMap<usize, usize>,
    ) -> Vec<TaskId> {
        let mut path = vec![waiting.clone()];
        let mut at = last;
        loop {
            path.push(self.outlines[at].id().clone());
            match came_from.get(&at) {
                Some(&before) if before != at => at = before,
                _ => break,
            }
        }
        path.push(waiting.clone());
        path.reverse();
        path
    }

    /// Every knot among the tasks that take part, by lowest id.
    pub(super) fn knots(&self, takes_part: impl Fn(usize) -> bool) -> Vec<Knot> {
        let edges = (0..self.outlines.len())
            .filter(|&at| takes_part(at))
            .flat_map(|at| self.blockers_at(at).iter().map(move |&on| (at, on)))
            .filter(|&(_, on)| takes_part(on));
        // Kosaraju's is the one of petgraph's that does not recurse: chains are long.
        let components = kosaraju_scc(&DiGraph::<(), (), usize>::from_edges(edges));
        let mut knots: Vec<Knot> = components
            .iter()
            .map(|component| component.iter().map(|at| at.index()).collect::<Vec<_>>())
            .filter(|members| match members[..] {
                // petgraph fills the gaps below the highest node: alone says nothing yet.
                [at] => takes_part(at) && self.blockers_at(at).contains(&at),
                _ => true,
            })
            .map(|members| Knot {
                path: self.circle_within(&members),
                members,
            })
            .collect();
        knots.sort_by(|a, b| a.path.first().cmp(&b.path.first()));
        knots
    }

    /// Every member waits for another member, so going from blocker to blocker must come around.
    fn circle_within(&self, members: &[usize]) -> Vec<TaskId> {
        let inside: HashSet<usize> = members.iter().copied().collect();
        let mut visited = HashMap::new();
        let mut walk = Vec::new();
        let mut next = members.iter().copied().min_by_key(|&at| self.id(at));
        while let Some(at) = next.filter(|at| !visited.contains_key(at)) {
            visited.insert(at, walk.len());
            walk.push(at);
            let mut blockers = self.blockers_at(at).iter().copied();
            next = blockers.find(|on| inside.contains(on));
        }
        let begin = next.and_then(|at| visited.get(&at)).copied().unwrap_or(0);
        let mut circle = walk.split_off(begin);
        let lowest = (0..circle.len()).min_by_key(|&n| self.id(circle[n]));
        circle.rotate_left(lowest.unwrap_or(0));
        let around = circle.iter().chain(circle.first());
        around.map(|&at| self.id(at).clone()).collect()
    }

    fn neighbours<'g>(
        &'g self,
        rows: &'g Rows,
        id: &TaskId,
    ) -> impl Iterator<Item = &'o N> + use<'g, 'o, N> {
        let row = self
            .index
            .get(id.as_str())
            .map_or(&[][..], |at| rows.of(at));
        row.iter().map(|&other| &self.outlines[other])
    }

    fn id(&self, at: usize) -> &'o TaskId {
        self.outlines[at].id()
    }

    /// The outlines that stand, by position.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (usize, &'o N)> + use<'_, 'o, N> {
        let stands =
            |&(at, outline): &(usize, &'o N)| self.index.get(outline.id().as_str()) == Some(at);
        self.outlines.iter().enumerate().filter(stands)
    }

    pub(crate) fn outline(&self, at: usize) -> &'o N {
        &self.outlines[at]
    }

    pub(crate) fn position(&self, id: &TaskId) -> Option<usize> {
        self.index.get(id.as_str())
    }

    pub(crate) fn len(&self) -> usize {
        self.outlines.len()
    }

    pub(crate) fn blockers_at(&self, at: usize) -> &[usize] {
        self.blockers.of(at)
    }

    pub(crate) fn dependants_at(&self, at: usize) -> &[usize] {
        self.dependants.of(at)
    }

    /// The part of `unknown` in which the task at this position waits.
    pub(super) fn unknown_of(&self, at: usize) -> &[(TaskId, TaskId)] {
        let begin = self.unknown_at.partition_point(|&other| other < at);
        let end = self.unknown_at.partition_point(|&other| other <= at);
        &self.unknown[begin..end]
    }
}

/// For each node a row of others, in one allocation.
#[derive(Debug)]
struct Rows {
    starts: Vec<usize>,
    entries: Vec<usize>,
}

impl Rows {
    /// Rows keep the order in which the pairs come.
    fn new(nodes: usize, pairs: impl Iterator<Item = (usize, usize)> + Clone) -> Self {
        let mut starts = vec![0; nodes + 1];
        for (row, _) in pairs.clone() {
            starts[row + 1] += 1;
        }
        for row in 0..nodes {
            starts[row + 1] += starts[row];
        }
        let mut free = starts.clone();
        let mut entries = vec![0; starts[nodes]];
        for (row, entry) in pairs {
            entries[free[row]] = entry;
            free[row] += 1;
        }
        Self { starts, entries }
    }

    fn of(&self, node: usize) -> &[usize] {
        &self.entries[self.starts[node]..self.starts[node + 1]]
    }
}
