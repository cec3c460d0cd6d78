//! What a change makes of a coordination directory's table.
//!
//! Owns that the directory's rules are asked as well, that only rows which are still as they were read
//! are written over, and the signs of life that come with it. It must never write.

use std::collections::BTreeMap;

use flagpost_disk::{
    self as disk, TaskFile,
    dialects::{claude_tasks, coordination as layout},
};
use flagpost_model::{
    TaskId, WorkerId,
    coordination::{
        self, Board, CoordAgent, CoordRefusal, CoordStatus, MoveContext, NewCoordTask as NewRow,
        course, just_after, micros, result_page, status_of,
    },
    task::{Claim, Task},
};
use jiff::{Timestamp, civil::DateTime};

use super::{PendingWrite, outcome::ChangeSet};
use crate::{
    error::{Error, Result},
    history::{Entry, Kind},
    list::{
        rows::{self, Raw},
        table::{TableList, View},
    },
    readable::readable,
};

/// Who changes a table, and when.
pub(super) struct Maker<'a> {
    pub actor: &'a WorkerId,
    pub at: Timestamp,
    /// The tasks that are given back in the name of whoever holds them.
    pub given_back: &'a [TaskId],
}

/// What goes with a changed table.
#[derive(Debug)]
pub(super) struct SideEffects {
    /// The table as it was when the change was made of it.
    pub before: Vec<u8>,
    /// Its revision afterwards; `None` where it stays as it is.
    pub rev: Option<u64>,
    /// Results, by name.
    pub pages: Vec<(String, Vec<u8>)>,
    /// Lines for logs, by name.
    pub logs: Vec<(String, String)>,
}

/// The changed table, and what goes with it.
pub(super) fn outcome(
    table: &TableList<'_>,
    maker: &Maker<'_>,
    drafts: BTreeMap<TaskId, PendingWrite>,
    entries: &[Entry],
) -> Result<ChangeSet> {
    let directory = &table.directory;
    let view = table.view()?;
    let (tables, mut board) = (&view.tables, view.tables.board());
    let now = directory.naive(maker.at);
    let mut outcome = ChangeSet::default();
    let mut changed = BTreeMap::new();
    let mut pages = Vec::new();
    let ids: Vec<TaskId> = drafts.keys().cloned().collect();
    for (id, draft) in drafts {
        let before = draft.before.as_ref();
        if before.map(TaskFile::raw) != view.files.get(&id).map(TaskFile::raw) {
            let path = directory.path(layout::TASKS);
            return Err(flagpost_disk::Error::Changed { path }.into());
        }
        let raw = row(&board, maker, now, &draft)?;
        // After the rule: a worker that was away for too long claims its task anew.
        if shows_life(before, &draft.after, maker.actor) {
            seen(&mut board, maker.actor, now);
        }
        if before.is_some_and(|it| *it.raw() == raw) {
            continue;
        }
        if claude_tasks::is_too_deep(&raw) {
            return Err(Error::Invalid {
                what: format!("task {id}"),
                reason: "its row would be nested too deep to be read".to_owned(),
            });
        }
        let task = layout::read_row(&raw, &directory.zone());
        let task = task.map_err(|reason| Error::Invalid {
            what: format!("task {id}"),
            reason,
        })?;
        let ended = before.is_none_or(|it| it.task.state.name() != draft.after.state.name());
        if matches!(task.status, CoordStatus::Done | CoordStatus::Failed) && ended {
            let page = readable("result", result_page(&task).into_bytes())?;
            pages.push((layout::result(&id), page));
        }
        outcome.take_note(&id, before, &raw);
        put(&mut board, task);
        changed.insert(id, raw);
    }
    let agents = &board.agents;
    let mut bytes = tables.bytes.clone();
    if !agents.iter().eq(tables.agents.contents()) {
        if let Some(reason) = &tables.agents_fault {
            let (path, reason) = (directory.path(layout::AGENTS), reason.clone());
            return Err(disk::Error::Malformed { path, reason }.into());
        }
        let agents = layout::write_agents(&tables.agents, agents);
        bytes.agents = Some(agents.clone());
        outcome
            .batch
            .put(directory.path(layout::AGENTS), readable("table", agents)?);
    }
    let earlier = tables.tasks.last_updated;
    let updated = earlier.map_or(now, |it| now.max(just_after(it)));
    let rev = (!changed.is_empty()).then(|| micros(updated));
    if rev.is_some() {
        bytes.tasks = layout::put_rows(&tables.tasks, changed, updated);
        let path = directory.path(layout::TASKS);
        outcome
            .batch
            .put(path, readable("table", bytes.tasks.clone())?);
    }
    // The answer is what whoever reads the table is told.
    let after = View::of(directory, directory.tables(bytes)?);
    let told = ids.into_iter().filter_map(|id| {
        let task = after.files.get(&id)?.task.clone();
        Some((id, task))
    });
    outcome.written = told.collect();
    outcome.beside = Some(SideEffects {
        before: tables.bytes.tasks.clone(),
        rev,
        pages,
        logs: logs(maker, now, entries, &outcome.written),
    });
    Ok(outcome)
}

/// Why the directory's rule refuses these moves, by task: from what to what, one after the other as a
/// change makes them.
pub(crate) fn refused(
    table: &TableList<'_>,
    (actor, at): (&WorkerId, Timestamp),
    moves: &BTreeMap<TaskId, (TaskFile, Task)>,
) -> Result<BTreeMap<TaskId, CoordRefusal>> {
    let maker = Maker {
        actor,
        at,
        given_back: &[],
    };
    let now = table.directory.naive(at);
    let mut board = table.view()?.tables.board();
    let mut refused = BTreeMap::new();
    for (id, (before, after)) in moves {
        match next(&board, &maker, now, (before, after)) {
            Ok(task) => put(&mut board, task),
            Err(Error::Coordination(refusal)) => drop(refused.insert(id.clone(), refusal)),
            Err(error) => return Err(error),
        }
        if shows_life(Some(before), after, actor) {
            seen(&mut board, actor, now);
        }
    }
    Ok(refused)
}

fn put(board: &mut Board, task: coordination::CoordTask) {
    match board.tasks.iter_mut().find(|it| it.id == task.id) {
        Some(place) => *place = task,
        None => board.tasks.push(task),
    }
}

/// The row as it is to be.
fn row(board: &Board, maker: &Maker<'_>, now: DateTime, draft: &PendingWrite) -> Result<Raw> {
    let after = &draft.after;
    let Some(before) = &draft.before else {
        let mut row = NewRow::default().into_task(after.id.clone(), now);
        row.status = status_of(&after.state);
        return Ok(rows::write(None, row, after));
    };
    let next = next(board, maker, now, (before, after))?;
    Ok(match &draft.raw {
        Some(raw) => raw.clone(),
        None => rows::write(Some((there(board, &after.id)?, before)), next, after),
    })
}

/// What the row's own keys are to say, if the directory's rule has it.
fn next(
    board: &Board,
    maker: &Maker<'_>,
    now: DateTime,
    (before, after): (&TaskFile, &Task),
) -> Result<coordination::CoordTask> {
    let holder = before.task.state.claim().map(|it| it.by.clone());
    let holder = holder.filter(|_| maker.given_back.contains(&after.id));
    let hand = MoveContext {
        actor: holder.as_ref().unwrap_or(maker.actor),
        at: now,
    };
    let row = there(board, &after.id)?;
    Ok(course(board, row, hand, (&before.task, after))?)
}

fn there<'b>(board: &'b Board, id: &TaskId) -> Result<&'b coordination::CoordTask> {
    board.task(id).ok_or_else(|| Error::NotFound {
        what: "coordination task",
        id: id.to_string(),
        list: None,
    })
}

/// Whether whoever changes the task holds it, and holds it anew or for longer by that.
fn shows_life(before: Option<&TaskFile>, after: &Task, actor: &WorkerId) -> bool {
    let own = |task: &Task| task.state.claim().cloned().filter(|it| it.by == *actor);
    let until = |claim: Claim| (claim.token, claim.expires_at);
    let was = before.and_then(|it| own(&it.task)).map(until);
    let now = own(after).map(until);
    now.is_some() && now != was || was.is_some() && now.is_none()
}

/// An agent's sign of life.
fn seen(board: &mut Board, actor: &WorkerId, now: DateTime) {
    match board.agents.iter_mut().find(|it| it.id == *actor) {
        Some(agent) => agent.last_seen = agent.last_seen.max(Some(now)),
        None => board.agents.push(CoordAgent {
            id: actor.clone(),
            capabilities: Vec::new(),
            registered_at: Some(now),
            last_seen: Some(now),
        }),
    }
}

/// What the logs are told, in the words that they have for it.
fn logs(
    maker: &Maker<'_>,
    now: DateTime,
    entries: &[Entry],
    written: &BTreeMap<TaskId, Task>,
) -> Vec<(String, String)> {
    let line = |entry: &Entry| {
        let id = entry.task.as_ref()?;
        let (name, action) = match entry.kind {
            Kind::TaskCreated => ("leader", "ADD_TASK"),
            Kind::TaskCancelled => ("leader", "cancelled"),
            Kind::TaskReopened | Kind::TaskAnswered => ("leader", "available"),
            Kind::TaskClaimed => (maker.actor.as_str(), "CLAIM"),
            Kind::TaskStarted => (maker.actor.as_str(), "START"),
            Kind::TaskCompleted => (maker.actor.as_str(), "COMPLETE"),
            Kind::TaskFailed => (maker.actor.as_str(), "FAIL"),
            Kind::TaskStuck => (maker.actor.as_str(), "BLOCK"),
            Kind::TaskReleased => (maker.actor.as_str(), "RELEASE"),
            _ => return None,
        };
        let subject = written.get(id).map(|it| it.subject.as_str());
        let told = format!("{id}: {}", subject.unwrap_or_default());
        Some((name.to_owned(), layout::log_line(now, action, &told)))
    };
    entries.iter().filter_map(line).collect()
}
