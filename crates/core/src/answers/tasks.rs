//! Tasks.

use flagpost_model::{
    ListRef, TaskId,
    plan::{PartsProgress, Readiness},
    task::{self, Effort, Landing, Priority, Provenance, ShownClaim, StateName, TaskResult, Timer},
    view,
};
use jiff::{Timestamp, civil::Date};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::each;
use crate::{
    Loaded, Skipped,
    history::Kind,
    tasks::{UndoMode, Undone},
};

view! {
    /// A task in full.
    pub struct Task<'a> from task: &'a task::Task {
        /// Its id within its list; those that Flagpost gives are decimal numbers.
        id: &'a TaskId = &task.id,
        /// What is to be done, on one line.
        subject: &'a str = &task.subject,
        /// The rest, Markdown; may be empty.
        description: &'a str = &task.description,
        /// Where it stands.
        state: StateName = task.state.name(),
        /// Who holds it or did it; a foreign writer may have put any text here.
        owner: Option<&'a str> = task.owner.as_deref(),
        /// Null unless the task is claimed or in progress; it may have expired.
        claim: Option<ShownClaim<'a>> = task.state.claim().map(ShownClaim::from),
        /// The tasks that wait for this one.
        blocks: &'a [TaskId] = &task.blocks,
        /// The tasks that this one waits for.
        blocked_by: &'a [TaskId] = &task.blocked_by,
        /// How urgent it is; null where nobody said.
        priority: Option<Priority> = task.priority,
        /// How large it is, in the planner's own scale.
        complexity: Option<&'a str> = task.complexity.as_deref(),
        /// The feature it belongs to.
        group: Option<&'a str> = task.group.as_deref(),
        /// The project it belongs to.
        project: Option<&'a str> = task.project.as_deref(),
        /// Its labels.
        tags: &'a [String] = &task.tags,
        /// The day it is due.
        due: Option<Date> = task.due,
        /// It is not handed out before.
        not_before: Option<Timestamp> = task.not_before,
        /// The task it is part of.
        parent: Option<&'a TaskId> = task.parent.as_ref(),
        /// The planner's own name for it, by which an import finds it again.
        uid: Option<&'a str> = task.uid.as_deref(),
        /// How much work it was thought to be.
        estimate_minutes: Option<u64> = task.estimate.map(Effort::minutes),
        /// How much work was measured, without a timer that runs.
        tracked_seconds: u64 = task.tracked.seconds(),
        /// The timer that runs; null where none does.
        timer: Option<&'a Timer> = task.timer.as_ref(),
        /// Remarks and answers, oldest first.
        notes: &'a [task::Note] = &task.notes,
        /// Metadata of your own, by key, as it stands in the file.
        metadata: &'a Map<String, Value> = &task.metadata,
        /// Where it came from; null where another program wrote it.
        provenance: Option<&'a Provenance> = task.provenance.as_ref(),
        /// How often it was claimed.
        attempts: u32 = task.attempts,
        /// Grows by one with every change that Flagpost makes.
        rev: u64 = task.rev,
        /// What the last worker said on ending it.
        result: Option<&'a TaskResult> = task.result.as_ref(),
        /// Results that came after their claim was over: kept, never applied.
        late: &'a [TaskResult] = &task.late,
        /// What became of its work on its way to the target branch; null where 'flagpost land' never tried.
        landing: Option<&'a Landing> = task.landing.as_ref(),
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
    /// Whether it was there before. Only what adds a task once says so, so other answers lack it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub existed: Option<bool>,
}

impl<'a> From<&'a task::Task> for TaskAnswer<'a> {
    fn from(task: &'a task::Task) -> Self {
        Self {
            task: task.into(),
            parts: None,
            existed: None,
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

view! {
    /// A task in a list.
    pub struct Outline<'a> from task: &'a task::Outline {
        /// Its id within its list; those that Flagpost gives are decimal numbers.
        pub id: &'a TaskId = &task.id,
        /// What is to be done, on one line.
        subject: &'a str = &task.subject,
        /// Where it stands.
        state: StateName = task.state.name(),
        /// Who holds it or did it; a foreign writer may have put any text here.
        owner: Option<&'a str> = task.owner.as_deref(),
        /// Null unless the task is claimed or in progress; it may have expired.
        claim: Option<ShownClaim<'a>> = task.state.claim().map(ShownClaim::from),
        /// The tasks that wait for this one.
        blocks: &'a [TaskId] = &task.blocks,
        /// The tasks that this one waits for.
        blocked_by: &'a [TaskId] = &task.blocked_by,
        /// How urgent it is; null where nobody said.
        priority: Option<Priority> = task.priority,
        /// The feature it belongs to.
        group: Option<&'a str> = task.group.as_deref(),
        /// The project it belongs to.
        project: Option<&'a str> = task.project.as_deref(),
        /// Its labels.
        tags: &'a [String] = &task.tags,
        /// The day it is due.
        due: Option<Date> = task.due,
        /// It is not handed out before.
        not_before: Option<Timestamp> = task.not_before,
        /// The task it is part of.
        parent: Option<&'a TaskId> = task.parent.as_ref(),
        /// How large it is, in the planner's own scale.
        complexity: Option<&'a str> = task.complexity.as_deref(),
        /// How much work it was thought to be.
        estimate_minutes: Option<u64> = task.estimate.map(Effort::minutes),
        /// How often it was claimed.
        attempts: u32 = task.attempts,
    }
}

/// A task in a list, with what the plan says of it.
///
/// In the events of GET /v1/events.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedTask<'a> {
    #[serde(flatten)]
    outline: Outline<'a>,
    /// Whether it can be claimed now.
    ready: bool,
    /// What it still waits for.
    waits_for: &'a [TaskId],
    /// Its place in the order of claiming: as texts, smaller ones come first.
    key: &'a str,
    /// When it was added; null where that is not known.
    added_at: Option<Timestamp>,
    /// When its last worker was through with it.
    ended_at: Option<Timestamp>,
}

impl<'a> ListedTask<'a> {
    /// The task, and what the plan says.
    pub fn of(task: &'a task::Outline, plan: &'a Readiness) -> Self {
        Self {
            outline: task.into(),
            ready: plan.is_ready,
            waits_for: &plan.waits_for,
            key: &plan.key,
            added_at: task.added_at,
            ended_at: task.ended_at,
        }
    }
}

/// A change that was taken back.
///
/// After 'flagpost undo' and POST /v1/tasks/{list}/undo.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Undone")]
pub struct UndoneAnswer<'a> {
    /// The number of the change in the history.
    n: u64,
    /// Whether nothing was done.
    dry_run: bool,
    undone: Vec<Was<'a>>,
    /// The tasks that are again as they were.
    tasks: Vec<Task<'a>>,
    /// The tasks that the change had added, gone again.
    removed: Vec<&'a TaskId>,
}

view! {
    /// A part of the change.
    struct Was<'a> from it: &'a (Kind, Option<TaskId>) {
        /// What it was, as the history calls it: task.edited.
        kind: &'a Kind = &it.0,
        /// The task it was about; null where it was about the list.
        task: &'a Option<TaskId> = &it.1,
    }
}

impl<'a> UndoneAnswer<'a> {
    /// A change that was taken back, or would be.
    pub fn new(undone: &'a Undone, mode: UndoMode) -> Self {
        Self {
            n: undone.n,
            dry_run: mode == UndoMode::DryRun,
            undone: each(&undone.was),
            tasks: each(&undone.tasks),
            removed: undone.removed.iter().map(|task| &task.id).collect(),
        }
    }
}

view! {
    /// Tasks that were removed.
    ///
    /// After 'flagpost task rm'.
    pub struct Removed<'a> {
        /// Whether nothing was done.
        dry_run: bool,
        /// As they were.
        tasks: Vec<Task<'a>>,
    }
}
