//! Why a run does not start a task, in words.
//!
//! Owns what is said of a blocker that the run does not know: left out of it, unreadable, or nowhere.
//! It decides nothing: the scheduler did.

use flagpost_core::{Error, List};
use flagpost_model::plan::StrandedBecause;

use crate::scheduler::Skip;

/// Why the task was skipped.
pub fn words(why: &Skip, list: &List<'_>) -> String {
    let Skip::Stranded(StrandedBecause::Unknown { waiting, missing }) = why else {
        return why.to_string();
    };
    match list.task(missing) {
        Ok(_) => format!("waits for task {missing}, which is not part of this run"),
        Err(Error::NotFound { .. }) => why.to_string(),
        Err(_) => format!("task {waiting} waits for {missing}, which cannot be read"),
    }
}
