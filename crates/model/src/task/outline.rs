//! A task's outline: what planning needs, without the prose.
//!
//! Owns the small form in which whole lists are held and cached. It is derived from a [`Task`]
//! and never written back to one. Times in it are whole milliseconds, so that a cache of many
//! thousand is read in a few of them.

use jiff::{Timestamp, civil::Date, fmt::serde::timestamp::millisecond};
use serde::{Deserialize, Serialize};

use super::{Effort, Priority, State, Task, Timer};
use crate::id::TaskId;

/// The part of a task that ordering, readiness, and tables need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// The task's id.
    pub id: TaskId,
    /// Its one line.
    pub subject: String,
    /// Where it stands.
    pub state: State,
    /// Who holds it or did it.
    pub owner: Option<String>,
    /// Tasks that wait for it, as its file says.
    pub blocks: Vec<TaskId>,
    /// Tasks it waits for, as its file says.
    pub blocked_by: Vec<TaskId>,
    /// How urgent it is.
    pub priority: Option<Priority>,
    /// The feature it belongs to.
    pub group: Option<String>,
    /// The planner's name for it.
    pub uid: Option<String>,
    /// How often it was claimed.
    pub attempts: u32,
    /// How large it is.
    pub complexity: Option<String>,
    /// The project it belongs to.
    pub project: Option<String>,
    /// Free labels.
    pub tags: Vec<String>,
    /// The files that it says it will touch.
    pub files: Vec<String>,
    /// When it is due.
    pub due: Option<Date>,
    /// It is not handed out before.
    #[serde(with = "millisecond::optional")]
    pub not_before: Option<Timestamp>,
    /// The task it is part of.
    pub parent: Option<TaskId>,
    /// How much work it was thought to be.
    pub estimate: Option<Effort>,
    /// How much work was measured.
    pub tracked: Effort,
    /// The running timer.
    pub timer: Option<Timer>,
    /// When it was added, where that is known.
    #[serde(with = "millisecond::optional")]
    pub added_at: Option<Timestamp>,
    /// When its last worker was through with it.
    #[serde(with = "millisecond::optional")]
    pub ended_at: Option<Timestamp>,
}

impl From<&Task> for Outline {
    fn from(task: &Task) -> Self {
        Self {
            id: task.id.clone(),
            subject: task.subject.clone(),
            state: task.state.clone(),
            owner: task.owner.clone(),
            blocks: task.blocks.clone(),
            blocked_by: task.blocked_by.clone(),
            priority: task.priority,
            group: task.group.clone(),
            uid: task.uid.clone(),
            attempts: task.attempts,
            complexity: task.complexity.clone(),
            project: task.project.clone(),
            tags: task.tags.clone(),
            files: task.files(),
            due: task.due,
            not_before: task.not_before,
            parent: task.parent.clone(),
            estimate: task.estimate,
            tracked: task.tracked,
            timer: task.timer.clone(),
            added_at: task.provenance.as_ref().map(|it| it.at),
            ended_at: task.result.as_ref().map(|result| result.at),
        }
    }
}
