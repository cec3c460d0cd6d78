//! What an import may change.
//!
//! Owns that importing again changes what the source changed since, and nothing else: what people
//! and agents did here meanwhile is never taken back. An import takes a field away only where its
//! source says that it is empty, and had it before; it completes and cancels what nobody has begun, and never reopens.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::Serialize;

use super::{Format, Incoming};
use crate::{
    id::{TaskId, WorkerId},
    task::{Ending, Origin, Provenance, SourceBaseline, State, StateName, Task, TaskResult},
};

/// What it is called, among what a source said of a task.
const SOURCE: &str = "source";

/// Whether a plan of this name last brought the task.
pub fn is_from(task: &Task, format: Format, source: &str) -> bool {
    task.said.recalls(format.as_str(), SOURCE, &source)
}

/// Who imports, from what, into what, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportContext<'h> {
    /// Who.
    pub by: &'h WorkerId,
    /// From what.
    pub format: Format,
    /// What the source is called, where it is a plan that tasks may go from.
    pub source: Option<&'h str>,
    /// The list, as an export of it is marked.
    pub list: &'h str,
    /// When.
    pub at: Timestamp,
}

/// A task of the list with what a source said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The task.
    pub task: Task,
    /// Fields that were changed both here and in the source: they are now as the source says.
    pub overwritten: Vec<&'static str>,
    /// How it ended there, where somebody here is at it or was, so that it stands as it stood.
    pub kept_state: Option<StateName>,
}

/// The other tasks that the source names, as it and as the list call them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Links<'l> {
    /// What the task is part of.
    pub parent: Option<(&'l str, &'l TaskId)>,
    /// What comes first.
    pub after: Vec<Blocker<'l>>,
}

/// What comes before a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocker<'l> {
    /// Its name for good.
    pub uid: &'l str,
    /// Its id in the list.
    pub id: &'l TaskId,
    /// Whether it was in the list before, so that somebody may have removed the link on purpose.
    pub is_known: bool,
}

impl Incoming {
    /// The new task that it becomes. The other side of what it waits for is for the caller to link.
    pub fn create(&self, id: TaskId, links: &Links<'_>, hand: ImportContext<'_>) -> Task {
        let theirs = &self.task;
        let mut task = Task {
            owner: theirs.owner.clone(),
            state: unclaimed(&theirs.state),
            uid: Some(self.uid.clone()),
            tracked: theirs.tracked,
            notes: theirs.notes.clone(),
            attempts: theirs.attempts,
            // A token counts in the history that gave it out, which is not this one.
            result: self.result(hand).map(untokened),
            late: theirs.late.iter().cloned().map(untokened).collect(),
            provenance: theirs.provenance.clone().or_else(|| {
                Some(Provenance {
                    origin: Origin::Import,
                    by: hand.by.clone(),
                    at: self.created.unwrap_or(hand.at),
                })
            }),
            ..Task::new(id, "")
        };
        self.set_fields(&mut task, links, hand);
        if task.state != State::Pending {
            let mut said = task.said.source(hand.format.as_str());
            said.record("state", &task.state.name());
        }
        task
    }

    /// The task of the list, with what the source changed since it was last imported.
    pub fn merge(&self, task: &Task, links: &Links<'_>, hand: ImportContext<'_>) -> Merged {
        let theirs = &self.task;
        let mut after = task.clone();
        let overwritten = self.set_fields(&mut after, links, hand);
        let told = unclaimed(&theirs.state);
        let ends = matches!(told, State::Completed | State::Cancelled);
        // Whoever holds the task decides; should they give it back, this is still news.
        let is_free = task.state == State::Pending || task.state == told;
        let kept_state = (ends && !is_free && !task.state.is_over()).then(|| told.name());
        let mut said = after.said.source(hand.format.as_str());
        if ends && is_free && said.record("state", &told.name()) && task.state != told {
            after.state = told;
            after.result = self.result(hand).or(after.result);
            after.owner = theirs.owner.clone().or(after.owner);
        }
        for note in &theirs.notes {
            if !after.notes.contains(note) {
                after.notes.push(note.clone());
            }
        }
        // To remember what was said is no change of a task that is as the source says.
        let same = Task {
            said: task.said.clone(),
            ..after.clone()
        };
        let task = match task.said.is_empty() && same == *task {
            true => same,
            false => after,
        };
        Merged {
            task,
            overwritten,
            kept_state,
        }
    }

    fn result(&self, hand: ImportContext<'_>) -> Option<TaskResult> {
        let closed = |_| {
            let closing = self.closing.as_ref()?;
            Some(TaskResult {
                ending: Ending::Completed,
                text: closing.text.clone(),
                by: closing.by.clone().unwrap_or_else(|| hand.by.clone()),
                at: closing.at.unwrap_or(hand.at),
                token: None,
            })
        };
        let completed = self.task.state == State::Completed;
        let closed = completed.then_some(()).and_then(closed);
        self.task.result.clone().or(closed)
    }

    /// Sets the fields that the source says something new of; those among them that were changed
    /// here too.
    fn set_fields(
        &self,
        task: &mut Task,
        links: &Links<'_>,
        hand: ImportContext<'_>,
    ) -> Vec<&'static str> {
        let theirs = &self.task;
        let is_ours = self.exported_from.as_deref() == Some(hand.list);
        let ear = &mut FieldMerge {
            saw_this: is_ours && theirs.rev > 0 && theirs.rev == task.rev,
            emptied: &self.emptied,
            overwritten: Vec::new(),
            said: task.said.source(hand.format.as_str()),
        };
        ear.merge("subject", &theirs.subject, &mut task.subject);
        ear.merge("description", &theirs.description, &mut task.description);
        ear.merge("active_form", &theirs.active_form, &mut task.active_form);
        ear.merge("priority", &theirs.priority, &mut task.priority);
        ear.merge("complexity", &theirs.complexity, &mut task.complexity);
        ear.merge("group", &theirs.group, &mut task.group);
        ear.merge("project", &theirs.project, &mut task.project);
        ear.merge("tags", &theirs.tags, &mut task.tags);
        ear.merge("due", &theirs.due, &mut task.due);
        ear.merge("not_before", &theirs.not_before, &mut task.not_before);
        ear.merge("estimate", &theirs.estimate, &mut task.estimate);
        let uid = links.parent.map(|(uid, _)| uid);
        if ear.is_news("parent", &uid, task.parent.is_none()) {
            task.parent = links.parent.map(|(_, id)| id.clone());
        }
        let (saw_this, said) = (ear.saw_this, &mut ear.said);
        for blocker in &links.after {
            let is_news = saw_this || !blocker.is_known || !said.lists("after", blocker.uid);
            if is_news && !task.blocked_by.contains(blocker.id) {
                task.blocked_by.push(blocker.id.clone());
            }
        }
        if !links.after.is_empty() {
            let uids: Vec<&str> = links.after.iter().map(|it| it.uid).collect();
            said.list("after", &uids);
        }
        for (key, value) in &theirs.metadata {
            if said.record(&format!("metadata.{key}"), value) || saw_this {
                task.metadata.insert(key.clone(), value.clone());
            }
        }
        if let Some(source) = hand.source {
            said.record(SOURCE, &source);
        }
        std::mem::take(&mut ear.overwritten)
    }
}

/// What an import listens with.
struct FieldMerge<'e> {
    /// Whether the source was exported from this very revision of the task: then every difference
    /// is somebody's edit of the file.
    saw_this: bool,
    emptied: &'e BTreeSet<&'static str>,
    overwritten: Vec<&'static str>,
    said: SourceBaseline<'e>,
}

impl FieldMerge<'_> {
    /// Takes what the source says of a field, where it says something, and something new.
    fn merge<T>(&mut self, field: &'static str, theirs: &T, ours: &mut T)
    where
        T: Serialize + Clone + PartialEq + MaybeUnset,
    {
        let was_changed = !self.saw_this && self.said.differs(field, ours);
        if self.is_news(field, theirs, ours.is_unset()) {
            if was_changed && ours != theirs {
                self.overwritten.push(field);
            }
            ours.clone_from(theirs);
        }
    }

    fn is_news(
        &mut self,
        field: &str,
        theirs: &(impl Serialize + MaybeUnset),
        is_empty: bool,
    ) -> bool {
        let is_told = if theirs.is_unset() {
            // That a field is empty means something to whoever had it.
            let had_it = self.said.has_named(field) || self.saw_this && !is_empty;
            had_it && self.emptied.contains(field)
        } else {
            true
        };
        is_told && (self.said.record(field, theirs) || self.saw_this)
    }
}

/// A value that says nothing.
trait MaybeUnset {
    fn is_unset(&self) -> bool;
}

impl MaybeUnset for String {
    fn is_unset(&self) -> bool {
        self.is_empty()
    }
}

impl<T> MaybeUnset for Option<T> {
    fn is_unset(&self) -> bool {
        self.is_none()
    }
}

impl<T> MaybeUnset for Vec<T> {
    fn is_unset(&self) -> bool {
        self.is_empty()
    }
}

fn untokened(result: TaskResult) -> TaskResult {
    TaskResult {
        token: None,
        ..result
    }
}

/// The state without a holder: nobody holds a task that has just come.
fn unclaimed(state: &State) -> State {
    match state {
        State::Pending | State::Claimed(_) | State::InProgress(_) => State::Pending,
        State::Completed | State::Failed | State::Stuck | State::Cancelled => state.clone(),
    }
}
