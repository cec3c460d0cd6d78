//! What can begin now, what comes after it, and what never will.
//!
//! Owns the order in which tasks are handed out: by priority, then what unblocks most others, then
//! the lowest id. Invariant: an open task is in exactly one wave or stranded, never both and never
//! neither.

use std::{cmp::Reverse, collections::VecDeque, fmt, sync::Arc};

use jiff::Timestamp;

use super::{Graph, Node, is_open};
use crate::{
    id::TaskId,
    task::{Outline, Priority, State, StateName},
};

/// The tasks that may be claimed at `now`, in the order in which they are handed out.
pub fn ready<'o, N: Node>(graph: &Graph<'o, N>, now: Timestamp) -> Vec<&'o N> {
    first_ready(graph, now, usize::MAX)
}

/// The first `most` of them: whoever takes one need not order them all.
pub fn first_ready<'o, N: Node>(graph: &Graph<'o, N>, now: Timestamp, most: usize) -> Vec<&'o N> {
    let places = ready_at(graph, now);
    let mut ready: Vec<_> = places.map(|at| (rank(graph, at), at)).collect();
    if most < ready.len() {
        ready.select_nth_unstable(most);
        ready.truncate(most);
    }
    ready.sort_unstable();
    ready.into_iter().map(|(_, at)| graph.outline(at)).collect()
}

/// Open tasks level by level: those of a level wait only for levels before it. What can never
/// start is in none.
pub fn waves<N: Node>(graph: &Graph<'_, N>) -> Vec<Vec<TaskId>> {
    let mut open_blockers: Vec<usize> = (0..graph.len())
        .map(|at| {
            let known = graph.blockers_at(at).iter();
            let open = known.filter(|&&on| *graph.outline(on).state() != State::Completed);
            open.count() + graph.unknown_of(at).len()
        })
        .collect();
    let open = graph.nodes().filter(|(_, task)| is_open(task.state()));
    let mut level: Vec<usize> = open
        .map(|(at, _)| at)
        .filter(|&at| open_blockers[at] == 0)
        .collect();
    let mut waves = Vec::new();
    while !level.is_empty() {
        sort(graph, &mut level);
        let ids = level.iter().map(|&at| graph.outline(at).id().clone());
        waves.push(ids.collect());
        let mut next = Vec::new();
        for &dependant in level.iter().flat_map(|&at| graph.dependants_at(at)) {
            open_blockers[dependant] -= 1;
            if open_blockers[dependant] == 0 && is_open(graph.outline(dependant).state()) {
                next.push(dependant);
            }
        }
        level = next;
    }
    waves
}

/// Puts tasks of the graph into the order in which they are handed out.
pub fn claim_order<'o>(
    graph: &Graph<'o>,
    tasks: impl IntoIterator<Item = &'o Outline>,
) -> Vec<&'o Outline> {
    let at = tasks
        .into_iter()
        .filter_map(|task| graph.position(&task.id));
    let mut order: Vec<usize> = at.collect();
    sort(graph, &mut order);
    order.into_iter().map(|at| graph.outline(at)).collect()
}

/// An open task that cannot start unless a person does something about another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stranded {
    /// The task.
    pub id: TaskId,
    /// The root of it, however many tasks lie between.
    pub why: StrandedBecause,
}

/// What strands a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StrandedBecause {
    /// It waits for a task that was given up: failed, stuck or cancelled.
    GivenUp {
        /// That task.
        task: TaskId,
        /// Where it stands.
        state: StateName,
    },
    /// Something waits for a task that does not exist.
    Unknown {
        /// The one that names it.
        waiting: TaskId,
        /// The id without a task.
        missing: TaskId,
    },
    /// It is in a knot of tasks that wait for each other, or waits for one.
    Cycle {
        /// A circle in that knot, first task repeated at the end. Shared, as circles can be long
        /// and strand many.
        path: Arc<[TaskId]>,
    },
}

impl StrandedBecause {
    /// Whether what it waits for may still complete: an answer lets a stuck task go on, and the next run
    /// tries a failed one again.
    pub fn may_pass(&self) -> bool {
        let may = |state: &StateName| matches!(state, StateName::Failed | StateName::Stuck);
        matches!(self, Self::GivenUp { state, .. } if may(state))
    }
}

impl fmt::Display for StrandedBecause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GivenUp { task, state } => write!(f, "waits for task {task}, which is {state}"),
            Self::Unknown { waiting, missing } => {
                write!(
                    f,
                    "task {waiting} waits for {missing}, which does not exist"
                )
            }
            Self::Cycle { path } => {
                let path: Vec<_> = path.iter().map(TaskId::as_str).collect();
                write!(f, "waits in a circle: {}", path.join(" → "))
            }
        }
    }
}

/// Every open task that can never start as things are, in the list's order, with the nearest cause.
pub fn stranded<N: Node>(graph: &Graph<'_, N>) -> Vec<Stranded> {
    let mut causes: Vec<Option<StrandedBecause>> = vec![None; graph.len()];
    let mut queue = VecDeque::new();
    for (at, task) in graph.nodes().filter(|(_, task)| is_open(task.state())) {
        if let Some(why) = direct_cause(graph, at, task) {
            causes[at] = Some(why);
            queue.push_back(at);
        }
    }
    for knot in graph.knots(|at| is_open(graph.outline(at).state())) {
        let path: Arc<[TaskId]> = knot.path.into();
        for at in knot.members {
            if causes[at].is_none() {
                let path = Arc::clone(&path);
                causes[at] = Some(StrandedBecause::Cycle { path });
                queue.push_back(at);
            }
        }
    }
    while let Some(at) = queue.pop_front() {
        let why = causes[at].clone();
        for &dependant in graph.dependants_at(at) {
            if causes[dependant].is_none() && is_open(graph.outline(dependant).state()) {
                causes[dependant].clone_from(&why);
                queue.push_back(dependant);
            }
        }
    }
    let found = causes.into_iter().enumerate();
    found
        .filter_map(|(at, why)| {
            let id = graph.outline(at).id().clone();
            why.map(|why| Stranded { id, why })
        })
        .collect()
}

/// A blocker that will not complete by itself.
fn direct_cause<N: Node>(graph: &Graph<'_, N>, at: usize, task: &N) -> Option<StrandedBecause> {
    let mut blockers = graph.blockers_at(at).iter().map(|&on| graph.outline(on));
    let given_up = blockers.find_map(|blocker| match blocker.state() {
        State::Failed | State::Stuck | State::Cancelled => Some(StrandedBecause::GivenUp {
            task: blocker.id().clone(),
            state: blocker.state().name(),
        }),
        State::Pending | State::Claimed(_) | State::InProgress(_) | State::Completed => None,
    });
    given_up.or_else(|| {
        let (_, missing) = graph.unknown_of(at).first()?;
        Some(StrandedBecause::Unknown {
            waiting: task.id().clone(),
            missing: missing.clone(),
        })
    })
}

/// Whether a task of the graph may be claimed at `now`.
pub(crate) fn is_ready<N: Node>(graph: &Graph<'_, N>, task: &Outline, now: Timestamp) -> bool {
    let at = graph.position(&task.id);
    at.is_some_and(|at| is_ready_at(graph, at, now))
}

fn ready_at<N: Node>(graph: &Graph<'_, N>, now: Timestamp) -> impl Iterator<Item = usize> {
    let places = graph.nodes().map(|(at, _)| at);
    places.filter(move |&at| is_ready_at(graph, at, now))
}

/// Whether the task at this place may be claimed at `now`.
pub(super) fn is_ready_at<N: Node>(graph: &Graph<'_, N>, at: usize, now: Timestamp) -> bool {
    let task = graph.outline(at);
    let free = match task.state() {
        State::Pending => true,
        State::Claimed(claim) | State::InProgress(Some(claim)) => !claim.is_live(now),
        // A foreign writer's work has no lease that could run out.
        State::InProgress(None) => false,
        State::Completed | State::Failed | State::Stuck | State::Cancelled => false,
    };
    let begun = task.not_before().is_none_or(|morning| morning <= now);
    let mut blockers = graph.blockers_at(at).iter();
    begun
        && free
        && blockers.all(|&on| *graph.outline(on).state() == State::Completed)
        && graph.unknown_of(at).is_empty()
}

fn sort<N: Node>(graph: &Graph<'_, N>, tasks: &mut [usize]) {
    tasks.sort_by_cached_key(|&at| rank(graph, at));
}

/// Urgency, then the id as ids are ordered, its number read only once.
type ClaimRank<'o> = (
    (bool, Option<Priority>, Reverse<usize>),
    (bool, Option<u64>, &'o TaskId),
);

/// The rank as a text: smaller is handed out earlier.
pub(super) fn claim_key<N: Node>(graph: &Graph<'_, N>, at: usize) -> String {
    let ((_, priority, Reverse(unblocks)), (_, number, id)) = rank(graph, at);
    let urgency = match priority {
        Some(Priority::Critical) => 0,
        Some(Priority::High) => 1,
        Some(Priority::Medium) => 2,
        Some(Priority::Low) => 3,
        None => 4,
    };
    let unblocks = 999_999_usize.saturating_sub(unblocks);
    match number {
        Some(number) => format!("{urgency}{unblocks:06}{number:020}"),
        // After each digit.
        None => format!("{urgency}{unblocks:06}~{id}"),
    }
}

/// Smaller is handed out earlier. A task without priority comes after every one that has one.
fn rank<'o, N: Node>(graph: &Graph<'o, N>, at: usize) -> ClaimRank<'o> {
    let task = graph.outline(at);
    let dependants = graph.dependants_at(at).iter();
    let waiting = dependants.filter(|&&on| is_open(graph.outline(on).state()));
    let unblocks = Reverse(waiting.count());
    let number = task.id().number();
    let is_named = number.is_none();
    (
        (task.priority().is_none(), task.priority(), unblocks),
        (is_named, number, task.id()),
    )
}
