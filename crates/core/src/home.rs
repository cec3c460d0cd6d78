//! The home: where Flagpost's own files are (`tree.md` §1).
//!
//! Owns the paths below `$FLAGPOST_HOME` and the only look at the environment. Every path it
//! builds comes from a parsed id and stays inside.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::{OsStr, OsString},
    path::PathBuf,
    sync::Arc,
};

use flagpost_disk::fsx::{self, Fs, Lock, Rank, RealFs};
use flagpost_model::{
    InvalidId, ListId, RepoId, WorkerId,
    message::{self, ORCHESTRATOR, Speaker},
    notification::TerminalNames,
    task::Origin,
};
use jiff::{Timestamp, civil::Date, tz::TimeZone};

use crate::{
    access::Operation,
    clock::{self, Clock, SystemClock, is_sound},
    error::{Error, Result},
    sequencer::{KeptReport, Sequencer},
};

/// An opened home.
#[derive(Debug, Clone)]
pub struct Home {
    root: PathBuf,
    fs: Arc<dyn Fs>,
    clock: Arc<dyn Clock>,
    environment: Arc<Environment>,
    on_behalf: Option<Speaker>,
    order: Option<Order>,
    tells: Option<Arc<KeptReport>>,
}

/// What the environment says about the configuration.
#[derive(Debug, Default)]
pub struct Environment {
    /// `HOME`: what `~` stands for.
    pub user_home: Option<PathBuf>,
    /// The login name in the spelling of an id: a person, and so no worker.
    pub login: Option<WorkerId>,
    /// This program's file, where it is to start itself.
    pub program: Option<PathBuf>,
    /// Flagpost's own variables that are set; a setting may have one. What is not UTF-8 in them is shown as U+FFFD.
    pub settings: BTreeMap<String, String>,
}

/// Who puts the changes of a home's shared repositories in order.
#[derive(Debug, Clone)]
struct Order {
    sequencer: Arc<dyn Sequencer>,
    tell: TellKept,
}

/// Tells the fleet what was kept of a repository while it was away; a sentence of each report that was refused
/// for good. What was said is an operation, of which a home knows nothing.
pub type TellKept = fn(&Home, &RepoId) -> Result<Vec<String>>;

/// What the environment says about who acts on what.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// `FLAGPOST_WORKER`: which agent acts, also where it is set to nothing.
    pub worker: Option<String>,
    /// `FLAGPOST_LIST`: which list.
    pub list: Option<String>,
    /// `FLAGPOST_TASK`: the task that an agent was given.
    pub task: Option<String>,
    /// `FLAGPOST_TOKEN`: the token of its claim.
    pub token: Option<String>,
    /// The login name, for a person who set none of these.
    pub user: Option<String>,
    /// `FLAGPOST_REPORT`: where the agent of a run reports.
    pub report: Option<PathBuf>,
    /// `CODEX_HOME`: where Codex keeps its threads.
    pub codex_home: Option<PathBuf>,
    /// `COORDINATION_DIR`: where agents share a table of tasks.
    pub coordination: Option<PathBuf>,
    /// `PATH`, for finding agents' programs.
    pub path: Option<OsString>,
    /// `NO_COLOR` is set.
    pub no_color: bool,
    /// What the terminal calls itself.
    pub terminal: TerminalNames,
    /// `TERM` is `dumb` or not set: the terminal moves no cursor.
    pub dumb_terminal: bool,
    /// `COLORTERM` says that the terminal has all colours.
    pub true_color: bool,
    /// The locale, by `LC_ALL`, `LC_CTYPE` or `LANG`, is UTF-8.
    pub utf8: bool,
    /// `COLUMNS`: how wide the screen is.
    pub columns: Option<u16>,
    /// `VISUAL` or `EDITOR`: what a person edits with.
    pub editor: Option<String>,
    /// `OPENCODE_CONFIG_CONTENT`: what opencode is configured with by its user.
    pub opencode_config: Option<String>,
    /// `FLAGPOST_RULES`: the number of the history's line that tells what a run allows its agents.
    pub rules: Option<u64>,
    /// `CLAUDE_CODE_SESSION_ID` or `CODEX_THREAD_ID`: the session of the client that started us.
    pub client_session: Option<String>,
    /// `CLAUDE_PID`: the process of that client, where it says so.
    pub client_process: Option<u32>,
    /// The client that started us is Codex' shared server, by the programs that it adds to `PATH`.
    pub codex_daemon: bool,
    /// The variables that would tie an agent to the agent it was started from.
    pub parent_agent: Vec<OsString>,
    /// The names of all variables that are set. Their values are nobody's business.
    pub variables: BTreeSet<String>,
    /// Where clients of agents keep their own files, where a variable says so, by that variable.
    pub client_dirs: BTreeMap<String, PathBuf>,
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
            order: None,
            tells: None,
        }
    }

    /// The same home, whose shared repositories are put in this order.
    #[must_use]
    pub fn ordered(mut self, sequencer: Arc<dyn Sequencer>, tell: TellKept) -> Self {
        self.order = Some(Order { sequencer, tell });
        self
    }

    /// Who puts the changes of shared repositories in order.
    pub(crate) fn order(&self) -> Option<&dyn Sequencer> {
        self.order.as_ref().map(|it| &*it.sequencer)
    }

    /// Tells the fleet what was kept of a repository while it was away. The caller holds no lock.
    pub(crate) fn tell_kept(&self, repo: &RepoId) -> Result<()> {
        let tell = self.order.as_ref().map(|it| it.tell);
        tell.map_or(Ok(()), |tell| tell(self, repo).map(drop))
    }

    /// The same home, in which a report is told that was kept: each line of the history says so.
    #[must_use]
    pub(crate) fn telling(mut self, report: &KeptReport) -> Self {
        self.tells = Some(Arc::new(report.clone()));
        self
    }

    /// Which kept report is told.
    pub(crate) fn tells(&self) -> Option<&KeptReport> {
        self.tells.as_deref()
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
    /// an RFC 3339 time, or puts it forward or back (`+40s`, `-40s`), for tests and reproductions.
    pub fn from_environment() -> Result<(Self, Settings)> {
        let root = match (var_os("FLAGPOST_HOME"), var_os("HOME")) {
            (Some(root), _) => PathBuf::from(root),
            (None, Some(home)) => PathBuf::from(home).join(".flagpost"),
            (None, None) => return Err(Error::NoHome),
        };
        let root = std::path::absolute(root).map_err(|_| Error::NoHome)?;
        let clock: Arc<dyn Clock> = match var("FLAGPOST_CLOCK") {
            None => Arc::new(SystemClock),
            Some(text) => clock::of(&text)?,
        };
        let path = var_os("PATH");
        let codex_daemon = path.as_deref().is_some_and(is_of_codex_daemon);
        let thread = var("CODEX_THREAD_ID");
        // Its environment is that of the session which started it, and no other one's.
        let is_of_another = codex_daemon && thread.is_some();
        let settings = Settings {
            worker: given("FLAGPOST_WORKER").filter(|_| !is_of_another),
            list: var("FLAGPOST_LIST"),
            task: var("FLAGPOST_TASK"),
            token: var("FLAGPOST_TOKEN"),
            user: var("USER").or_else(|| var("LOGNAME")),
            report: var_os("FLAGPOST_REPORT").map(PathBuf::from),
            codex_home: var_os("CODEX_HOME").map(PathBuf::from),
            coordination: var_os("COORDINATION_DIR").map(PathBuf::from),
            path,
            no_color: var("NO_COLOR").is_some(),
            terminal: TerminalNames {
                term: var("TERM"),
                program: var("TERM_PROGRAM"),
                tmux: given("TMUX").is_some_and(|socket| !socket.is_empty()),
            },
            dumb_terminal: var("TERM").is_none_or(|term| term == "dumb"),
            true_color: var("COLORTERM").is_some_and(|it| it == "truecolor" || it == "24bit"),
            utf8: is_utf8(),
            columns: var("COLUMNS").and_then(|text| text.parse().ok()),
            editor: var("VISUAL").or_else(|| var("EDITOR")),
            opencode_config: var("OPENCODE_CONFIG_CONTENT"),
            rules: var("FLAGPOST_RULES").and_then(|text| text.parse().ok()),
            client_session: var("CLAUDE_CODE_SESSION_ID").or(thread),
            client_process: var("CLAUDE_PID").and_then(|text| text.parse().ok()),
            codex_daemon,
            parent_agent: parent_agent(),
            variables: variables(),
            client_dirs: client_dirs(),
        };
        let own = settings.variables.iter();
        let own = own.filter(|name| name.starts_with("FLAGPOST_"));
        let set = own.filter_map(|name| {
            let value = var_os(name)?.to_string_lossy().into_owned();
            Some((name.clone(), value))
        });
        let environment = Environment {
            user_home: var_os("HOME").map(PathBuf::from),
            login: Some(settings.login_name()),
            program: std::env::current_exe().ok(),
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

    /// What time it is: by the clock of the fleet of machines, where the home is in one and this machine's
    /// differs.
    pub fn now(&self) -> Timestamp {
        self.time_by(|own| self.order().map_or(own, |it| it.time(own)))
    }

    /// What time it is by a clock that says this where the machine's own says that. One that stands still is
    /// set by none.
    pub fn time_by(&self, clock: impl FnOnce(Timestamp) -> Timestamp) -> Timestamp {
        let own = self.clock.now();
        match self.clock.is_stopped() {
            true => own,
            false => clock(own),
        }
    }

    /// Refuses to work by a clock that is beyond what times can be.
    pub fn must_know_the_time(&self) -> Result<()> {
        let now = self.now();
        if is_sound(now) {
            Ok(())
        } else {
            Err(Error::Clock { now })
        }
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

    /// The name in `TZ`, where nobody knows that zone: days are those of UTC then.
    pub fn unknown_zone(&self) -> Option<String> {
        var("TZ").filter(|_| TimeZone::try_system().is_err())
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

    /// Where the workers of a repository have their directories.
    pub(crate) fn workers_dir(&self, repository: &RepoId) -> PathBuf {
        self.repository_dir(repository).join("workers")
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
        let mut ids = Vec::new();
        for name in fsx::names(self.fs(), dir)? {
            let Some(id) = name.to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let there = fsx::stat(self.fs(), &dir.join(&name))?;
            if there
                .is_some_and(|it| matches!(it.kind, fsx::FileKind::Dir | fsx::FileKind::Symlink))
            {
                ids.push(id);
            }
        }
        Ok(ids)
    }

    /// Makes sure that a directory of the home is there, and is the home's own.
    pub fn make_dirs(&self, dir: &std::path::Path) -> Result<()> {
        self.must_not_be_linked(dir)?;
        Ok(fsx::make_dirs(self.fs(), dir)?)
    }

    /// Refuses a directory of the home that a link leads to. Whoever has its lock writes beside it.
    pub(crate) fn must_not_be_linked(&self, dir: &std::path::Path) -> Result<()> {
        Ok(fsx::must_not_be_linked(self.fs(), &self.root, dir)?)
    }
}

impl Environment {
    /// Refuses a name that means something else than a worker: the person who is logged in, for one.
    pub(crate) fn must_be_a_worker(&self, id: &WorkerId) -> Result<()> {
        let login = self.login.as_ref().filter(|it| it.is_like(id));
        let why = login.map(|_| "it is the person who is logged in");
        match id.means_instead().or(why) {
            Some(why) => Err(Error::Reserved {
                worker: id.clone(),
                why,
            }),
            None => Ok(()),
        }
    }
}

impl Settings {
    /// Who acts, and in whose name: an agent, which the environment names, for itself only; a person
    /// also in another's name.
    pub fn speaker(&self, asked: Option<&str>) -> Result<Speaker> {
        let (asked, agent) = self.names(asked)?;
        Ok(message::speaker(asked, agent, self.login_name())?)
    }

    /// Refuses what the environment's agent may not do.
    pub fn permit(&self, operation: Operation) -> Result<()> {
        Ok(operation.permit(self.agent()?.as_ref(), self.origin())?)
    }

    /// The worker that the environment names. A name that is set and says nothing is refused like one
    /// that is none: it would make an operator of an agent.
    pub fn agent(&self) -> Result<Option<WorkerId>> {
        let invalid = |reason: String| Error::Invalid {
            what: "FLAGPOST_WORKER".to_owned(),
            reason,
        };
        let agent = self.worker.as_deref().map(str::parse).transpose();
        let agent: Option<WorkerId> =
            agent.map_err(|error: InvalidId| invalid(error.to_string()))?;
        match agent {
            Some(agent) if agent.is_like(&WorkerId::operator()) => {
                Err(invalid("no agent acts as the operator".to_owned()))
            }
            // What both did could not be told apart, nor whose the mail is.
            Some(agent) if agent.is_like(&self.login_name()) => Err(invalid(format!(
                "{agent} is the name of the person who is logged in, and no agent acts as that"
            ))),
            // Who gives the others their tasks may be an agent, and a run names its processes.
            Some(agent) if agent.as_str() == ORCHESTRATOR || agent.is_process() => Ok(Some(agent)),
            Some(agent) => match agent.means_instead() {
                Some(why) => Err(invalid(format!("no agent is called {agent}: {why}"))),
                None => Ok(Some(agent)),
            },
            None => Ok(None),
        }
    }

    /// The agent that acts, by its name: the worker that the environment names, else as which an agent
    /// asks to act. None where a person acts, or an agent that says no name.
    pub fn acting_agent(&self, asked: Option<&str>) -> Result<Option<WorkerId>> {
        let (asked, agent) = self.names(asked)?;
        let asked = asked.filter(|_| self.origin() == Origin::Agent);
        Ok(agent.or(asked))
    }

    /// Who is asked for, and which agent the environment names.
    fn names(&self, asked: Option<&str>) -> Result<(Option<WorkerId>, Option<WorkerId>)> {
        let asked = asked.map(str::parse).transpose()?;
        Ok((asked, self.agent()?))
    }

    /// What sort of hand acts: an agent's, where the environment was made for one.
    pub fn origin(&self) -> Origin {
        let of_run = self.task.is_some() || self.report.is_some();
        let agent = self.worker.is_some() || of_run || !self.parent_agent.is_empty();
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

/// Codex puts its own programs before others: of several that are around us, the innermost is first.
fn is_of_codex_daemon(path: &OsStr) -> bool {
    let mut dirs = std::env::split_paths(path);
    let own = dirs.find(|it| it.ends_with("codex-path"));
    own.is_some_and(|it| it.iter().any(|part| part == "app-server-daemon"))
}

/// The first of these that is set says what the locale is.
fn is_utf8() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(var);
    let locale = locale.unwrap_or_default().to_lowercase();
    locale.ends_with("utf-8") || locale.ends_with("utf8")
}

/// The same of a variable that is set, even to nothing.
fn given(name: &str) -> Option<String> {
    Some(set(name)?.to_string_lossy().into_owned())
}

fn var_os(name: &str) -> Option<OsString> {
    set(name).filter(|value| !value.is_empty())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the environment"
)]
fn set(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// The variables that tie a client to the one that it was started from (`agents.md` §2). Logins and the
/// switches between providers are none of them: without these a client is not signed in.
const PARENT: &[&str] = &[
    "CLAUDECODE",
    "CLAUDE_PID",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_CHILD_NOTES_DIR",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SSE_PORT",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "GEMINI_CLI",
    "OPENCODE",
];

/// The variables that say where clients of agents keep their own files.
const CLIENT_DIRS: &[&str] = &[
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

fn client_dirs() -> BTreeMap<String, PathBuf> {
    let named = |name: &&str| Some(((*name).to_owned(), var_os(name)?.into()));
    CLIENT_DIRS.iter().filter_map(named).collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the environment"
)]
fn variables() -> BTreeSet<String> {
    let set = std::env::vars_os().filter(|(_, value)| !value.is_empty());
    set.filter_map(|(name, _)| name.into_string().ok())
        .collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the environment"
)]
fn parent_agent() -> Vec<OsString> {
    let ties = |name: &OsString| name.to_str().is_some_and(|name| PARENT.contains(&name));
    std::env::vars_os()
        .map(|(name, _)| name)
        .filter(ties)
        .collect()
}
