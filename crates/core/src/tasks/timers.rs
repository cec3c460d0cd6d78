//! The clock that measures work on a task.
//!
//! Owns that an actor has at most one timer in a list: starting one stops the other. It runs in the
//! task's file, so it outlives every process.

use flagpost_model::{
    TaskId, WorkerId,
    task::{self, Outline, Task},
};

use super::only;
use crate::{error::Result, history::Kind, list::List};

/// What starting a timer did.
#[derive(Debug, Clone)]
pub struct Started {
    /// The task that is measured now.
    pub task: Task,
    /// The tasks whose timers stopped for it.
    pub stopped: Vec<Task>,
}

/// Starts `actor`'s timer on a task, and stops the one that runs.
pub fn start_timer(list: &List<'_>, actor: &WorkerId, id: &TaskId) -> Result<Started> {
    list.home.transact(|| {
        let mut change = list.change(actor)?;
        let at = change.at();
        let started = task::start_timer(change.task(id)?, actor, at)?;
        let running = running(&change.load()?.outlines, actor);
        for other in &running {
            let task = change.task(other)?;
            *task = task::stop_timer(task, actor, at)?;
            change.note(Kind::TimerStopped, other);
        }
        *change.task(id)? = started;
        change.note(Kind::TimerStarted, id);
        let mut written = change.commit()?;
        let task = only(written.remove(id).into_iter().collect(), id)?;
        let stopped = running.iter().filter_map(|other| written.remove(other));
        Ok(Started {
            task,
            stopped: stopped.collect(),
        })
    })
}

/// Stops `actor`'s timer: that of this task, or whichever runs.
pub fn stop_timer(list: &List<'_>, actor: &WorkerId, id: Option<&TaskId>) -> Result<Vec<Task>> {
    list.home.transact(|| {
        let mut change = list.change(actor)?;
        let at = change.at();
        let ids = match id {
            Some(id) => vec![id.clone()],
            None => running(&change.load()?.outlines, actor),
        };
        for id in &ids {
            let task = change.task(id)?;
            *task = task::stop_timer(task, actor, at)?;
            change.note(Kind::TimerStopped, id);
        }
        super::finish_all(change, &ids)
    })
}

fn running(outlines: &[Outline], actor: &WorkerId) -> Vec<TaskId> {
    let own = |it: &&Outline| it.timer.as_ref().is_some_and(|timer| timer.by == *actor);
    outlines
        .iter()
        .filter(own)
        .map(|it| it.id.clone())
        .collect()
}
