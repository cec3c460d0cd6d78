//! Why a run did not start, or could not go on.

use flagpost_core as core;
use flagpost_disk as disk;

use crate::{command::CommandError, process::ProcessError};

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure of the run itself. A task that fails is no failure of the run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An operation on tasks or sessions failed.
    #[error(transparent)]
    Core(#[from] core::Error),
    /// A file failed.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// A worktree could not be had.
    #[error(transparent)]
    Worktree(#[from] crate::worktree::WorktreeError),
    /// The agent's command line cannot be understood.
    #[error("the agent's command line {line:?} cannot be used: {reason}")]
    AgentCommand {
        /// As given.
        line: String,
        /// Why not.
        reason: &'static str,
    },
    /// Nobody knows how an agent is started that is to speak its protocol.
    #[error(
        "nobody said how {agent} is started to speak the Agent Client Protocol: set run.agents.{agent}.command"
    )]
    AcpCommand {
        /// The agent as named, without what says how it is spoken to.
        agent: String,
    },
    /// An option that the operator added to a client is the run's own.
    #[error(
        "run.agents.{agent}.args has {option}, which the run sets itself: by it the agent's \
         conversation is known and its output is read"
    )]
    AgentOption {
        /// The agent as named.
        agent: String,
        /// The option.
        option: String,
    },
    /// A shell's script would hold the prompt's path, and take it apart.
    #[error(
        "the agent's command line {line:?} puts the prompt's path into a shell's script, and the \
         shell would not read it as one word: {}", dir.display()
    )]
    PromptInScript {
        /// As given.
        line: String,
        /// Where the prompts are.
        dir: std::path::PathBuf,
    },
    /// The agent's program is not installed.
    #[error("the program {program:?} of agent {agent:?} is not there")]
    AgentMissing {
        /// The agent as named.
        agent: String,
        /// Its program.
        program: String,
    },
    /// A client is there and cannot be started as it would be.
    #[error("agent {agent:?} could do no task: {what}")]
    ClientUnfit {
        /// The agent as named.
        agent: String,
        /// What is wrong.
        what: String,
        /// What to do about it.
        hint: String,
    },
    /// A process cannot be given its task.
    #[error("{worker} cannot be given its TASK: {reason}")]
    Mail {
        /// As whom it works.
        worker: flagpost_model::WorkerId,
        /// Why not.
        reason: String,
    },
    /// A task is to be done by a process, and nobody said which.
    #[error("no agent was named")]
    NoAgent,
    /// There is nothing to run.
    #[error("list {list} has no open task{}", group.as_ref().map(|group| format!(" in group {group}")).unwrap_or_default())]
    NothingToRun {
        /// The list.
        list: String,
        /// The group that was asked for.
        group: Option<String>,
    },
    /// It failed in its middle, and its session with it.
    #[error("{}; session {session} is dead{}", core::describe(source.as_ref()), stopped(*agents))]
    Died {
        /// Its session.
        session: flagpost_model::SessionId,
        /// How many agents were at work, and were stopped.
        agents: usize,
        /// Why.
        source: Box<Error>,
    },
    /// The system refused to start or watch a process.
    #[error(transparent)]
    Process(#[from] ProcessError),
}

fn stopped(agents: usize) -> String {
    match agents {
        0 => String::new(),
        1 => ", and its agent was stopped".to_owned(),
        agents => format!(", and its {agents} agents were stopped"),
    }
}

impl From<CommandError> for Error {
    fn from(error: CommandError) -> Self {
        match error {
            CommandError::Process(error) => error.into(),
            CommandError::Disk(error) => error.into(),
        }
    }
}

impl From<core::git::GitError> for Error {
    fn from(error: core::git::GitError) -> Self {
        Self::Core(error.into())
    }
}

impl From<core::landing::LandingRefusal> for Error {
    fn from(refusal: core::landing::LandingRefusal) -> Self {
        Self::Core(refusal.into())
    }
}
