//! The fields of a task as somebody asks for them.
//!
//! Owns what asking for a field does to a task: which values take one away, and that no key of the
//! metadata stands in for a field. Whether other tasks allow it is for the operation to ask.

use flagpost_disk::dialects::claude_tasks;
use flagpost_model::{
    TaskId,
    task::{Effort, Origin, Priority, Task},
};
use jiff::{Timestamp, civil::Date};
use serde_json::Value;

use crate::error::{Error, Result};

/// What a new task is made of, and what an edit may set: `None` leaves a field as it is, and
/// `Some(None)` takes it away. So does an empty text, where the field is an optional text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    /// One line: what is to be done.
    pub subject: Option<String>,
    /// The rest, Markdown.
    pub description: Option<String>,
    /// The subject as an activity.
    pub active_form: Option<String>,
    /// How urgent it is.
    pub priority: Option<Option<Priority>>,
    /// How large it is.
    pub complexity: Option<String>,
    /// The feature it belongs to.
    pub group: Option<String>,
    /// The project it belongs to.
    pub project: Option<String>,
    /// Labels.
    pub tags: Labels,
    /// When it is due.
    pub due: Option<Option<Date>>,
    /// Not to be handed out before.
    pub not_before: Option<Option<Timestamp>>,
    /// The task it is part of.
    pub parent: Option<Option<TaskId>>,
    /// How much work it is thought to be.
    pub estimate: Option<Option<Effort>>,
    /// The planner's name for it.
    pub uid: Option<String>,
    /// Metadata that is none of our fields, by key.
    pub metadata: Vec<(String, Option<Value>)>,
    /// What sort of hand adds it; an edit leaves it alone.
    pub origin: Option<Origin>,
}

/// What becomes of a task's labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Labels {
    /// These, and no others.
    Set(Vec<String>),
    /// Those it has, with some more and some fewer.
    Change {
        /// More.
        add: Vec<String>,
        /// Fewer.
        remove: Vec<String>,
    },
}

impl Default for Labels {
    fn default() -> Self {
        Self::Change {
            add: Vec::new(),
            remove: Vec::new(),
        }
    }
}

impl Fields {
    /// Sets these fields.
    pub(crate) fn apply(&self, task: &mut Task) {
        fn set<T: Clone>(field: &mut T, value: &Option<T>) {
            if let Some(value) = value {
                field.clone_from(value);
            }
        }
        fn set_optional(field: &mut Option<String>, value: &Option<String>) {
            if let Some(value) = value {
                *field = (!value.is_empty()).then(|| value.clone());
            }
        }
        set(&mut task.subject, &self.subject);
        set(&mut task.description, &self.description);
        set(&mut task.active_form, &self.active_form);
        set(&mut task.priority, &self.priority);
        set(&mut task.not_before, &self.not_before);
        set(&mut task.parent, &self.parent);
        set(&mut task.estimate, &self.estimate);
        set_optional(&mut task.complexity, &self.complexity);
        set_optional(&mut task.group, &self.group);
        set_optional(&mut task.project, &self.project);
        set_optional(&mut task.uid, &self.uid);
        self.tags.apply(&mut task.tags);
        if let Some(due) = self.due.filter(|due| *due != task.due) {
            task.due = due;
        }
        for (key, value) in &self.metadata {
            match value {
                Some(value) => drop(task.metadata.insert(key.clone(), value.clone())),
                None => drop(task.metadata.shift_remove(key)),
            }
        }
    }

    /// Refuses what no task may be made of.
    pub(crate) fn check(&self) -> Result<()> {
        let invalid = |what: &str, reason: &str| {
            Err(Error::Invalid {
                what: what.to_owned(),
                reason: reason.to_owned(),
            })
        };
        if self.subject.as_ref().is_some_and(|it| it.trim().is_empty()) {
            return invalid("subject", "a task needs one");
        }
        if self
            .subject
            .as_ref()
            .is_some_and(|it| it.contains(['\n', '\r']))
        {
            return invalid("subject", "one line; the rest belongs into --description");
        }
        for (key, _) in &self.metadata {
            if key.trim().is_empty() {
                return invalid("metadata", "a key needs a name");
            }
            if claude_tasks::is_field(key) {
                return invalid(key, "it is a field with an option of its own");
            }
        }
        Ok(())
    }
}

impl Labels {
    /// A task has a label once, and none that is empty.
    fn apply(&self, tags: &mut Vec<String>) {
        let more = match self {
            Self::Set(new) => {
                tags.clear();
                new
            }
            Self::Change { add, remove } => {
                tags.retain(|tag| !remove.contains(tag));
                add
            }
        };
        for tag in more.iter().filter(|tag| !tag.trim().is_empty()) {
            if !tags.contains(tag) {
                tags.push(tag.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_there_once_and_never_empty() {
        let texts = |texts: &[&str]| texts.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let mut tags = texts(&["old"]);
        Labels::Set(texts(&["a", "", "a", " ", "b"])).apply(&mut tags);
        assert_eq!(tags, ["a", "b"]);
        let change = Labels::Change {
            add: texts(&["", "b", "c", "c"]),
            remove: texts(&["a"]),
        };
        change.apply(&mut tags);
        assert_eq!(tags, ["b", "c"]);
    }
}
