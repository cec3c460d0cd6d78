//! Telling: the session's files, and whoever watches.
//!
//! Owns that a line is on record before it is told, save where that has to wait and the operator is to
//! know, and that files which somebody removes under a run are begun anew. It decides nothing.

use flagpost_core::{
    self as core,
    sessions::{Live, Recovered, Sessions},
};

use flagpost_model::session::ClientActivity;
use serde_json::{Map, Value};

use super::Driver;
use crate::{
    error::Result,
    events::{EventLine, RunEvent},
    leftovers::end_agents,
};

impl Driver<'_> {
    /// Writes to the session's files; where somebody removes them that very moment, once more.
    pub(super) fn keeping<T>(
        &mut self,
        write: impl Fn(&mut Live<'_>) -> core::Result<T>,
    ) -> Result<T> {
        let written = self.patiently(|it| match write(&mut it.live) {
            Err(core::Error::Disk(error)) if error.is_not_found() => {
                // Told of on the next turn: telling writes too.
                it.mended |= it.live.mend()?;
                write(&mut it.live)
            }
            written => written,
        });
        Ok(written?)
    }

    /// The line of an event, under the next cursor.
    fn line(&mut self, event: &RunEvent) -> Map<String, Value> {
        let place = self.live.next_event();
        EventLine { place, event }.to_json()
    }

    /// Records an event and tells whoever watches.
    pub(super) fn tell(&mut self, event: RunEvent) -> Result<()> {
        let line = self.line(&event);
        self.keeping(|live| live.record(&line))?;
        (self.watch)(&event, &line);
        Ok(())
    }

    /// Tells whoever watches what they are to know now, though it may be that nothing can be
    /// recorded.
    pub(super) fn tell_at_once(&mut self, event: RunEvent) {
        let line = self.line(&event);
        let _: core::Result<()> = self.live.record(&line);
        (self.watch)(&event, &line);
    }

    pub(super) fn show_progress(&mut self) -> Result<()> {
        let agents = self.agents.0.iter();
        let agents = agents.map(|(task, work)| (task, work.attempt, work.activity()));
        let setups = self.setups.tasks();
        let setups = setups.map(|(task, attempt)| (task, attempt, ClientActivity::SettingUp));
        let active: Vec<_> = agents.chain(setups).collect();
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
