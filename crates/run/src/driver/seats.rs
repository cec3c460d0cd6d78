//! Where tasks are worked on, and under which claims.
//!
//! Owns that no process outlives the run, however it ends.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    time::{Duration, Instant},
};

use flagpost_core::sessions::AttemptDir;
use flagpost_model::{
    TaskId, Token, WorkerId,
    message::{MessageAddress, StuckBody},
    session::{Attempt, TaskReport, stall::Activity},
};

use super::{conversation::Conversation, residents::Post};
use crate::{
    outcome::{Exit, Judged},
    process::Running,
};

/// How long a group that was asked to end may take.
pub(super) const GRACE: Duration = Duration::from_secs(3);

/// An agent at work.
pub(super) struct ActiveAgent {
    pub seat: Seat,
    pub attempt: Attempt,
    pub started: Instant,
    /// When its claim is to be renewed.
    pub renew_at: Instant,
    /// How many messages came about it.
    pub words: u64,
    /// Its signs of work.
    pub pulse: Activity,
    /// By when it has to say how its attempt ended, where it was asked.
    pub answer_by: Option<Instant>,
    /// How it ended well, where it was asked afterwards to commit what it had left.
    pub passed: Option<(Option<TaskReport>, Judged)>,
    /// Why it is being stopped, and when it is killed.
    pub stopping: Option<(Exit, Instant)>,
}

/// Where a task is worked on.
pub(super) enum Seat {
    /// In a process that was started for it.
    Process(Box<ProcessSeat>),
    /// With a worker that runs by itself.
    Resident(Post),
}

/// A task in a process.
pub(super) struct ProcessSeat {
    pub running: Running,
    /// Which of the run's agents works on it.
    pub agent: usize,
    /// The directory of its attempt.
    pub dir: AttemptDir,
    /// Where it works.
    pub cwd: PathBuf,
    /// The conversation with its client; none with a plain command line.
    pub talk: Option<Conversation>,
    /// Which of the run's names it works under.
    pub slot: usize,
    /// Its TASK.
    pub place: MessageAddress,
    /// Its own last word about it, if it knows `flagpost msg`.
    pub word: Option<ProcessReport>,
    /// Since when its task is over and its turn is closed.
    pub over: Option<Instant>,
    /// How long its output was when that was last told.
    pub printed: u64,
    /// How far the middle of its log is left out.
    pub left_out: u64,
}

/// A process's own word about its task.
pub(super) enum ProcessReport {
    /// It is done.
    Done,
    /// It cannot go on.
    Stuck,
    /// It needs another task first.
    Behind(StuckBody),
}

impl Seat {
    pub fn kill(&self) {
        match self {
            Self::Process(desk) => desk.running.kill(),
            Self::Resident(_) => {}
        }
    }

    fn has_ended(&self) -> bool {
        match self {
            Self::Process(desk) => desk.running.has_ended(),
            Self::Resident(_) => true,
        }
    }
}

/// A claim that this run made.
pub(super) struct RunClaim {
    pub worker: WorkerId,
    pub token: Token,
}

/// The agents at work. None outlives the run, however it ends.
#[derive(Default)]
pub(super) struct Agents(pub BTreeMap<TaskId, ActiveAgent>);

impl Agents {
    /// The processes at work.
    pub fn processes(&self) -> impl Iterator<Item = &ProcessSeat> {
        self.0.values().filter_map(|work| match &work.seat {
            Seat::Process(desk) => Some(&**desk),
            Seat::Resident(_) => None,
        })
    }

    /// The process that works on a task.
    pub fn process_mut(&mut self, task: &TaskId) -> Option<&mut ProcessSeat> {
        match &mut self.0.get_mut(task)?.seat {
            Seat::Process(desk) => Some(desk),
            Seat::Resident(_) => None,
        }
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        self.0.values().for_each(|work| work.seat.kill());
        // Not for ever: one that waits for a disk that is gone does not even die when killed.
        let deadline = Instant::now() + GRACE;
        let lives = |work: &ActiveAgent| !work.seat.has_ended();
        while self.0.values().any(lives) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
