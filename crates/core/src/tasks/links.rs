//! What waits for what.
//!
//! Owns that both sides of a dependency say the same, and that none closes a circle. Reads the
//! union of both sides, since a crash or a foreign writer may leave only one.

use flagpost_model::{
    Refusal, TaskId, WorkerId,
    plan::{Graph, Node},
    task::{State, Task},
};

use super::finish;
use crate::{
    change::Change,
    error::{Error, Result},
    history::Kind,
    list::List,
};

/// Makes `id` wait for all of `blockers`, or for none of them where one cannot be waited for. Doing
/// it again changes nothing.
pub fn link(list: &List<'_>, actor: &WorkerId, id: &TaskId, blockers: &[TaskId]) -> Result<Task> {
    list.home.transact(|| {
        let mut change = list.change(actor)?;
        let loaded = change.load()?;
        let graph = Graph::new(&loaded.outlines);
        for blocker in blockers {
            if let Some(path) = graph.closes_cycle(id, blocker) {
                return Err(Refusal::Cycle { path }.into());
            }
            if link_in(&mut change, id, blocker)? {
                let entry = change.note(Kind::TaskLinked, id);
                let blocker = blocker.as_str();
                entry.detail.insert("blocked_by".to_owned(), blocker.into());
            }
        }
        finish(change, id)
    })
}

/// Makes both files say what one of them says already: who waits for whom. Links that neither file
/// tells of any more stay undone. Answers with those that it mended.
pub(crate) fn mirror(
    list: &List<'_>,
    actor: &WorkerId,
    links: &[(TaskId, TaskId)],
) -> Result<Vec<(TaskId, TaskId)>> {
    list.home.transact(|| {
        let mut change = list.change(actor)?;
        let mut mended = Vec::new();
        for (waiting, blocker) in links {
            let waits = change.task(waiting)?.blocked_by.contains(blocker);
            let blocks = change.task(blocker)?.blocks.contains(waiting);
            if waits == blocks {
                continue;
            }
            link_in(&mut change, waiting, blocker)?;
            let entry = change.note(Kind::TaskLinked, waiting);
            let named = blocker.as_str();
            entry.detail.insert("blocked_by".to_owned(), named.into());
            mended.push((waiting.clone(), blocker.clone()));
        }
        change.commit()?;
        Ok(mended)
    })
}

/// Takes a task that does not exist out of those that `blocking` blocks; whether it was there.
pub(crate) fn unblock(
    list: &List<'_>,
    actor: &WorkerId,
    blocking: &TaskId,
    missing: &TaskId,
) -> Result<bool> {
    list.home.transact(|| {
        let mut change = list.change(actor)?;
        match change.task(missing) {
            Err(Error::NotFound { .. }) => {}
            Ok(_) => return Ok(false),
            Err(error) => return Err(error),
        }
        let task = change.task(blocking)?;
        if !task.blocks.contains(missing) {
            return Ok(false);
        }
        task.blocks.retain(|id| id != missing);
        let entry = change.note(Kind::TaskUnlinked, missing);
        let blocker = blocking.as_str();
        entry.detail.insert("blocked_by".to_owned(), blocker.into());
        change.commit()?;
        Ok(true)
    })
}

/// The task that somebody waits for and is not to wait for any more. One that does not exist any more can
/// still be named exactly.
pub fn blocker(list: &List<'_>, given: &str) -> Result<TaskId> {
    match list.resolve(given) {
        Err(Error::NotFound { .. }) => Ok(given.parse()?),
        known => known,
    }
}

/// Makes `id` not wait for `blocker` any more. Doing it again changes nothing.
pub fn unlink(list: &List<'_>, actor: &WorkerId, id: &TaskId, blocker: &TaskId) -> Result<Task> {
    list.home.transact(|| {
        let mut change = list.change(actor)?;
        let task = change.task(id)?;
        let was_linked = task.blocked_by.contains(blocker);
        task.blocked_by.retain(|other| other != blocker);
        // An unknown blocker has no file to keep mirrored.
        let was_mirrored = match change.task(blocker) {
            Ok(blocker) => {
                let before = blocker.blocks.len();
                blocker.blocks.retain(|other| other != id);
                blocker.blocks.len() != before
            }
            Err(Error::NotFound { .. }) => false,
            Err(error) => return Err(error),
        };
        if was_linked || was_mirrored {
            let entry = change.note(Kind::TaskUnlinked, id);
            entry
                .detail
                .insert("blocked_by".to_owned(), blocker.as_str().into());
        }
        finish(change, id)
    })
}

/// The blockers of a task that only their own files name: a crash or a foreign writer may leave
/// that.
pub(crate) fn named_by_others<N: Node>(tasks: &[N], id: &TaskId) -> Vec<TaskId> {
    let Some(own) = tasks.iter().find(|task| task.id() == id) else {
        return Vec::new();
    };
    let others = tasks.iter().filter(|task| task.blocks().contains(id));
    let others = others.map(Node::id);
    others
        .filter(|it| !own.blocked_by().contains(it))
        .cloned()
        .collect()
}

/// The tasks that a task waits for, whichever of the two files says so.
pub fn blockers(list: &List<'_>, task: &Task) -> Result<Vec<TaskId>> {
    let others = named_by_others(&list.load()?.outlines, &task.id);
    Ok(task.blocked_by.iter().cloned().chain(others).collect())
}

/// The blockers of a task that are not completed, as its own file names them, and of `others`.
pub(crate) fn open_blockers(
    list: &List<'_>,
    task: &Task,
    others: &[TaskId],
) -> Result<Vec<TaskId>> {
    let mut open = Vec::new();
    for blocker in task.blocked_by.iter().chain(others) {
        match list.task(blocker) {
            Ok(file) if file.task.state == State::Completed => {}
            Ok(_) | Err(Error::Disk(_)) => open.push(blocker.clone()),
            Err(Error::NotFound { .. }) => {
                let away = list.completed_and_away([blocker.clone()].into());
                open.extend(away.is_empty().then(|| blocker.clone()));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(open)
}

/// Makes both files say that `id` waits for `blocker`; whether one of them did not say so.
pub(crate) fn link_in(change: &mut Change<'_>, id: &TaskId, blocker: &TaskId) -> Result<bool> {
    if id == blocker {
        return Err(Refusal::Cycle {
            path: vec![id.clone(), id.clone()],
        }
        .into());
    }
    let mut changed = false;
    match change.task(blocker) {
        Ok(blocker) if !blocker.blocks.contains(id) => {
            blocker.blocks.push(id.clone());
            changed = true;
        }
        Ok(_) => {}
        Err(Error::NotFound { .. }) => {
            let (task, missing) = (id.clone(), blocker.clone());
            return Err(Refusal::UnknownBlocker { task, missing }.into());
        }
        Err(error) => return Err(error),
    }
    let task = change.task(id)?;
    if !task.blocked_by.contains(blocker) {
        task.blocked_by.push(blocker.clone());
        changed = true;
    }
    Ok(changed)
}
