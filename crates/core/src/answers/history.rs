//! The history.

use flagpost_model::{ListId, RepoId, Seq, TaskId, WorkerId, task::StateName, view};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::history::{self, Kind};

/// What happened in a repository.
///
/// From GET /v1/history, and after 'flagpost history'.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HistoryAnswer<'a> {
    /// Oldest first.
    pub lines: Vec<LineAnswer<'a>>,
    /// How many there are in all; null where nobody counted, as 'flagpost history' does not.
    pub total: Option<usize>,
    /// Some were left out: over HTTP those after the last one, else those before the first.
    pub truncated: bool,
}

view! {
    /// A transition: what is null was not about such a thing.
    pub struct LineAnswer<'a> from line: &'a history::Line {
        /// Grows by one.
        #[schemars(range(min = 1))]
        n: u64 = line.n,
        /// When it happened.
        at: Timestamp = line.at,
        /// In which repository.
        repo: &'a RepoId = &line.repo,
        /// What happened, as in task.claimed.
        kind: &'a Kind = &line.entry.kind,
        /// Who did it.
        actor: Option<&'a WorkerId> = line.entry.actor.as_ref(),
        /// Whose mail.
        worker: Option<&'a WorkerId> = line.entry.worker.as_ref(),
        /// Which message.
        seq: Option<Seq> = line.entry.seq,
        /// In which list.
        list: Option<&'a ListId> = line.entry.list.as_ref(),
        /// To which task.
        task: Option<&'a TaskId> = line.entry.task.as_ref(),
        /// The task's state before.
        from: Option<StateName> = line.entry.from,
        /// The task's state after.
        to: Option<StateName> = line.entry.to,
        /// The rest.
        detail: &'a Map<String, Value> = &line.entry.detail,
    }
}
