//! What `run` answers.

use std::borrow::Cow;

use flagpost_core::{List, Repository, Skipped, landing::LandingView};
use flagpost_model::{ListRef, SessionId, TaskId, view};
use flagpost_run::RunReport;
use schemars::JsonSchema;
use serde::Serialize;

use crate::terminal::counted;

/// How a run ended.
///
/// The last line of 'flagpost run --json'; the lines before it are flagpost.event/1. Exit code 1 unless
/// every task passed, and with --land every task landed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunAnswer<'a> {
    /// The list's name.
    pub list: &'a ListRef,
    /// Null where there was nothing to run.
    pub session: Option<&'a SessionId>,
    /// Where the session's files are; null likewise.
    pub dir: Option<Cow<'a, str>>,
    /// Whether it was told to stop: run again to go on.
    pub interrupted: bool,
    pub passed: usize,
    pub failed: usize,
    /// Tasks that wait for an answer.
    pub stuck: usize,
    /// Tasks that were not done.
    pub skipped: usize,
    /// What clients told of, input and output together; null where none did.
    pub tokens: Option<u64>,
    /// What clients said it cost in US dollars; null where none did.
    #[schemars(range(min = 0))]
    pub cost_usd: Option<f64>,
}

/// What a run would do.
///
/// After 'flagpost run --dry-run'.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunPlan<'a> {
    #[schemars(extend("const" = true))]
    pub dry_run: bool,
    /// How many tasks run side by side.
    pub max_parallel: usize,
    /// How often a task is tried in all.
    pub attempts: u32,
    /// How many are planned.
    pub tasks: usize,
    /// Each in the order in which its tasks start.
    pub waves: &'a [Vec<TaskId>],
    /// Open tasks that it would not begin, and why.
    pub would_skip: Vec<SkippedTask<'a>>,
    /// Files that are no tasks and were passed over.
    pub skipped: &'a [Skipped],
}

view! {
    /// A task that a run would not begin.
    pub struct SkippedTask<'a> from it: &'a (TaskId, String) {
        id: &'a TaskId = &it.0,
        why: &'a str = &it.1,
    }
}

/// The tasks that passed without a commit, in a line; nothing where there are none.
pub fn without_commit(list: &List<'_>, report: &RunReport) -> String {
    let since = |id: &TaskId| list.task(id).ok()?.task.landing?.no_commit();
    let ids = report.fates.iter().map(|(id, _)| id);
    let tasks: Vec<&str> = ids
        .filter(|id| since(id).is_some())
        .map(TaskId::as_str)
        .collect();
    match tasks.is_empty() {
        true => String::new(),
        false => format!(
            "passed without a commit, so nothing of them lands: {}\n",
            tasks.join(", ")
        ),
    }
}

/// The commands that bring the work that passed onto the target, with what they are for; nothing where none waits.
pub fn to_land(repository: &Repository, list: &List<'_>) -> String {
    // Where it cannot be told, 'flagpost land' says why.
    let Ok(view) = LandingView::of(repository, list, None) else {
        return String::new();
    };
    let target = &view.queue.target.branch;
    let branches = |n| counted(n, "branch", "branches");
    let mut text = match view.queue.to_review().count() {
        0 => String::new(),
        n => format!("next: review {}\n  flagpost review\n", branches(n)),
    };
    text += &match view.queue.ready().count() {
        0 => String::new(),
        n => format!(
            "next: bring {} onto {target}\n  flagpost land\n",
            branches(n)
        ),
    };
    text
}
