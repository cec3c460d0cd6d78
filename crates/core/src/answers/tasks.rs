//! Tasks.

use flagpost_model::{
    ListRef, SessionId, TaskId, Token, WorkerId,
    plan::PartsProgress,
    task::{
        self, Effort, Every, NoteKind, Priority, Provenance, Question, StateName, TaskResult, Timer,
    },
};
use jiff::{Timestamp, civil::Date};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::each;
use crate::{Loaded, Skipped};

/// A task in full.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Task<'a> {
    /// Its id within its list; those that Flagpost gives are decimal numbers.
    pub id: &'a TaskId,
    /// What is to be done, on one line.
    pub subject: &'a str,
    /// The rest, Markdown; may be empty.
    pub description: &'a str,
    /// Where it stands.
    pub state: StateName,
    /// Who holds it or did it; a foreign writer may have put any text here.
    pub owner: Option<&'a str>,
    /// Null unless the task is claimed or in progress; it may have expired.
    pub claim: Option<Claim<'a>>,
    /// The tasks that wait for this one.
    pub blocks: &'a [TaskId],
    /// The tasks that this one waits for.
    pub blocked_by: &'a [TaskId],
    /// How urgent it is; null where nobody said.
    pub priority: Option<Priority>,
    /// How large it is, in the planner's own scale.
    pub complexity: Option<&'a str>,
    /// The feature it belongs to.
    pub group: Option<&'a str>,
    /// The project it belongs to.
    pub project: Option<&'a str>,
    /// Its labels.
    pub tags: &'a [String],
    /// The day it is due.
    pub due: Option<Date>,
    /// It is not handed out before.
    pub not_before: Option<Timestamp>,
    /// How often it comes again; null where it does not.
    pub recurrence: Option<Every>,
    /// The task it is part of.
    pub parent: Option<&'a TaskId>,
    /// The planner's own name for it, by which an import finds it again.
    pub uid: Option<&'a str>,
    /// How much work it was thought to be.
    pub estimate_minutes: Option<u64>,
    /// How much work was measured, without a timer that runs.
    pub tracked_seconds: u64,
    /// The timer that runs; null where none does.
    pub timer: Option<&'a Timer>,
    /// Remarks and answers, oldest first.
    pub notes: Vec<Note<'a>>,
    /// Metadata of your own, by key, as it stands in the file.
    pub metadata: &'a Map<String, Value>,
    /// Where it came from; null where another program wrote it.
    pub provenance: Option<&'a Provenance>,
    /// How often it was claimed.
    pub attempts: u32,
    /// Grows by one with every change that Flagpost makes.
    pub rev: u64,
    /// What the last worker said on ending it.
    pub result: Option<&'a TaskResult>,
    /// Results that came after their claim was over: kept, never applied.
    pub late: &'a [TaskResult],
}

impl<'a> From<&'a task::Task> for Task<'a> {
    fn from(task: &'a task::Task) -> Self {
        Self {
            id: &task.id,
            subject: &task.subject,
            description: &task.description,
            state: task.state.name(),
            owner: task.owner.as_deref(),
            claim: task.state.claim().map(Claim::from),
            blocks: &task.blocks,
            blocked_by: &task.blocked_by,
            priority: task.priority,
            complexity: task.complexity.as_deref(),
            group: task.group.as_deref(),
            project: task.project.as_deref(),
            tags: &task.tags,
            due: task.due,
            not_before: task.not_before,
            recurrence: task.recurrence.map(|it| it.every),
            parent: task.parent.as_ref(),
            uid: task.uid.as_deref(),
            estimate_minutes: task.estimate.map(Effort::minutes),
            tracked_seconds: task.tracked.seconds(),
            timer: task.timer.as_ref(),
            notes: each(&task.notes),
            metadata: &task.metadata,
            provenance: task.provenance.as_ref(),
            attempts: task.attempts,
            rev: task.rev,
            result: task.result.as_ref(),
            late: &task.late,
        }
    }
}

/// A task in full.
///
/// After every verb that shows or changes one task.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaskAnswer<'a> {
    /// The task.
    #[serde(flatten)]
    pub task: Task<'a>,
    /// How many tasks are part of it; null where none is. Only 'flagpost show' counts them, so other
    /// answers lack it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Option<PartsProgress>>,
    /// The tasks that were made because those that come again were done. Only 'flagpost done' makes
    /// some, so other answers lack it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Task<'a>>")]
    pub next: Option<Vec<Task<'a>>>,
}

impl<'a> From<&'a task::Task> for TaskAnswer<'a> {
    fn from(task: &'a task::Task) -> Self {
        Self {
            task: task.into(),
            parts: None,
            next: None,
        }
    }
}

/// The tasks that a query selects, or that can begin.
///
/// After 'flagpost list' and 'flagpost ready'.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Tasks<'a> {
    /// The list's name.
    pub list: &'a ListRef,
    /// In the order asked for.
    pub tasks: Vec<Outline<'a>>,
    /// How many there are, shown or not.
    pub total: usize,
    /// Whether more are there than are shown; --limit 0 shows all.
    pub truncated: bool,
    /// Files of the list that are no tasks and were passed over.
    pub skipped: &'a [Skipped],
    /// Only with --group-by; else null.
    pub groups: Option<Vec<Group<'a>>>,
}

impl<'a> Tasks<'a> {
    /// These, of so many.
    pub fn new(
        list: &'a ListRef,
        loaded: &'a Loaded,
        shown: &[&'a task::Outline],
        total: usize,
    ) -> Self {
        Self {
            list,
            tasks: each(shown.iter().copied()),
            total,
            truncated: shown.len() < total,
            skipped: &loaded.skipped,
            groups: None,
        }
    }
}

/// Tasks that have something in common.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Group<'a> {
    /// The value that these tasks share; null for tasks without one.
    pub name: Option<&'a str>,
    /// How many there are, shown or not.
    pub total: usize,
    /// Those that are shown.
    pub tasks: Vec<&'a TaskId>,
}

/// A task in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Outline<'a> {
    /// Its id within its list; those that Flagpost gives are decimal numbers.
    pub id: &'a TaskId,
    /// What is to be done, on one line.
    pub subject: &'a str,
    /// Where it stands.
    pub state: StateName,
    /// Who holds it or did it; a foreign writer may have put any text here.
    pub owner: Option<&'a str>,
    /// Null unless the task is claimed or in progress; it may have expired.
    pub claim: Option<Claim<'a>>,
    /// The tasks that wait for this one.
    pub blocks: &'a [TaskId],
    /// The tasks that this one waits for.
    pub blocked_by: &'a [TaskId],
    /// How urgent it is; null where nobody said.
    pub priority: Option<Priority>,
    /// The feature it belongs to.
    pub group: Option<&'a str>,
    /// The project it belongs to.
    pub project: Option<&'a str>,
    /// Its labels.
    pub tags: &'a [String],
    /// The day it is due.
    pub due: Option<Date>,
    /// It is not handed out before.
    pub not_before: Option<Timestamp>,
    /// The task it is part of.
    pub parent: Option<&'a TaskId>,
    /// How large it is, in the planner's own scale.
    pub complexity: Option<&'a str>,
    /// How much work it was thought to be.
    pub estimate_minutes: Option<u64>,
    /// How often it was claimed.
    pub attempts: u32,
}

impl<'a> From<&'a task::Outline> for Outline<'a> {
    fn from(task: &'a task::Outline) -> Self {
        Self {
            id: &task.id,
            subject: &task.subject,
            state: task.state.name(),
            owner: task.owner.as_deref(),
            claim: task.state.claim().map(Claim::from),
            blocks: &task.blocks,
            blocked_by: &task.blocked_by,
            priority: task.priority,
            group: task.group.as_deref(),
            project: task.project.as_deref(),
            tags: &task.tags,
            due: task.due,
            not_before: task.not_before,
            parent: task.parent.as_ref(),
            complexity: task.complexity.as_deref(),
            estimate_minutes: task.estimate.map(Effort::minutes),
            attempts: task.attempts,
        }
    }
}

/// A remark on a task, or an answer to a question about it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Note<'a> {
    /// Whether it is a remark or answers a question.
    pub kind: NoteKind,
    /// Who wrote it; null where another program did not say.
    pub by: Option<&'a str>,
    /// When; null likewise.
    pub at: Option<Timestamp>,
    /// Markdown.
    pub text: &'a str,
    /// What it answers; null where it is a remark.
    pub question: Option<&'a Question>,
}

impl<'a> From<&'a task::Note> for Note<'a> {
    fn from(note: &'a task::Note) -> Self {
        Self {
            kind: note.kind(),
            by: note.by.as_deref(),
            at: note.at,
            text: &note.text,
            question: note.question.as_ref(),
        }
    }
}

/// Exclusive possession of a task, for a time.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Claim<'a> {
    /// The holder.
    pub by: &'a WorkerId,
    /// Fences off earlier holders: give it to done, fail and stuck.
    pub token: Token,
    /// When it was claimed.
    pub at: Timestamp,
    /// When the lease ends unless it is renewed.
    pub expires_at: Timestamp,
    /// The session that handed the task out; null where a worker claimed it.
    pub session: Option<&'a SessionId>,
}

impl<'a> From<&'a task::Claim> for Claim<'a> {
    fn from(claim: &'a task::Claim) -> Self {
        Self {
            by: &claim.by,
            token: claim.token,
            at: claim.at,
            expires_at: claim.expires_at,
            session: claim.session.as_ref(),
        }
    }
}
