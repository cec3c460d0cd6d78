//! What an agent is told whose conversation goes on.
//!
//! Owns the order: how things stand by now, then what is new, then how to report. What the agent was told
//! before is in its conversation and not said again. The question to one that ended in silence asks for
//! nothing else.

use std::path::Path;

use flagpost_model::{Token, client::Client, plain::plain, task::Task};

use super::{
    program,
    quoted::{self, clipped, fenced, one_line},
};

/// So much of what git says is told.
const STATUS: usize = 4 << 10;

/// Why a conversation goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason<'a> {
    /// Its agent ended without saying how.
    Unreported {
        /// The actions that its client refused.
        denied: &'a [String],
    },
    /// Its agent said that it is done, and these files of its worktree are in no commit.
    Uncommitted {
        /// Which.
        files: &'a str,
    },
    /// Its agent asked a person, who answered.
    Answered,
    /// Its agent had done the task, and a person returned the work.
    Returned,
    /// The same before its process had ended: the task is its own again, by a claim with this token.
    AnsweredAtOnce(Token),
    /// Its account was at a limit.
    Limit,
    /// Its time was up.
    TimedOut,
    /// The run died.
    Crashed,
}

/// Everything that such a prompt is made from.
#[derive(Debug)]
pub struct ResumeBrief<'a> {
    /// The task, as it is now.
    pub task: &'a Task,
    /// Which client the agent is of.
    pub client: Option<Client>,
    /// Why it goes on.
    pub reason: Reason<'a>,
    /// What `git status --short` says where the agent works; none where git says nothing.
    pub status: Option<&'a str>,
    /// What came of the last attempt, where there is something to say.
    pub reported: Option<&'a str>,
    /// Where to report how it ended: `$FLAGPOST_REPORT`.
    pub report: &'a Path,
}

/// The prompt with which a conversation goes on.
pub fn resume(brief: &ResumeBrief<'_>) -> String {
    let text = match brief.reason {
        Reason::Unreported { denied } => unreported(brief, denied),
        Reason::Uncommitted { files } => uncommitted(brief, files),
        Reason::Answered => going_on(brief, "Your question was answered, as you read below."),
        Reason::Returned => going_on(
            brief,
            "Your work was reviewed and returned, as you read below. Change it, and commit the change.",
        ),
        Reason::AnsweredAtOnce(token) => going_on(
            brief,
            &format!(
                "Your question was answered, as you read below, and the task is yours again. Its claim is \
                 a new one: add `--token {token}` to `done`, `fail` and `stuck`."
            ),
        ),
        Reason::Limit => going_on(
            brief,
            "You were stopped at your account's limit, and may work again.",
        ),
        Reason::TimedOut => going_on(
            brief,
            "Your time was up, and you were stopped. This is a new attempt.",
        ),
        Reason::Crashed => going_on(brief, "The run that started you died, and another goes on."),
    };
    plain(&text).into_owned()
}

fn unreported(brief: &ResumeBrief<'_>, denied: &[String]) -> String {
    let (id, report) = (&brief.task.id, brief.report.display());
    let mut text = format!(
        "Task {id}: you ended without a report. Write $FLAGPOST_REPORT or run flagpost done, fail or \
         stuck; change nothing else.\n"
    );
    if !denied.is_empty() {
        text += &format!(
            "\nYour client refused these actions:\n\n{}",
            fenced(&denied.join("\n"))
        );
    }
    text += &format!("\n$FLAGPOST_REPORT is {report}. {}", form(brief));
    text
}

fn uncommitted(brief: &ResumeBrief<'_>, files: &str) -> String {
    let (id, program) = (&brief.task.id, program(brief.client));
    format!(
        "Task {id}: you said that it is done, and these files of your worktree are in no commit:\n\n{}\n\
         Only commits count. Commit what belongs to the task, remove what is of no use, and say with \
         `{program} note {id}` why anything else stays. Do nothing more.\n",
        fenced(files)
    )
}

fn going_on(brief: &ResumeBrief<'_>, news: &str) -> String {
    let task = brief.task;
    let mut text = format!(
        "# Task {}: {}\n\nYou go on where you were.\n",
        task.id,
        one_line(&task.subject)
    );
    text += &match brief.status.map(|it| clipped(it.trim_end(), STATUS)) {
        None => String::new(),
        Some(("", _)) => {
            "\n`git status --short` says nothing: no file differs from the last commit.\n"
                .to_owned()
        }
        Some((status, is_cut)) => format!(
            "\n`git status --short` says{}:\n\n{}",
            if is_cut { ", among more" } else { "" },
            fenced(status)
        ),
    };
    if let Some(reported) = brief.reported.filter(|it| !it.trim().is_empty()) {
        text += &format!("\nWhat came of the last attempt:\n\n{}", fenced(reported));
    }
    text += &format!("\n{news}\n");
    let program = program(brief.client);
    text += &quoted::questions(task, program);
    text += &quoted::notes(task, program);
    if brief.reason == Reason::Returned {
        text += &quoted::came_back(task);
    }
    text += &format!(
        "\nBefore you end, write $FLAGPOST_REPORT, which is now {}. {}",
        brief.report.display(),
        form(brief)
    );
    text
}

/// How a report looks, and what may be run in its place.
fn form(brief: &ResumeBrief<'_>) -> String {
    let program = program(brief.client);
    format!(
        "Its first line is `status: PASS`, PARTIAL or FAIL; below are `## Summary`, `## Files Modified` and \
         `## Issues`. In its place you may run `{program} done`, `fail` or `stuck`, with your words \
         behind it.\n"
    )
}
