//! Fields and moves of one task as a single change.
//!
//! Owns that both happen or neither does: where a rule forbids a move, no field changes. What is to
//! be done is decided by the caller once the task is seen under the lock.

use flagpost_model::{
    TaskId,
    task::{Act, Task, transition},
};

use super::{Terms, start_in};
use crate::{
    error::Result,
    history::Kind,
    list::List,
    tasks::{Fields, Move, asked, named_by_others, renew_own},
};

/// What is to be done with a task.
#[derive(Debug, Clone, Default)]
pub struct Revision {
    /// The fields to set; other tasks have no say in them.
    pub fields: Fields,
    /// The moves, in order. [`Move::Start`] claims it first where nobody holds it.
    pub moves: Vec<Move>,
}

/// Changes a task as `course` says of it; none where that leaves it as it is.
pub fn revise(
    list: &List<'_>,
    terms: &Terms,
    id: &TaskId,
    course: &dyn Fn(&Task) -> Revision,
) -> Result<Option<Task>> {
    list.home.transact(|| {
        let change = list.change(&terms.actor)?;
        let ((), mut written) = change.commit_with(|change, token| {
            let before = change.task(id)?.clone();
            let Revision { fields, moves } = course(&before);
            fields.check()?;
            let at = change.at();
            let task = change.task(id)?;
            fields.apply(task);
            let is_edited = *task != before;
            if is_edited {
                renew_own(task, &terms.actor, at);
            }
            // A move's line tells of the fields that changed with it.
            if is_edited && moves.is_empty() {
                change.note(Kind::TaskEdited, id);
            }
            let act = Act {
                actor: terms.actor.clone(),
                token: None,
                at,
            };
            let mut seen = None;
            for event in moves {
                let task = change.task(id)?.clone();
                if event == Move::Start {
                    let others = named_by_others(&change.load()?.outlines, id);
                    start_in(change, terms, &act, id, (token, &others))?;
                    continue;
                }
                let ids = std::slice::from_ref(id);
                let after = transition(&task, &act, asked(list, &task, &event, ids, &mut seen)?)?;
                let (from, to) = (task.state.name(), after.state.name());
                *change.task(id)? = after;
                let entry = change.note(event.kind(), id);
                (entry.from, entry.to) = (Some(from), Some(to));
            }
            Ok(())
        })?;
        Ok(written.remove(id))
    })
}
