//! Who an agent is, and where.
//!
//! Owns the way from a tool to an entry of the table of operations: the caller that is made of this
//! process's worker and place, the arguments, the answer. The repository is looked for at each call: it
//! may be registered while the client runs.

use std::path::PathBuf;

use flagpost_core::{
    Error, Home, List, Repository, Result,
    operations::{
        Arguments, Caller, CallerPart, CallerPlace, EntryOutcome, Identity, Operation, Parameter,
        entry,
    },
};
use flagpost_model::{ListId, WorkerId, decision::Via, task::Origin};
use serde_json::{Map, Value};

/// An agent's place.
#[derive(Debug, Clone)]
pub struct AgentSeat {
    /// The home.
    pub home: Home,
    /// Which worker it is; without one it may only read.
    pub worker: Option<WorkerId>,
    /// Whose login it runs under.
    pub user: WorkerId,
    /// The list that was named; without one, the repository's.
    pub list: Option<ListId>,
    /// Where the process stands.
    pub dir: PathBuf,
}

impl AgentSeat {
    /// The repository that the process stands in.
    pub(crate) fn repository(&self) -> Result<Repository> {
        let dir = || self.dir.clone();
        Repository::find(&self.home, &self.dir)?.ok_or_else(|| Error::NoRepository { dir: dir() })
    }

    /// The list's name.
    pub(crate) fn list_id(&self) -> Result<ListId> {
        match &self.list {
            Some(list) => Ok(list.clone()),
            None => Ok(self.repository()?.name),
        }
    }

    /// The list.
    pub(crate) fn list(&self) -> Result<List<'_>> {
        List::open(&self.home, &self.list_id()?)
    }

    /// Who asks.
    pub(crate) fn caller(&self, place: CallerPlace) -> Caller {
        let identity = Identity {
            asked: None,
            agent: self.worker.clone(),
            user: self.user.clone(),
            origin: Origin::Agent,
        };
        Caller::new(&self.home, identity, Via::Mcp, place)
    }

    /// Asks for an operation, with the list where it takes one, and answers as every face does.
    pub(crate) fn ask(&self, operation: Operation, said: Map<String, Value>) -> Result<Value> {
        let Some(entry) = entry(operation) else {
            return Err(Error::Invalid {
                what: operation.name().to_owned(),
                reason: "it takes no plain values".to_owned(),
            });
        };
        let parameters: Vec<&'static Parameter> = entry.parameters.iter().collect();
        let mut said = said;
        let takes_list = parameters.iter().any(|it| it.name == "list");
        if takes_list {
            said.insert("list".to_owned(), self.list_id()?.as_str().into());
        }
        let is_elsewhere = takes_list && self.list.is_some();
        let place = match self.repository() {
            Ok(repository) => CallerPlace::In(repository),
            // A list that is there knows its repository.
            Err(Error::NoRepository { .. })
                if is_elsewhere || !entry.asks.contains(&CallerPart::Repo) =>
            {
                CallerPlace::Nowhere
            }
            Err(error) => return Err(error),
        };
        let arguments = Arguments::read(&parameters, Vec::new(), said)?;
        match entry.carry_out(&self.caller(place), &arguments)? {
            EntryOutcome::Answer(answer) => Ok(answer),
            EntryOutcome::Nothing(_) => Ok(Value::Null),
        }
    }
}
