//! Who has a task and shows no sign of work on it.
//!
//! Owns when to look and what a look may cost: a file's length and the mail for each task, and git
//! only where these are as before, at most a twentieth of the time. What the signs mean is the
//! model's. Nobody is ended for a stall: that is for the time limit, and for a person.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use flagpost_core::{messages, permissions::Permissions};
use flagpost_model::{
    TaskId, WorkerId,
    session::stall::{FileActivity, Signs, StallTransition},
};
use jiff::SignedDuration;

use super::{Driver, seats::Seat};
use crate::{error::Result, events::RunEvent, refusal::refusal, worktree};

/// How many looks there are in the time after which somebody counts as stalled.
const LOOKS: u32 = 8;

/// No two looks are closer than this.
const LEAST: Duration = Duration::from_millis(250);

/// The pause after a look is so many times as long as the look took.
const PAUSE: u32 = 20;

/// The looks of a run.
pub(super) struct Stalls {
    after: SignedDuration,
    next: Instant,
}

impl Stalls {
    /// Looks that tell of a stall after this time.
    pub fn new(after: SignedDuration) -> Self {
        let next = Instant::now() + every(after);
        Self { after, next }
    }

    /// How long it is to the next look.
    pub fn until_next(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }
}

/// How often to look for stalls of this length.
pub(super) fn every(after: SignedDuration) -> Duration {
    let after = Duration::try_from(after).unwrap_or_default();
    (after / LOOKS).max(LEAST)
}

impl Driver<'_> {
    /// Tells of those who stall, and of those who go on.
    pub(super) fn look_for_stalls(&mut self) -> Result<()> {
        let Some(stalls) = self.stalls.as_ref().filter(|it| it.until_next().is_zero()) else {
            return Ok(());
        };
        let (began, after) = (Instant::now(), stalls.after);
        let working = self.agents.0.iter().filter(|(_, it)| it.stopping.is_none());
        let working: Vec<TaskId> = working.map(|(id, _)| id.clone()).collect();
        let asking = Permissions::of(self.stage.home, &self.stage.repository.id);
        // A file that somebody broke ends no run.
        let asking = asking.waiting_workers().unwrap_or_default();
        let mut trees = BTreeMap::new();
        let mut any = false;
        for id in working {
            any |= self.look_at(&id, after, (&mut trees, &asking))?;
        }
        if any {
            self.show_progress()?;
        }
        if let Some(stalls) = &mut self.stalls {
            stalls.next = Instant::now() + every(after).max(began.elapsed() * PAUSE);
        }
        Ok(())
    }

    /// Looks at one task; says whether that was a turn.
    fn look_at(
        &mut self,
        id: &TaskId,
        after: SignedDuration,
        (trees, asking): (&mut BTreeMap<PathBuf, FileActivity>, &BTreeSet<WorkerId>),
    ) -> Result<bool> {
        let now = self.now();
        let Some(work) = self.agents.0.get(id) else {
            return Ok(false);
        };
        let (worker, renewed, printed) = match &work.seat {
            Seat::Process(desk) => {
                let log = self.live.log_path(id, work.attempt.number);
                let printed = self.stage.home.fs().stat(&log).map_or(0, |it| it.len);
                (desk.place.worker.clone(), None, printed)
            }
            Seat::Resident(post) => {
                let renewed = match messages::show(&self.residents.fleet, &post.place) {
                    Ok(seen) => seen.lease.map(|lease| lease.at),
                    Err(error) => refusal(error).map(|_| None)?,
                };
                (post.worker.clone(), renewed, 0)
            }
        };
        let mut signs = Signs {
            words: work.words,
            renewed,
            printed,
            files: FileActivity::Unseen,
        };
        if work.pulse.needs_files(&signs) {
            let worktree = self.open_worktrees.get(id).map(|it| &it.path);
            let tree = worktree.unwrap_or(&self.stage.repository.top);
            let seen = trees.entry(tree.clone());
            signs.files = *seen.or_insert_with(|| files(tree));
        }
        let Some(work) = self.agents.0.get_mut(id) else {
            return Ok(false);
        };
        let waits_for_a_person = match &work.seat {
            Seat::Process(desk) => asking.contains(&desk.place.worker),
            Seat::Resident(post) => post.asked.is_some() || asking.contains(&post.worker),
        };
        if waits_for_a_person {
            work.pulse.rest(now);
        }
        let task = id.clone();
        match work.pulse.look(signs, now, after) {
            Some(StallTransition::Stalled { since }) => self.tell(RunEvent::TaskStalled {
                task,
                worker,
                since,
            })?,
            Some(StallTransition::Resumed) => self.tell(RunEvent::TaskResumed { task, worker })?,
            None => return Ok(false),
        }
        Ok(true)
    }
}

fn files(tree: &Path) -> FileActivity {
    worktree::stamp(tree).map_or(FileActivity::Unknown, FileActivity::Seen)
}
