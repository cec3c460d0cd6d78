//! A list in numbers.
//!
//! Owns what is counted, over outlines: how many tasks there are of each kind, and how much work
//! was thought of and measured. A task that was cancelled counts as one, but none of its work does.

use std::collections::BTreeMap;

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    plan::{self, Graph},
    query::in_week_behind,
    task::{Effort, Outline, Priority, State, StateName},
};

/// So many tasks, and how many of them are still to be done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Count {
    /// Neither completed nor cancelled.
    pub open: usize,
    /// All.
    pub all: usize,
}

/// Work, thought of and measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EffortTotals {
    /// The sum of the estimates.
    pub estimated: Effort,
    /// The sum of what was measured, running timers included.
    pub tracked: Effort,
}

/// A list in numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// All tasks.
    pub tasks: Count,
    /// By state; those that no task is in are left out.
    pub states: BTreeMap<StateName, usize>,
    /// By priority, without one last.
    pub priorities: Vec<(Option<Priority>, Count)>,
    /// By owner, without one last.
    pub owners: Vec<(Option<String>, Count)>,
    /// By project, without one last.
    pub projects: Vec<(Option<String>, Count)>,
    /// Can be claimed now.
    pub ready: usize,
    /// Open and due before today.
    pub overdue: usize,
    /// Completed today or on one of the six days before.
    pub completed_lately: usize,
    /// Timers that run.
    pub timers: usize,
    /// The work of all tasks.
    pub work: EffortTotals,
    /// The work of the completed tasks that had an estimate: how good estimates are.
    pub estimated_and_done: EffortTotals,
}

/// How often each label is used, by name.
pub fn tags(outlines: &[Outline]) -> Vec<(Option<String>, Count)> {
    let each = |task: &Outline| task.tags.iter().cloned().map(Some).collect();
    counted(outlines, each)
}

/// How many tasks each project has, by name; without one last.
pub fn projects(outlines: &[Outline]) -> Vec<(Option<String>, Count)> {
    counted(outlines, |task| vec![task.project.clone()])
}

/// A list in numbers, at `now` in a zone.
pub fn stats(outlines: &[Outline], now: Timestamp, zone: &TimeZone) -> Stats {
    let day = |at: Timestamp| -> Date { at.to_zoned(zone.clone()).date() };
    let today = day(now);
    let mut stats = Stats {
        priorities: counted(outlines, |task| vec![task.priority]),
        owners: counted(outlines, |task| vec![task.owner.clone()]),
        projects: projects(outlines),
        ready: plan::ready(&Graph::new(outlines), now).len(),
        ..Stats::default()
    };
    for task in outlines {
        stats.tasks.add(task);
        *stats.states.entry(task.state.name()).or_default() += 1;
        let overdue = !task.state.is_over() && task.due.is_some_and(|due| due < today);
        stats.overdue += usize::from(overdue);
        let completed = task.state == State::Completed;
        let lately = task
            .ended_at
            .is_some_and(|at| in_week_behind(day(at), today));
        stats.completed_lately += usize::from(completed && lately);
        stats.timers += usize::from(task.timer.is_some());
        if task.state != State::Cancelled {
            stats.work.add(task, now);
        }
        if completed && task.estimate.is_some() {
            stats.estimated_and_done.add(task, now);
        }
    }
    stats
}

impl Count {
    fn add(&mut self, task: &Outline) {
        self.all += 1;
        self.open += usize::from(!task.state.is_over());
    }
}

impl EffortTotals {
    fn add(&mut self, task: &Outline, now: Timestamp) {
        let running = task.timer.as_ref().map(|timer| timer.elapsed(now));
        let tracked = task.tracked.plus(running.unwrap_or_default());
        self.estimated = self.estimated.plus(task.estimate.unwrap_or_default());
        self.tracked = self.tracked.plus(tracked);
    }
}

/// The tasks of each kind; those of none come last.
fn counted<K: Ord>(
    outlines: &[Outline],
    kinds: impl Fn(&Outline) -> Vec<Option<K>>,
) -> Vec<(Option<K>, Count)> {
    let mut counts: BTreeMap<(bool, Option<K>), Count> = BTreeMap::new();
    for task in outlines {
        for kind in kinds(task) {
            counts.entry((kind.is_none(), kind)).or_default().add(task);
        }
    }
    let counts = counts.into_iter();
    counts.map(|((_, kind), count)| (kind, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        id::{TaskId, WorkerId},
        task::{Task, Timer},
    };

    fn task(id: u64, state: State, tags: &[&str]) -> Outline {
        Outline {
            state,
            tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
            ..Outline::from(&Task::new(TaskId::from(id), "x"))
        }
    }

    #[test]
    fn labels_are_counted_once_for_each_task_that_has_them() {
        let list = [
            task(1, State::Pending, &["b", "a"]),
            task(2, State::Completed, &["b"]),
            task(3, State::Failed, &[]),
        ];
        let count = |open, all| Count { open, all };
        let some = |name: &str| Some(name.to_owned());
        assert_eq!(
            tags(&list),
            [(some("a"), count(1, 1)), (some("b"), count(1, 2))]
        );
        assert_eq!(projects(&list), [(None, count(2, 3))]);
        assert_eq!(projects(&[]), []);
    }

    #[test]
    fn a_list_in_numbers() {
        let now: Timestamp = "2026-05-13T12:00:00Z".parse().unwrap();
        let hours = |n: u64| Effort::from_minutes(60 * n);
        let mut list = [
            task(1, State::Completed, &[]),
            task(2, State::Completed, &[]),
            task(3, State::Pending, &[]),
            task(4, State::Cancelled, &[]),
            task(5, State::Stuck, &[]),
        ];
        list[0].ended_at = Some("2026-05-07T00:00:00Z".parse().unwrap());
        (list[0].estimate, list[0].tracked) = (Some(hours(2)), hours(3));
        list[1].ended_at = Some("2026-05-06T23:00:00Z".parse().unwrap());
        list[1].tracked = hours(1);
        list[2].due = Some("2026-05-12".parse().unwrap());
        list[2].estimate = Some(hours(4));
        list[2].timer = Some(Timer {
            by: WorkerId::operator(),
            since: "2026-05-13T11:00:00Z".parse().unwrap(),
        });
        list[3].due = Some("2026-05-12".parse().unwrap());
        list[3].estimate = Some(hours(9));
        list[4].priority = Some(Priority::Low);
        let stats = stats(&list, now, &TimeZone::UTC);
        assert_eq!(stats.tasks, Count { open: 2, all: 5 });
        assert_eq!(stats.states[&StateName::Completed], 2);
        let numbers = [
            stats.ready,
            stats.overdue,
            stats.completed_lately,
            stats.timers,
        ];
        assert_eq!(numbers, [1, 1, 1, 1]);
        let work = |estimated, tracked| EffortTotals {
            estimated: hours(estimated),
            tracked: hours(tracked),
        };
        assert_eq!(stats.work, work(6, 5));
        assert_eq!(stats.estimated_and_done, work(2, 3));
        let low = (Some(Priority::Low), Count { open: 1, all: 1 });
        assert_eq!(stats.priorities, [low, (None, Count { open: 1, all: 4 })]);
    }
}
