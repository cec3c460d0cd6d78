//! What an agent is told.
//!
//! Owns the text of a prompt: facts about one task, what was said about it, what others learned, and how to
//! report. What others wrote stands in fences that their words cannot close, and no control character of
//! theirs comes into it. A heading that has nothing below it is left out. Pure.

mod quoted;
mod resume;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, path::Path};

use flagpost_core::git::Branch;
use flagpost_disk::dialects::session::{context, result};
use flagpost_model::{
    TaskId, WorkerId,
    client::Client,
    plain::plain,
    session::{Attempt, Outcome, SharedContext, TaskReport},
    task::{Ending, Task},
};

pub use resume::{Reason, ResumeBrief, resume};

pub(crate) use quoted::clipped;
use quoted::{fenced, one_line};

/// Everything a prompt is made from.
#[derive(Debug)]
pub struct Brief<'a> {
    /// The task, claimed.
    pub task: &'a Task,
    /// As whom the agent works.
    pub worker: &'a WorkerId,
    /// Which client it is of; none of a plain command line, whose exit code counts.
    pub client: Option<Client>,
    /// Which attempt it is.
    pub attempt: Attempt,
    /// Tasks it waited for, with what their workers said.
    pub blockers: &'a [Task],
    /// What the clients of these refused their agents, in a line, where they did.
    pub refused: &'a BTreeMap<TaskId, String>,
    /// What the session knows.
    pub context: &'a SharedContext,
    /// Why the attempt before failed.
    pub last_failure: Option<&'a str>,
    /// The branch of the task's own worktree, where it has one.
    pub branch: Option<&'a Branch>,
    /// What of the blockers' work is not in this worktree, a line each.
    pub unmerged: &'a [String],
    /// What this worktree came with, a line each.
    pub provided: &'a [String],
    /// Where to report how it ended: `$FLAGPOST_REPORT`.
    pub report: &'a Path,
    /// Where to write what others should know.
    pub notes: &'a Path,
}

/// What a resident worker is told: the task itself and what was said about it, since it knows how to
/// report.
pub fn of_task(task: &Task, last_failure: Option<&str>) -> String {
    let mut text = format!("{}\n", task.subject);
    if !task.description.trim().is_empty() {
        text += &format!("\n{}\n", task.description.trim_end());
    }
    text += &quoted::questions(task, "flagpost");
    text += &quoted::notes(task, "flagpost");
    text += &quoted::came_back(task);
    text += &failure(last_failure);
    plain(&text).into_owned()
}

/// The prompt.
pub fn render(brief: &Brief<'_>) -> String {
    let Brief {
        task,
        worker,
        attempt,
        ..
    } = brief;
    let program = program(brief.client);
    let mut text = format!("# Task {}: {}\n\n", task.id, one_line(&task.subject));
    text += &format!("You are worker {worker}, and this task is yours alone. Attempt {attempt}.\n");
    if !task.description.trim().is_empty() {
        text += &format!(
            "\n## What is to be done\n\n{}\n",
            task.description.trim_end()
        );
    }
    text += &quoted::questions(task, program);
    text += &quoted::notes(task, program);
    text += &before(brief.blockers, brief.refused);
    text += &worktree(brief.branch, brief.provided);
    text += &elsewhere(brief.unmerged);
    text += &quoted::came_back(task);
    text += &failure(brief.last_failure);
    text += &known(brief.context);
    text += &how_to_report(brief);
    plain(&text).into_owned()
}

fn failure(last: Option<&str>) -> String {
    let last = last.filter(|it| !it.trim().is_empty());
    last.map_or(String::new(), |last| {
        format!("\n## Why the last attempt failed\n\n{}", fenced(last))
    })
}

/// What the tasks that this one waited for came to.
fn before(blockers: &[Task], refused: &BTreeMap<TaskId, String>) -> String {
    if blockers.is_empty() {
        return String::new();
    }
    let mut text = "\n## What the tasks before yours did\n".to_owned();
    for blocker in blockers {
        let subject = one_line(&blocker.subject);
        text += &format!("\n### Task {}: {subject}\n", blocker.id);
        let result = blocker.result.as_ref();
        let said = result.filter(|it| it.ending == Ending::Completed && !it.text.trim().is_empty());
        text += &match said {
            Some(said) => format!("\n{}", fenced(&said.text)),
            None => "\nDone; its worker said nothing.\n".to_owned(),
        };
        if let Some(refused) = refused.get(&blocker.id) {
            text += &format!(
                "\nIts client refused it these actions:\n\n{}",
                fenced(refused)
            );
        }
    }
    text
}

/// What counts in a worktree of the task's own, and what is there.
fn worktree(branch: Option<&Branch>, provided: &[String]) -> String {
    branch.map_or(String::new(), |branch| {
        let mut text = format!(
            "\n## Where you work\n\nThis is a git worktree of your own, on the branch {branch}. Only commits on it \
             count: commit all of your work before you report.\n"
        );
        if !provided.is_empty() {
            text += &format!("\n{}\n", provided.join("\n"));
        }
        text
    })
}

/// What of their work is on other branches.
fn elsewhere(unmerged: &[String]) -> String {
    if unmerged.is_empty() {
        return String::new();
    }
    let branches = unmerged.iter().map(|branch| format!("- {branch}\n"));
    let branches: String = branches.collect();
    format!(
        "\n## Work that is not here\n\nThese branches hold work that yours builds on:\n\n{branches}"
    )
}

/// What the session knows.
fn known(context: &SharedContext) -> String {
    match context::body(context) {
        said if said.is_empty() => String::new(),
        said => format!("\n## What is known so far\n\n{}", fenced(&said)),
    }
}

/// What `flagpost` is called from an agent's shell. These clients let their agents run it by that
/// name and by no other; elsewhere the variable finds it whatever became of `PATH`.
fn program(client: Option<Client>) -> &'static str {
    match client {
        Some(Client::Claude | Client::Gemini | Client::Acp) => "flagpost",
        None | Some(Client::Codex | Client::Opencode | Client::Cursor | Client::Aider) => {
            "\"$FLAGPOST_BIN\""
        }
    }
}

fn how_to_report(brief: &Brief<'_>) -> String {
    let example = result::render(&TaskReport {
        outcome: Some(Outcome::Pass),
        summary: "What you did, in a few lines.".to_owned(),
        files: vec!["src/parser.rs".to_owned()],
        issues: "None".to_owned(),
        ..TaskReport::default()
    });
    let silent = match brief.client {
        Some(_) => "Without a report the task has not passed, however you end.",
        None => "Without a report your exit code counts: 0 is PASS.",
    };
    let (report, notes) = (brief.report.display(), brief.notes.display());
    let program = program(brief.client);
    format!(
        "\n## How to report\n\n\
         Before you end, write your report into `$FLAGPOST_REPORT`, which is {report}:\n\n\
         ```markdown\n{example}```\n\n\
         The status is PASS, PARTIAL (some of it works) or FAIL. In place of the file you may run one of:\n\n\
         ```sh\n\
         {program} done 'what you did'\n\
         {program} fail 'why it does not work'\n\
         {program} stuck 'your question'\n\
         ```\n\n\
         `stuck` asks the operator. Ask it instead of guessing, and end: the task goes on with the answer. \
         {silent}\n\n\
         What the tasks after yours should know, write as list items under `## Project Patterns`, \
         `## Key Decisions`, `## Known Issues` or `## File Map` into {notes}.\n"
    )
}
