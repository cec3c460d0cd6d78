//! Workers that fall silent and those that are live again, put on record.
//!
//! Owns that each change has one line. Nobody writes when a worker falls silent, so whoever watches
//! compares what the workers' files say at this moment with what the history told last. In a repository that
//! several machines share no line tells of it: signs of life are each machine's own.

use std::{collections::BTreeMap, ops::ControlFlow};

use flagpost_model::{WorkerId, worker::Liveness};
use serde_json::Value;

use super::{Fleet, workers};
use crate::{
    error::Result,
    history::{Entry, History, Kind, Line},
};

/// So much of the history is read back. What it told before counts as not told.
const WITHIN: u64 = 4 << 20;

/// What is known of a fleet's workers.
#[derive(Debug, Default)]
pub struct LivenessWatch {
    known: BTreeMap<WorkerId, Life>,
}

/// Whether somebody answers for a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Live,
    Silent,
}

impl From<Liveness> for Life {
    fn from(liveness: Liveness) -> Self {
        match liveness {
            Liveness::Heartbeat | Liveness::Process => Self::Live,
            Liveness::Silent => Self::Silent,
        }
    }
}

impl LivenessWatch {
    /// Begins to watch, with what the history told last.
    pub fn begin(fleet: &Fleet<'_>) -> Result<Self> {
        let mut watch = Self::default();
        let mut unknown = fleet.ids()?;
        History::of(fleet.home, &fleet.repo).backward(WITHIN, &mut |line| {
            if let Some((worker, life)) = sign_of_life(line)
                && let Some(at) = unknown.iter().position(|it| *it == worker)
            {
                unknown.swap_remove(at);
                watch.known.insert(worker, life);
            }
            match unknown.is_empty() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        Ok(watch)
    }

    /// Records what has changed since. Answers with how much that was.
    pub fn look(&mut self, fleet: &Fleet<'_>, actor: &WorkerId) -> Result<usize> {
        let mut entries = Vec::new();
        for (worker, liveness) in workers::at_work(fleet)? {
            let now = Life::from(liveness);
            // To be put on the fleet is no sign of life yet.
            let before = self.known.insert(worker.clone(), now);
            if before.unwrap_or(Life::Silent) != now {
                let entry = Entry::new(Kind::WorkerLiveness).mail(&worker, None);
                entries.push(entry.detail("liveness", liveness.as_str()));
            }
        }
        let history = History::of(fleet.home, &fleet.repo);
        let count = match history.is_shared()? {
            true => 0,
            false => entries.len(),
        };
        if count > 0 {
            history.record(actor, fleet.home.now(), entries)?;
        }
        Ok(count)
    }
}

/// What a line tells of a worker.
fn sign_of_life(line: &Line) -> Option<(WorkerId, Life)> {
    let entry = &line.entry;
    let life = match entry.kind {
        Kind::WorkerRegistered | Kind::WorkerRetired => Life::Silent,
        Kind::WorkerLiveness => {
            let word = entry.detail.get("liveness").and_then(Value::as_str);
            word?.parse::<Liveness>().ok()?.into()
        }
        _ => return None,
    };
    Some((entry.worker.clone()?, life))
}
