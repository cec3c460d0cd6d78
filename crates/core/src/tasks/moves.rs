//! Tasks on their way through their states.
//!
//! Owns what happens around a move: what keeps a task from being completed is looked up, a report
//! that comes too late is kept.

use std::collections::BTreeMap;

use flagpost_model::{
    Refusal, TaskId,
    plan::Family,
    task::{Act, Ending, Outline, State, Task, TaskEvent, TaskResult, transition},
};

use super::{Preview, TaskSelector, finish_all, named_by_others, only, open_blockers};
use crate::{
    change::{self, Change},
    coordination,
    error::{Error, Result},
    history::{History, Kind},
    list::List,
};

/// Moves a task through its states: everything but a claim, which [`crate::claims`] makes.
pub fn act(list: &List<'_>, act: &Act, id: &TaskId, event: Move) -> Result<Task> {
    only(act_all(list, act, std::slice::from_ref(id), event)?, id)
}

/// Moves all these tasks, or none where one cannot go. A report on one task alone that comes too
/// late is kept.
pub fn act_all(
    list: &List<'_>,
    act: &Act,
    which: impl Into<TaskSelector>,
    event: Move,
) -> Result<Vec<Task>> {
    let which = which.into();
    list.home.transact(|| {
        let mut change = list.change(&act.actor)?;
        let ids = which.clone().ids(&change)?;
        let act = Act {
            at: change.at(),
            ..act.clone()
        };
        let mut seen = None;
        for id in &ids {
            let task = change.task(id)?.clone();
            match transition(&task, &act, asked(list, &task, &event, &ids, &mut seen)?) {
                Ok(after) => {
                    *change.task(id)? = after;
                    change.note(event.kind(), id);
                }
                Err(refusal) if ids.len() == 1 => {
                    let refusal = knowing(list, refusal)?;
                    let late =
                        late_result(&event, &act).filter(|late| is_late(&refusal, &late.text));
                    return Err(match late {
                        None => refusal.into(),
                        Some(late) => keep_late(change, id, late, refusal)?,
                    });
                }
                Err(refusal) => return Err(knowing(list, refusal)?.into()),
            }
        }
        let done = finish_all(change, &ids);
        match (done, list.table(), &ids[..], late_result(&event, &act)) {
            (Err(Error::Coordination(refusal)), Some(table), [id], Some(late)) => {
                let (directory, by) = (&table.directory, &act.actor);
                Err(coordination::keep_late(
                    directory, by, id, &late.text, refusal,
                )?)
            }
            (done, ..) => done,
        }
    })
}

/// What [`act_all`] would say of each of these tasks now.
pub fn preview_moves(
    list: &List<'_>,
    act: &Act,
    ids: &[TaskId],
    event: &Move,
) -> Result<Vec<Preview>> {
    let mut seen = None;
    let mut previews = Vec::with_capacity(ids.len());
    let mut moves = BTreeMap::new();
    for id in ids {
        let file = list.task(id)?;
        let task = file.task.clone();
        let event = asked(list, &task, event, ids, &mut seen)?;
        let refusal = match transition(&task, act, event) {
            Ok(after) => {
                moves.insert(id.clone(), (file, after));
                None
            }
            Err(refusal) => Some(knowing(list, refusal)?.into()),
        };
        previews.push(Preview { task, refusal });
    }
    if let Some(table) = list.table() {
        let mut refused = change::refused(table, (&act.actor, act.at), &moves)?;
        for Preview { task, refusal } in &mut previews {
            if let Some(theirs) = refused.remove(&task.id) {
                *refusal = Some(theirs.into());
            }
        }
    }
    Ok(previews)
}

/// The move as the rule is asked, with what other tasks have to say to it. Those of `ids` are moved
/// together and stand in nobody's way. The whole list is looked at where others have a say, and
/// once for all moves: that is `seen`.
pub(crate) fn asked(
    list: &List<'_>,
    task: &Task,
    event: &Move,
    ids: &[TaskId],
    seen: &mut Option<Vec<Outline>>,
) -> Result<TaskEvent> {
    let (ending, text, parts) = match event {
        Move::Start => return Ok(TaskEvent::Start),
        Move::Renew => return Ok(TaskEvent::Renew),
        Move::Release { force } => return Ok(TaskEvent::Release { force: *force }),
        Move::Reopen => return Ok(TaskEvent::Reopen),
        Move::Cancel => return Ok(TaskEvent::Cancel),
        Move::Finish {
            ending,
            text,
            parts,
        } => (*ending, text.clone(), *parts),
    };
    let mut open = match task.state {
        State::Pending => {
            let others = named_by_others(look(list, seen)?, &task.id);
            open_blockers(list, task, &others)?
        }
        _ => Vec::new(),
    };
    let mut parts = match (ending, parts) {
        (Ending::Completed, Parts::MustBeDone) => {
            Family::new(look(list, seen)?).open_parts(&task.id)
        }
        _ => Vec::new(),
    };
    open.retain(|id| !ids.contains(id));
    parts.retain(|id| !ids.contains(id));
    Ok(TaskEvent::Finish {
        ending,
        text,
        open,
        parts,
    })
}

fn look<'s>(list: &List<'_>, seen: &'s mut Option<Vec<Outline>>) -> Result<&'s [Outline]> {
    Ok(match seen {
        Some(outlines) => outlines,
        None => seen.insert(list.load()?.outlines),
    })
}

/// The refusal of a token with what the history knows of it. A table's tokens are moments, of which it
/// knows nothing.
pub(crate) fn knowing(list: &List<'_>, refusal: Refusal) -> Result<Refusal> {
    let known = match (&refusal, list.recorder()?) {
        (Refusal::StaleToken { .. }, Some(repo)) if list.table().is_none() => {
            History::of(list.home, &repo).last()?
        }
        _ => u64::MAX,
    };
    Ok(refusal.knowing(known))
}

/// Keeps a report whose claim is over; the refusal that says so.
fn keep_late(
    mut change: Change<'_>,
    id: &TaskId,
    mut late: TaskResult,
    refusal: Refusal,
) -> Result<Error> {
    if matches!(refusal, Refusal::UnknownToken { .. }) {
        late.token = None;
    }
    let entry = change.note(Kind::TaskLate, id);
    entry
        .detail
        .insert("ending".to_owned(), late.ending.as_str().into());
    let task = change.task(id)?;
    // The same report twice is one report.
    let known = |other: &TaskResult| {
        TaskResult {
            at: late.at,
            ..other.clone()
        } == late
    };
    if !task.late.iter().any(known) {
        task.late.push(late);
        change.commit()?;
    }
    Ok(Error::KeptLate(refusal))
}

/// What a caller asks of a task; see [`act`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Move {
    /// Begin the work.
    Start,
    /// Extend the lease.
    Renew,
    /// Give it back; with force, whoever holds it.
    Release {
        /// Whoever holds it.
        force: bool,
    },
    /// Make it pending again.
    Reopen,
    /// It is not wanted any more.
    Cancel,
    /// End the work.
    Finish {
        /// How.
        ending: Ending,
        /// The worker's words.
        text: String,
        /// Whether its parts have a say.
        parts: Parts,
    },
}

/// Whether the parts of a task keep it from being completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// They must be done first.
    MustBeDone,
    /// Whoever asks knows better.
    MayBeOpen,
}

impl Move {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Start => Kind::TaskStarted,
            Self::Renew => Kind::TaskRenewed,
            Self::Release { .. } => Kind::TaskReleased,
            Self::Reopen => Kind::TaskReopened,
            Self::Cancel => Kind::TaskCancelled,
            Self::Finish {
                ending: Ending::Completed,
                ..
            } => Kind::TaskCompleted,
            Self::Finish {
                ending: Ending::Failed,
                ..
            } => Kind::TaskFailed,
            Self::Finish {
                ending: Ending::Stuck,
                ..
            } => Kind::TaskStuck,
        }
    }
}

fn late_result(event: &Move, act: &Act) -> Option<TaskResult> {
    let Move::Finish { ending, text, .. } = event else {
        return None;
    };
    let (by, token) = (act.actor.clone(), act.token);
    Some(TaskResult {
        by,
        token,
        at: act.at,
        ending: *ending,
        text: text.clone(),
    })
}

/// A report is worth keeping where its claim is over and it says something.
pub(crate) fn is_late(refusal: &Refusal, text: &str) -> bool {
    match refusal {
        Refusal::StaleToken { .. } => true,
        Refusal::Held { .. }
        | Refusal::UnknownToken { .. }
        | Refusal::WrongState { .. }
        | Refusal::NotClaimed { .. } => !text.is_empty(),
        // What speaks of no claim.
        _ => false,
    }
}
