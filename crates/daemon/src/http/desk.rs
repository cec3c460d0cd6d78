//! Where a request is worked on.
//!
//! Owns the second step of what was asked: what the words mean in this home. It is what a command's
//! context is, but for the place: nobody stands anywhere here.

use flagpost_core::{Home, List, Repository, registry, relay::Fleet};
use flagpost_model::{
    ListId, TaskId, WorkerId,
    message::{Speaker, speaker},
};

use super::{
    Shared,
    answer::Fault,
    asked::Asked,
    route::{AGENT, AS},
};

/// One request's desk.
#[derive(Debug)]
pub(crate) struct Desk<'s> {
    pub(crate) shared: &'s Shared,
    pub(crate) home: &'s Home,
}

impl<'s> Desk<'s> {
    pub(crate) fn new(shared: &'s Shared) -> Self {
        Self {
            shared,
            home: &shared.home,
        }
    }

    /// Who acts.
    pub(crate) fn actor(&self, asked: &Asked) -> Result<WorkerId, Fault> {
        let named = asked.parsed("as")?;
        Ok(named.unwrap_or_else(|| self.shared.actor.clone()))
    }

    /// Which agent asks, where one says so.
    fn agent(&self, asked: &Asked) -> Result<Option<WorkerId>, Fault> {
        asked.parsed(AGENT.name)
    }

    /// Who decides on briefs: a person. No agent lets itself through.
    pub(crate) fn operator(&self, asked: &Asked) -> Result<WorkerId, Fault> {
        match self.agent(asked)? {
            Some(_) => Err(Fault::usage(
                "only the operator decides on briefs: flagpost-worker is said",
            )),
            None => self.actor(asked),
        }
    }

    /// Who speaks, and in whose name.
    pub(crate) fn speaker(&self, asked: &Asked) -> Result<Speaker, Fault> {
        let (named, agent) = (asked.parsed(AS.name)?, self.agent(asked)?);
        let speaker = speaker(named, agent, self.shared.actor.clone());
        Ok(speaker.map_err(flagpost_core::Error::from)?)
    }

    /// Which repository is meant.
    pub(crate) fn repository(&self, asked: &Asked) -> Result<Repository, Fault> {
        Ok(match asked.text("repo") {
            Some(given) => registry::repository(self.home, given)?,
            None => registry::only_repository(self.home)?,
        })
    }

    /// The fleet of the repository that is meant.
    pub(crate) fn fleet(&self, asked: &Asked) -> Result<Fleet<'s>, Fault> {
        Ok(Fleet::of(self.home, &self.repository(asked)?.id))
    }

    /// Which list is meant: by name, else the repository's own.
    pub(crate) fn list(&self, asked: &Asked) -> Result<List<'s>, Fault> {
        let id: ListId = match asked.parsed("list")? {
            Some(id) => id,
            None => self.repository(asked)?.name,
        };
        Ok(List::open(self.home, &id)?)
    }

    /// Which task is meant.
    pub(crate) fn task(&self, list: &List<'_>, asked: &Asked) -> Result<TaskId, Fault> {
        Ok(list.resolve(asked.needed("id"))?)
    }
}
