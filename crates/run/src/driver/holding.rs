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
    seats::{GRACE, Seat, Work},
};
use crate::{error::Result, events::RunEvent, outcome::Exit, refusal::refusal};

impl Driver<'_> {
    /// Kills what did not end when asked, renews the leases of what runs, and says for processes that
    /// they are at it.
    pub(super) fn attend(&mut self) -> Result<()> {
        let (now, renew_every) = (Instant::now(), self.renew_every());
        let (mut lost, mut renewed) = (Vec::new(), Vec::new());
        for (task, work) in &mut self.agents.0 {
            match &mut work.stopping {
                Some((_, kill_at)) if *kill_at <= now => {
                    work.seat.kill();
                    *kill_at = now + GRACE;
                }
                Some(_) => {}
                None if work.renewed + renew_every <= now => {
                    work.renewed = now;
                    let Some(hold) = self.holds.get(task) else {
                        continue;
                    };
                    let act = Act {
                        actor: hold.worker.clone(),
                        token: Some(hold.token),
                        at: self.stage.home.now(),
                    };
                    match tasks::act(self.stage.list, &act, task, Move::Renew) {
                        Ok(_) => renewed.push(task.clone()),
                        // The lease is three times as long: the next renewal is early enough.
                        Err(core::Error::Disk(
                            disk::Error::Busy { .. } | disk::Error::Changed { .. },
                        )) => {}
                        Err(core::Error::Refused(_)) => lost.push(task.clone()),
                        Err(error) => drop(refusal(error)?),
                    }
                }
                None => {}
            }
        }
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
                work.stopping = Some((Exit::Code(0), now));
            }
        }
        Ok(())
    }

    pub(super) fn stop(&mut self, task: &TaskId, exit: Exit, why: &'static str) -> Result<()> {
        if let Some(work) = self.agents.0.get_mut(task) {
            if let Seat::Process(desk) = &work.seat {
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
    /// back now, recovery gives back.
    pub(super) fn abandon(&mut self) {
        self.agents.0.values().for_each(|work| work.seat.kill());
        for task in self.holds.keys().cloned().collect::<Vec<_>>() {
            let _: Result<()> = self.make_free(&task);
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

    /// The lowest slot that no running agent has: a fleet of five works under five names.
    pub(super) fn free_slot(&self) -> usize {
        let slot = |work: &Work| match &work.seat {
            Seat::Process(desk) => Some(desk.slot),
            Seat::Resident(_) => None,
        };
        let taken: BTreeSet<usize> = self.agents.0.values().filter_map(slot).collect();
        (1..).find(|slot| !taken.contains(slot)).unwrap_or(1)
    }
}
