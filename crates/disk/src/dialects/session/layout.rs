//! The names of a session's files and directories.
//!
//! Owns every name that `tree.md` §3 gives, and ours beside them. Names built from an id are safe
//! because the id is.

use flagpost_model::TaskId;

/// Where sessions live, below the repository.
pub const SESSIONS: &str = ".claude/sessions";
/// The session that runs.
pub const LIVE: &str = "__live_session__";
/// Who runs it.
pub const LOCK: &str = ".lock";
/// What was meant to run.
pub const PLAN: &str = "execution_plan.md";
/// What tasks learn from each other.
pub const CONTEXT: &str = "execution_context.md";
/// A row per task that ended.
pub const TASK_LOG: &str = "task_log.md";
/// How far the session is.
pub const PROGRESS: &str = "progress.md";
/// How it got there, an event per line.
pub const PROGRESS_EVENTS: &str = "progress.jsonl";
/// What became of it; only in archived sessions.
pub const SUMMARY: &str = "session_summary.md";
/// Tasks as they were when completed.
pub const TASKS: &str = "tasks";
/// Its tasks are still to be given back; ours, only beside what a dead session left.
pub const RECOVERING: &str = ".recovering";
/// What agents printed; ours.
pub const LOGS: &str = "logs";
/// What agents were given; ours.
pub const PROMPTS: &str = "prompts";

/// What a task learned, for the others.
pub fn task_context(id: &TaskId) -> String {
    format!("context-task-{id}.md")
}

/// How a task ended, by its agent.
pub fn task_result(id: &TaskId) -> String {
    format!("result-task-{id}.md")
}

/// A completed task, below [`TASKS`].
pub fn task_copy(id: &TaskId) -> String {
    format!("{id}.json")
}

/// Which task a context file belongs to; none for any other name.
pub fn task_of_context(name: &str) -> Option<TaskId> {
    name.strip_prefix("context-task-")?
        .strip_suffix(".md")?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_back_to_its_task() {
        let id: TaskId = "auth.v2-1".parse().unwrap();
        assert_eq!(task_of_context(&task_context(&id)), Some(id));
        for other in [
            "context-task-.md",
            "context-task-../x.md",
            "context-task-5.md.invalid",
            "progress.md",
        ] {
            assert_eq!(task_of_context(other), None);
        }
    }
}
