//! What a verb stands on: the home, the place, the actor.
//!
//! Owns the second step of every argument: what the user typed, then what it means on this
//! machine. Repositories register themselves on the first verb that writes.

use std::{cell::OnceCell, path::PathBuf};

use anyhow::Context as _;
use flagpost_core::{
    Config, Error, Home, List, Repository, Settings,
    config::keys,
    coordination::{self, Directory},
    hooks::JoinedSessions,
    operations::Operation,
    relay::{Fleet, Mail},
};
use flagpost_model::{ListId, ListRef, TaskId, Token, WorkerId, message::Speaker};

use crate::globals::Globals;

/// The opened world.
#[derive(Debug)]
pub struct Context {
    /// The home.
    pub home: Home,
    /// What the environment says.
    pub settings: Settings,
    /// The options of every command.
    pub globals: Globals,
    /// Where we stand.
    pub dir: PathBuf,
    /// The worker is known by the session that it joined the fleet with, not by its name.
    pub is_joined: bool,
    repository: OnceCell<Repository>,
}

impl Context {
    /// Opens the home; creates nothing.
    pub fn open(globals: Globals) -> anyhow::Result<Self> {
        let (home, mut settings) = Home::from_environment()?;
        let home = flagpost_fleet::ordered(home, crate::streams::say);
        let dir = std::env::current_dir().context("the current directory is gone")?;
        let is_named = settings.worker.is_some();
        if let (false, Some(session)) = (is_named, &settings.client_session) {
            settings.worker = joined(&home, &dir, session)?;
        }
        let speaker = settings.speaker(globals.actor.as_deref())?;
        let home = home.acting(speaker);
        Ok(Self {
            home,
            is_joined: !is_named && settings.worker.is_some(),
            settings,
            globals,
            dir,
            repository: OnceCell::new(),
        })
    }

    /// Who acts.
    pub fn actor(&self) -> anyhow::Result<WorkerId> {
        Ok(self.speaker()?.name)
    }

    /// Who decides: nobody under a worker's name, since workers decide nothing.
    pub fn operator(&self) -> anyhow::Result<WorkerId> {
        let name = self.actor()?;
        if self.fleet()?.must_know(&name).is_ok() {
            let denied = Operation::PermissionAllow.permit(Some(&name), self.settings.origin());
            denied.map_err(Error::from)?;
        }
        Ok(name)
    }

    /// Whether somebody says on the command line who acts.
    pub fn names_actor(&self) -> bool {
        self.globals.actor.is_some()
    }

    /// Refuses what whoever acts may not do.
    pub fn permit(&self, operation: Operation) -> anyhow::Result<()> {
        Ok(self.settings.permit(operation)?)
    }

    /// Who acts, and in whose name.
    pub fn speaker(&self) -> anyhow::Result<Speaker> {
        Ok(self.settings.speaker(self.globals.actor.as_deref())?)
    }

    /// Who reserves files: a worker of the fleet, or the person who types.
    pub fn holder(&self) -> anyhow::Result<WorkerId> {
        let Speaker { name, by } = self.speaker()?;
        if by.is_some() || self.settings.worker.is_some() {
            self.fleet()?.must_know(&name)?;
        }
        Ok(name)
    }

    /// The repository we stand in, if it is registered.
    pub fn repository(&self) -> anyhow::Result<Option<Repository>> {
        if let Some(known) = self.repository.get() {
            return Ok(Some(known.clone()));
        }
        let found = Repository::find(&self.home, &self.dir)?;
        Ok(found.map(|found| self.repository.get_or_init(|| found).clone()))
    }

    /// The repository we stand in, registered now if it is a git repository that was not.
    pub fn repository_or_register(&self) -> anyhow::Result<Repository> {
        if let Some(repository) = self.repository()? {
            return Ok(repository);
        }
        if !Repository::is_git(&self.home, &self.dir)? {
            return Err(self.no_repository());
        }
        let registered = Repository::register(&self.home, &self.dir, &self.actor()?)?;
        Ok(self.repository.get_or_init(|| registered).clone())
    }

    /// The repository we stand in, which must be registered.
    pub fn own_repository(&self) -> anyhow::Result<Repository> {
        self.repository()?.ok_or_else(|| self.no_repository())
    }

    /// The fleet of the repository that the list named on the command line is of, else of the one we stand in.
    pub fn fleet(&self) -> anyhow::Result<Fleet<'_>> {
        let repository = match (&self.globals.list, self.named_list()?) {
            (Some(_), Some(list)) => self.open_list(&list)?.repository()?,
            _ => self.own_repository()?.id,
        };
        Ok(Fleet::of(&self.home, &repository))
    }

    /// The mail of whoever acts, who must be a worker.
    pub fn own_mail(&self) -> anyhow::Result<Mail<'_>> {
        Ok(self.fleet()?.mail(&self.actor()?)?)
    }

    fn no_repository(&self) -> anyhow::Error {
        let dir = self.dir.clone();
        let list = self.named_list().ok().flatten();
        Error::NoRepository { dir, list }.into()
    }

    /// The list that is named, by option or variable.
    pub fn named_list(&self) -> anyhow::Result<Option<ListRef>> {
        let named = self
            .globals
            .list
            .as_deref()
            .or(self.settings.list.as_deref());
        let read = |text: &str| {
            let list = text.parse::<ListRef>();
            list.or_else(|invalid| self.foreign(text).ok_or(invalid))
        };
        Ok(named.map(read).transpose()?)
    }

    /// Another program's list of this name, where there is one.
    fn foreign(&self, name: &str) -> Option<ListRef> {
        let list = ListRef::foreign(name)?;
        List::find(&self.home, &list).is_ok().then_some(list)
    }

    /// The list of this name, or at this place as it is seen from where we stand.
    fn open_list(&self, list: &ListRef) -> anyhow::Result<List<'_>> {
        let place = match list {
            ListRef::Named(id) => return Ok(List::existing(&self.home, id)?),
            ListRef::Foreign(_) => return Ok(List::find(&self.home, list)?),
            ListRef::Coordination(place) => place,
        };
        let told = Some(place.path()).filter(|it| !it.as_os_str().is_empty());
        let dir = match told {
            Some(path) => self.dir.join(path),
            None => self.coordination_dir(None)?,
        };
        let directory = Directory::open(&self.home, &dir)?;
        Ok(List::of_table(&self.home, directory)?)
    }

    /// Where the coordination directory is meant to be.
    pub fn coordination_dir(&self, told: Option<&std::path::Path>) -> anyhow::Result<PathBuf> {
        let told = told.or(self.settings.coordination.as_deref());
        Ok(coordination::place(&self.home, &self.dir, told)?)
    }

    /// The list where we stand in no repository.
    fn list_of_nowhere(&self) -> anyhow::Result<Option<ListId>> {
        if self.repository()?.is_some() || Repository::is_git(&self.home, &self.dir)? {
            return Ok(None);
        }
        Ok(Config::read(&self.home)?.get(&keys::TASKS_LIST)?)
    }

    /// The settings, as they hold where we stand.
    pub fn config(&self) -> anyhow::Result<Config<'_>> {
        Ok(match self.repository()? {
            Some(repository) => Config::of(&self.home, &repository.name)?,
            None => Config::read(&self.home)?,
        })
    }

    /// The list to read.
    pub fn list(&self) -> anyhow::Result<List<'_>> {
        let list = match self.named_list()? {
            Some(list) => list,
            None => match self.repository()? {
                Some(repository) => repository.name.into(),
                None => self
                    .list_of_nowhere()?
                    .ok_or_else(|| self.no_repository())?
                    .into(),
            },
        };
        self.open_list(&list)
    }

    /// An existing list to change. One that somebody made by hand belongs to the repository we
    /// stand in from now on, whose history records it.
    pub fn list_to_change(&self) -> anyhow::Result<List<'_>> {
        self.bound(self.list()?)
    }

    /// The list to write, created where there is none.
    pub fn list_or_create(&self) -> anyhow::Result<List<'_>> {
        let id = match self.named_list()? {
            Some(ListRef::Named(id)) => id,
            Some(place) => return self.bound(self.open_list(&place)?),
            None => match self.list_of_nowhere()? {
                Some(id) => id,
                None => self.repository_or_register()?.name,
            },
        };
        match List::open(&self.home, &id) {
            Ok(list) => self.bound(list),
            Err(Error::NotFound { .. }) => self.bind(&id),
            Err(error) => Err(error.into()),
        }
    }

    /// Another list to change, by name; created only where that is asked for.
    pub fn other_list(&self, name: &str, create: bool) -> anyhow::Result<List<'_>> {
        let id = match name.parse()? {
            ListRef::Named(id) => id,
            place => return self.open_list(&place),
        };
        match List::open(&self.home, &id) {
            Ok(list) => self.bound(list),
            Err(Error::NotFound { .. }) if create => self.bind(&id),
            Err(error) => Err(error.into()),
        }
    }

    fn bound<'c>(&'c self, list: List<'c>) -> anyhow::Result<List<'c>> {
        list.must_be_writable()?;
        // A table needs none to be changed.
        let Some(name) = list.id().name() else {
            return Ok(list);
        };
        match list.repository() {
            Ok(_) => Ok(list),
            Err(Error::NoRepository { .. }) => self.bind(name),
            Err(error) => Err(error.into()),
        }
    }

    fn bind(&self, id: &ListId) -> anyhow::Result<List<'_>> {
        let repository = self.repository_or_register()?;
        let is_others =
            |error: &Error| matches!(error, Error::ListVanished { by, .. } if *by != repository.id);
        match List::existing(&self.home, id) {
            // This history would not know it any more, and give its ids out again.
            Err(error) if is_others(&error) => Err(error.into()),
            _ => Ok(List::open_or_create(&self.home, id, &repository)?),
        }
    }

    /// The task that this agent was given, if it was of this list.
    fn own_task(&self, list: &List<'_>) -> Option<&str> {
        let given = self.settings.list.as_deref();
        let of_list = given.is_none_or(|given| given == list.id().as_str());
        self.settings.task.as_deref().filter(|_| of_list)
    }

    /// The task that is meant: by name, else the one this agent was given.
    pub fn task(&self, list: &List<'_>, given: Option<&str>) -> anyhow::Result<TaskId> {
        let given = given.or(self.own_task(list));
        let given = given.ok_or_else(|| crate::error::usage("which task? Name its id"))?;
        Ok(list.resolve(given)?)
    }

    /// Whether a word that stands where an id may stand is a text after all: an agent need not
    /// name its own task. What looks like one of our ids is always one.
    pub fn is_text(&self, list: &List<'_>, word: &str) -> bool {
        let number = word.bytes().all(|byte| byte.is_ascii_digit());
        self.own_task(list).is_some() && !number && list.resolve(word).is_err()
    }

    /// The task that the environment names, and the token of its claim where that can be read.
    pub fn given(&self) -> Option<(TaskId, Option<Token>)> {
        let task = self.settings.task.as_deref()?.parse().ok()?;
        let token = self.settings.token.as_deref();
        Some((task, token.and_then(|it| it.parse().ok())))
    }

    /// The claim token that goes with a task: as typed, else as this agent was given it.
    pub fn token(
        &self,
        list: &List<'_>,
        task: &TaskId,
        typed: Option<Token>,
    ) -> anyhow::Result<Option<Token>> {
        if typed.is_some() || self.own_task(list) != Some(task.as_str()) {
            return Ok(typed);
        }
        let Some(text) = &self.settings.token else {
            return Ok(None);
        };
        let token = text
            .parse()
            .with_context(|| format!("$FLAGPOST_TOKEN is {text:?}"))?;
        Ok(Some(token))
    }
}

/// As which worker the session that started us joined the fleet, where it did.
fn joined(home: &Home, dir: &std::path::Path, session: &str) -> anyhow::Result<Option<String>> {
    let Some(repository) = Repository::find(home, dir)? else {
        return Ok(None);
    };
    let worker = JoinedSessions::of(home, &repository).worker(session)?;
    Ok(worker.map(|it| it.to_string()))
}
