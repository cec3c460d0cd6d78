//! Tasks and their parts.
//!
//! Owns who is part of whom, over a list's outlines: how far a task's parts are, which of them are
//! open, and whether a task would become part of itself. A parent that does not exist is no parent.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    id::TaskId,
    task::{Outline, State},
};

/// How far the parts of a task are. Cancelled ones do not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PartsProgress {
    /// Completed parts.
    pub completed: usize,
    /// All parts.
    pub total: usize,
}

/// Who is part of whom.
#[derive(Debug)]
pub struct Family<'o> {
    parts: HashMap<&'o TaskId, Vec<&'o Outline>>,
    parent: HashMap<&'o TaskId, &'o TaskId>,
}

impl<'o> Family<'o> {
    /// Reads the parents of a whole list.
    pub fn new(outlines: &'o [Outline]) -> Self {
        let mut parts: HashMap<_, Vec<_>> = HashMap::new();
        let mut parent = HashMap::new();
        for outline in outlines {
            if let Some(of) = &outline.parent {
                parts.entry(of).or_default().push(outline);
                parent.insert(&outline.id, of);
            }
        }
        Self { parts, parent }
    }

    /// The parts of a task, in the list's order.
    pub fn parts(&self, of: &TaskId) -> &[&'o Outline] {
        self.parts.get(of).map(Vec::as_slice).unwrap_or_default()
    }

    /// The parts of a task that are neither completed nor cancelled.
    pub fn open_parts(&self, of: &TaskId) -> Vec<TaskId> {
        let open = self.parts(of).iter().filter(|part| !part.state.is_over());
        open.map(|part| part.id.clone()).collect()
    }

    /// How far a task's parts are; none where it has none.
    pub fn progress(&self, of: &TaskId) -> Option<PartsProgress> {
        let mut progress = PartsProgress::default();
        for part in self.parts(of) {
            match part.state {
                State::Cancelled => {}
                State::Completed => {
                    progress.completed += 1;
                    progress.total += 1;
                }
                _ => progress.total += 1,
            }
        }
        (progress.total > 0).then_some(progress)
    }

    /// The circle that making `id` part of `parent` would close: first task repeated at the end,
    /// each is part of the next.
    pub fn closes_circle(&self, id: &TaskId, parent: &TaskId) -> Option<Vec<TaskId>> {
        let mut path = vec![id.clone()];
        let mut at = parent;
        while at != id {
            if path.contains(at) {
                // A circle that a foreign writer made, and that `id` is no part of.
                return None;
            }
            path.push(at.clone());
            at = self.parent.get(at)?;
        }
        path.push(id.clone());
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Task;

    fn task(id: u64, parent: Option<u64>, state: State) -> Outline {
        Outline {
            parent: parent.map(TaskId::from),
            state,
            ..Outline::from(&Task::new(TaskId::from(id), "x"))
        }
    }

    #[test]
    fn progress_counts_the_parts_that_are_wanted() {
        let list = [
            task(1, None, State::Pending),
            task(2, Some(1), State::Completed),
            task(3, Some(1), State::Failed),
            task(4, Some(1), State::Cancelled),
            task(5, Some(2), State::Cancelled),
        ];
        let family = Family::new(&list);
        let progress = |id| family.progress(&TaskId::from(id));
        let half = PartsProgress {
            completed: 1,
            total: 2,
        };
        assert_eq!(
            (progress(1), progress(2), progress(9)),
            (Some(half), None, None)
        );
        assert_eq!(family.open_parts(&TaskId::from(1)), [TaskId::from(3)]);
    }

    #[test]
    fn no_task_becomes_part_of_itself() {
        let list = [
            task(1, None, State::Pending),
            task(2, Some(1), State::Pending),
            task(3, Some(2), State::Pending),
            task(7, Some(8), State::Pending),
            task(8, Some(7), State::Pending),
        ];
        let family = Family::new(&list);
        let circle = |id: u64, parent: u64| {
            let path = family.closes_circle(&id.into(), &parent.into())?;
            Some(
                path.iter()
                    .map(|id| id.number().unwrap_or(0))
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(circle(1, 1), Some(vec![1, 1]));
        assert_eq!(circle(1, 3), Some(vec![1, 3, 2, 1]));
        assert_eq!(circle(3, 1), None);
        assert_eq!(circle(1, 7), None);
        assert_eq!(circle(1, 99), None);
    }
}
