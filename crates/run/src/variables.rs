//! The variables that a run sets for its agents.
//!
//! Owns their names. What they are set to is known where a process is started.

/// The variable by which a session's processes are known.
pub(crate) const SESSION: &str = "FLAGPOST_SESSION";

/// The variable that names the task of an agent.
pub(crate) const TASK: &str = "FLAGPOST_TASK";

/// The variable that numbers its attempt.
pub(crate) const ATTEMPT: &str = "FLAGPOST_ATTEMPT";

/// The variable that numbers the history's line with what the agents may do without asking.
pub(crate) const RULES: &str = "FLAGPOST_RULES";

/// What a run sets for its agents, and what makes an agent of whoever finds it: an operator's process has none of it.
pub const OF_AGENTS: &[&str] = &[
    "FLAGPOST_WORKER",
    "FLAGPOST_TOKEN",
    "FLAGPOST_REPORT",
    TASK,
    ATTEMPT,
    SESSION,
    SESSION_DIR,
    RULES,
];

/// Where its files are: the same for every session of a repository.
pub(crate) const SESSION_DIR: &str = "FLAGPOST_SESSION_DIR";
