//! Holding on: what runs keeps its claim, and what is to end is ended.
//!
//! Owns the renewal of claims, the slots that processes work under, and the way from asking an agent
//! to end to killing it. A claim that was taken away stops its agent; it is never taken back.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use flagpost_core::{
    self as core, claims,
    tasks::{self, Move},
};
use flagpost_disk as disk;
use flagpost_model::{TaskId, WorkerId, task::Act};

use super::{
    Driver,
    retry::{OperatorRequest, TransientError},
    seats::{ActiveAgent, GRACE, Seat},
};
use crate::{
    error::{Error, Result},
    events::RunEvent,
    outcome::Exit,
    refusal::refusal,
};

/// A renewal that could not be is tried so many times as often.
const AGAIN: u32 = 4;

/// What came of renewing.
#[derive(Default)]
pub(super) struct Renewals {
    renewed: Vec<TaskId>,
    /// Those whose claim is not ours any more.
    lost: Vec<TaskId>,
}

impl Driver<'_> {
    /// Kills what did not end when asked, renews the leases of what runs, and says for processes that
    /// they are at it.
    pub(super) fn attend(&mut self) -> Result<()> {
        self.kill_the_stubborn();
        let Renewals { renewed, lost } = self.renew()?;
        for task in renewed {
            self.tell_of_output(&task)?;
        }
        for task in lost {
            if !self.has_ended_by_word(&task)? {
                self.stop(&task, Exit::ClaimLost, "its claim was taken away")?;
            } else if let Some(work) = self.agents.0.get_mut(&task)
                && matches!(work.seat, Seat::Resident(_))
            {
                // No process will end: that word was its end.
                work.stopping = Some((Exit::Code(0), Instant::now()));
            }
        }
        Ok(())
    }

    /// Kills what was asked to end and did not.
    pub(super) fn kill_the_stubborn(&mut self) {
        let now = Instant::now();
        for work in self.agents.0.values_mut() {
            if let Some((_, kill_at)) = &mut work.stopping
                && *kill_at <= now
            {
                work.seat.kill();
                *kill_at = now + GRACE;
            }
        }
    }

    /// Renews the claims that are due. It never waits: a lease is three times as long, and where
    /// something stands in the way now it is tried again before long.
    pub(super) fn renew(&mut self) -> Result<Renewals> {
        let (now, every) = (Instant::now(), self.renew_every());
        let mut renewals = Renewals::default();
        let mut again = None;
        for (task, work) in &mut self.agents.0 {
            if work.stopping.is_some() || work.renew_at > now {
                continue;
            }
            work.renew_at = now + every;
            let Some(hold) = self.holds.get(task) else {
                continue;
            };
            let act = Act {
                actor: hold.worker.clone(),
                token: Some(hold.token),
                at: self.stage.home.now(),
            };
            match tasks::act(self.stage.list, &act, task, Move::Renew) {
                Ok(_) => renewals.renewed.push(task.clone()),
                Err(core::Error::Disk(disk::Error::Changed { .. })) => {}
                Err(core::Error::Refused(_)) => renewals.lost.push(task.clone()),
                Err(error) if TransientError::of(&error).is_some() => {
                    work.renew_at = now;
                    again = Some(Instant::now() + every / AGAIN);
                    break;
                }
                Err(error) => drop(refusal(error)?),
            }
        }
        if let Some(again) = again {
            // What stands in the way of one does so for all: each would wait for the same lock.
            let all = self.agents.0.values_mut();
            all.for_each(|work| work.renew_at = work.renew_at.max(again));
        }
        Ok(renewals)
    }

    /// Makes up for a time in which perhaps nobody could be heard, nor a claim be renewed.
    pub(super) fn catch_up(&mut self) {
        let (due, heard) = (Instant::now(), self.stage.home.now());
        for work in self.agents.0.values_mut() {
            work.renew_at = work.renew_at.min(due);
            if let Seat::Resident(post) = &mut work.seat {
                post.heard = heard;
            }
        }
    }

    pub(super) fn stop(&mut self, task: &TaskId, exit: Exit, why: &'static str) -> Result<()> {
        if let Some(work) = self.agents.0.get_mut(task) {
            if let Seat::Process(desk) = &work.seat {
                if desk.running.has_ended() {
                    // By itself: its end is on its way, and counts as it was.
                    return Ok(());
                }
                desk.running.ask_to_end();
            }
            work.stopping = Some((exit, Instant::now() + GRACE));
            self.tell(RunEvent::TaskStopping {
                task: task.clone(),
                why,
            })?;
        }
        Ok(())
    }

    /// Ends the agents and gives their tasks back, as far as that is possible: what cannot be given
    /// back now, recovery gives back. Answers with what there is to say.
    pub(super) fn abandon(&mut self, error: Error) -> Error {
        // Nobody waits any more, and what stands in the way of one task does so for all.
        self.wish = OperatorRequest::Stop;
        self.setups.end_all("the run failed");
        self.agents.0.values().for_each(|work| work.seat.kill());
        for task in self.holds.keys().cloned().collect::<Vec<_>>() {
            if self.make_free(&task).is_err() {
                break;
            }
        }
        if self.live.is_archived() {
            // All but the last line in the history is done.
            return error;
        }
        Error::Died {
            session: self.live.id().clone(),
            agents: self.agents.0.len(),
            source: Box::new(error),
        }
    }

    /// The claim terms of an agent.
    pub(super) fn terms(&self, worker: &WorkerId) -> claims::Terms {
        claims::Terms {
            actor: worker.clone(),
            lease: self.options.lease,
            session: Some(self.live.id().clone()),
        }
    }

    /// Three renewals per lease: two may be late.
    pub(super) fn renew_every(&self) -> Duration {
        Duration::try_from(self.options.lease).unwrap_or_default() / 3
    }

    /// The lowest slot that no agent has, at work or about to be: a fleet of five works under five names.
    pub(super) fn free_slot(&self) -> usize {
        let slot = |work: &ActiveAgent| match &work.seat {
            Seat::Process(desk) => Some(desk.slot),
            Seat::Resident(_) => None,
        };
        let taken = self.agents.0.values().filter_map(slot);
        let taken: BTreeSet<usize> = taken.chain(self.setups.slots()).collect();
        (1..).find(|slot| !taken.contains(slot)).unwrap_or(1)
    }
}
