//! What there is to show of a command that was carried out.
//!
//! Owns the shapes of `data` that are more than a task, and how long an answer may be. Changes
//! nothing.

use std::collections::HashMap;

use flagpost_disk::dialects::bridge as dialect;
use flagpost_model::{
    TaskId,
    bridge::{BridgeStatus, CommandOutcome, TaskFilter},
    tally,
    task::Task,
};
use serde_json::{Value, json};

use super::{command_context::CommandContext, outbox};
use crate::{
    error::{Error, Result},
    tasks,
};

impl CommandContext<'_> {
    /// A task with its parts in short, and how many of them are done.
    pub fn show_whole(&self, task: &Task) -> Result<Value> {
        let outlines = self.list.load()?.outlines;
        let own = outlines
            .iter()
            .filter(|it| it.parent.as_ref() == Some(&task.id));
        let now = self.bridge.home.now();
        let (mut parts, mut done) = (Vec::new(), 0);
        for part in own {
            match self.list.task(&part.id) {
                Ok(file) => {
                    done += usize::from(
                        BridgeStatus::of_state(file.task.state.name()) == BridgeStatus::Done,
                    );
                    parts.push(Value::from(dialect::summary(&file.task, &[], now)));
                }
                // It went away meanwhile.
                Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let progress = json!({"done": done, "total": parts.len()});
        let shown = self.shown(task, &outlines);
        Ok(with_keys(
            shown,
            [("subtasks", parts.into()), ("progress", progress)],
        ))
    }

    /// A task that is gone, and all that went with it: it is the last of these.
    pub fn deleted(&self, gone: &[Task]) -> Value {
        self.gone(gone, ("deleted", json!(true)))
    }

    /// A task that would be gone, and all that would go with it.
    pub fn would_go(&self, all: &[Task]) -> Value {
        self.gone(all, ("dryRun", json!(true)))
    }

    fn gone(&self, all: &[Task], said: (&'static str, Value)) -> Value {
        let Some(task) = all.last() else {
            return Value::Null;
        };
        let ids: Vec<&TaskId> = all.iter().rev().map(|it| &it.id).collect();
        with_keys(self.shown(task, &[]), [said, ("removed", json!(ids))])
    }

    /// A task with the remark that was just made on it.
    pub fn noted(&self, id: &TaskId, content: &str) -> Result<Value> {
        let shown = self.show_by_id(id)?;
        let notes = shown.get("notes").and_then(Value::as_array);
        let is_it = |note: &&Value| note.get("content").and_then(Value::as_str) == Some(content);
        let note = notes.and_then(|notes| notes.iter().rev().find(is_it));
        let note = note.cloned().unwrap_or_default();
        Ok(with_keys(shown, [("taskId", json!(id)), ("note", note)]))
    }

    /// A task that is no longer measured; so many minutes were, where that is known.
    pub fn stopped(&self, id: &TaskId, elapsed: Option<i64>) -> Result<Value> {
        let shown = self.show_by_id(id)?;
        let logged = elapsed.map(|minutes| format!(" ({minutes} minutes logged)"));
        let message = format!("Timer stopped{}", logged.unwrap_or_default());
        Ok(with_keys(
            shown,
            [("elapsed", json!(elapsed)), ("message", json!(message))],
        ))
    }

    /// Those that fit, in short: what a task says at length is for `show`.
    pub fn query(&self, wanted: &TaskFilter) -> Result<CommandOutcome> {
        let loaded = self.list.load()?;
        let selected = tasks::select(&self.list, &loaded, &wanted.query(), None, 0)?;
        let mut parts: HashMap<&TaskId, Vec<TaskId>> = HashMap::new();
        for outline in &loaded.outlines {
            if let Some(whole) = &outline.parent {
                parts.entry(whole).or_default().push(outline.id.clone());
            }
        }
        let now = self.bridge.home.now();
        let mut shown: Vec<Value> = Vec::with_capacity(selected.tasks.len());
        for outline in &selected.tasks {
            match self.list.task(&outline.id) {
                Ok(file) => {
                    let parts = parts.get(&outline.id).map_or(&[][..], Vec::as_slice);
                    shown.push(dialect::summary(&file.task, parts, now).into());
                }
                // It went away meanwhile.
                Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let is_cut = selected.total > selected.tasks.len();
        Ok(CommandOutcome::Done {
            data: shown.into(),
            total: is_cut.then_some(selected.total),
        })
    }

    /// The list in numbers.
    pub fn stats(&self) -> Result<Value> {
        let home = self.bridge.home;
        let loaded = self.list.load()?;
        let archived = TaskFilter {
            statuses: Some(vec![BridgeStatus::Archived]),
            ..TaskFilter::default()
        };
        let archived = tasks::select(&self.list, &loaded, &archived.query(), None, 0)?;
        let completed = archived.tasks.iter();
        let completed =
            completed.filter(|it| BridgeStatus::of_state(it.state.name()) == BridgeStatus::Done);
        let stats = tally::stats(&loaded.outlines, home.now(), &home.zone());
        Ok(dialect::stats(&stats, completed.count()))
    }
}

/// What is shown with these keys besides.
pub(super) fn with_keys<const N: usize>(mut shown: Value, more: [(&str, Value); N]) -> Value {
    if let Value::Object(keys) = &mut shown {
        for (key, value) in more {
            keys.insert(key.to_owned(), value);
        }
    }
    shown
}

/// A task that was left as it is, as that says.
pub(super) fn left_alone(shown: Value, message: &str) -> Value {
    let task = shown.clone();
    with_keys(shown, [("message", json!(message)), ("task", task)])
}

/// The names among these.
pub(super) fn named(counts: Vec<(Option<String>, tally::Count)>) -> Value {
    counts.into_iter().filter_map(|(name, _)| name).collect()
}

/// An answer that can be read again where it is put.
pub(super) fn fitting(outcome: CommandOutcome, only_reads: bool) -> CommandOutcome {
    let CommandOutcome::Done { data, .. } = &outcome else {
        return outcome;
    };
    let items = data.get("tasks").unwrap_or(data).as_array();
    let is_long = items.is_some_and(|items| items.len() > 1_000);
    // As it will be indented.
    let bytes = if is_long {
        format!("{data:#}").len()
    } else {
        0
    };
    match bytes > outbox::LONGEST / 2 {
        false => outcome,
        true if only_reads => CommandOutcome::Refused(format!(
            "the answer would have {bytes} bytes; ask for fewer tasks with limit"
        )),
        true => CommandOutcome::done(Value::Null),
    }
}
