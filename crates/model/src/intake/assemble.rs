//! From names to tasks: which task a reference means.
//!
//! Owns that every uid and key is there once, and that nothing waits for itself. A reference to
//! nothing is broken and costs its task nothing else; a circle has no broken end, so it is refused
//! whole.

use std::collections::HashMap;

use super::{Broken, Draft, Drafts, Format, Incoming, Intake, Lost};
use crate::{
    id::TaskId,
    plan::Graph,
    task::{Outline, Task},
};

/// Tasks of one source that wait for each other, or are part of each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceCycle {
    /// Each waits for the next.
    #[error("these tasks wait for each other: {}", .0.join(" → "))]
    Waits(Vec<String>),
    /// Each is part of the next.
    #[error("these tasks are part of each other: {}", .0.join(" → "))]
    Parts(Vec<String>),
}

/// Finds the tasks that the references mean.
pub fn assemble(format: Format, read: Drafts) -> Result<Intake, SourceCycle> {
    let Drafts {
        drafts,
        broken,
        warnings,
    } = read;
    let mut intake = Intake {
        format,
        source: None,
        tasks: Vec::with_capacity(drafts.len()),
        broken,
        warnings,
        held: 0,
    };
    let drafts = only_once(drafts, &mut intake.broken);
    let places: HashMap<String, usize> = drafts
        .iter()
        .enumerate()
        .filter(|(_, draft)| !draft.key.is_empty())
        .map(|(at, draft)| (draft.key.clone(), at))
        .collect();
    for draft in drafts {
        let mut incoming = draft.incoming;
        let mut missing = |what: &str, key: &str| {
            intake.broken.push(Broken {
                place: incoming.place.clone(),
                reason: format!("{what} {key:?}, which is not there"),
                lost: Lost::Detail,
            });
        };
        for key in &draft.after {
            match places.get(key) {
                Some(at) if incoming.after.contains(at) => {}
                Some(at) => incoming.after.push(*at),
                None => missing("it waits for", key),
            }
        }
        if let Some(key) = &draft.parent {
            incoming.parent = places.get(key).copied();
            if incoming.parent.is_none() {
                missing("it is part of", key);
            }
        }
        intake.held += usize::from(draft.held);
        intake.tasks.push(incoming);
    }
    refuse_circles(&intake.tasks)?;
    Ok(intake)
}

/// The first task of each key and uid; the others are broken.
fn only_once(drafts: Vec<Draft>, broken: &mut Vec<Broken>) -> Vec<Draft> {
    let mut keys: HashMap<String, String> = HashMap::new();
    let mut uids: HashMap<String, String> = HashMap::new();
    let mut kept: Vec<Draft> = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let place = &draft.incoming.place;
        let taken = keys.get(&draft.key).map(|by| ("id", &draft.key, by));
        let uid = &draft.incoming.uid;
        match taken.or_else(|| uids.get(uid).map(|by| ("uid", uid, by))) {
            Some((what, name, by)) => broken.push(Broken {
                place: place.clone(),
                reason: format!("the {what} {name:?} is taken by {by}"),
                lost: Lost::Task,
            }),
            None => {
                if !draft.key.is_empty() {
                    keys.insert(draft.key.clone(), place.clone());
                }
                uids.insert(uid.clone(), place.clone());
                kept.push(draft);
            }
        }
    }
    kept
}

fn refuse_circles(tasks: &[Incoming]) -> Result<(), SourceCycle> {
    let id = |at: usize| TaskId::from(at as u64);
    let subjects = |circle: Vec<usize>| {
        let tasks = circle.into_iter().filter_map(|at| tasks.get(at));
        tasks.map(|it| it.task.subject.clone()).collect()
    };
    let outlines: Vec<Outline> = tasks
        .iter()
        .enumerate()
        .map(|(at, incoming)| Outline {
            blocked_by: incoming.after.iter().copied().map(id).collect(),
            ..Outline::from(&Task::new(id(at), ""))
        })
        .collect();
    if let Some(circle) = Graph::new(&outlines).cycle() {
        let numbers = circle.iter().filter_map(|id| id.number());
        let circle = numbers.filter_map(|at| usize::try_from(at).ok());
        return Err(SourceCycle::Waits(subjects(circle.collect())));
    }
    match circle_of_parents(tasks) {
        Some(circle) => Err(SourceCycle::Parts(subjects(circle))),
        None => Ok(()),
    }
}

/// Each task has one parent at most, so whoever walks up meets a circle or an end.
fn circle_of_parents(tasks: &[Incoming]) -> Option<Vec<usize>> {
    // By which walk a task was first met.
    let mut met: Vec<Option<usize>> = vec![None; tasks.len()];
    for start in 0..tasks.len() {
        let mut at = start;
        while met[at].is_none() {
            met[at] = Some(start);
            let Some(parent) = tasks[at].parent else {
                break;
            };
            at = parent;
        }
        if tasks[at].parent.is_some() && met[at] == Some(start) {
            let mut circle = vec![at];
            let mut next = tasks[at].parent;
            while let Some(parent) = next {
                circle.push(parent);
                next = tasks[parent].parent.filter(|_| parent != at);
            }
            return Some(circle);
        }
    }
    None
}
