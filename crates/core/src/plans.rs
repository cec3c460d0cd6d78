//! Importing a plan.
//!
//! Owns how a plan becomes tasks: the same uid updates instead of adding (`tree.md` §2), so that
//! importing a plan again changes only what the plan changed. An import only adds dependencies and
//! only completes: what people and agents did meanwhile is never taken back.

use std::collections::{BTreeMap, BTreeSet};

use flagpost_disk::dialects::markdown_plan::{Plan, PlannedTask};
use flagpost_model::{
    TaskId, WorkerId,
    plan::Graph,
    refusal::Refusal,
    task::{Ending, Origin, Outline, Provenance, State, Task, TaskResult},
};

use crate::{
    change::Change,
    error::{Error, Result},
    history::Kind,
    list::List,
    tasks::{Fields, Labels, link_in},
};

/// What became of a planned task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It is new.
    Added,
    /// It was there and changed.
    Updated,
    /// It was there as planned.
    Unchanged,
}

/// One planned task and its place in the list.
#[derive(Debug, Clone)]
pub struct Imported {
    /// Its id; in a dry run, the id it would get now.
    pub id: TaskId,
    /// Its subject.
    pub subject: String,
    /// What became of it.
    pub fate: Fate,
}

/// Whether to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Write.
    Import,
    /// Say what would be written.
    DryRun,
}

/// Imports a plan into a list, as one change.
pub fn import(list: &List<'_>, actor: &WorkerId, plan: &Plan, mode: Mode) -> Result<Vec<Imported>> {
    let mut change = list.change(actor)?;
    let outlines = change.load()?.outlines;
    let known: BTreeMap<&str, &TaskId> = outlines
        .iter()
        .filter_map(|outline| Some((outline.uid.as_deref()?, &outline.id)))
        .collect();
    let missing = plan
        .tasks
        .iter()
        .filter(|task| !known.contains_key(task.uid.as_str()))
        .count();
    let mut new_ids = fresh_ids(&change, &outlines, missing as u64, mode)?.into_iter();

    let there: BTreeSet<TaskId> = list.ids()?.into_iter().collect();
    let mut imported = Vec::with_capacity(plan.tasks.len());
    let mut before = BTreeMap::new();
    for planned in &plan.tasks {
        let id = match known.get(planned.uid.as_str()) {
            Some(id) => {
                let task = change.task(id)?;
                before.insert((*id).clone(), task.clone());
                // An import that a crash cut short left tasks that wait for some it never wrote.
                task.blocked_by.retain(|blocker| there.contains(blocker));
                (*id).clone()
            }
            None => {
                let id = new_ids.next().unwrap_or_else(|| TaskId::from(1));
                change.create(Task::new(id.clone(), ""));
                id
            }
        };
        let at = change.at();
        let task = change.task(&id)?;
        if !before.contains_key(&id) {
            task.provenance = Some(Provenance {
                origin: Origin::Import,
                by: actor.clone(),
                at,
            });
        }
        fields(planned).apply(task);
        if planned.done && task.state == State::Pending {
            let text = "marked done in the plan".to_owned();
            task.state = State::Completed;
            task.result = Some(TaskResult {
                ending: Ending::Completed,
                text,
                by: actor.clone(),
                at,
                token: None,
            });
        }
        imported.push(Imported {
            id,
            subject: planned.subject.clone(),
            fate: Fate::Added,
        });
    }
    for (planned, place) in plan.tasks.iter().zip(&imported) {
        for blocker in &planned.after {
            if let Some(blocker) = imported.get(*blocker) {
                link_in(&mut change, &place.id, &blocker.id)?;
            }
        }
    }
    refuse_new_cycle(&mut change, &outlines, &imported)?;
    for place in &mut imported {
        let after = change.task(&place.id)?;
        place.fate = match before.get(&place.id) {
            None => Fate::Added,
            Some(before) if before == after => Fate::Unchanged,
            Some(_) => Fate::Updated,
        };
    }
    if mode == Mode::Import && imported.iter().any(|place| place.fate != Fate::Unchanged) {
        record(&mut change, &imported);
        change.commit()?;
    }
    Ok(imported)
}

/// What importing a plan into a list that does not exist yet would make of it.
pub fn preview(plan: &Plan) -> Vec<Imported> {
    let ids = (1..).map(TaskId::from);
    let added = |(id, task): (TaskId, &PlannedTask)| Imported {
        id,
        subject: task.subject.clone(),
        fate: Fate::Added,
    };
    ids.zip(&plan.tasks).map(added).collect()
}

/// In a dry run nothing is handed out: the ids are what they would be if nobody else came first.
fn fresh_ids(
    change: &Change<'_>,
    outlines: &[Outline],
    count: u64,
    mode: Mode,
) -> Result<Vec<TaskId>> {
    match (mode, count) {
        (_, 0) => Ok(Vec::new()),
        (Mode::Import, count) => Ok(change.new_ids(count)?.collect()),
        (Mode::DryRun, count) => {
            let highest = outlines.iter().filter_map(|task| task.id.counted()).max();
            let last = change.last_id()?.max(highest.unwrap_or_default());
            let first = last.saturating_add(1);
            Ok((first..first.saturating_add(count))
                .map(TaskId::from)
                .collect())
        }
    }
}

fn fields(planned: &PlannedTask) -> Fields {
    Fields {
        subject: Some(planned.subject.clone()),
        description: (!planned.description.is_empty()).then(|| planned.description.clone()),
        priority: planned.priority.map(Some),
        complexity: planned.complexity.clone(),
        group: planned.group.clone(),
        project: planned.project.clone(),
        tags: match planned.tags.as_slice() {
            [] => Labels::default(),
            tags => Labels::Set(tags.to_vec()),
        },
        due: planned.due.map(Some),
        uid: Some(planned.uid.clone()),
        ..Fields::default()
    }
}

/// The plan has no circle of its own, but it may close one with what is in the list.
fn refuse_new_cycle(
    change: &mut Change<'_>,
    outlines: &[Outline],
    imported: &[Imported],
) -> Result<()> {
    let mut after: BTreeMap<TaskId, Outline> = outlines
        .iter()
        .map(|outline| (outline.id.clone(), outline.clone()))
        .collect();
    for place in imported {
        after.insert(place.id.clone(), Outline::from(&*change.task(&place.id)?));
    }
    let after: Vec<Outline> = after.into_values().collect();
    match Graph::new(&after).new_cycle(&Graph::new(outlines)) {
        Some(path) => Err(Error::Refused(Refusal::Cycle { path })),
        None => Ok(()),
    }
}

fn record(change: &mut Change<'_>, imported: &[Imported]) {
    for place in imported {
        match place.fate {
            Fate::Added => change.note(Kind::TaskCreated, &place.id),
            Fate::Updated => change.note(Kind::TaskEdited, &place.id),
            Fate::Unchanged => continue,
        };
    }
    let count = |fate| imported.iter().filter(|place| place.fate == fate).count();
    let entry = change.note_list(Kind::ListImported);
    entry
        .detail
        .insert("added".to_owned(), count(Fate::Added).into());
    entry
        .detail
        .insert("updated".to_owned(), count(Fate::Updated).into());
}
