//! Telling: the session's files, and whoever watches.
//!
//! Owns that a line is on record before it is told, and that files which somebody removes under a run
//! are begun anew. It decides nothing.

use flagpost_core::{
    self as core,
    sessions::{Live, Recovered, Sessions},
};

use super::Driver;
use crate::{error::Result, events::RunEvent, leftovers::end_agents};

impl Driver<'_> {
    /// Writes to the session's files; where somebody removes them that very moment, once more.
    pub(super) fn keeping<T>(
        &mut self,
        write: impl Fn(&mut Live<'_>) -> core::Result<T>,
    ) -> Result<T> {
        match write(&mut self.live) {
            Err(core::Error::Disk(error)) if error.is_not_found() => {
                // Told of on the next turn: telling writes too.
                self.mended |= self.live.mend()?;
                Ok(write(&mut self.live)?)
            }
            written => Ok(written?),
        }
    }

    /// Records an event and tells whoever watches.
    pub(super) fn tell(&mut self, event: RunEvent) -> Result<()> {
        let line = self.keeping(|live| live.record(event.to_json()))?;
        (self.watch)(&event, &line);
        Ok(())
    }

    pub(super) fn show_progress(&mut self) -> Result<()> {
        let active: Vec<_> = self
            .agents
            .0
            .iter()
            .map(|(task, work)| (task, work.attempt, work.pulse.stalled_since()))
            .collect();
        let progress = self.account.progress(&active, self.stage.home.now());
        self.keeping(|live| live.show_progress(&progress))
    }

    /// Ends the agents that dead sessions left, and tells of the recovery.
    pub(super) fn recovered(
        &mut self,
        sessions: &Sessions<'_>,
        recovered: Option<Recovered>,
    ) -> Result<()> {
        let agents = end_agents(sessions)?;
        let (dir, tasks) = match recovered {
            Some(recovered) => (recovered.dir, recovered.tasks),
            None if agents.is_empty() => return Ok(()),
            None => (sessions.root().to_owned(), Vec::new()),
        };
        let dir = dir.display().to_string();
        self.tell(RunEvent::Recovered { dir, tasks, agents })
    }
}
