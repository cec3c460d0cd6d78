//! Who an agent is, and where.
//!
//! Owns the way from a tool to an entry of the table of operations: the caller that is made of the
//! worker and its place, the arguments, the answer. Where a process stands, its repository is looked for
//! at each call: it may be registered while the client runs.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use flagpost_core::{
    Error, Home, List, Repository, Result,
    operations::{
        Arguments, Caller, CallerPart, CallerPlace, EntryOutcome, Identity, Operation, Parameter,
        entry,
    },
    relay::{Fleet, workers::tokens},
};
use flagpost_model::{ListId, TaskId, Token, WorkerId, decision::Via, task::Origin};
use serde_json::{Map, Value, json};

use crate::refusal::ToolRefusal;

/// An agent's place.
#[derive(Debug, Clone)]
pub struct AgentSeat {
    pub(crate) home: Home,
    pub(crate) worker: Option<WorkerId>,
    user: WorkerId,
    list: Option<ListId>,
    place: SeatPlace,
    given: Option<(TaskId, Token)>,
    over: Arc<AtomicBool>,
}

/// Where an agent sits.
#[derive(Debug, Clone)]
enum SeatPlace {
    /// In a process that stands here.
    In(PathBuf),
    /// Elsewhere: it is of this repository for as long as the token opens the door.
    Of(Repository, String),
}

impl AgentSeat {
    /// The seat of this worker, in a process of this user that stands here. Without a worker it may only
    /// read; without a list, the repository's is meant.
    pub fn new(
        home: Home,
        worker: Option<WorkerId>,
        user: WorkerId,
        list: Option<ListId>,
        dir: PathBuf,
    ) -> Self {
        Self {
            home,
            worker,
            user,
            list,
            place: SeatPlace::In(dir),
            given: None,
            over: Arc::default(),
        }
    }

    /// The seat of the worker that a token is of, in its repository; `user` is whose process serves it.
    pub fn of_token(home: Home, token: &str, user: WorkerId) -> Result<Option<Self>> {
        let holder = tokens::holder(&home, token)?;
        Ok(holder.map(|(repository, worker)| Self {
            home,
            worker: Some(worker),
            user,
            list: None,
            place: SeatPlace::Of(repository, token.to_owned()),
            given: None,
            over: Arc::default(),
        }))
    }

    /// Refuses where its token opens nothing any more, or its worker was taken off the fleet.
    pub(crate) fn must_be_held(&self) -> std::result::Result<(), ToolRefusal> {
        match (&self.place, &self.worker) {
            // It is nobody's once its worker is off.
            (SeatPlace::Of(_, token), _) => match tokens::holder(&self.home, token)? {
                Some(_) => Ok(()),
                None => Err(ToolRefusal::Void),
            },
            (SeatPlace::In(_), None) => Ok(()),
            (SeatPlace::In(_), Some(worker)) => {
                // Where there is no repository there is no fleet either.
                let repository = self.repository().ok();
                let fleet = repository.map(|it| Fleet::of(&self.home, &it.id));
                match fleet.map(|it| it.has_retired(worker)).transpose()? {
                    Some(true) => Err(ToolRefusal::Left),
                    Some(false) | None => Ok(()),
                }
            }
        }
    }

    /// With the task that a run gave the agent, and the token of its claim.
    #[must_use]
    pub fn with_task(self, task: TaskId, token: Token) -> Self {
        Self {
            given: Some((task, token)),
            ..self
        }
    }

    /// The token of the task's claim, where a run gave the agent that task.
    pub(crate) fn token_of(&self, task: &str) -> Option<Token> {
        let (given, token) = self.given.as_ref()?;
        (given.as_str() == task).then_some(*token)
    }

    /// Nobody listens any more.
    pub(crate) fn leave(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// Whether anybody listens yet.
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// The repository that the agent is in.
    pub(crate) fn repository(&self) -> Result<Repository> {
        match &self.place {
            SeatPlace::Of(repository, _) => Ok(repository.clone()),
            SeatPlace::In(dir) => {
                Repository::find(&self.home, dir)?.ok_or_else(|| Error::NoRepository {
                    dir: dir.clone(),
                    list: None,
                })
            }
        }
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
        List::existing(&self.home, &self.list_id()?)
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
        match self.outcome(operation, said)? {
            EntryOutcome::Answer(answer) | EntryOutcome::Kept(answer) => Ok(answer),
            EntryOutcome::Nothing(_) => Ok(Value::Null),
        }
    }

    /// The same for a report, whose answer is shown so, unless it is kept until the fleet can hear it.
    pub(crate) fn tell(
        &self,
        operation: Operation,
        said: Map<String, Value>,
        shown: impl FnOnce(&Value) -> Value,
    ) -> Result<Value> {
        Ok(match self.outcome(operation, said)? {
            EntryOutcome::Answer(answer) => shown(&answer),
            EntryOutcome::Nothing(_) => shown(&Value::Null),
            EntryOutcome::Kept(kept) => json!({"kept": true, "note": kept["note"]}),
        })
    }

    fn outcome(&self, operation: Operation, said: Map<String, Value>) -> Result<EntryOutcome> {
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
        entry.carry_out(&self.caller(place), &arguments)
    }
}
