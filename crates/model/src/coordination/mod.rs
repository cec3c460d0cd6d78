//! A coordination directory: one table of tasks that agents share, and who they are.
//!
//! Owns the nouns of that format (`tree.md` §6) and its numbers: what a task and an agent are, when
//! a lease has run out, how long a failed task rests. Its times are naive and local, as every
//! program of the format writes them. The rules are in [`transition`] and [`Board`].

mod board;
mod pages;
mod seen_as_list;
#[cfg(test)]
mod tests;
mod transition;
mod translation;

use jiff::{SignedDuration, civil::DateTime};

pub use board::{Board, CoordReadiness, Idle, check_new};
pub use pages::{result_page, summary};
pub use seen_as_list::{MoveContext, ViewContext, course, put_fields, see, status_of};
pub use transition::{CoordAct, CoordEvent, CoordRefusal, transition};
pub use translation::{from_list, to_list};

use crate::{
    id::{TaskId, Token, WorkerId},
    names::names,
};

/// A holder that gave no sign of life for so long has lost its task to whoever claims it.
pub const LEASE: SignedDuration = SignedDuration::from_mins(15);

/// Waiting for so long weighs as much as one step of priority.
pub const STEP: SignedDuration = SignedDuration::from_mins(10);

/// How long a task rests after its first failure; twice as long after each other one.
const FIRST_REST: SignedDuration = SignedDuration::from_secs(30);

/// It rests no longer than this.
const LONGEST_REST: SignedDuration = SignedDuration::from_hours(1);

names!(
    /// Where a task stands, as its file says.
    CoordStatus {
        /// Nobody works on it.
        Available = "available",
        /// Somebody holds it and has not begun.
        Claimed = "claimed",
        /// Somebody works on it.
        InProgress = "in_progress",
        /// Done.
        Done = "done",
        /// Given up.
        Failed = "failed",
        /// Not wanted any more.
        Cancelled = "cancelled",
        /// It cannot go on without help, as somebody wrote or its holder said. What waits for others is
        /// available: that it cannot begin is found out anew each time.
        Blocked = "blocked",
    }
);

/// How urgent a task is: 1 to 10, the lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CoordPriority(u8);

impl CoordPriority {
    /// The nearest that there is.
    pub fn nearest(number: i64) -> Self {
        Self(u8::try_from(number.clamp(1, 10)).unwrap_or(5))
    }

    /// As a number.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl Default for CoordPriority {
    fn default() -> Self {
        Self(5)
    }
}

/// A task of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoordTask {
    /// Its id.
    pub id: TaskId,
    /// What is to be done.
    pub description: String,
    /// Where it stands.
    pub status: CoordStatus,
    /// How urgent it is.
    pub priority: CoordPriority,
    /// Who holds it or did it.
    pub claim: Option<CoordClaim>,
    /// Tasks that it waits for.
    pub dependencies: Vec<TaskId>,
    /// Files that it is about.
    pub files: Vec<String>,
    /// What may help.
    pub hints: Option<String>,
    /// What its worker must be able to do.
    pub required_capabilities: Vec<String>,
    /// Free labels.
    pub tags: Vec<String>,
    /// The task that it is part of.
    pub parent: Option<TaskId>,
    /// What its worker said at the end.
    pub result: CoordResult,
    /// How many minutes it may take.
    pub estimate: Option<u32>,
    /// When it was added.
    pub created_at: Option<DateTime>,
    /// When it was done.
    pub completed_at: Option<DateTime>,
    /// So often it is tried again by itself.
    pub max_retries: u32,
    /// So often it was.
    pub retry_count: u32,
    /// Nobody is given it before.
    pub next_retry_at: Option<DateTime>,
}

/// Who took a task, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoordClaim {
    /// Who; foreign writers name agents freely.
    pub by: String,
    /// When, where that is known.
    pub at: Option<DateTime>,
}

impl CoordClaim {
    /// What fences off earlier claims of the task: when it was claimed, in microseconds. So those of
    /// other programs have one too, and no key of ours is in the file.
    pub fn token(&self) -> Option<Token> {
        self.at.map(|at| Token(micros(at)))
    }
}

/// What a worker said at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CoordResult {
    /// What came of it.
    pub output: Option<String>,
    /// Why it did not work.
    pub error: Option<String>,
    /// Files that were changed.
    pub files_modified: Vec<String>,
    /// Files that were made.
    pub files_created: Vec<String>,
}

/// A task that is to be added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewCoordTask {
    /// Its id, where the writer gives it one.
    pub id: Option<TaskId>,
    /// What is to be done.
    pub description: String,
    /// How urgent it is.
    pub priority: Option<CoordPriority>,
    /// Tasks that it waits for.
    pub dependencies: Vec<TaskId>,
    /// Files that it is about.
    pub files: Vec<String>,
    /// What may help.
    pub hints: Option<String>,
    /// What its worker must be able to do.
    pub required_capabilities: Vec<String>,
    /// Free labels.
    pub tags: Vec<String>,
    /// The task that it is part of.
    pub parent: Option<TaskId>,
    /// How many minutes it may take.
    pub estimate: Option<u32>,
    /// So often it is tried again by itself.
    pub max_retries: u32,
}

impl NewCoordTask {
    /// The task under this id.
    pub fn into_task(self, id: TaskId, now: DateTime) -> CoordTask {
        CoordTask {
            id,
            description: self.description,
            status: CoordStatus::Available,
            priority: self.priority.unwrap_or_default(),
            claim: None,
            dependencies: self.dependencies,
            files: self.files,
            hints: self.hints,
            required_capabilities: self.required_capabilities,
            tags: self.tags,
            parent: self.parent,
            result: CoordResult::default(),
            estimate: self.estimate,
            created_at: Some(now),
            completed_at: None,
            max_retries: self.max_retries,
            retry_count: 0,
            next_retry_at: None,
        }
    }
}

impl CoordTask {
    /// Who holds it now, alive or not.
    pub fn holder(&self) -> Option<&CoordClaim> {
        match self.status {
            CoordStatus::Claimed | CoordStatus::InProgress => self.claim.as_ref(),
            CoordStatus::Available
            | CoordStatus::Done
            | CoordStatus::Failed
            | CoordStatus::Cancelled
            | CoordStatus::Blocked => None,
        }
    }

    /// What this task asks for that is not among `capabilities`.
    pub fn lacks(&self, capabilities: &[String]) -> Vec<String> {
        let missing = |it: &&String| !capabilities.contains(it);
        let needed = self.required_capabilities.iter();
        needed.filter(missing).cloned().collect()
    }

    /// The moment up to which it may be passed over: those with an earlier one come first. It stands
    /// still while new tasks get later ones, so none is passed over for ever.
    pub fn due(&self) -> DateTime {
        let patience = STEP * i32::from(self.priority.0 - 1);
        let since = self.created_at.unwrap_or(DateTime::MIN);
        since.saturating_add(patience)
    }
}

/// An agent that takes part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoordAgent {
    /// Its id.
    pub id: WorkerId,
    /// What it can do.
    pub capabilities: Vec<String>,
    /// Since when it takes part.
    pub registered_at: Option<DateTime>,
    /// Its last sign of life.
    pub last_seen: Option<DateTime>,
}

/// How long a task rests after it has failed so often.
pub fn rest(failures: u32) -> SignedDuration {
    let doubled = 1_i32.checked_shl(failures.saturating_sub(1));
    let rest = doubled.and_then(|times| FIRST_REST.checked_mul(times));
    rest.filter(|it| it.is_positive())
        .unwrap_or(LONGEST_REST)
        .min(LONGEST_REST)
}

/// The time that a number of [`micros`] says.
pub fn at_micros(number: u64) -> DateTime {
    let since = SignedDuration::from_micros(i64::try_from(number).unwrap_or(i64::MAX));
    jiff::civil::date(1970, 1, 1)
        .at(0, 0, 0, 0)
        .saturating_add(since)
}

/// A time as a number that grows with it, microsecond by microsecond.
pub fn micros(at: DateTime) -> u64 {
    let since = at.duration_since(jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0));
    u64::try_from(since.as_micros()).unwrap_or_default()
}

/// The time in the precision of the format.
pub fn whole_micros(at: DateTime) -> DateTime {
    let below = i64::from(at.subsec_nanosecond() % 1_000);
    at.saturating_sub(SignedDuration::from_nanos(below))
}

/// The next moment that can be told from this one.
pub fn just_after(at: DateTime) -> DateTime {
    at.saturating_add(SignedDuration::from_micros(1))
}
