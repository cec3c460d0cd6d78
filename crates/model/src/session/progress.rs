//! How far a session is.
//!
//! Owns what a progress screen shows. It is a projection: the tasks' own files are the truth.

use jiff::Timestamp;

use super::Attempt;
use crate::{id::TaskId, names::names};

names!(
    /// The phase of a session as other readers know it.
    ProgressStatus {
        /// The plan is made, nothing runs yet.
        Initializing = "Initializing",
        /// Tasks run.
        Executing = "Executing",
        /// Nothing is left to run.
        Complete = "Complete",
    }
);

/// How far a session is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Its phase.
    pub status: ProgressStatus,
    /// Which wave of how many; none where tasks start as soon as they are ready.
    pub wave: Option<(u32, u32)>,
    /// How many tasks may run side by side.
    pub max_parallel: u32,
    /// When this was written.
    pub updated: Timestamp,
    /// What runs.
    pub active: Vec<ActiveTask>,
    /// What ended in this session, in order.
    pub completed: Vec<CompletedTask>,
}

/// A task that runs.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct ActiveTask {
    /// The task.
    pub id: TaskId,
    /// Its one line.
    pub subject: String,
    /// Its work now, in free words.
    pub phase: String,
}

/// What stands before the time in the phase of a task that is stalled.
const STALLED: &str = "Stalled since ";

/// The phase of a task that is over and whose client is not.
const LINGERING: &str = "Over, its client still runs";

/// What the client of a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientActivity {
    /// It is not there yet: its worktree is set up.
    SettingUp,
    /// It works.
    Working,
    /// It has shown no sign of work since then.
    Stalled(Timestamp),
    /// Its task is over, and it runs all the same.
    Lingering,
}

impl ActiveTask {
    /// The words for its phase.
    pub fn phase(attempt: Attempt, activity: ClientActivity) -> String {
        match activity {
            ClientActivity::SettingUp => format!("Attempt {attempt} — Setting up its worktree"),
            ClientActivity::Working => format!("Attempt {attempt} — Implementing"),
            ClientActivity::Stalled(since) => format!("Attempt {attempt} — {STALLED}{since:.0}"),
            ClientActivity::Lingering => format!("Attempt {attempt} — {LINGERING}"),
        }
    }

    /// Whether it is over and its client is not, where its phase says so.
    pub fn is_lingering(&self) -> bool {
        self.phase.ends_with(LINGERING)
    }

    /// Since when its worker shows no sign of work, where its phase says so.
    pub fn stalled_since(&self) -> Option<Timestamp> {
        let (_, since) = self.phase.split_once(STALLED)?;
        since.trim().parse().ok()
    }
}

/// A task that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletedTask {
    /// The task.
    pub id: TaskId,
    /// Its one line.
    pub subject: String,
    /// How it ended, as shown: `PASS (2m 34s)`.
    pub result: String,
}

impl Progress {
    /// The progress of a run that is over: complete, and in the last wave unless it was broken off. Its
    /// later waves may have had nothing left to do.
    pub fn at_the_end(self, interrupted: bool) -> Self {
        let last = |(n, of): (u32, u32)| if interrupted { (n, of) } else { (of, of) };
        Self {
            status: ProgressStatus::Complete,
            wave: self.wave.map(last),
            active: Vec::new(),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_is_over_is_in_its_last_wave_unless_it_was_broken_off() {
        let running = Progress {
            status: ProgressStatus::Executing,
            wave: Some((1, 2)),
            max_parallel: 5,
            updated: Timestamp::UNIX_EPOCH,
            active: Vec::new(),
            completed: Vec::new(),
        };
        let over = running.clone().at_the_end(false);
        assert_eq!(
            (over.status, over.wave),
            (ProgressStatus::Complete, Some((2, 2)))
        );
        assert_eq!(running.clone().at_the_end(true).wave, Some((1, 2)));
        let eager = Progress {
            wave: None,
            ..running
        };
        assert_eq!(eager.at_the_end(false).wave, None);
    }
}
