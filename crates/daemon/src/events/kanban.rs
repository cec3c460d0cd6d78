//! What clients of the Kanban bus listen to: the files of one list and of its session.
//!
//! Owns no cursor: as they expect it, what came while they were away is not told. The lists need no
//! repository. A session's files lie where nobody watches, so they are looked at now and then.

use std::time::Duration;

use flagpost_core::{
    Home,
    kanban::changes::{Files, changes, files},
};
use flagpost_model::ListId;

use super::{
    event,
    feed::{Listener, Step},
};

/// One such client.
#[derive(Debug)]
pub(crate) struct KanbanReader {
    home: Home,
    list: ListId,
    known: Files,
    has_looked: bool,
}

impl KanbanReader {
    /// Tells what changes from now on.
    pub(crate) fn new(home: Home, list: ListId) -> flagpost_core::Result<Self> {
        Ok(Self {
            known: files(&home, &list)?,
            home,
            list,
            has_looked: false,
        })
    }
}

impl Listener for KanbanReader {
    const RECHECK: Option<Duration> = Some(Duration::from_millis(300));

    fn step(&mut self) -> Step {
        self.has_looked = !self.has_looked;
        match self.has_looked {
            true => Step::Look,
            false => Step::Wait,
        }
    }

    fn look(&mut self) -> flagpost_core::Result<String> {
        let now = files(&self.home, &self.list)?;
        let all = changes(&self.home, &self.list, &self.known, &now)?;
        let all = all
            .iter()
            .map(|(name, body)| event(None, name, &body.to_string()));
        let text = all.collect();
        self.known = now;
        Ok(text)
    }
}
