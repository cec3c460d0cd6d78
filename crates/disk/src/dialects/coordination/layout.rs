//! The names in a coordination directory (`tree.md` §6).

use flagpost_model::TaskId;

/// What the directory is called where nobody says otherwise.
pub const DEFAULT_DIR: &str = ".coordination";
/// The table of tasks.
pub const TASKS: &str = "tasks.json";
/// The lock of everything else.
pub const LOCK: &str = "tasks.json.lock";
/// The table of agents.
pub const AGENTS: &str = "agents.json";
/// Its lock, which others take alone.
pub const AGENTS_LOCK: &str = "agents.json.lock";
/// What is wanted.
pub const PLAN: &str = "master-plan.md";
/// The directory of what everybody should know.
pub const CONTEXT: &str = "context";
/// What was found.
pub const DISCOVERIES: &str = "context/discoveries.md";
/// The directory of logs.
pub const LOGS: &str = "logs";
/// The directory of results.
pub const RESULTS: &str = "results";
/// The directory of what came too late.
pub const LATE: &str = "results/late";
/// All of it for a person.
pub const SUMMARY: &str = "summary.md";

/// What came of a task.
pub fn result(task: &TaskId) -> String {
    format!("{RESULTS}/{task}.md")
}

/// What was said about a task when it was too late.
pub fn late(task: &TaskId) -> String {
    format!("{LATE}/{task}.md")
}

/// What an agent did. The name is an id, or `leader`.
pub fn log(agent: &str) -> String {
    format!("{LOGS}/{agent}.log")
}

/// The id of this number.
pub fn numbered(number: u64) -> String {
    format!("task-{number:03}")
}

/// The number in an id of ours.
pub fn number(id: &str) -> Option<u64> {
    let number = id.strip_prefix("task-")?.parse().ok()?;
    (numbered(number) == id).then_some(number)
}
