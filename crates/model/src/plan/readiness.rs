//! What the plan says of each task, for those who show a list.
//!
//! Owns nothing of its own: who can be claimed, who waits for whom and in which order tasks are claimed is
//! the graph's. It says so in a form that somebody can compare who holds no rules.

use jiff::Timestamp;

use super::{Graph, Node, is_open, wave};
use crate::id::TaskId;

/// What the plan says of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readiness {
    /// Whether it can be claimed.
    pub is_ready: bool,
    /// What it still waits for; of a task that is over, nothing.
    pub waits_for: Vec<TaskId>,
    /// Its place in the order of claiming: as texts, smaller ones come first.
    pub key: String,
}

/// What the plan says of each of these tasks at `now`, in their order.
pub fn readiness<N: Node>(tasks: &[N], now: Timestamp) -> Vec<Readiness> {
    let graph = Graph::new(tasks);
    let of = |(at, task): (usize, &N)| Readiness {
        is_ready: wave::is_ready_at(&graph, at, now),
        waits_for: match is_open(task.state()) {
            true => graph.open_blockers(task.id()),
            false => Vec::new(),
        },
        key: wave::claim_key(&graph, at),
    };
    tasks.iter().enumerate().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        plan::claim_order,
        task::{Outline, Priority, State, Task},
    };

    fn task(id: &str, priority: Option<Priority>, waits_for: &[&str]) -> Outline {
        let mut task = Task::new(id.parse().unwrap(), "Write it");
        task.priority = priority;
        task.blocked_by = waits_for.iter().map(|id| id.parse().unwrap()).collect();
        Outline::from(&task)
    }

    #[test]
    fn the_keys_are_in_the_order_of_claiming() {
        let tasks = [
            task("10", None, &[]),
            task("9", None, &[]),
            task("T-a", None, &[]),
            task("4", Some(Priority::Low), &[]),
            task("3", Some(Priority::Critical), &[]),
            task("7", None, &[]),
            task("8", None, &["7"]),
        ];
        let said = readiness(&tasks, Timestamp::UNIX_EPOCH);
        let mut by_key: Vec<usize> = (0..tasks.len()).collect();
        by_key.sort_by_key(|at| &said[*at].key);
        let by_key: Vec<&str> = by_key.iter().map(|at| tasks[*at].id.as_str()).collect();
        let graph = Graph::new(&tasks);
        let claimed = claim_order(&graph, &tasks);
        let claimed: Vec<&str> = claimed.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(by_key, claimed);
    }

    #[test]
    fn a_task_says_what_it_waits_for_until_it_is_over() {
        let mut tasks = [task("7", None, &[]), task("8", None, &["7", "99"])];
        let said = readiness(&tasks, Timestamp::UNIX_EPOCH);
        assert!(said[0].is_ready && !said[1].is_ready);
        assert_eq!(said[1].waits_for.len(), 2);
        tasks[1].state = State::Completed;
        let said = readiness(&tasks, Timestamp::UNIX_EPOCH);
        assert_eq!(said[1].waits_for, []);
    }
}
