//! Owns the grammar below. It reads text into plain data and touches no file and no list.
//! Invariant: what looks like an instruction and cannot be followed is an error that names its
//! line; a plan is never half understood. It must never guess.
//!
#![doc = include_str!("../../../../../docs/formats/markdown-plan.md")]

mod lines;
mod links;
mod notes;
mod read;
mod write;

#[cfg(test)]
mod tests;

pub use write::{leaves_out, write};

use flagpost_model::{
    TaskId,
    intake::{Closing, Draft, Drafts},
    task::{Effort, Priority, State, Task},
};
use jiff::{Timestamp, civil::Date};

/// A plan, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The document's title, if it has one.
    pub title: Option<String>,
    /// Its tasks, in the order of the document; at least one.
    pub tasks: Vec<PlannedTask>,
    /// What looks like an instruction and is none, by line.
    pub warnings: Vec<(usize, String)>,
}

/// A task that is yet to be added to a list, or found there by its uid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedTask {
    /// Its name for good; unique within the plan.
    pub uid: String,
    /// One line: what is to be done.
    pub subject: String,
    /// The rest, Markdown.
    pub description: String,
    /// What comes first, by position in the plan; without circles.
    pub after: Vec<usize>,
    /// Whether its box is ticked.
    pub done: bool,
    /// How urgent it is.
    pub priority: Option<Priority>,
    /// The feature it belongs to.
    pub group: Option<String>,
    /// How large it is, in the writer's own scale.
    pub complexity: Option<String>,
    /// The project it belongs to.
    pub project: Option<String>,
    /// Free labels.
    pub tags: Vec<String>,
    /// When it is due.
    pub due: Option<Date>,
    /// Not to be handed out before.
    pub not_before: Option<Timestamp>,
    /// How much work it is thought to be.
    pub estimate: Option<Effort>,
    /// Where it stands, where that is neither to be done nor done.
    pub state: Option<State>,
    /// What it is part of, by position in the plan.
    pub parent: Option<usize>,
    /// The line of its subject, from 1.
    pub line: usize,
}

/// Why a text is not a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Nothing in it is a task.
    #[error("the plan has no tasks: write them as a checklist (- [ ] Subject) or as headings")]
    NoTasks,
    /// Nothing is a task, and a line is nearly one.
    #[error("the plan has no tasks; line {line} is nearly one: {why}")]
    NearlyATask {
        /// Where.
        line: usize,
        /// What keeps it from being one.
        why: &'static str,
    },
    /// A code fence that swallows the rest.
    #[error("line {line}: this code fence is never closed")]
    OpenFence {
        /// Where it opens.
        line: usize,
    },
    /// A task without a subject.
    #[error("line {line}: this task has no subject")]
    NoSubject {
        /// Where.
        line: usize,
    },
    /// `(after: …)` where it would be taken for text.
    #[error("line {line}: (after: …) belongs at the end of the line")]
    MisplacedAfter {
        /// Where.
        line: usize,
    },
    /// Braces that set fields, with something in them that is none.
    #[error("line {line}: {text:?} sets nothing: write {{key: value, …}}")]
    NotAField {
        /// Where.
        line: usize,
        /// The part that is no field.
        text: String,
    },
    /// A field that tasks do not have.
    #[error("line {line}: unknown field {key:?}; allowed are {}", notes::KEYS.join(", "))]
    UnknownField {
        /// Where.
        line: usize,
        /// The field.
        key: String,
    },
    /// The same field twice.
    #[error("line {line}: {key} is set twice")]
    RepeatedField {
        /// Where.
        line: usize,
        /// The field.
        key: String,
    },
    /// A value that the field cannot have.
    #[error("line {line}: {key} cannot be {value:?}; allowed: {allowed}")]
    BadValue {
        /// Where.
        line: usize,
        /// The field.
        key: String,
        /// The value.
        value: String,
        /// What it can be.
        allowed: String,
    },
    /// `(after: …)` names no task.
    #[error("line {line}: no task is called {text:?}; there is {}", candidates.join(", "))]
    UnknownTask {
        /// Where.
        line: usize,
        /// The name.
        text: String,
        /// What may be meant.
        candidates: Vec<String>,
    },
    /// `(after: …)` names several tasks.
    #[error("line {line}: {text:?} may be {}", candidates.join(" or "))]
    AmbiguousTask {
        /// Where.
        line: usize,
        /// The name.
        text: String,
        /// Those it fits.
        candidates: Vec<String>,
    },
    /// Tasks that wait for each other.
    #[error("line {line}: these tasks wait for each other: {}", path.join(" → "))]
    Cycle {
        /// Where the first of them is.
        line: usize,
        /// Their subjects, the first one repeated at the end; each waits for the next.
        path: Vec<String>,
    },
    /// Two tasks with one uid.
    #[error("line {line}: the uid {uid:?} is taken by the task of line {taken_by}")]
    RepeatedUid {
        /// Where.
        line: usize,
        /// The uid.
        uid: String,
        /// Where it is first.
        taken_by: usize,
    },
}

/// What `(after: 2)` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    /// What is written.
    Written(u64),
    /// The position among the outermost tasks.
    Position,
    /// Nothing: it is a part.
    None,
}

/// Reads a plan.
pub fn parse(text: &str) -> Result<Plan, PlanError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let document = read::document(&text)?;
    if document.entries.is_empty() {
        return Err(PlanError::NoTasks);
    }
    let mut tasks = Vec::with_capacity(document.entries.len());
    let mut numbers = Vec::with_capacity(document.entries.len());
    let mut references = Vec::with_capacity(document.entries.len());
    let mut parents = Vec::with_capacity(document.entries.len());
    let nearly = document.nearly.into_iter();
    let nearly = nearly.map(|(line, why)| (line, format!("this is nearly a task: {why}")));
    let mut warnings: Vec<(usize, String)> = nearly.collect();
    for entry in document.entries {
        let line = entry.line;
        let notes = notes::split(entry.text, line)?;
        if notes.subject.is_empty() {
            return Err(PlanError::NoSubject { line });
        }
        warnings.extend(notes.warning.map(|warning| (line, warning)));
        numbers.push(match entry.part_of {
            Some(_) => Number::None,
            None => entry.number.map_or(Number::Position, Number::Written),
        });
        references.push(notes.after);
        parents.push(notes.fields.parent);
        tasks.push(PlannedTask {
            uid: notes.fields.uid.unwrap_or_default(),
            subject: notes.subject,
            description: entry.description,
            after: Vec::new(),
            done: entry.done,
            priority: notes.fields.priority,
            group: notes.fields.group,
            complexity: notes.fields.complexity,
            project: notes.fields.project,
            tags: notes.fields.tags,
            due: notes.fields.due,
            not_before: notes.fields.not_before,
            estimate: notes.fields.estimate,
            state: notes.fields.state,
            parent: entry.part_of,
            line,
        });
    }
    links::name(&mut tasks)?;
    links::resolve(&mut tasks, &numbers, &references, &parents)?;
    links::warn(&tasks, &mut warnings);
    warnings.sort();
    Ok(Plan {
        title: document.title,
        tasks,
        warnings,
    })
}

impl From<Plan> for Drafts {
    fn from(plan: Plan) -> Self {
        let tasks = plan.tasks.into_iter().enumerate();
        let warnings = plan.warnings.into_iter();
        Self {
            drafts: tasks.map(|(at, task)| task.draft(at)).collect(),
            broken: Vec::new(),
            warnings: warnings
                .map(|(line, text)| format!("line {line}: {text}"))
                .collect(),
        }
    }
}

impl PlannedTask {
    fn draft(self, at: usize) -> Draft {
        let task = Task {
            description: self.description,
            state: match (self.state, self.done) {
                (Some(state), _) => state,
                (None, true) => State::Completed,
                (None, false) => State::Pending,
            },
            priority: self.priority,
            group: self.group,
            complexity: self.complexity,
            project: self.project,
            tags: self.tags,
            due: self.due,
            not_before: self.not_before,
            estimate: self.estimate,
            ..Task::new(TaskId::from(1), self.subject)
        };
        let closing = self.done.then(|| Closing {
            text: "marked done in the plan".to_owned(),
            ..Closing::default()
        });
        let mut draft = Draft::new(format!("line {}", self.line), self.uid, task);
        draft.incoming.closing = closing;
        draft.key = at.to_string();
        draft.after = self.after.iter().map(usize::to_string).collect();
        draft.parent = self.parent.map(|at| at.to_string());
        draft
    }
}
