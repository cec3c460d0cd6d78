//! The home: where Flagpost's own files are (`tree.md` §1).
//!
//! Owns the paths below `$FLAGPOST_HOME` and the only look at the environment. Every path it
//! builds comes from a parsed id and stays inside.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf, sync::Arc};

use flagpost_disk::fsx::{self, Fs, Lock, Rank, RealFs};
use flagpost_model::{
    ListId, RepoId, WorkerId,
    message::{self, Speaker},
    task::Origin,
};
use jiff::{Timestamp, civil::Date, tz::TimeZone};

use crate::{
    clock::{Clock, SystemClock},
    config::keys::KEYS,
    error::{Error, Result},
};

/// An opened home.
#[derive(Debug, Clone)]
pub struct Home {
    root: PathBuf,
    fs: Arc<dyn Fs>,
    clock: Arc<dyn Clock>,
    environment: Arc<Environment>,
    on_behalf: Option<Speaker>,
}

/// What the environment says about the configuration.
#[derive(Debug, Default)]
pub struct Environment {
    /// `HOME`: what `~` stands for.
    pub user_home: Option<PathBuf>,
    /// The settings' variables that are set. What is not UTF-8 in them is shown as U+FFFD.
    pub settings: BTreeMap<&'static str, String>,
}

/// What the environment says about who acts on what.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// `FLAGPOST_WORKER`: who acts.
    pub worker: Option<String>,
    /// `FLAGPOST_LIST`: which list.
    pub list: Option<String>,
    /// `FLAGPOST_TASK`: the task that an agent was given.
    pub task: Option<String>,
    /// `FLAGPOST_TOKEN`: the token of its claim.
    pub token: Option<String>,
    /// The login name, for a person who set none of these.
    pub user: Option<String>,
    /// `COORDINATION_DIR`: where agents share a table of tasks.
    pub coordination: Option<PathBuf>,
    /// `PATH`, for finding agents' programs.
    pub path: Option<OsString>,
    /// `NO_COLOR` is set.
    pub no_color: bool,
    /// `COLUMNS`: how wide the screen is.
    pub columns: Option<u16>,
    /// `VISUAL` or `EDITOR`: what a person edits with.
    pub editor: Option<String>,
    /// The variables that would tie an agent to the agent it was started from.
    pub parent_agent: Vec<OsString>,
}

impl Home {
    /// A home at `root` on this machine, by its clock; nothing is created yet.
    pub fn at(root: PathBuf) -> Self {
        Self::new(root, Arc::new(RealFs), Arc::new(SystemClock))
    }

    /// The same on any file system, by any clock.
    pub fn new(root: PathBuf, fs: Arc<dyn Fs>, clock: Arc<dyn Clock>) -> Self {
        let environment = Arc::default();
        Self {
            root,
            fs,
            clock,
            environment,
            on_behalf: None,
        }
    }

    /// The same home for whoever acts now: where they act in another's name, each line of the history
    /// under that name says so.
    #[must_use]
    pub fn acting(mut self, speaker: Speaker) -> Self {
        self.on_behalf = speaker.by.is_some().then_some(speaker);
        self
    }

    /// Who it really is that acts under this name, where that is somebody else.
    pub(crate) fn hand_behind(&self, actor: &WorkerId) -> Option<&WorkerId> {
        let speaker = self.on_behalf.as_ref()?;
        speaker.by.as_ref().filter(|_| speaker.name == *actor)
    }

    /// The same home in this environment.
    #[must_use]
    pub fn with(mut self, environment: Environment) -> Self {
        self.environment = Arc::new(environment);
        self
    }

    /// The home and the settings that the environment names. `FLAGPOST_CLOCK` stops the clock at
    /// an RFC 3339 time, for tests and reproductions.
    pub fn from_environment() -> Result<(Self, Settings)> {
        let root = match (var_os("FLAGPOST_HOME"), var_os("HOME")) {
            (Some(root), _) => PathBuf::from(root),
            (None, Some(home)) => PathBuf::from(home).join(".flagpost"),
            (None, None) => return Err(Error::NoHome),
        };
        let root = std::path::absolute(root).map_err(|_| Error::NoHome)?;
        let clock: Arc<dyn Clock> = match var("FLAGPOST_CLOCK") {
            None => Arc::new(SystemClock),
            Some(text) => Arc::new(text.parse::<Timestamp>().map_err(|error| Error::Invalid {
                what: "FLAGPOST_CLOCK".to_owned(),
                reason: error.to_string(),
            })?),
        };
        let settings = Settings {
            worker: var("FLAGPOST_WORKER"),
            list: var("FLAGPOST_LIST"),
            task: var("FLAGPOST_TASK"),
            token: var("FLAGPOST_TOKEN"),
            user: var("USER").or_else(|| var("LOGNAME")),
            coordination: var_os("COORDINATION_DIR").map(PathBuf::from),
            path: var_os("PATH"),
            no_color: var("NO_COLOR").is_some(),
            columns: var("COLUMNS").and_then(|text| text.parse().ok()),
            editor: var("VISUAL").or_else(|| var("EDITOR")),
            parent_agent: parent_agent(),
        };
        let variables = KEYS.iter().filter_map(|key| key.about().variable);
        let set = variables.filter_map(|name| {
            let value = var_os(name)?.to_string_lossy().into_owned();
            Some((name, value))
        });
        let environment = Environment {
            user_home: var_os("HOME").map(PathBuf::from),
            settings: set.collect(),
        };
        let home = Self::new(root, Arc::new(RealFs), clock).with(environment);
        Ok((home, settings))
    }

    /// The home's directory.
    pub fn root(&self) -> &PathBuf {
        &self.root
    }

    /// The file system it is on.
    pub fn fs(&self) -> &dyn Fs {
        &*self.fs
    }

    /// What time it is.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// What the environment says about the configuration.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The lock of the whole home, whose directory is there.
    pub(crate) fn lock(&self) -> Result<Lock> {
        let path = self.root.join(".lock");
        let (rank, wait) = (Rank::Home, fsx::DEFAULT_WAIT);
        Ok(fsx::lock(self.fs(), &path, rank, wait, self.now())?)
    }

    /// The zone whose days people here mean.
    pub fn zone(&self) -> TimeZone {
        TimeZone::system()
    }

    /// What day it is here.
    pub fn today(&self) -> Date {
        self.now().to_zoned(self.zone()).date()
    }

    /// The lists' directory.
    pub fn tasks_root(&self) -> PathBuf {
        self.root.join("tasks")
    }

    /// One list's directory, where it is the home's own.
    pub fn list_dir(&self, list: &ListId) -> PathBuf {
        self.tasks_root().join(list.as_str())
    }

    /// The registered repositories' directory.
    pub fn repositories_root(&self) -> PathBuf {
        self.root.join("repos")
    }

    /// One repository's directory.
    pub fn repository_dir(&self, repository: &RepoId) -> PathBuf {
        self.repositories_root().join(repository.as_str())
    }

    /// The home's own lists, in order; [`crate::roots`] knows the others.
    pub fn lists(&self) -> Result<Vec<ListId>> {
        let mut lists: Vec<ListId> = self.ids_in(&self.tasks_root())?;
        lists.sort();
        Ok(lists)
    }

    /// The ids that name a directory in this one; none where it is not there. A note that somebody
    /// left among them is none of them.
    pub(crate) fn ids_in<T: std::str::FromStr>(&self, dir: &std::path::Path) -> Result<Vec<T>> {
        let names = match self.fs().names(dir) {
            Ok(names) => names,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(flagpost_disk::Error::io("list", dir)(error).into()),
        };
        let mut ids = Vec::new();
        for name in names {
            let Some(id) = name.to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let there = fsx::stat(self.fs(), &dir.join(&name))?;
            if there.is_some_and(|it| matches!(it.kind, fsx::Kind::Dir | fsx::Kind::Symlink)) {
                ids.push(id);
            }
        }
        Ok(ids)
    }

    /// Makes sure that a directory of the home is there.
    pub(crate) fn make_dirs(&self, dir: &std::path::Path) -> Result<()> {
        Ok(fsx::make_dirs(self.fs(), dir)?)
    }
}

impl Settings {
    /// Who acts, and in whose name: an agent, which the environment names, for itself only; a person
    /// also in another's name.
    pub fn speaker(&self, asked: Option<&str>) -> Result<Speaker> {
        let (asked, agent) = self.names(asked)?;
        Ok(message::speaker(asked, agent, self.login_name())?)
    }

    /// Who decides on briefs: a person, also in another's name.
    pub fn operator(&self, asked: Option<&str>) -> Result<WorkerId> {
        let (asked, agent) = self.names(asked)?;
        Ok(message::operator(asked, agent, self.login_name())?)
    }

    /// Who is asked for, and which agent the environment names.
    fn names(&self, asked: Option<&str>) -> Result<(Option<WorkerId>, Option<WorkerId>)> {
        let asked = asked.map(str::parse).transpose()?;
        let agent = self.worker.as_deref().map(str::parse).transpose()?;
        Ok((asked, agent))
    }

    /// What sort of hand acts: an agent's, where the environment was made for one.
    pub fn origin(&self) -> Origin {
        let agent = self.worker.is_some() || self.task.is_some() || !self.parent_agent.is_empty();
        if agent { Origin::Agent } else { Origin::Person }
    }

    /// The login name in the spelling of an id.
    fn login_name(&self) -> WorkerId {
        let spelled: String = self
            .user
            .as_deref()
            .unwrap_or_default()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .skip_while(|c| *c == '-')
            .take(flagpost_model::id::MAX_LEN)
            .collect();
        spelled.parse().unwrap_or_else(|_| WorkerId::operator())
    }
}

/// What is not UTF-8 must not count as absent: somebody meant something by it.
fn var(name: &str) -> Option<String> {
    Some(var_os(name)?.to_string_lossy().into_owned())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the environment"
)]
fn var_os(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the environment"
)]
fn parent_agent() -> Vec<OsString> {
    let ties = |name: &OsString| {
        let name = name.as_encoded_bytes();
        name == b"CLAUDECODE" || name.starts_with(b"CLAUDE_CODE_")
    };
    std::env::vars_os()
        .map(|(name, _)| name)
        .filter(ties)
        .collect()
}
