//! Moving tasks to another list.
//!
//! Owns that a task is never lost between two lists: it is added there before it is removed here,
//! each as a change of its own list. Whoever is cut short in between finds the copies again in the
//! history and goes on. A task that changes meanwhile stays where it is.

use std::collections::{BTreeMap, BTreeSet};

use flagpost_disk::{TaskFile, dialects::claude_tasks::fingerprint};
use flagpost_model::{
    ListRef, Refusal, TaskId, WorkerId,
    plan::{Family, Graph},
    task::{Outline, State, Task},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    TaskSelector,
    removal::{not_held_by_anybody, remove_in},
};
use crate::{
    change::Change,
    error::{Error, Result},
    history::{History, Kind, Line, detail::FINGERPRINT},
    list::List,
};

/// A table is a leader's to fill.
const NO_MOVES: &str = "'flagpost coord import' and 'export' copy tasks to it and from it";

/// What becomes of dependencies and parts that stay behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ties {
    /// They keep the task here.
    Hold,
    /// They are cut.
    Cut,
}

/// A task that was moved.
#[derive(Debug, Clone)]
pub struct Relocated {
    /// Its id in the list it came from.
    pub was: TaskId,
    /// The task in its new list.
    pub task: Task,
}

/// Whether these tasks could be moved there now, and as what they stand here.
pub fn preview_relocation(
    from: &List<'_>,
    to: &ListRef,
    ids: &[TaskId],
    ties: Ties,
) -> Result<Vec<Task>> {
    if to.name().is_none() {
        return Err(Error::NotInTable {
            list: to.clone(),
            cannot: NO_MOVES,
        });
    }
    let files = snapshot(from, ids, ties)?;
    Ok(files.into_iter().map(|file| file.task).collect())
}

/// Moves tasks from one list to another, where they get new ids.
pub fn relocate(
    from: &List<'_>,
    to: &List<'_>,
    actor: &WorkerId,
    which: impl Into<TaskSelector>,
    ties: Ties,
) -> Result<Vec<Relocated>> {
    to.must_be_files(NO_MOVES)?;
    let which = which.into();
    let ids = which.seen().to_vec();
    if from.id() == to.id() {
        return Err(Error::Invalid {
            what: "list".to_owned(),
            reason: format!("the tasks are in {} already", to.id()),
        });
    }
    let files = snapshot(from, &ids, ties)?;
    let copies = from.home.transact(|| copy(from, to, actor, &files))?;
    from.home
        .transact(|| take_out((from, to), actor, (&files, &copies), &which, ties))?;
    Ok(copies)
}

/// Removes the tasks from their old list where they are as they were copied; else the copies go.
fn take_out(
    (from, to): (&List<'_>, &List<'_>),
    actor: &WorkerId,
    (files, copies): (&[TaskFile], &[Relocated]),
    which: &TaskSelector,
    ties: Ties,
) -> Result<()> {
    let mut change = from.change(actor)?;
    let ids = which.seen();
    let chosen = which.clone().ids(&change);
    let now = chosen.and_then(|ids| snapshot(from, &ids, ties));
    let same = now.as_ref().is_ok_and(|now| {
        let raws = now.iter().map(TaskFile::raw);
        raws.eq(files.iter().map(TaskFile::raw))
    });
    if !same {
        drop(change);
        let ids: Vec<TaskId> = copies.iter().map(|copy| copy.task.id.clone()).collect();
        super::remove_all(to, actor, &ids)?;
        now?;
        let task = ids_of(files).next().unwrap_or_else(|| TaskId::from(1));
        let how = "it was changed while it was moved".to_owned();
        return Err(Refusal::BuiltOn { task, how }.into());
    }
    remove_in(&mut change, actor, ids)?;
    for copy in copies {
        let place = json!({"list": to.id(), "task": copy.task.id});
        change.tell(&copy.was, "moved_to", place);
    }
    change.commit().map(drop)
}

fn ids_of(files: &[TaskFile]) -> impl Iterator<Item = TaskId> {
    files.iter().map(|file| file.task.id.clone())
}

/// The tasks as they are, if nothing holds them here.
fn snapshot(from: &List<'_>, ids: &[TaskId], ties: Ties) -> Result<Vec<TaskFile>> {
    from.must_be_files(NO_MOVES)?;
    let now = from.home.now();
    let outlines = from.load()?.outlines;
    let moving: BTreeSet<&TaskId> = ids.iter().collect();
    let mut files = Vec::with_capacity(ids.len());
    for id in ids {
        let file = from.task(id)?;
        not_held_by_anybody(&file.task, now)?;
        let others: Vec<TaskId> = ties_of(&outlines, id)
            .filter(|other| !moving.contains(other))
            .cloned()
            .collect();
        if ties == Ties::Hold && !others.is_empty() {
            let task = id.clone();
            return Err(Refusal::Tied { task, others }.into());
        }
        files.push(file);
    }
    Ok(files)
}

/// The tasks that this one waits for, that wait for it, that it is part of, and that are part of it.
fn ties_of<'o>(outlines: &'o [Outline], id: &'o TaskId) -> impl Iterator<Item = &'o TaskId> {
    let graph = Graph::new(outlines);
    let family = Family::new(outlines);
    let parent = graph.get(id).and_then(|it| it.parent.as_ref());
    let known = parent.filter(|parent| graph.get(parent).is_some());
    let neighbours: BTreeSet<&TaskId> = graph
        .blockers(id)
        .chain(graph.dependants(id))
        .chain(family.parts(id).iter().copied())
        .map(|it| &it.id)
        .chain(known)
        .collect();
    neighbours.into_iter()
}

/// Adds the tasks to their new list, except those that an earlier try added.
fn copy(
    from: &List<'_>,
    to: &List<'_>,
    actor: &WorkerId,
    files: &[TaskFile],
) -> Result<Vec<Relocated>> {
    let mut change = to.change(actor)?;
    let there = earlier_copies(from, to)?;
    refuse_taken_uids(&change.load()?.outlines, files, &there)?;
    let missing = ids_of(files).filter(|id| !there.contains_key(id)).count();
    let mut new_ids = change.new_ids(missing as u64)?;
    let known = there
        .iter()
        .map(|(was, copy)| (was.clone(), copy.id.clone()));
    let mut place: BTreeMap<TaskId, TaskId> = known.collect();
    for id in ids_of(files).filter(|id| !there.contains_key(id)) {
        place.extend(new_ids.next().map(|new| (id, new)));
    }
    for file in files {
        let task = translated(&file.task, &place, change.at());
        let id = task.id.clone();
        match there.get(&file.task.id) {
            None => {
                change.put_moved(file, task);
                change.note(Kind::TaskCreated, &id);
            }
            Some(known) if !known.refresh(&mut change, file, &task)? => continue,
            Some(_) => {}
        }
        let place = json!({"list": from.id(), "task": file.task.id});
        change.tell(&id, "moved_from", place);
    }
    let mut written = change.commit()?;
    let mut copies = Vec::with_capacity(files.len());
    for (was, id) in ids_of(files).filter_map(|was| Some((was.clone(), place.get(&was)?))) {
        let task = match written.remove(id) {
            Some(task) => task,
            None => to.task(id)?.task,
        };
        copies.push(Relocated { was, task });
    }
    Ok(copies)
}

fn refuse_taken_uids(
    outlines: &[Outline],
    files: &[TaskFile],
    there: &BTreeMap<TaskId, Earlier>,
) -> Result<()> {
    let ours = ids_of(files).filter_map(|id| Some(&there.get(&id)?.id));
    let ours: BTreeSet<&TaskId> = ours.collect();
    let others = outlines.iter().filter(|it| !ours.contains(&it.id));
    let taken: BTreeMap<&str, &TaskId> = others
        .filter_map(|it| Some((it.uid.as_deref()?, &it.id)))
        .collect();
    for uid in files.iter().filter_map(|file| file.task.uid.as_deref()) {
        if let Some(task) = taken.get(uid) {
            let (uid, task) = (uid.to_owned(), (*task).clone());
            return Err(Refusal::UidTaken { uid, task }.into());
        }
    }
    Ok(())
}

/// A copy that a move which was cut short left behind.
struct Earlier {
    id: TaskId,
    /// Of the file as the move wrote it.
    fingerprint: Option<String>,
}

impl Earlier {
    /// Makes the copy say what the task says by now, and tells whether it had to. A copy that
    /// somebody works on already is refused: neither of the two may be lost.
    fn refresh(&self, change: &mut Change<'_>, file: &TaskFile, task: &Task) -> Result<bool> {
        let now = change.list().task(&self.id)?;
        let (now, wanted) = (fingerprint(now.raw()), file.copied(task));
        let told = fingerprint(&wanted);
        if now == told {
            return Ok(false);
        }
        if self.fingerprint.as_ref() != Some(&now) {
            let (list, copy) = (change.list().id(), &self.id);
            let how =
                format!("an earlier move copied it to {list}, where {copy} was changed since");
            let task = file.task.id.clone();
            return Err(Refusal::BuiltOn { task, how }.into());
        }
        change.restore(&self.id, wanted)?;
        change.note(Kind::TaskEdited, &self.id);
        change.tell(&self.id, FINGERPRINT, told.into());
        Ok(true)
    }
}

/// The copies that a move which was cut short left behind, by the ids they had.
fn earlier_copies(from: &List<'_>, to: &List<'_>) -> Result<BTreeMap<TaskId, Earlier>> {
    let lines = History::of(to.home, &to.repository()?).since(0)?;
    let there: BTreeSet<TaskId> = to.ids()?.into_iter().collect();
    let copy_of = |Line { entry, .. }: &Line| {
        let (id, place) = (entry.task.clone()?, entry.detail.get("moved_from")?);
        let ours = to.concerns(entry)
            && place.get("list").and_then(Value::as_str) == Some(from.id().as_str());
        let was = place.get("task")?.as_str()?.parse().ok()?;
        let fingerprint = entry.detail.get(FINGERPRINT).and_then(Value::as_str);
        let fingerprint = fingerprint.map(str::to_owned);
        (ours && there.contains(&id)).then_some((was, Earlier { id, fingerprint }))
    };
    Ok(lines.iter().filter_map(copy_of).collect())
}

/// The task as it stands in its new list: with new names for those that come with it, and without
/// the others.
fn translated(task: &Task, place: &BTreeMap<TaskId, TaskId>, now: Timestamp) -> Task {
    let known = |ids: &[TaskId]| ids.iter().filter_map(|id| place.get(id)).cloned().collect();
    let state = match &task.state {
        // Its lease is over, and its token means nothing here.
        State::Claimed(_) | State::InProgress(Some(_)) => State::Pending,
        other => other.clone(),
    };
    let owner = match state {
        State::Pending => None,
        _ => task.owner.clone(),
    };
    Task {
        id: place.get(&task.id).unwrap_or(&task.id).clone(),
        blocks: known(&task.blocks),
        blocked_by: known(&task.blocked_by),
        parent: task.parent.as_ref().and_then(|id| place.get(id)).cloned(),
        state,
        owner,
        rev: 0,
        ..task.timed(now)
    }
}
