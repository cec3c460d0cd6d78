//! Tasks that come from elsewhere, and that leave.
//!
//! Owns how what comes in becomes tasks of a list: the same uid updates instead of adding
//! (`tree.md` §2). What an import may change of a task is `model`'s rule. A task that has no uid answers to the name that an export of its list gave it.

mod export;
mod source;
mod table;

use std::collections::{BTreeMap, BTreeSet};

use flagpost_model::{
    Refusal, TaskId, WorkerId,
    intake::{Blocker, Format, ImportContext, Incoming, Intake, Links, is_from},
    plan::{Family, Graph},
    task::{Outline, StateName, Task},
};

pub use export::{Export, ExportScope, export};
pub use source::{ImportInput, OnBroken, understand};
pub use table::{Brought, import_into_table, read_table};

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    change::Change,
    error::{Error, Result},
    history::Kind,
    list::List,
    tasks::link_in,
};

/// What became of an incoming task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum ImportOutcome {
    /// It is new.
    Added,
    /// It was there and changed.
    Updated,
    /// It was there as it came.
    Unchanged,
    /// It changed here after it was exported, and was left as it is.
    Outdated,
}

impl ImportOutcome {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
            Self::Outdated => "outdated",
        }
    }

    /// How many of these came to it.
    pub fn count(self, tasks: &[ImportedTask]) -> usize {
        tasks.iter().filter(|it| it.fate == self).count()
    }
}

/// One incoming task and its place in the list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ImportedTask {
    /// Its id; in a dry run, the id it would get now.
    pub id: TaskId,
    /// Its subject.
    pub subject: String,
    /// What became of it.
    pub fate: ImportOutcome,
    /// Fields that were changed both here and in the source, and are now as the source says.
    pub overwritten: Vec<&'static str>,
    /// How it ended in the source, where it stays as it is here.
    pub kept_state: Option<StateName>,
}

/// A task that a plan brought, and that is no longer in it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Gone {
    /// Its id.
    pub id: TaskId,
    /// Its subject.
    pub subject: String,
}

/// Whether to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportMode {
    /// Write.
    Import,
    /// Say what would be written.
    DryRun,
}

/// Imports tasks into a list, as one change.
pub fn import(
    list: &List<'_>,
    actor: &WorkerId,
    intake: &Intake,
    mode: ImportMode,
) -> Result<Vec<ImportedTask>> {
    list.home.transact(|| {
        let mut change = list.change(actor)?;
        let outlines = change.load()?.outlines;
        let name = export::name(list);
        let known = KnownTasks::of(&name, &outlines);
        let missing = intake.tasks.iter().filter(|task| known.get(task).is_none());
        let mut new_ids = fresh_ids(&change, &outlines, missing.count() as u64, mode)?.into_iter();
        let places: Vec<(TaskId, bool)> = intake
            .tasks
            .iter()
            .map(|incoming| match known.get(incoming) {
                Some(id) => (id, true),
                None => (new_ids.next().unwrap_or_else(|| TaskId::from(1)), false),
            })
            .collect();

        let there: BTreeSet<TaskId> = list.ids()?.into_iter().collect();
        let hand = ImportContext {
            by: actor,
            format: intake.format,
            source: intake.source.as_deref(),
            list: &name,
            at: change.at(),
        };
        let mut before = BTreeMap::new();
        let mut outdated = BTreeSet::new();
        let mut told = BTreeMap::new();
        for (incoming, (id, is_known)) in intake.tasks.iter().zip(&places) {
            let links = links(incoming, intake, &places);
            if !is_known {
                change.create(incoming.create(id.clone(), &links, hand));
                continue;
            }
            let task = change.task(id)?;
            before.insert(id.clone(), task.clone());
            // An import that a crash cut short left tasks that wait for some it never wrote.
            task.blocked_by.retain(|blocker| there.contains(blocker));
            let merged = incoming.merge(task, &links, hand);
            if merged.task != *task && is_outdated(incoming, task, intake.format) {
                outdated.insert(id.clone());
            } else {
                *task = merged.task;
                told.insert(id.clone(), (merged.overwritten, merged.kept_state));
            }
        }
        for (incoming, (id, _)) in intake.tasks.iter().zip(&places) {
            if outdated.contains(id) {
                continue;
            }
            for blocker in links(incoming, intake, &places).after {
                if change.task(id)?.blocked_by.contains(blocker.id) {
                    link_in(&mut change, id, blocker.id)?;
                }
            }
        }
        refuse_new_circles(&mut change, &outlines, &places, &before)?;
        let mut imported = Vec::with_capacity(places.len());
        let mut is_news = false;
        for (incoming, (id, _)) in intake.tasks.iter().zip(places) {
            let after = change.task(&id)?;
            is_news |= before.get(&id) != Some(after);
            let fate = match before.get(&id) {
                None => ImportOutcome::Added,
                Some(_) if outdated.contains(&id) => ImportOutcome::Outdated,
                Some(before) if is_same(before, after) => ImportOutcome::Unchanged,
                Some(_) => ImportOutcome::Updated,
            };
            let subject = incoming.task.subject.clone();
            let (overwritten, kept_state) = told.remove(&id).unwrap_or_default();
            imported.push(ImportedTask {
                id,
                subject,
                fate,
                overwritten,
                kept_state,
            });
        }
        if is_news {
            record(&mut change, &imported);
            match mode {
                ImportMode::Import => change.commit()?,
                ImportMode::DryRun => change.rehearse()?,
            };
        }
        Ok(imported)
    })
}

/// What an incoming task refers to, by the names in the source and in the list.
fn links<'l>(incoming: &Incoming, intake: &'l Intake, places: &'l [(TaskId, bool)]) -> Links<'l> {
    let named = |at: usize| {
        let (id, is_known) = places.get(at)?;
        let uid = intake.tasks.get(at)?.uid.as_str();
        Some(Blocker {
            uid,
            id,
            is_known: *is_known,
        })
    };
    Links {
        parent: incoming.parent.and_then(named).map(|it| (it.uid, it.id)),
        after: incoming.after.iter().copied().filter_map(named).collect(),
    }
}

/// The open tasks that a plan of this name brought, and that are not in it any more. An import
/// removes nothing, so somebody has to decide.
pub fn gone(list: &List<'_>, intake: &Intake) -> Result<Vec<Gone>> {
    let Some(source) = &intake.source else {
        return Ok(Vec::new());
    };
    let named: BTreeSet<&str> = intake.tasks.iter().map(|it| &*it.uid).collect();
    let mut gone = Vec::new();
    for outline in list.load()?.outlines {
        let uid = outline.uid.as_deref();
        if outline.state.is_over() || uid.is_none_or(|uid| named.contains(uid)) {
            continue;
        }
        let task = match list.task(&outline.id) {
            Ok(file) => file.task,
            // Somebody removed it since the list was read.
            Err(Error::NotFound { .. }) => continue,
            Err(error) => return Err(error),
        };
        if is_from(&task, intake.format, source) {
            let (id, subject) = (task.id, task.subject);
            gone.push(Gone { id, subject });
        }
    }
    Ok(gone)
}

/// What importing tasks into a list that does not exist yet would make of it.
pub fn preview(intake: &Intake) -> Vec<ImportedTask> {
    let ids = (1..).map(TaskId::from);
    let added = |(id, incoming): (TaskId, &Incoming)| ImportedTask {
        id,
        subject: incoming.task.subject.clone(),
        fate: ImportOutcome::Added,
        overwritten: Vec::new(),
        kept_state: None,
    };
    ids.zip(&intake.tasks).map(added).collect()
}

/// The tasks of a list by the names that an incoming task may have for them.
struct KnownTasks<'o> {
    by_uid: BTreeMap<&'o str, &'o TaskId>,
    nameless: BTreeSet<&'o TaskId>,
    list: &'o str,
}

impl<'o> KnownTasks<'o> {
    fn of(list: &'o str, outlines: &'o [Outline]) -> Self {
        let named = outlines
            .iter()
            .filter_map(|it| Some((it.uid.as_deref()?, &it.id)));
        let nameless = outlines.iter().filter(|it| it.uid.is_none());
        Self {
            by_uid: named.collect(),
            nameless: nameless.map(|it| &it.id).collect(),
            list,
        }
    }

    fn get(&self, incoming: &Incoming) -> Option<TaskId> {
        if let Some(id) = self.by_uid.get(incoming.uid.as_str()) {
            return Some((*id).clone());
        }
        let id: TaskId = incoming
            .uid
            .strip_prefix(self.list)?
            .strip_prefix('/')?
            .parse()
            .ok()?;
        self.nameless.contains(&id).then_some(id)
    }
}

/// An export knows the revision that it saw. Where nothing else tells what the file changed and
/// what was changed here since, what is here stays.
fn is_outdated(incoming: &Incoming, task: &Task, format: Format) -> bool {
    let seen = incoming.task.rev;
    task.uid.is_none() && !task.said.knows(format.as_str()) && seen > 0 && seen < task.rev
}

/// What was said of a task is remembered even where it is so already, and is nobody's news.
fn is_same(before: &Task, after: &Task) -> bool {
    let said = before.said.clone();
    *before
        == Task {
            said,
            ..after.clone()
        }
}

/// In a dry run nothing is handed out: the ids are what they would be if nobody else came first.
fn fresh_ids(
    change: &Change<'_>,
    outlines: &[Outline],
    count: u64,
    mode: ImportMode,
) -> Result<Vec<TaskId>> {
    match (mode, count) {
        (_, 0) => Ok(Vec::new()),
        (ImportMode::Import, count) => Ok(change.new_ids(count)?.collect()),
        // A table's are written nowhere but in its rows.
        (ImportMode::DryRun, count) if change.list().table().is_some() => {
            Ok(change.new_ids(count)?.collect())
        }
        (ImportMode::DryRun, count) => {
            let highest = outlines.iter().filter_map(|task| task.id.counted()).max();
            let last = change.last_id()?.max(highest.unwrap_or_default());
            let first = last.saturating_add(1);
            Ok((first..first.saturating_add(count))
                .map(TaskId::from)
                .collect())
        }
    }
}

/// What comes in has no circle of its own, but it may close one with what is in the list.
fn refuse_new_circles(
    change: &mut Change<'_>,
    outlines: &[Outline],
    places: &[(TaskId, bool)],
    before: &BTreeMap<TaskId, Task>,
) -> Result<()> {
    let mut after: BTreeMap<TaskId, Outline> = outlines
        .iter()
        .map(|outline| (outline.id.clone(), outline.clone()))
        .collect();
    let mut moved = Vec::new();
    for (id, _) in places {
        let outline = Outline::from(&*change.task(id)?);
        let parent = outline.parent.clone();
        moved.extend(
            parent
                .filter(|_| before.contains_key(id))
                .map(|it| (id, it)),
        );
        after.insert(id.clone(), outline);
    }
    moved.retain(|(id, parent)| before[*id].parent.as_ref() != Some(parent));
    let after: Vec<Outline> = after.into_values().collect();
    if let Some(path) = Graph::new(&after).new_cycle(&Graph::new(outlines)) {
        return Err(Error::Refused(Refusal::Cycle { path }));
    }
    let family = Family::new(&after);
    let mut circles = moved
        .iter()
        .filter_map(|(id, parent)| family.closes_circle(id, parent));
    match circles.next() {
        Some(path) => Err(Error::Refused(Refusal::PartOfItself { path })),
        None => Ok(()),
    }
}

fn record(change: &mut Change<'_>, imported: &[ImportedTask]) {
    for place in imported {
        match place.fate {
            ImportOutcome::Added => change.note(Kind::TaskCreated, &place.id),
            ImportOutcome::Updated => change.note(Kind::TaskEdited, &place.id),
            ImportOutcome::Unchanged | ImportOutcome::Outdated => continue,
        };
    }
    let count = |fate| imported.iter().filter(|place| place.fate == fate).count();
    let entry = change.note_list(Kind::ListImported);
    entry
        .detail
        .insert("added".to_owned(), count(ImportOutcome::Added).into());
    entry
        .detail
        .insert("updated".to_owned(), count(ImportOutcome::Updated).into());
}
