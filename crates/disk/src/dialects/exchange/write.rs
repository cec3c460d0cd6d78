//! Task → record.
//!
//! Owns the keys and their order. Every key is there in every record, so that whoever reads them
//! need not guess which there are.

use flagpost_model::{
    ListRef, TaskId,
    task::{Effort, Note, Priority, Provenance, ShownClaim, StateName, Task, TaskResult, Timer},
    view,
};
use jiff::{Timestamp, civil::Date};
use serde_json::{Map, Value, json};

/// A task that leaves its list.
#[derive(Debug, Clone, Copy)]
pub struct Exported<'t> {
    /// The task.
    pub task: &'t Task,
    /// Its name for good, by which an import finds it again.
    pub uid: &'t str,
    /// The list that it leaves, among all lists.
    pub list: &'t str,
}

impl Exported<'_> {
    /// All of it.
    pub(super) fn record(&self) -> Map<String, Value> {
        match json!(ExportedRecord::from(self)) {
            Value::Object(record) => record,
            _ => Map::new(),
        }
    }
}

view! {
    /// A list as one document.
    ///
    /// What 'flagpost task export' writes and 'flagpost task import' reads; docs/formats/exchange.md says
    /// what an import makes of it. An import needs no more than the subject of each task.
    pub struct ListDocument<'t> from (list, tasks): (&'t ListRef, &'t [Exported<'t>]) {
        /// The list's name.
        list: &'t ListRef = list,
        tasks: Vec<ExportedRecord<'t>> = tasks.iter().map(ExportedRecord::from).collect(),
    }

    /// A task of the document.
    struct ExportedRecord<'t> from it: &'t Exported<'_> {
        id: &'t TaskId = &it.task.id,
        /// Its name for good, by which an import finds it again.
        uid: &'t str = it.uid,
        /// What is to be done, on one line.
        subject: &'t str = &it.task.subject,
        /// The rest, Markdown; may be empty.
        description: &'t str = &it.task.description,
        /// The subject as an activity; may be empty.
        active_form: &'t str = &it.task.active_form,
        state: StateName = it.task.state.name(),
        /// Who holds it or did it; a foreign writer may have put any text here.
        owner: Option<&'t str> = it.task.owner.as_deref(),
        /// Null unless the task is claimed or in progress; it may have expired.
        claim: Option<ShownClaim<'t>> = it.task.state.claim().map(ShownClaim::from),
        priority: Option<Priority> = it.task.priority,
        /// How large it is, in the planner's own scale.
        complexity: Option<&'t str> = it.task.complexity.as_deref(),
        /// The feature it belongs to.
        group: Option<&'t str> = it.task.group.as_deref(),
        project: Option<&'t str> = it.task.project.as_deref(),
        tags: &'t [String] = &it.task.tags,
        /// The day it is due.
        due: Option<Date> = it.task.due,
        /// It is not handed out before.
        not_before: Option<Timestamp> = it.task.not_before,
        /// The task it is part of.
        parent: Option<&'t TaskId> = it.task.parent.as_ref(),
        /// The tasks that this one waits for.
        blocked_by: &'t [TaskId] = &it.task.blocked_by,
        /// How much work it was thought to be.
        estimate_minutes: Option<u64> = it.task.estimate.map(Effort::minutes),
        /// How much work was measured, without a timer that runs.
        tracked_seconds: u64 = it.task.tracked.seconds(),
        /// The timer that runs; null where none does.
        timer: Option<&'t Timer> = it.task.timer.as_ref(),
        /// Remarks, oldest first.
        notes: &'t [Note] = &it.task.notes,
        /// Metadata of your own, by key, as it stands in the file.
        metadata: &'t Map<String, Value> = &it.task.metadata,
        /// Where it came from; null where another program wrote it.
        provenance: Option<&'t Provenance> = it.task.provenance.as_ref(),
        /// How often it was claimed.
        attempts: u32 = it.task.attempts,
        /// Grows by one with every change that Flagpost makes.
        rev: u64 = it.task.rev,
        /// What the list is called among all lists. With rev it tells an import whether the task is as it
        /// was.
        exported_from: &'t str = it.list,
        /// What the last worker said on ending it.
        result: Option<&'t TaskResult> = it.task.result.as_ref(),
        /// Results that came after their claim was over: kept, never applied.
        late: &'t [TaskResult] = &it.task.late,
    }
}
