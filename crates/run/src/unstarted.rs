//! Why a run does not start a task, in words.
//!
//! Owns what is said of a task, or of its blocker, that the run does not know any more: cancelled, left
//! out of it, unreadable, or nowhere. It decides nothing: the scheduler did.

use flagpost_core::{Error, List, describe};
use flagpost_model::{TaskId, plan::StrandedBecause, task::State};

use crate::scheduler::Skip;

/// Why the task was skipped.
pub fn words(task: &TaskId, why: &Skip, list: &List<'_>) -> String {
    if *why == Skip::Withdrawn {
        return withdrawn(task, list);
    }
    let Skip::Stranded(StrandedBecause::Unknown { waiting, missing }) = why else {
        return why.to_string();
    };
    match list.task(missing) {
        Ok(_) => format!("waits for task {missing}, which is not part of this run"),
        Err(Error::NotFound { .. }) => why.to_string(),
        Err(_) => format!("task {waiting} waits for {missing}, which cannot be read"),
    }
}

/// Why a task that waited for its turn is not the run's any more.
fn withdrawn(task: &TaskId, list: &List<'_>) -> String {
    match list.task(task) {
        Ok(file) if file.task.state == State::Cancelled => "somebody cancelled it".to_owned(),
        Ok(_) => "somebody took it out of this run".to_owned(),
        Err(Error::NotFound { .. }) => "somebody removed it".to_owned(),
        Err(error) => format!("its file cannot be read: {}", describe(&error)),
    }
}
