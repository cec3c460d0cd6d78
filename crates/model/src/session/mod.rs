//! What a session is: one run of a list (`tree.md` §3).
//!
//! Owns the nouns of a run (its name, its lock, its plan, its progress, its log, what its tasks
//! learned) and the rules over them: whether a lock still stands, which tasks a dead session
//! leaves behind, how learnings merge. How these look in files belongs to the session dialect.

mod attempt;
mod history;
mod knowledge;
mod lock;
mod log;
mod name;
mod outcome;
mod plan;
mod progress;
mod recovery;
mod report;
mod retry;
pub mod stall;
mod summary;
mod timeline;

pub use attempt::{AttemptRecord, Denied, Resumable, Usage};
pub use history::{ContextEntry, EntryTitle};
pub use knowledge::{Knowledge, KnowledgeNote, Section, SharedContext, SharedSection, TaskNotes};
pub use lock::{Evidence, Lock, LockStatus, LockTime, Pid, Sighting};
pub use log::LogRow;
pub use name::{common_group, interrupted_name, is_interrupted, named_at, session_name};
pub use outcome::Outcome;
pub use plan::{PlannedTask, SessionPlan};
pub use progress::{ActiveTask, ClientActivity, CompletedTask, Progress, ProgressStatus};
pub use recovery::orphaned;
pub use report::TaskReport;
pub use retry::{Attempt, RetryDecision, verdict};
pub use summary::{SessionSummary, TaskRemark};
pub use timeline::{Band, Bar, BarEnd, Happened, Timeline, TimelineEvent, TimelineRow};
