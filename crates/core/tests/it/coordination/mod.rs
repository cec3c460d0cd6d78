//! The coordination directory: no change is lost, whoever makes it and whatever happens meanwhile.

mod a_crash_leaves_a_whole_table;
mod as_a_list;
mod foreign_hands;
pub mod killed_hands;
pub mod races;

use std::path::Path;

use flagpost_core::{
    Home, Result,
    coordination::{self, CoordActor, CoordSnapshot, Directory},
};
use flagpost_model::{
    TaskId, WorkerId,
    coordination::{CoordResult, NewCoordTask},
};

use crate::world::worker;

fn id(text: &str) -> TaskId {
    text.parse().unwrap()
}

pub fn begin<'h>(home: &'h Home, top: &Path) -> Directory<'h> {
    coordination::init(home, &top.join(".coordination"), "Build it", None).unwrap()
}

fn draft(description: &str) -> NewCoordTask {
    NewCoordTask {
        description: description.to_owned(),
        ..NewCoordTask::default()
    }
}

pub fn add(directory: &Directory<'_>, description: &str) -> Result<TaskId> {
    let added = coordination::add(directory, &worker("ann"), &[draft(description)])?;
    Ok(added[0].id.clone())
}

fn hand(actor: &WorkerId) -> CoordActor<'_> {
    CoordActor { actor, token: None }
}

fn complete(directory: &Directory<'_>, by: &str, task: &str) -> Result<()> {
    let report = CoordResult {
        output: Some("what came of it".to_owned()),
        ..CoordResult::default()
    };
    let by = worker(by);
    coordination::complete(directory, &hand(&by), &id(task), &report).map(drop)
}

/// Each task's status and holder.
fn told(look: &CoordSnapshot) -> Vec<String> {
    let one = |(task, _): (&flagpost_model::coordination::CoordTask, _)| {
        let by = task.claim.as_ref().map(|it| it.by.as_str());
        format!("{} {} {}", task.id, task.status, by.unwrap_or("-"))
    };
    look.tasks().map(one).collect()
}
