//! The history.

use flagpost_model::{ListId, RepoId, Seq, TaskId, WorkerId, task::StateName};
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

/// A transition: what is null was not about such a thing.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LineAnswer<'a> {
    /// Grows by one.
    #[schemars(range(min = 1))]
    pub n: u64,
    /// When it happened.
    pub at: Timestamp,
    /// In which repository.
    pub repo: &'a RepoId,
    /// What happened, as in task.claimed.
    pub kind: &'a Kind,
    /// Who did it.
    pub actor: Option<&'a WorkerId>,
    /// Whose mail.
    pub worker: Option<&'a WorkerId>,
    /// Which message.
    pub seq: Option<Seq>,
    /// In which list.
    pub list: Option<&'a ListId>,
    /// To which task.
    pub task: Option<&'a TaskId>,
    /// The task's state before.
    pub from: Option<StateName>,
    /// The task's state after.
    pub to: Option<StateName>,
    /// The rest.
    pub detail: &'a Map<String, Value>,
}

impl<'a> From<&'a history::Line> for LineAnswer<'a> {
    fn from(line: &'a history::Line) -> Self {
        let entry = &line.entry;
        Self {
            n: line.n,
            at: line.at,
            repo: &line.repo,
            kind: &entry.kind,
            actor: entry.actor.as_ref(),
            worker: entry.worker.as_ref(),
            seq: entry.seq,
            list: entry.list.as_ref(),
            task: entry.task.as_ref(),
            from: entry.from,
            to: entry.to,
            detail: &entry.detail,
        }
    }
}
