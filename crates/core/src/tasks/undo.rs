//! Taking back the last change.
//!
//! Owns which change is the last one of an actor, and when it is too late: once somebody built on
//! it, the history says so, or the files differ from what the change made of them. Undoing is a
//! change like any other: it is recorded, and what it removes stays in the history.

use std::collections::BTreeSet;

use flagpost_disk::dialects::claude_tasks;
use flagpost_model::{ListId, Refusal, TaskId, WorkerId, task::Task};
use serde_json::{Map, Value};

use super::removal::remove_in;
use crate::{
    change::Change,
    error::{Error, Result},
    history::{
        History, Kind, Line,
        detail::{APART, FINGERPRINT},
    },
    list::{List, vanished::BROUGHT_BACK},
};

/// Only the verbs of lists keep what there was before.
const NO_UNDO: &str = "what 'flagpost coord' did cannot be taken back";

/// A change that was taken back.
#[derive(Debug, Clone)]
pub struct Undone {
    /// The number of its first line in the history.
    pub n: u64,
    /// What it was: the kinds of its lines with the tasks they are about.
    pub was: Vec<(Kind, Option<TaskId>)>,
    /// The tasks that are again as they were.
    pub tasks: Vec<Task>,
    /// The tasks that it had added and that are gone again.
    pub removed: Vec<Task>,
}

/// Whether to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoMode {
    /// Write.
    Undo,
    /// Say what would be written.
    DryRun,
}

/// Takes back the last change of the list that `actor` made and that is not taken back yet.
pub fn undo(list: &List<'_>, actor: &WorkerId, mode: UndoMode) -> Result<Undone> {
    list.home.transact(|| {
        let mut change = list.change(actor)?;
        let history = History::of(list.home, &list.repository()?);
        // What a crash kept from appearing is nothing to take back, and taken back by nothing.
        history.void_unapplied(actor, change.at())?;
        let lines = history.since(0)?;
        let story = Story::of(&lines, list);
        let Some(last) = story.last_of(actor) else {
            return Err(Error::NothingToUndo {
                actor: actor.clone(),
                list: list.id().clone(),
            });
        };
        let mine = story.lines_of(last);
        // A directory's own verbs tell what a task became, and not what its row was.
        let is_told = |line: &&Line| {
            ["changes", FINGERPRINT]
                .iter()
                .any(|it| line.entry.detail.contains_key(*it))
        };
        if !mine.iter().any(is_told) {
            list.must_be_files(NO_UNDO)?;
        }
        refuse_if_relocated(&mine)?;
        story.refuse_if_built_on(&mine)?;

        let mut touched = BTreeSet::new();
        let mut added = Vec::new();
        for line in mine.iter().rev() {
            let is_open = |id: &TaskId| !story.undone.contains(&(last, id.clone()));
            take_back(&mut change, line, &is_open, &mut touched, &mut added)?;
        }
        let removed = remove_in(&mut change, actor, &added)?;
        change.mark(last, touched.iter());
        let was = mine
            .iter()
            .map(|line| (line.entry.kind.clone(), line.entry.task.clone()));
        let was = was.collect();
        let mut written = match mode {
            UndoMode::DryRun => change.rehearse()?,
            UndoMode::Undo => change.commit()?,
        };
        let tasks = touched.iter().filter_map(|id| written.remove(id)).collect();
        Ok(Undone {
            n: last,
            was,
            tasks,
            removed,
        })
    })
}

/// Half of a move taken back would leave its tasks in both lists, or in none.
fn refuse_if_relocated(mine: &[&Line]) -> Result<()> {
    let mut tasks = Vec::new();
    let mut lists = None;
    for Line { entry, .. } in mine {
        let told = |key| place(entry.detail.get(key));
        let (Some(task), Some(here)) = (&entry.task, &entry.list) else {
            continue;
        };
        if let Some((from, _)) = told("moved_from") {
            tasks.push(task.clone());
            lists = Some((from, here.clone()));
        } else if let Some((to, task)) = told("moved_to") {
            tasks.push(task);
            lists = Some((here.clone(), to));
        }
    }
    match lists {
        Some((from, to)) => Err(Refusal::Relocated { tasks, from, to }.into()),
        None => Ok(()),
    }
}

/// Where a line about a move says that the task is, or was.
fn place(told: Option<&Value>) -> Option<(ListId, TaskId)> {
    let told = told?;
    let name = |key| told.get(key).and_then(Value::as_str);
    Some((name("list")?.parse().ok()?, name("task")?.parse().ok()?))
}

/// Puts what one line tells of, as far as it is open, into `change` as it was before.
fn take_back(
    change: &mut Change<'_>,
    line: &Line,
    is_open: &dyn Fn(&TaskId) -> bool,
    touched: &mut BTreeSet<TaskId>,
    added: &mut Vec<TaskId>,
) -> Result<()> {
    let detail = &line.entry.detail;
    if let Some(id) = line.entry.task.as_ref().filter(|id| is_open(id)) {
        match (
            &line.entry.kind,
            detail.get("removed"),
            detail.get("changes"),
        ) {
            (Kind::TaskCreated, ..) => {
                refuse_if_written_into(change.list(), id, detail.get(FINGERPRINT))?;
                added.push(id.clone());
            }
            (_, Some(Value::Object(raw)), _) => {
                refuse_if_there(change.list(), id)?;
                let rev = line.entry.rev().unwrap_or_default();
                change.restore(id, claude_tasks::restore(raw.clone(), rev))?;
                touched.insert(id.clone());
            }
            (_, _, Some(Value::Object(changes))) => {
                rewind(change, id, changes)?;
                touched.insert(id.clone());
            }
            _ => {}
        }
    }
    let others = detail.get("others").and_then(Value::as_object);
    for (id, changes) in others.into_iter().flatten() {
        let (id, Some(changes)) = (id.parse::<TaskId>()?, changes.as_object()) else {
            continue;
        };
        if is_open(&id) {
            rewind(change, &id, changes)?;
            touched.insert(id);
        }
    }
    Ok(())
}

/// Whoever gave a removed task's id to a task of theirs keeps it.
fn refuse_if_there(list: &List<'_>, id: &TaskId) -> Result<()> {
    match list.task(id) {
        Err(Error::NotFound { .. }) => Ok(()),
        Err(error) => Err(error),
        Ok(_) => {
            let (task, how) = (id.clone(), "another one has its id".to_owned());
            Err(Refusal::BuiltOn { task, how }.into())
        }
    }
}

/// What another hand wrote into an added task would go with it.
fn refuse_if_written_into(list: &List<'_>, id: &TaskId, told: Option<&Value>) -> Result<()> {
    let file = match list.task(id) {
        Err(Error::NotFound { .. }) => return Err(list.gone(id)?),
        file => file?,
    };
    match told.and_then(Value::as_str) {
        Some(told) if file.fingerprint() != told => {
            let (task, how) = (id.clone(), "its file was changed since".to_owned());
            Err(Refusal::BuiltOn { task, how }.into())
        }
        _ => Ok(()),
    }
}

/// Makes a task what it was before `changes`; one whose file was taken away comes back with that.
fn rewind(change: &mut Change<'_>, id: &TaskId, changes: &Map<String, Value>) -> Result<()> {
    let list = change.list();
    let file = match list.task(id) {
        Err(missing @ Error::NotFound { .. }) => list.taken_away(id)?.ok_or(missing)?,
        file => file?,
    };
    let raw = file.before(changes).map_err(|since| Refusal::BuiltOn {
        task: id.clone(),
        how: since.to_string(),
    })?;
    change.restore(id, raw)
}

/// The history of one list, without what never happened and what was taken back.
struct Story<'l> {
    lines: Vec<&'l Line>,
    /// Changes with the tasks on which they are taken back: a crash may leave others.
    undone: BTreeSet<(u64, TaskId)>,
}

impl<'l> Story<'l> {
    fn of(lines: &'l [Line], list: &List<'_>) -> Self {
        let voided: BTreeSet<u64> = lines.iter().filter_map(|it| it.entry.voids()).collect();
        let happened = |line: &&Line| {
            list.concerns(&line.entry)
                && !voided.contains(&line.n)
                // What a client told of an attempt is no change of a task.
                && !matches!(line.entry.kind, Kind::Void | Kind::TaskAttempted)
        };
        let happened: Vec<&Line> = lines.iter().filter(happened).collect();
        let taken_back = |line: &&Line| Some((undoes(line)?, line.entry.task.clone()?));
        let undone: BTreeSet<_> = happened.iter().filter_map(taken_back).collect();
        let counts = |line: &&Line| {
            let op = operation(line);
            let tasks = tasks_of(line);
            // What was done to no task is nothing to take back: a session's end, a plan already known.
            let is_open = tasks.into_iter().any(|task| !undone.contains(&(op, task)));
            // Nor is that a file is there again.
            undoes(line).is_none() && is_open && !line.entry.detail.contains_key(BROUGHT_BACK)
        };
        Self {
            lines: happened.iter().copied().filter(counts).collect(),
            undone,
        }
    }

    /// The last change of this actor. A lease that was renewed is no change to take back.
    fn last_of(&self, actor: &WorkerId) -> Option<u64> {
        let own = |line: &&&Line| {
            line.entry.actor.as_ref() == Some(actor)
                // What git did stays done.
                && !matches!(
                    line.entry.kind,
                    Kind::TaskRenewed
                        | Kind::TaskQuarantined
                        | Kind::TaskLanded
                        | Kind::TaskRefused
                        | Kind::TaskNoCommit
                )
        };
        self.lines.iter().rev().find(own).map(|it| operation(it))
    }

    fn lines_of(&self, op: u64) -> Vec<&'l Line> {
        let own = |line: &&&Line| operation(line) == op;
        self.lines.iter().filter(own).copied().collect()
    }

    /// Refuses where a later change touched one of the same tasks.
    fn refuse_if_built_on(&self, mine: &[&Line]) -> Result<()> {
        let last = mine.last().map_or(0, |line| line.n);
        let touched: BTreeSet<TaskId> = mine.iter().flat_map(|line| tasks_of(line)).collect();
        for line in self.lines.iter().filter(|line| line.n > last) {
            if let Some(task) = tasks_of(line).into_iter().find(|id| touched.contains(id)) {
                let by = line
                    .entry
                    .actor
                    .as_ref()
                    .map_or("somebody", WorkerId::as_str);
                let how = format!("{} by {by} at {}", line.entry.kind.as_str(), line.at);
                return Err(Refusal::BuiltOn { task, how }.into());
            }
        }
        Ok(())
    }
}

/// The number that all lines of one change share. Of what was done for several at once, each line is a
/// change of its own.
fn operation(line: &Line) -> u64 {
    let detail = &line.entry.detail;
    let op = detail.get("op").and_then(Value::as_u64);
    op.filter(|_| !detail.contains_key(APART)).unwrap_or(line.n)
}

/// The change that a line takes back, if it takes one back.
fn undoes(line: &Line) -> Option<u64> {
    line.entry.detail.get("undoes").and_then(Value::as_u64)
}

fn tasks_of(line: &Line) -> Vec<TaskId> {
    let others = line.entry.detail.get("others").and_then(Value::as_object);
    let others = others.into_iter().flatten();
    let others = others.filter_map(|(id, _)| id.parse().ok());
    line.entry.task.iter().cloned().chain(others).collect()
}
