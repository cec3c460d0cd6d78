//! Where a request is worked on.
//!
//! Owns the second step of what was asked: what the words mean in this home. It is what a command's
//! context is, but for the place: nobody stands anywhere here.

use flagpost_core::{Home, List, Repository, operations::Operation, registry, relay::Fleet};
use flagpost_model::{
    ListId, TaskId, WorkerId,
    message::{Speaker, speaker},
    task::Origin,
};

use super::{
    Shared,
    answer::HttpError,
    asked::Asked,
    route::{AGENT, AS},
};

/// One request's desk.
#[derive(Debug)]
pub(crate) struct RequestContext<'s> {
    pub(crate) shared: &'s Shared,
    pub(crate) home: Home,
}

impl<'s> RequestContext<'s> {
    pub(crate) fn new(shared: &'s Shared, asked: &Asked) -> Self {
        let home = shared.home.clone();
        let speaker = asked.parsed(AS.name).and_then(|it| who(shared, asked, it));
        let home = match speaker {
            Ok(speaker) => home.acting(speaker),
            // For a route that asks who acts.
            Err(_) => home,
        };
        Self { shared, home }
    }

    /// Who acts.
    pub(crate) fn actor(&self, asked: &Asked) -> Result<WorkerId, HttpError> {
        Ok(self.speaker(asked)?.name)
    }

    /// Refuses what whoever asks may not do.
    pub(crate) fn permit(&self, asked: &Asked, operation: Operation) -> Result<(), HttpError> {
        let (agent, origin) = (self.agent(asked)?, self.origin(asked)?);
        let permitted = operation.permit(agent.as_ref(), origin);
        Ok(permitted.map_err(flagpost_core::Error::from)?)
    }

    /// Which agent asks, where it says so.
    pub(crate) fn agent(&self, asked: &Asked) -> Result<Option<WorkerId>, HttpError> {
        asked.parsed(AGENT.name)
    }

    /// What sort of hand acts: an agent's, which says so.
    pub(crate) fn origin(&self, asked: &Asked) -> Result<Origin, HttpError> {
        Ok(self.agent(asked)?.map_or(Origin::Person, |_| Origin::Agent))
    }

    /// Who acts, and in whose name.
    pub(crate) fn speaker(&self, asked: &Asked) -> Result<Speaker, HttpError> {
        who(self.shared, asked, asked.parsed(AS.name)?)
    }

    /// The worker that a sign is given for: an agent gives its own.
    pub(crate) fn worker(&self, asked: &Asked) -> Result<WorkerId, HttpError> {
        Ok(who(self.shared, asked, Some(asked.id("worker")?))?.name)
    }

    /// Which repository is meant.
    pub(crate) fn repository(&self, asked: &Asked) -> Result<Repository, HttpError> {
        Ok(match asked.text("repo") {
            Some(given) => registry::repository(&self.home, given)?,
            None => registry::only_repository(&self.home)?,
        })
    }

    /// The fleet of the repository that is meant.
    pub(crate) fn fleet(&self, asked: &Asked) -> Result<Fleet<'_>, HttpError> {
        Ok(Fleet::of(&self.home, &self.repository(asked)?.id))
    }

    /// Which list is meant: by name, else the repository's own.
    pub(crate) fn list(&self, asked: &Asked) -> Result<List<'_>, HttpError> {
        let id: ListId = match asked.parsed("list")? {
            Some(id) => id,
            None => self.repository(asked)?.name,
        };
        Ok(List::open(&self.home, &id)?)
    }

    /// Which task is meant.
    pub(crate) fn task(&self, list: &List<'_>, asked: &Asked) -> Result<TaskId, HttpError> {
        Ok(list.resolve(asked.needed("id"))?)
    }
}

/// Who acts: an agent, which says so, for itself only; the operator also in another's name.
fn who(shared: &Shared, asked: &Asked, named: Option<WorkerId>) -> Result<Speaker, HttpError> {
    let agent = asked.parsed(AGENT.name)?;
    let speaker = speaker(named, agent, shared.actor.clone());
    Ok(speaker.map_err(flagpost_core::Error::from)?)
}
