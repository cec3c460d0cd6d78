//! What an agent is told.
//!
//! Owns the text of a prompt: facts about one task, what others learned, and how to report. No control
//! character of what others wrote comes into it. Pure.

use std::path::Path;

use flagpost_disk::dialects::session::{context, result};
use flagpost_model::{
    WorkerId,
    plain::plain,
    plan::Attempt,
    session::{Outcome, SharedContext, TaskReport},
    task::{Ending, Task},
};

/// Everything a prompt is made from.
#[derive(Debug)]
pub struct Brief<'a> {
    /// The task, claimed.
    pub task: &'a Task,
    /// As whom the agent works.
    pub worker: &'a WorkerId,
    /// Which attempt it is.
    pub attempt: Attempt,
    /// Tasks it waited for, with what their workers said.
    pub blockers: &'a [Task],
    /// What the session knows.
    pub context: &'a SharedContext,
    /// Why the attempt before failed.
    pub last_failure: Option<&'a str>,
    /// What of the blockers' work is not in this worktree, a line each.
    pub unmerged: &'a [String],
    /// Where to report how it ended.
    pub result: &'a Path,
    /// Where to write what others should know.
    pub notes: &'a Path,
}

/// What a resident worker is told: the task itself, since it knows how to report.
pub fn of_task(task: &Task, last_failure: Option<&str>) -> String {
    let mut text = format!("{}\n", task.subject);
    if !task.description.trim().is_empty() {
        text += &format!("\n{}\n", task.description.trim_end());
    }
    if let Some(failure) = last_failure {
        text += &format!("\nWhy the last attempt failed: {}\n", failure.trim_end());
    }
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
    let mut text = format!("# Task {}: {}\n\n", task.id, task.subject);
    text += &format!("You are worker {worker}, and this task is yours alone. Attempt {attempt}.\n");
    if !task.description.trim().is_empty() {
        text += &format!(
            "\n## What is to be done\n\n{}\n",
            task.description.trim_end()
        );
    }
    if let Some(failure) = brief.last_failure {
        text += &format!(
            "\n## Why the last attempt failed\n\n{}\n",
            failure.trim_end()
        );
    }
    if !brief.unmerged.is_empty() {
        text += "\n## Work that is not here\n\nThese branches hold work that yours builds on:\n\n";
        brief
            .unmerged
            .iter()
            .for_each(|branch| text += &format!("- {branch}\n"));
    }
    if !brief.blockers.is_empty() {
        text += "\n## What the tasks before yours did\n";
        for blocker in brief.blockers {
            text += &format!("\n### Task {}: {}\n", blocker.id, blocker.subject);
            let said = blocker
                .result
                .as_ref()
                .filter(|result| result.ending == Ending::Completed);
            if let Some(said) = said.filter(|said| !said.text.trim().is_empty()) {
                text += &format!("\n{}\n", said.text.trim_end());
            }
        }
    }
    text += &format!("\n---\n\n{}\n---\n", context::render(brief.context));
    text += &how_to_report(brief.result, brief.notes);
    plain(&text).into_owned()
}

fn how_to_report(result_path: &Path, notes: &Path) -> String {
    let example = result::render(&TaskReport {
        outcome: Some(Outcome::Pass),
        summary: "What you did, in a few lines.".to_owned(),
        files: vec!["src/parser.rs".to_owned()],
        issues: "None".to_owned(),
        ..TaskReport::default()
    });
    format!(
        "\n## How to report\n\n\
         When you are done, write this file: {}\n\n\
         ```markdown\n{example}```\n\n\
         The status is PASS, PARTIAL (some of it works) or FAIL. If you cannot go on without help, \
         run `flagpost stuck --file -` with the question on stdin instead. Without a report, \
         your exit code counts.\n\n\
         What the tasks after yours should know, write as list items under the headings \
         `## Project Patterns`, `## Key Decisions`, `## Known Issues` and `## File Map` into: {}\n\
         Do not edit execution_context.md: it is merged from these notes.\n",
        result_path.display(),
        notes.display(),
    )
}
