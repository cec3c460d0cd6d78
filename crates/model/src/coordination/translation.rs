//! A task of a coordination directory as a task of a list, and back.
//!
//! Owns which word of the one is which of the other. Invariant: a task that goes there and comes back
//! is known again by its label, and says of its fields what it said before or nothing.

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use serde_json::json;

use super::{CoordClaim, CoordPriority, CoordStatus, CoordTask, NewCoordTask};
use crate::{
    id::TaskId,
    intake::{self, Closing},
    task::{self, Ending, State},
};

/// What the label begins with that says which task of a list it is.
pub(super) const LABEL: &str = "uid:";

impl CoordTask {
    /// The name for good that the label gives it, where it came from a list.
    pub fn uid(&self) -> Option<&str> {
        self.tags.iter().find_map(|tag| tag.strip_prefix(LABEL))
    }
}

/// What a task of a list is in the table, and where it stands there. What it waits for and is part of
/// is for the caller to name. A task that somebody holds in the list is nobody's to claim there.
pub fn from_list(task: &task::Task, uid: &str) -> (NewCoordTask, CoordStatus) {
    let mut description = task.subject.clone();
    if !task.description.trim().is_empty() {
        description += &format!("\n\n{}", task.description.trim_end());
    }
    let mut tags = task.tags.clone();
    tags.push(format!("{LABEL}{uid}"));
    let draft = NewCoordTask {
        description,
        priority: task.priority.map(|it| {
            CoordPriority::nearest(match it {
                task::Priority::Critical => 1,
                task::Priority::High => 3,
                task::Priority::Medium => 5,
                task::Priority::Low => 8,
            })
        }),
        tags,
        estimate: task.estimate.and_then(|it| it.minutes().try_into().ok()),
        ..NewCoordTask::default()
    };
    let status = match &task.state {
        State::Pending => CoordStatus::Available,
        State::Claimed(_) | State::InProgress(_) | State::Stuck => CoordStatus::Blocked,
        State::Completed => CoordStatus::Done,
        State::Failed => CoordStatus::Failed,
        State::Cancelled => CoordStatus::Cancelled,
    };
    (draft, status)
}

/// The one line, and the rest.
pub(super) fn split(description: &str) -> (&str, &str) {
    match description.trim_start().split_once('\n') {
        Some((subject, rest)) => {
            let rest = rest.strip_prefix('\r').unwrap_or(rest);
            (subject.trim_end(), rest.strip_prefix('\n').unwrap_or(rest))
        }
        None => (description.trim(), ""),
    }
}

/// How urgent it is in a list. The middle is what a task has that nobody said it of.
pub(super) fn priority_of(priority: CoordPriority) -> Option<task::Priority> {
    match priority.get() {
        ..=2 => Some(task::Priority::Critical),
        3..=4 => Some(task::Priority::High),
        5 => None,
        6 => Some(task::Priority::Medium),
        7.. => Some(task::Priority::Low),
    }
}

/// What a task of the table is in a list. `uid` is its name for good there, `zone` what
/// its times mean.
pub fn to_list(from: &CoordTask, uid: String, zone: &TimeZone) -> intake::Draft {
    let (subject, description) = split(from.description.trim_end());
    let mut task = task::Task::new(TaskId::from(1), subject);
    task.description = description.to_owned();
    task.priority = priority_of(from.priority);
    task.estimate = from
        .estimate
        .map(|it| task::Effort::from_minutes(it.into()));
    let labels = from.tags.iter().filter(|tag| !tag.starts_with(LABEL));
    task.tags = labels.cloned().collect();
    task.state = match from.status {
        CoordStatus::Available | CoordStatus::Claimed | CoordStatus::InProgress => State::Pending,
        CoordStatus::Done => State::Completed,
        CoordStatus::Failed => State::Failed,
        CoordStatus::Cancelled => State::Cancelled,
        CoordStatus::Blocked => State::Stuck,
    };
    let lists = [
        ("files", &from.files),
        ("required_capabilities", &from.required_capabilities),
    ];
    let said = lists.into_iter().filter(|(_, it)| !it.is_empty());
    let said = said.map(|(key, it)| (key.to_owned(), json!(it)));
    let hints = from.hints.iter().map(|it| ("hints".to_owned(), json!(it)));
    task.metadata = said.chain(hints).collect();
    let moment = |at: Option<DateTime>| -> Option<Timestamp> {
        Some(at?.to_zoned(zone.clone()).ok()?.timestamp())
    };
    let by = from.claim.as_ref().map(|it| it.by.clone());
    if from.status == CoordStatus::Done {
        task.owner.clone_from(&by);
    }
    let mut draft = intake::Draft::new(from.id.to_string(), uid, task);
    draft.incoming.created = moment(from.created_at);
    draft.incoming.closing = (from.status == CoordStatus::Done).then(|| Closing {
        text: from.result.output.clone().unwrap_or_default(),
        by: by.as_deref().and_then(|it| it.parse().ok()),
        at: moment(from.completed_at),
    });
    if let (CoordStatus::Failed, Some(error), Some(by)) = (from.status, &from.result.error, by)
        && let (Ok(by), Some(at)) = (
            by.parse(),
            moment(from.claim.as_ref().and_then(|it: &CoordClaim| it.at)),
        )
    {
        draft.incoming.task.result = Some(task::TaskResult {
            ending: Ending::Failed,
            text: error.clone(),
            by,
            at,
            token: None,
        });
    }
    draft.held = from.holder().is_some();
    draft.key = from.id.to_string();
    draft.after = from.dependencies.iter().map(ToString::to_string).collect();
    draft.parent = from.parent.as_ref().map(ToString::to_string);
    draft
}
