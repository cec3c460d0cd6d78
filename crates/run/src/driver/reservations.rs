//! What others work on, for the scheduler.
//!
//! Owns who counts as another one: everybody but those of this run that have no task now. What these
//! reserved, nobody works on, and to wait for them would be to wait for oneself.

use std::collections::BTreeSet;

use flagpost_core::reservations::Reservations;
use flagpost_model::WorkerId;

use super::Driver;
use crate::{
    error::Result,
    scheduler::{Effect, Event, ReservedFiles, Scheduler},
};

impl Driver<'_> {
    /// Tells the scheduler what others hold now, where a task says which files it will touch.
    pub(super) fn look_at_reservations(&self, scheduler: &mut Scheduler) -> Result<Vec<Effect>> {
        if !scheduler.asks_for_reservations() {
            return Ok(Vec::new());
        }
        let (home, repository) = (self.stage.home, &self.stage.repository.id);
        let live = Reservations::of(home, repository).scan()?.live.into_iter();
        let busy: BTreeSet<&WorkerId> = self.holds.values().map(|it| &it.worker).collect();
        let is_idle = |worker: &WorkerId| self.knows(worker) && !busy.contains(worker);
        let others = live.filter(|it| !is_idle(&it.wanted.holder));
        let holds = others.map(|it| ReservedFiles {
            path: it.wanted.path,
            holder: it.wanted.holder,
            task: it.wanted.task,
        });
        Ok(scheduler.handle(Event::Reserved(holds.collect()), self.now()))
    }

    /// Whether it is one of the names that this run gives its processes, or one of its workers.
    fn knows(&self, worker: &WorkerId) -> bool {
        let slot = worker.as_str().strip_prefix("run-");
        let is_slot = slot.is_some_and(|it| it.parse::<usize>().is_ok());
        is_slot || self.options.workers.contains(worker)
    }
}
