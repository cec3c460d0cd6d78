//! Adding tasks, and changing their fields.
//!
//! Owns that a task has a subject, a uid of its own, and a parent that exists and is no part of it.

use std::collections::BTreeMap;

use flagpost_model::{
    Refusal, TaskId, WorkerId,
    plan::{Family, Graph},
    task::{Note, Origin, Outline, Provenance, State, Task},
};
use jiff::Timestamp;

use super::{Fields, Preview, TaskSelector, finish, finish_all, link_in, only};
use crate::{
    change::Change,
    error::{Error, Result},
    history::Kind,
    list::List,
};

/// Adds a task that waits for those in `after`.
pub fn add(list: &List<'_>, actor: &WorkerId, fields: &Fields, after: &[TaskId]) -> Result<Task> {
    list.home.transact(|| {
        if fields.subject.is_none() {
            return Err(Error::Invalid {
                what: "subject".to_owned(),
                reason: "a task needs one".to_owned(),
            });
        }
        fields.check()?;
        let mut change = list.change(actor)?;
        let id = change.new_ids(1)?.next().unwrap_or_else(|| TaskId::from(1));
        create(&mut change, actor, &id, fields);
        for blocker in after {
            link_in(&mut change, &id, blocker)?;
        }
        if !after.is_empty() || fields.looks_at_others() {
            // Others may have named the id before it was given out.
            let outlines = change.load()?.outlines;
            let graph = Graph::new(&outlines);
            if let Some(path) = after.iter().find_map(|it| graph.closes_cycle(&id, it)) {
                return Err(Refusal::Cycle { path }.into());
            }
            let family = Family::new(&outlines);
            fields.check_among(&outlines, &family, std::slice::from_ref(&id), &id)?;
        }
        change.note(Kind::TaskCreated, &id);
        finish(change, &id)
    })
}

/// The same once: where a task has the uid already, that one, and that it was there.
pub fn add_once(
    list: &List<'_>,
    actor: &WorkerId,
    fields: &Fields,
    after: &[TaskId],
) -> Result<(Task, bool)> {
    match add(list, actor, fields, after) {
        Err(Error::Refused(Refusal::UidTaken { task, .. })) => Ok((list.task(&task)?.task, true)),
        added => Ok((added?, false)),
    }
}

/// Adds all these tasks, or none where one cannot be: each under a number of the caller's, which the
/// history keeps as well. What other tasks have a say in, such as a parent, is for [`add`].
pub(crate) fn add_all(
    list: &List<'_>,
    actor: &WorkerId,
    new: &BTreeMap<usize, Fields>,
) -> Result<BTreeMap<usize, Task>> {
    list.home.transact(|| {
        for fields in new.values() {
            if fields.subject.is_none() || fields.looks_at_others() {
                return Err(Error::Invalid {
                    what: "task".to_owned(),
                    reason: "one of several needs a subject, and has neither parent nor uid"
                        .to_owned(),
                });
            }
            fields.check()?;
        }
        let mut change = list.change(actor)?;
        let ids: Vec<TaskId> = change.new_ids(new.len() as u64)?.collect();
        for ((number, fields), id) in new.iter().zip(&ids) {
            create(&mut change, actor, id, fields);
            let entry = change.note(Kind::TaskCreated, id);
            entry.detail.insert(ITEM.to_owned(), (*number).into());
        }
        let mut written = change.commit()?;
        let added = new.keys().zip(ids);
        Ok(added
            .filter_map(|(number, id)| Some((*number, written.remove(&id)?)))
            .collect())
    })
}

/// The detail of a history line that says which of several tasks it tells of.
pub(crate) const ITEM: &str = "item";

fn create(change: &mut Change<'_>, actor: &WorkerId, id: &TaskId, fields: &Fields) {
    let mut task = Task::new(id.clone(), "");
    fields.apply(&mut task);
    task.provenance = Some(Provenance {
        origin: fields.origin.unwrap_or(Origin::Person),
        by: actor.clone(),
        at: change.at(),
    });
    change.create(task);
}

/// Sets fields of one task. The owner's edit renews the lease.
pub fn edit(list: &List<'_>, actor: &WorkerId, id: &TaskId, fields: &Fields) -> Result<Task> {
    let edited = edit_all(list, actor, std::slice::from_ref(id), fields)?;
    only(edited, id)
}

/// Sets fields of all these tasks, or of none where one cannot have them.
pub fn edit_all(
    list: &List<'_>,
    actor: &WorkerId,
    which: impl Into<TaskSelector>,
    fields: &Fields,
) -> Result<Vec<Task>> {
    let which = which.into();
    list.home.transact(|| {
        fields.check()?;
        let mut change = list.change(actor)?;
        let ids = which.clone().ids(&change)?;
        if fields.looks_at_others() {
            let outlines = change.load()?.outlines;
            let family = Family::new(&outlines);
            ids.iter()
                .try_for_each(|id| fields.check_among(&outlines, &family, &ids, id))?;
        }
        let at = change.at();
        for id in &ids {
            let task = change.task(id)?;
            let before = task.clone();
            fields.apply(task);
            if *task != before {
                renew_own(task, actor, at);
                change.note(Kind::TaskEdited, id);
            }
        }
        finish_all(change, &ids)
    })
}

/// What [`edit_all`] would say of each of these tasks now.
pub fn preview_edit(list: &List<'_>, ids: &[TaskId], fields: &Fields) -> Result<Vec<Preview>> {
    fields.check()?;
    let outlines = match fields.looks_at_others() {
        true => list.load()?.outlines,
        false => Vec::new(),
    };
    let family = Family::new(&outlines);
    let preview = |id| {
        let task = list.task(id)?.task;
        let refusal = match fields.looks_at_others() {
            true => fields
                .check_among(&outlines, &family, ids, id)
                .err()
                .map(Error::from),
            false => None,
        };
        Ok(Preview { task, refusal })
    };
    ids.iter().map(preview).collect()
}

/// Adds a remark to all these tasks. The owner's remark renews the lease.
pub fn note(
    list: &List<'_>,
    actor: &WorkerId,
    which: impl Into<TaskSelector>,
    text: &str,
) -> Result<Vec<Task>> {
    let which = which.into();
    list.home.transact(|| {
        if text.trim().is_empty() {
            return Err(Error::Invalid {
                what: "note".to_owned(),
                reason: "it says nothing".to_owned(),
            });
        }
        let mut change = list.change(actor)?;
        let ids = which.clone().ids(&change)?;
        let at = change.at();
        for id in &ids {
            let task = change.task(id)?;
            task.notes.push(Note {
                by: Some(actor.to_string()),
                at: Some(at),
                text: text.to_owned(),
                question: None,
            });
            renew_own(task, actor, at);
            change.note(Kind::TaskNoted, id);
        }
        finish_all(change, &ids)
    })
}

impl Fields {
    /// Whether other tasks of the list have a say.
    fn looks_at_others(&self) -> bool {
        matches!(self.parent, Some(Some(_))) || self.given_uid().is_some()
    }

    fn given_uid(&self) -> Option<&str> {
        self.uid.as_deref().filter(|uid| !uid.is_empty())
    }

    /// Whether one of these tasks can have them beside the others.
    fn check_among(
        &self,
        outlines: &[Outline],
        family: &Family<'_>,
        ids: &[TaskId],
        id: &TaskId,
    ) -> Result<(), Refusal> {
        if let Some(uid) = self.given_uid() {
            let has_it = |it: &&Outline| it.uid.as_deref() == Some(uid);
            let other = outlines.iter().filter(has_it).map(|it| &it.id);
            // Only one of those that are edited together can have it.
            if let Some(other) = other.chain(ids).find(|it| *it != id) {
                let (uid, task) = (uid.to_owned(), other.clone());
                return Err(Refusal::UidTaken { uid, task });
            }
        }
        let Some(Some(parent)) = &self.parent else {
            return Ok(());
        };
        if !outlines.iter().any(|it| it.id == *parent) {
            let (task, missing) = (id.clone(), parent.clone());
            return Err(Refusal::UnknownParent { task, missing });
        }
        match family.closes_circle(id, parent) {
            Some(path) => Err(Refusal::PartOfItself { path }),
            None => Ok(()),
        }
    }
}

/// Any verb of the owner renews the lease (`tree.md` §2).
pub(crate) fn renew_own(task: &mut Task, actor: &WorkerId, now: Timestamp) {
    match &mut task.state {
        State::Claimed(claim) | State::InProgress(Some(claim)) if claim.by == *actor => {
            *claim = claim.renewed(now);
        }
        _ => {}
    }
}
