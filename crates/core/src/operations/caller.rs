//! Who asks for an operation, by which face, and where.
//!
//! Owns what an operation may ask of its caller, and what the caller's words mean in this home: who
//! acts, in whose name, in which repository, on which list and task.

use flagpost_model::{
    ListId, TaskId, WorkerId,
    decision::Via,
    message::{Speaker, speaker},
    task::Origin,
};

use super::{Arguments, Operation};
use crate::{
    error::{Error, Result},
    home::Home,
    list::List,
    registry,
    relay::Fleet,
    repository::Repository,
};

/// What an operation asks of its caller, beside its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallerPart {
    /// Which repository.
    Repo,
    /// Who acts.
    Actor,
    /// Which agent it is, where it is one; nobody acts in its name.
    Agent,
}

/// Who asks, as the face has it.
#[derive(Debug, Clone)]
pub struct Identity {
    /// In whose name somebody wants to act.
    pub asked: Option<WorkerId>,
    /// Which worker it is that asks, where it is one.
    pub agent: Option<WorkerId>,
    /// Who acts where none of these is said.
    pub user: WorkerId,
    /// What sort of hand it is.
    pub origin: Origin,
}

impl Identity {
    /// Whoever speaks so, by this sort of hand.
    pub fn of(speaker: &Speaker, origin: Origin) -> Self {
        Self {
            asked: speaker.by.is_some().then(|| speaker.name.clone()),
            agent: None,
            user: speaker.by.as_ref().unwrap_or(&speaker.name).clone(),
            origin,
        }
    }

    /// Who acts: an agent for itself only; the operator also in another's name. No agent acts as a person.
    fn speaker(&self, home: &Home, asked: Option<WorkerId>) -> Result<Speaker> {
        let login = home.environment().login.as_ref();
        let is_person = |it: &&WorkerId| {
            login.is_some_and(|login| it.is_like(login)) || it.is_like(&WorkerId::operator())
        };
        if let Some(agent) = self.agent.as_ref().filter(is_person) {
            return Err(Error::Invalid {
                what: "the worker that asks".to_owned(),
                reason: format!("{agent} is the name of a person, and no agent acts as that"),
            });
        }
        Ok(speaker(asked, self.agent.clone(), self.user.clone())?)
    }
}

/// Where a caller is.
#[derive(Debug, Clone)]
pub enum CallerPlace {
    /// Nowhere: in the only repository there is.
    Nowhere,
    /// In the repository of this name or id.
    Named(String),
    /// In this one.
    In(Repository),
}

/// Who asks for an operation, by which face, and where.
#[derive(Debug, Clone)]
pub struct Caller {
    home: Home,
    identity: Identity,
    via: Via,
    place: CallerPlace,
}

impl Caller {
    /// A caller of this home.
    pub fn new(home: &Home, identity: Identity, via: Via, place: CallerPlace) -> Self {
        let home = match identity.speaker(home, identity.asked.clone()) {
            Ok(speaker) => home.clone().acting(speaker),
            // For an operation that asks who acts.
            Err(_) => home.clone(),
        };
        Self {
            home,
            identity,
            via,
            place,
        }
    }

    /// The home, in which the caller acts.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// By which face.
    pub fn via(&self) -> Via {
        self.via
    }

    /// Which worker it is that asks, where it is one.
    pub fn agent(&self) -> Option<&WorkerId> {
        self.identity.agent.as_ref()
    }

    /// What sort of hand acts.
    pub fn origin(&self) -> Origin {
        self.identity.origin
    }

    /// Refuses what the caller may not do, and whatever needs a clock where nobody can believe it.
    pub fn admit(&self, operation: Operation) -> Result<()> {
        self.permit(operation)?;
        match operation {
            Operation::ProgramDescribe | Operation::OperationList => Ok(()),
            _ => self.home.must_know_the_time(),
        }
    }

    /// Refuses what the caller may not do.
    pub fn permit(&self, operation: Operation) -> Result<()> {
        Ok(operation.permit(self.agent(), self.origin())?)
    }

    /// Who acts, and in whose name.
    pub fn speaker(&self) -> Result<Speaker> {
        self.identity
            .speaker(&self.home, self.identity.asked.clone())
    }

    /// Who acts.
    pub fn actor(&self) -> Result<WorkerId> {
        Ok(self.speaker()?.name)
    }

    /// Refuses to let an agent speak for another worker.
    pub fn must_speak_for(&self, worker: &WorkerId) -> Result<()> {
        let speaker = self.identity.speaker(&self.home, Some(worker.clone()));
        speaker.map(drop)
    }

    /// Which repository is meant.
    pub fn repository(&self) -> Result<Repository> {
        match &self.place {
            CallerPlace::Nowhere => registry::only_repository(&self.home),
            CallerPlace::Named(given) => registry::repository(&self.home, given),
            CallerPlace::In(repository) => Ok(repository.clone()),
        }
    }

    /// The fleet of the repository that is meant.
    pub fn fleet(&self) -> Result<Fleet<'_>> {
        Ok(Fleet::of(&self.home, &self.repository()?.id))
    }

    /// Which list is meant: by name, else the repository's own.
    pub fn list(&self, arguments: &Arguments) -> Result<List<'_>> {
        let id: ListId = match arguments.parsed("list")? {
            Some(id) => id,
            None => self.repository()?.name,
        };
        List::existing(&self.home, &id)
    }

    /// Which task is meant.
    pub fn task(&self, list: &List<'_>, arguments: &Arguments) -> Result<TaskId> {
        list.resolve(arguments.needed("id"))
    }
}
