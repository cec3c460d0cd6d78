//! The order that a query asks for.
//!
//! Owns the keys. Larger is more: a later day, a more urgent priority. A task without the value
//! comes last either way round, and what is equal keeps the list's order.

use std::{cmp::Ordering, fmt};

use crate::{
    names::names,
    task::{Outline, Priority},
};

names!(
    /// What tasks can be ordered by.
    OrderKey {
        /// The id.
        Id = "id",
        /// The subject.
        Subject = "subject",
        /// The state, in the order in which a task goes through them.
        State = "state",
        /// The urgency; `-priority` has the most urgent first.
        Priority = "priority",
        /// The project.
        Project = "project",
        /// The owner.
        Owner = "owner",
        /// The feature.
        Group = "group",
        /// The day it is due.
        Due = "due",
        /// The size, as a text.
        Complexity = "complexity",
        /// The estimate.
        Estimate = "estimate",
        /// The measured work.
        Tracked = "tracked",
        /// How often it was claimed.
        Attempts = "attempts",
        /// When it was added.
        Added = "added",
        /// When its last worker was through with it.
        Ended = "ended",
        /// The planner's name for it.
        Uid = "uid",
    }
);

/// A key, and which way round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortKey {
    /// The key.
    pub key: OrderKey,
    /// The largest first.
    pub descending: bool,
}

impl SortKey {
    /// A key as it is typed: `due`, or `-due` for the other way round.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (key, descending) = match text.strip_prefix('-') {
            Some(key) => (key, true),
            None => (text, false),
        };
        let key = key.parse().ok()?;
        Some(Self { key, descending })
    }

    fn compare(self, a: &Outline, b: &Outline) -> Ordering {
        let turned = |order: Ordering| match self.descending {
            true => order.reverse(),
            false => order,
        };
        let some = |a: Option<Ordering>, has: (bool, bool)| match (a, has) {
            (Some(order), _) => turned(order),
            (None, (a, b)) => b.cmp(&a),
        };
        fn both<T: Ord>(a: Option<T>, b: Option<T>) -> (Option<Ordering>, (bool, bool)) {
            let has = (a.is_some(), b.is_some());
            (a.zip(b).map(|(a, b)| a.cmp(&b)), has)
        }
        let (order, has) = match self.key {
            OrderKey::Id => return turned(a.id.cmp(&b.id)),
            OrderKey::Subject => return turned(a.subject.cmp(&b.subject)),
            OrderKey::State => return turned(a.state.name().cmp(&b.state.name())),
            OrderKey::Tracked => return turned(a.tracked.cmp(&b.tracked)),
            OrderKey::Attempts => return turned(a.attempts.cmp(&b.attempts)),
            OrderKey::Priority => both(a.priority.map(urgency), b.priority.map(urgency)),
            OrderKey::Project => both(a.project.as_ref(), b.project.as_ref()),
            OrderKey::Owner => both(a.owner.as_ref(), b.owner.as_ref()),
            OrderKey::Group => both(a.group.as_ref(), b.group.as_ref()),
            OrderKey::Due => both(a.due, b.due),
            OrderKey::Complexity => both(a.complexity.as_ref(), b.complexity.as_ref()),
            OrderKey::Estimate => both(a.estimate, b.estimate),
            OrderKey::Added => both(a.added_at, b.added_at),
            OrderKey::Ended => both(a.ended_at, b.ended_at),
            OrderKey::Uid => both(a.uid.as_ref(), b.uid.as_ref()),
        };
        some(order, has)
    }
}

impl fmt::Display for SortKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.descending { "-" } else { "" }, self.key)
    }
}

/// A priority so that more urgent is more.
pub(super) fn urgency(priority: Priority) -> std::cmp::Reverse<Priority> {
    std::cmp::Reverse(priority)
}

/// The first tasks in this order, at most so many; 0 is all.
pub(super) fn first<'o>(
    mut tasks: Vec<&'o Outline>,
    sort: &[SortKey],
    limit: usize,
) -> Vec<&'o Outline> {
    let keep = if limit == 0 { tasks.len() } else { limit };
    if !sort.is_empty() {
        let places: Vec<(usize, &Outline)> = tasks.drain(..).enumerate().collect();
        tasks = sorted(places, sort, keep);
    }
    tasks.truncate(keep);
    tasks
}

/// Sorts only those that are kept.
fn sorted<'o>(
    mut tasks: Vec<(usize, &'o Outline)>,
    sort: &[SortKey],
    keep: usize,
) -> Vec<&'o Outline> {
    let compare = |a: &(usize, &Outline), b: &(usize, &Outline)| {
        let keys = sort.iter().map(|key| key.compare(a.1, b.1));
        let first = keys.into_iter().find(|order| order.is_ne());
        first.unwrap_or_else(|| a.0.cmp(&b.0))
    };
    if keep > 0 && keep < tasks.len() {
        tasks.select_nth_unstable_by(keep - 1, compare);
        tasks.truncate(keep);
    }
    tasks.sort_unstable_by(compare);
    tasks.into_iter().map(|(_, task)| task).collect()
}
