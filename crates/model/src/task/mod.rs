//! What a task is.
//!
//! Owns the fields of a task that Flagpost understands (`tree.md` §2), whatever dialect it was
//! read from. Invariant: a claim exists exactly in the states that can have one. What a dialect
//! knows beyond these fields stays with the dialect.

mod claim;
mod effort;
mod import_baseline;
mod landing;
mod note;
mod outline;
mod question;
mod refusal;
mod summary;
mod transition;

#[cfg(test)]
mod tests;

use jiff::{Timestamp, civil::Date};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use claim::{Claim, DEFAULT_LEASE, ShownClaim};
pub use effort::{Effort, InvalidEffort, Timer, start_timer, stop_timer};
pub use import_baseline::{ImportBaseline, SourceBaseline};
pub use landing::{
    Approval, KeptWorktrees, Landed, Landing, LandingMethod, LandingVerdict, NO_COMMIT, NotLanded,
    Uncommitted, WorktreeUse,
};
pub use note::{Note, NoteKind, Origin, Provenance};
pub use outline::Outline;
pub use question::Question;
pub use refusal::Refusal;
pub use summary::TaskSummary;
pub use transition::{Act, TaskEvent, transition};

use crate::{
    id::{TaskId, Token, WorkerId},
    names::names,
};

/// A unit of work in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its id within the list.
    pub id: TaskId,
    /// One line: what is to be done.
    pub subject: String,
    /// The rest, Markdown.
    pub description: String,
    /// The subject as an activity ("Adding …"), for readers that show it while work goes on.
    pub active_form: String,
    /// Where it stands.
    pub state: State,
    /// Who holds it or did it; any text, since foreign writers name owners freely.
    pub owner: Option<String>,
    /// Tasks that wait for this one.
    pub blocks: Vec<TaskId>,
    /// Tasks this one waits for.
    pub blocked_by: Vec<TaskId>,
    /// How urgent it is.
    pub priority: Option<Priority>,
    /// How large it is, in the writer's own scale (`S`, `M`, `L`…).
    pub complexity: Option<String>,
    /// The feature it belongs to.
    pub group: Option<String>,
    /// The project it belongs to.
    pub project: Option<String>,
    /// Free labels.
    pub tags: Vec<String>,
    /// When it is due.
    pub due: Option<Date>,
    /// It is not handed out before; a person or agent that names it may still begin.
    pub not_before: Option<Timestamp>,
    /// The task it is part of.
    pub parent: Option<TaskId>,
    /// The planner's name for it: the same uid updates instead of adding (`tree.md` §2).
    pub uid: Option<String>,
    /// How much work it was thought to be.
    pub estimate: Option<Effort>,
    /// How much work was measured; a running timer is not in it yet.
    pub tracked: Effort,
    /// The running timer.
    pub timer: Option<Timer>,
    /// What people and agents wrote about it, oldest first.
    pub notes: Vec<Note>,
    /// Metadata that is none of our fields, by key.
    pub metadata: Map<String, Value>,
    /// Where it came from.
    pub provenance: Option<Provenance>,
    /// What an import last said of its fields.
    pub said: ImportBaseline,
    /// Grows by one with every change Flagpost makes.
    pub rev: u64,
    /// How often it was claimed.
    pub attempts: u32,
    /// What the last worker said on finishing.
    pub result: Option<TaskResult>,
    /// Results that came after their claim was over: kept, never applied.
    pub late: Vec<TaskResult>,
    /// What became of its work on its way to the target branch.
    pub landing: Option<Landing>,
}

impl Task {
    /// A pending task with nothing but a subject.
    pub fn new(id: TaskId, subject: impl Into<String>) -> Self {
        Self {
            id,
            subject: subject.into(),
            description: String::new(),
            active_form: String::new(),
            state: State::Pending,
            owner: None,
            blocks: Vec::new(),
            blocked_by: Vec::new(),
            priority: None,
            complexity: None,
            group: None,
            project: None,
            tags: Vec::new(),
            due: None,
            not_before: None,
            parent: None,
            uid: None,
            estimate: None,
            tracked: Effort::default(),
            timer: None,
            notes: Vec::new(),
            metadata: Map::new(),
            provenance: None,
            said: ImportBaseline::default(),
            rev: 0,
            attempts: 0,
            result: None,
            late: Vec::new(),
            landing: None,
        }
    }

    /// The files that it says it will touch, under `files` of its metadata: a text or a list of them.
    pub fn files(&self) -> Vec<String> {
        match self.metadata.get("files") {
            Some(Value::String(file)) => vec![file.clone()],
            Some(Value::Array(files)) => {
                let texts = files.iter().filter_map(Value::as_str);
                texts.map(str::to_owned).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Where a task stands, with what only that state has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// Nobody works on it.
    Pending,
    /// Somebody holds it and has not begun.
    Claimed(Claim),
    /// Somebody works on it; without a claim it is a foreign writer who only set the status.
    InProgress(Option<Claim>),
    /// Done.
    Completed,
    /// Tried and given up.
    Failed,
    /// Waits for help.
    Stuck,
    /// Not wanted any more.
    Cancelled,
}

impl State {
    /// The name without the claim.
    pub fn name(&self) -> StateName {
        match self {
            Self::Pending => StateName::Pending,
            Self::Claimed(_) => StateName::Claimed,
            Self::InProgress(_) => StateName::InProgress,
            Self::Completed => StateName::Completed,
            Self::Failed => StateName::Failed,
            Self::Stuck => StateName::Stuck,
            Self::Cancelled => StateName::Cancelled,
        }
    }

    /// Whether nothing is to be done about it any more: it is completed or not wanted.
    pub fn is_over(&self) -> bool {
        match self {
            Self::Completed | Self::Cancelled => true,
            Self::Pending | Self::Claimed(_) | Self::InProgress(_) | Self::Failed | Self::Stuck => {
                false
            }
        }
    }

    /// The claim, alive or expired.
    pub fn claim(&self) -> Option<&Claim> {
        match self {
            Self::Claimed(claim) | Self::InProgress(Some(claim)) => Some(claim),
            _ => None,
        }
    }

    /// Who holds a lease that has not ended.
    pub fn live_claim(&self, now: Timestamp) -> Option<&Claim> {
        self.claim().filter(|claim| claim.is_live(now))
    }
}

names!(
    /// A state without its claim.
    StateName {
        /// Nobody works on it.
        Pending = "pending",
        /// Held, not begun.
        Claimed = "claimed",
        /// Worked on.
        InProgress = "in_progress",
        /// Done.
        Completed = "completed",
        /// Given up.
        Failed = "failed",
        /// Waits for help.
        Stuck = "stuck",
        /// Not wanted.
        Cancelled = "cancelled",
    }
);

names!(
    /// How urgent a task is; the most urgent first.
    Priority {
        /// Before everything else.
        Critical = "critical",
        /// Soon.
        High = "high",
        /// In its turn.
        Medium = "medium",
        /// When there is time.
        Low = "low",
    }
);

names!(
    /// How a worker's turn on a task ended.
    Ending {
        /// Done.
        Completed = "completed",
        /// Given up.
        Failed = "failed",
        /// Waits for help.
        Stuck = "stuck",
    }
);

/// What a worker said on finishing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskResult {
    /// How it ended.
    pub ending: Ending,
    /// The worker's words; may be empty.
    pub text: String,
    /// Who said so.
    pub by: WorkerId,
    /// When.
    pub at: Timestamp,
    /// The token of the claim that it ended, if there was one.
    pub token: Option<Token>,
}
