//! What a person should know when a run is over.
//!
//! Owns the words at the end: how many passed, what failed and why, what waits for whom, what it
//! took, and the command that comes next after each of these. Pure.

use std::collections::BTreeMap;

use flagpost_model::TaskId;

use super::{
    account::{FinishedTask, RunProgress},
    format::{brief, first_line, refused},
    frame::spent,
    outcome::ShownOutcome,
    words,
};
use crate::fit::{cut, fold};
use crate::screen::Screen;
use crate::terminal::counted;

/// So many of a kind are told one by one.
const ONE_BY_ONE: usize = 10;

/// How many refused actions a line names.
const NAMED: usize = 3;

/// So many columns of a subject are enough to know it by.
const SUBJECT: usize = 60;

/// A reason takes so many lines at most.
const LINES: usize = 4;

/// What is told beside the account itself.
#[derive(Debug, Clone)]
pub struct Next {
    /// Where the summary of the session is, with the session's name.
    pub session: String,
    /// Whether the operator ended it.
    pub interrupted: bool,
    /// The command that goes on with what is left.
    pub again: String,
}

/// A line of the words at the end.
enum EndingLine {
    /// Something to know: a word in its own style, and the rest.
    Words(ShownOutcome, String, String),
    /// A command, below what it is for. It is never broken: it is there to be copied.
    Command(String),
}

/// The words at the end.
pub fn summary(account: &RunProgress, next: &Next, screen: Screen) -> String {
    let mut lines = failed(account);
    lines.extend(asking(account));
    lines.extend(refusals(account));
    lines.extend(left(account));
    lines.extend(parked(account));
    lines.extend(worktrees(account));
    if account.settled.values().any(|it| it.fate.is_left()) {
        let opens = account.parked.values().flatten().max();
        let waits = opens.filter(|_| !next.again.contains("-park"));
        let has_failed = OutcomeCounts::of(account).failed > 0;
        let tries_again = has_failed && !next.again.contains("--skip-failed");
        let (words, command) = match waits {
            Some(until) => (
                "wait until the account is open, and go on with what is left",
                format!("{} --park-until {until:.0}", next.again),
            ),
            None if tries_again => (
                "try again what failed, and go on with what is left",
                next.again.clone(),
            ),
            None => ("go on with what is left", next.again.clone()),
        };
        let again = ShownOutcome::Interrupted;
        lines.push(EndingLine::Words(
            again,
            "next:".to_owned(),
            words.to_owned(),
        ));
        lines.push(EndingLine::Command(command));
    }
    let mut text = screen.bold(&counts(account, next.interrupted)) + "\n";
    lines.iter().for_each(|line| text += &line.shown(screen));
    let spent = spent(account);
    if !spent.is_empty() {
        text += &format!("used {}\n", spent.join(", "));
    }
    text + &next.session + "\n"
}

impl EndingLine {
    /// The line as it is printed; several where the screen is narrow.
    fn shown(&self, screen: Screen) -> String {
        let (fate, word, rest) = match self {
            Self::Words(fate, word, rest) => (*fate, word, rest),
            Self::Command(command) => return format!("  {command}\n"),
        };
        let text = format!("{word} {rest}");
        let lines = match screen.columns() {
            Some(columns) => fold(&text, columns, LINES),
            None => vec![text],
        };
        let mut shown = lines.join("\n") + "\n";
        if let Some(rest) = shown.strip_prefix(word.as_str()) {
            shown = screen.paint(fate.style(), word) + rest;
        }
        shown
    }
}

/// How many came to which end.
fn counts(account: &RunProgress, interrupted: bool) -> String {
    let counted = OutcomeCounts::of(account);
    let mut text = format!("{} of {} passed", counted.passed, account.settled.len());
    for (count, word) in [
        (counted.failed, "failed"),
        (counted.stuck, "stuck"),
        (counted.rest, "not done"),
    ] {
        if count > 0 {
            text += &format!(", {count} {word}");
        }
    }
    if interrupted {
        text += "; interrupted: run again to go on";
    }
    text
}

/// How many tasks came to which end, in the four words of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutcomeCounts {
    /// Done.
    pub passed: usize,
    /// Not done, or not wholly.
    pub failed: usize,
    /// Waits for an answer.
    pub stuck: usize,
    /// Never begun, or not to its end.
    pub rest: usize,
}

impl OutcomeCounts {
    /// Those of a run.
    pub fn of(account: &RunProgress) -> Self {
        let count = |wanted: &[ShownOutcome]| account.count(|fate| wanted.contains(&fate));
        Self {
            passed: count(&[ShownOutcome::Passed]),
            failed: count(&[ShownOutcome::Failed, ShownOutcome::Partial]),
            stuck: count(&[ShownOutcome::Stuck]),
            rest: count(&[
                ShownOutcome::Parked,
                ShownOutcome::Waits,
                ShownOutcome::Skipped,
                ShownOutcome::Interrupted,
            ]),
        }
    }
}

/// What failed, why, and where to look.
fn failed(account: &RunProgress) -> Vec<EndingLine> {
    let tasks: Vec<_> =
        with_outcome(account, &[ShownOutcome::Partial, ShownOutcome::Failed]).collect();
    let told = tasks.iter().take(ONE_BY_ONE).flat_map(|(id, it)| {
        let tries = match it.tries {
            0 | 1 => String::new(),
            n => format!(", after {n} tries"),
        };
        let words = format!("{id} {}{tries}: {}", named(it), brief(&it.why));
        [
            EndingLine::Words(it.fate, it.fate.as_str().to_owned(), words),
            EndingLine::Command(account.logs(id)),
        ]
    });
    told.chain(more(tasks.len(), "flagpost list state=failed"))
        .collect()
}

/// What waits for an answer, and how to give it.
fn asking(account: &RunProgress) -> Vec<EndingLine> {
    let asks = &account.asks;
    let told = asks.iter().take(ONE_BY_ONE).flat_map(|ask| {
        [
            EndingLine::Words(ShownOutcome::Stuck, "asks".to_owned(), ask.what()),
            EndingLine::Command(account.answers(&ask.task)),
        ]
    });
    told.chain(more(asks.len(), "flagpost status")).collect()
}

/// What passed although its client refused something.
fn refusals(account: &RunProgress) -> Vec<EndingLine> {
    let tasks: Vec<_> = with_outcome(account, &[ShownOutcome::Passed])
        .filter(|(_, it)| !it.refused.is_empty())
        .collect();
    let told = tasks.iter().take(ONE_BY_ONE).map(|(id, it)| {
        let outcome = words::outcome(it.fate, it.refused.len());
        let words = format!("{id} {}: {}", named(it), refused(&it.refused, NAMED));
        EndingLine::Words(ShownOutcome::Partial, outcome, words)
    });
    told.chain(more(tasks.len(), "flagpost session show"))
        .collect()
}

/// How many worktrees stay.
fn worktrees(account: &RunProgress) -> Option<EndingLine> {
    let worktrees = counted(account.kept, "worktree", "worktrees");
    let words = format!("{worktrees}: 'flagpost worktree list' says why");
    let line = EndingLine::Words(ShownOutcome::Waits, "kept".to_owned(), words);
    (account.kept > 0).then_some(line)
}

/// What was not done, by the reason.
fn left(account: &RunProgress) -> Vec<EndingLine> {
    let fates = [
        ShownOutcome::Parked,
        ShownOutcome::Waits,
        ShownOutcome::Skipped,
        ShownOutcome::Interrupted,
    ];
    let mut reasons: BTreeMap<(ShownOutcome, String), Vec<&TaskId>> = BTreeMap::new();
    for (id, it) in with_outcome(account, &fates) {
        let reason = (it.fate, first_line(&it.why));
        reasons.entry(reason).or_default().push(id);
    }
    let all = reasons.len();
    let told = reasons.into_iter().take(ONE_BY_ONE);
    let told = told.map(|((fate, why), tasks)| {
        let ids = tasks.iter().take(ONE_BY_ONE).map(|id| id.as_str());
        let ids: Vec<&str> = ids.collect();
        let more = match tasks.len() - ids.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let words = format!("{}{more}: {why}", ids.join(", "));
        EndingLine::Words(fate, fate.as_str().to_owned(), words)
    });
    told.chain(more(all, "flagpost session show")).collect()
}

/// The agents that are at a limit.
fn parked(account: &RunProgress) -> Vec<EndingLine> {
    let each = account.parked.iter().map(|(agent, until)| {
        let until = until.map(|until| format!(" until {until:.0}"));
        let words = format!("{agent}{}", until.unwrap_or_default());
        EndingLine::Words(ShownOutcome::Parked, "parked".to_owned(), words)
    });
    each.collect()
}

/// A subject where it is only repeated.
fn named(settled: &FinishedTask) -> String {
    cut(&settled.subject, SUBJECT)
}

fn with_outcome<'a>(
    account: &'a RunProgress,
    fates: &'a [ShownOutcome],
) -> impl Iterator<Item = (&'a TaskId, &'a FinishedTask)> {
    let all = account.settled.iter();
    all.filter(move |(_, it)| fates.contains(&it.fate))
}

/// How many there are beyond those that are told.
fn more(all: usize, command: &str) -> impl Iterator<Item = EndingLine> {
    let more = all.saturating_sub(ONE_BY_ONE);
    let told = (more > 0).then(|| {
        [
            EndingLine::Words(
                ShownOutcome::Interrupted,
                "…".to_owned(),
                format!("and {more} more"),
            ),
            EndingLine::Command(command.to_owned()),
        ]
    });
    told.into_iter().flatten()
}
