//! The tasks of a session that were begun in it and have no end, and how far each came.
//!
//! A projection of `progress.jsonl`, and of `progress.md` where another program ran the session. A task
//! with a row in the log is none of these, nor is one that an agent works on now.

use std::collections::BTreeMap;

use flagpost_model::{TaskId, session::ActiveTask};
use serde_json::{Map, Value};

/// A task that was begun and has no end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Which.
    pub id: TaskId,
    /// Its subject.
    pub subject: String,
    /// How far it came.
    pub how: How,
    /// Which attempt of how many, where that is known.
    pub attempt: Option<(u32, u32)>,
}

/// How far a task came that has no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It asks a person.
    Asks,
    /// It rests until its agent's account is within its limits again.
    Parked,
    /// The operator ended the run, or its agent, before it was done.
    Stopped,
    /// It is to be tried again; in a session that is over, it was broken off.
    Unended,
}

impl How {
    /// In a word, of a session that still runs or of one that does not.
    pub fn word(self, runs: bool) -> &'static str {
        match (self, runs) {
            (Self::Asks, _) => "asks",
            (Self::Parked, _) => "parked",
            (Self::Stopped, _) => "stopped",
            (Self::Unended, true) => "between tries",
            (Self::Unended, false) => "broken off",
        }
    }
}

/// How far the tasks came that events tell of; nothing of one that ended.
pub(super) fn of(events: &[Map<String, Value>]) -> BTreeMap<TaskId, Left> {
    let mut left = BTreeMap::new();
    events.iter().for_each(|event| take_in(&mut left, event));
    left
}

/// One that was at work when its session died, as its progress file says.
pub(super) fn broken_off(task: ActiveTask) -> Left {
    Left {
        id: task.id,
        subject: task.subject,
        how: How::Unended,
        attempt: None,
    }
}

fn take_in(left: &mut BTreeMap<TaskId, Left>, event: &Map<String, Value>) {
    let text = |key: &str| event.get(key).and_then(Value::as_str);
    let number = |key: &str| u32::try_from(event.get(key)?.as_u64()?).ok();
    let Some(id) = text("task").and_then(|id| id.parse::<TaskId>().ok()) else {
        return;
    };
    let how = match (text("event"), text("outcome").or(text("fate"))) {
        (Some("task.started"), _) => How::Unended,
        (Some("task.ended"), Some("STUCK")) | (Some("task.settled"), Some("stuck")) => How::Asks,
        (Some("task.ended"), Some("PARKED")) | (Some("task.settled"), Some("parked")) => {
            How::Parked
        }
        (Some("task.ended"), Some("STOPPED")) | (Some("task.settled"), Some("interrupted")) => {
            How::Stopped
        }
        (Some("task.settled"), Some("passed" | "partial" | "failed")) => {
            left.remove(&id);
            return;
        }
        _ => return,
    };
    if text("event") == Some("task.started") {
        let subject = text("subject").unwrap_or_default().to_owned();
        let attempt = number("attempt").zip(number("attempts"));
        let begun = Left {
            id: id.clone(),
            subject,
            how,
            attempt,
        };
        left.insert(id, begun);
    } else if let Some(task) = left.get_mut(&id) {
        task.how = how;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn how_far_each_task_came_is_what_was_told_of_it_last() {
        let began = |task| json!({"event": "task.started", "task": task, "subject": "S", "attempt": 1, "attempts": 3});
        let ended = |task, how| json!({"event": "task.ended", "task": task, "outcome": how});
        let settled = |task, how| json!({"event": "task.settled", "task": task, "fate": how});
        let told = [
            began("1"),
            ended("1", "PASS"),
            settled("1", "passed"),
            began("2"),
            ended("2", "STUCK"),
            began("3"),
            ended("3", "PARKED"),
            settled("3", "parked"),
            began("4"),
            ended("4", "FAIL"),
            began("5"),
            ended("5", "STOPPED"),
            settled("5", "interrupted"),
            // Never begun.
            settled("6", "interrupted"),
            began("7"),
            ended("7", "STUCK"),
            json!({"event": "task.answered", "task": "7"}),
            began("7"),
        ];
        let told = told.into_iter().filter_map(|it| it.as_object().cloned());
        let left = of(&told.collect::<Vec<_>>());
        let said = left.values().map(|it| (it.id.as_str(), it.how.word(false)));
        assert_eq!(
            said.collect::<Vec<_>>(),
            [
                ("2", "asks"),
                ("3", "parked"),
                ("4", "broken off"),
                ("5", "stopped"),
                ("7", "broken off"),
            ]
        );
        assert_eq!(left[&"2".parse().unwrap()].attempt, Some((1, 3)));
    }
}
