//! Removing tasks.
//!
//! Owns that no neighbour goes on naming what is gone. What a removed file held stays in the
//! history, from where `undo` brings it back.

use std::collections::BTreeSet;

use flagpost_model::{
    Refusal, TaskId, WorkerId,
    plan::Graph,
    task::{Claim, Outline, Task},
};

use jiff::Timestamp;

use super::{TaskSelector, only};
use crate::{
    change::Change,
    error::{Error, Result},
    history::Kind,
    list::List,
};

/// Removes a task and its name from its neighbours. One that somebody holds is refused.
pub fn remove(list: &List<'_>, actor: &WorkerId, id: &TaskId) -> Result<Task> {
    let removed = remove_all(list, actor, std::slice::from_ref(id))?;
    only(removed, id)
}

/// Removes a task and all that is part of it, the parts first; none of them where one is held.
pub(crate) fn remove_whole(list: &List<'_>, actor: &WorkerId, id: &TaskId) -> Result<Vec<Task>> {
    list.home.transact(|| {
        let mut change = list.change(actor)?;
        let ids = whole(&change.load()?.outlines, id);
        let removed = remove_in(&mut change, actor, &ids)?;
        change.commit()?;
        Ok(removed)
    })
}

/// Whether a task and all that is part of it could be removed now: the answer of [`remove_whole`]
/// without its effect.
pub(crate) fn preview_whole(list: &List<'_>, actor: &WorkerId, id: &TaskId) -> Result<Vec<Task>> {
    preview_removal(list, actor, &whole(&list.load()?.outlines, id))
}

/// A task and all that is part of it, the parts first.
fn whole(outlines: &[Outline], id: &TaskId) -> Vec<TaskId> {
    let mut ids = vec![id.clone()];
    let mut at = 0;
    while let Some(whole) = ids.get(at) {
        let is_part = |it: &&Outline| it.parent.as_ref() == Some(whole) && !ids.contains(&it.id);
        let parts: Vec<TaskId> = outlines
            .iter()
            .filter(is_part)
            .map(|it| it.id.clone())
            .collect();
        ids.extend(parts);
        at += 1;
    }
    ids.reverse();
    ids
}

/// Removes all these tasks, or none where one cannot go.
pub fn remove_all(
    list: &List<'_>,
    actor: &WorkerId,
    which: impl Into<TaskSelector>,
) -> Result<Vec<Task>> {
    let which = which.into();
    list.home.transact(|| {
        let mut change = list.change(actor)?;
        let ids = which.clone().ids(&change)?;
        let removed = remove_in(&mut change, actor, &ids)?;
        change.commit()?;
        Ok(removed)
    })
}

/// Whether these tasks could be removed now: the answer of [`remove_all`] without its effect.
pub fn preview_removal(list: &List<'_>, actor: &WorkerId, ids: &[TaskId]) -> Result<Vec<Task>> {
    list.must_let_go()?;
    let now = list.home.now();
    let tasks = ids.iter().map(|id| {
        let task = list.task(id)?.task;
        not_held(&task, actor, now)?;
        Ok(task)
    });
    tasks.collect()
}

/// A claim is of the list that gave it out, so even its owner gives it back first.
pub(crate) fn not_held_by_anybody(task: &Task, now: Timestamp) -> Result<()> {
    match task.state.live_claim(now) {
        Some(claim) => Err(held(task, claim).into()),
        None => Ok(()),
    }
}

fn held(task: &Task, claim: &Claim) -> Refusal {
    Refusal::Held {
        task: task.id.clone(),
        holder: claim.by.clone(),
        until: claim.expires_at,
        token: claim.token,
    }
}

fn not_held(task: &Task, actor: &WorkerId, now: Timestamp) -> Result<()> {
    match task.state.live_claim(now) {
        Some(claim) if claim.by != *actor => Err(held(task, claim).into()),
        _ => Ok(()),
    }
}

pub(crate) fn remove_in(
    change: &mut Change<'_>,
    actor: &WorkerId,
    ids: &[TaskId],
) -> Result<Vec<Task>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let outlines = change.load()?.outlines;
    let mut removed = Vec::with_capacity(ids.len());
    for id in ids {
        let task = change.task(id)?.clone();
        not_held(&task, actor, change.at())?;
        for neighbour in neighbours(&outlines, &task) {
            match change.task(neighbour) {
                Ok(neighbour) => {
                    neighbour.blocks.retain(|other| other != id);
                    neighbour.blocked_by.retain(|other| other != id);
                    neighbour.parent = neighbour.parent.take().filter(|other| other != id);
                }
                Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        removed.push(task);
    }
    for id in ids {
        change.remove(id)?;
        change.note(Kind::TaskRemoved, id);
    }
    Ok(removed)
}

/// Every task that names this one or is named by it.
fn neighbours<'t>(outlines: &'t [Outline], task: &'t Task) -> BTreeSet<&'t TaskId> {
    let graph = Graph::new(outlines);
    let known = graph.blockers(&task.id).chain(graph.dependants(&task.id));
    let named = task.blocks.iter().chain(&task.blocked_by);
    let parts = outlines
        .iter()
        .filter(|it| it.parent.as_ref() == Some(&task.id));
    let known = known.chain(parts).map(|it| &it.id);
    known.chain(named).collect()
}
