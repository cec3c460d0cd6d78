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

/// The run is asked to end when what runs has finished; ours.
pub const STOP: &str = "stop.request";
/// The run is asked to end at once; ours.
pub const STOP_NOW: &str = "stop-now.request";

/// One task is asked to be stopped; ours.
pub fn stop_task(id: &TaskId) -> String {
    format!("stop-task-{id}.request")
}

/// Which task a request is about; none for any other name.
pub fn task_to_stop(name: &str) -> Option<TaskId> {
    requested("stop-task-", name)
}

/// The agent of a task is asked to leave its conversation to a person; ours.
pub fn hand_over(id: &TaskId) -> String {
    format!("hand-over-{id}.request")
}

/// Whose conversation a request is about; none for any other name.
pub fn task_to_hand_over(name: &str) -> Option<TaskId> {
    requested("hand-over-", name)
}

fn requested(of: &str, name: &str) -> Option<TaskId> {
    let id = name.strip_prefix(of)?.strip_suffix(".request")?;
    id.parse().ok()
}

/// What a task learned, for the others.
pub fn task_context(id: &TaskId) -> String {
    format!("context-task-{id}.md")
}

/// How a task ended, by its agent.
pub fn task_result(id: &TaskId) -> String {
    format!("result-task-{id}.md")
}

/// Whether a file of this name is one.
pub fn is_task_result(name: &str) -> bool {
    let id = name.strip_prefix("result-task-");
    let id = id.and_then(|rest| rest.strip_suffix(".md"));
    id.is_some_and(|id| id.parse::<TaskId>().is_ok())
}

/// A completed task, below [`TASKS`].
pub fn task_copy(id: &TaskId) -> String {
    format!("{id}.json")
}

/// What a task's agent printed in one attempt, below [`LOGS`].
pub fn attempt_log(id: &TaskId, attempt: u32) -> String {
    format!("task-{id}-attempt-{attempt}.log")
}

/// Which attempt of which task a log is of; none for any other name.
pub fn attempt_of_log(name: &str) -> Option<(TaskId, u32)> {
    let rest = name.strip_prefix("task-")?.strip_suffix(".log")?;
    let (id, attempt) = rest.rsplit_once("-attempt-")?;
    let (id, attempt) = (id.parse().ok()?, attempt.parse().ok()?);
    (name == attempt_log(&id, attempt)).then_some((id, attempt))
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
        assert_eq!(task_of_context(&task_context(&id)), Some(id.clone()));
        assert_eq!(task_to_stop(&stop_task(&id)), Some(id.clone()));
        assert_eq!(task_to_hand_over(&hand_over(&id)), Some(id.clone()));
        assert_eq!(task_to_stop(&hand_over(&id)), None);
        assert_eq!([STOP, STOP_NOW].map(task_to_stop), [None, None]);
        for other in [
            "context-task-.md",
            "context-task-../x.md",
            "context-task-5.md.invalid",
            "progress.md",
        ] {
            assert_eq!(task_of_context(other), None);
        }
    }

    #[test]
    fn a_log_is_of_one_task_and_attempt() {
        let id = |text: &str| text.parse::<TaskId>().unwrap();
        for (task, attempt) in [("7", 12), ("7-attempt-1", 2)] {
            let name = attempt_log(&id(task), attempt);
            assert_eq!(attempt_of_log(&name), Some((id(task), attempt)), "{name}");
        }
        for other in [
            "task-7-attempt-01.log",
            "task-7-attempt-+1.log",
            "task-7-attempt-.log",
            "result-task-7-attempt-1.md",
        ] {
            assert_eq!(attempt_of_log(other), None, "{other}");
        }
    }
}
