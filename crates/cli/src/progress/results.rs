//! What a screen keeps of an event, above what is still going on.
//!
//! Owns which events leave a line there: what ended and how, and what somebody should have seen.
//! What is only true for a while stands in the frame below and leaves nothing. Pure.

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use flagpost_model::session::{Attempt, AttemptRecord};
use flagpost_run::events::{AttemptEnd, ReportMeaning, RunEvent};

use super::{
    account::RunProgress,
    format::{self, a_try, brief, lasting, one_line},
    outcome::ShownOutcome,
    words,
};
use crate::fit::{StyledLine, cut, fold, width};

/// A notice is told whole, on so many lines at most.
const LINES: usize = 6;

/// The lines that stay, in so many columns. The account knows of the event.
pub fn lines(
    event: &RunEvent,
    account: &RunProgress,
    columns: usize,
    painted: bool,
) -> Vec<String> {
    let row = match event {
        // It is told when the task is given back.
        RunEvent::TaskEnded {
            end: AttemptEnd::Stopped,
            ..
        } => return Vec::new(),
        RunEvent::TaskEnded {
            task,
            subject,
            attempt,
            end,
            record,
            seconds,
            words,
        } => {
            let name = format!("{task} {}", one_line(subject));
            let ended = (ShownOutcome::from(*end), *attempt, *seconds);
            ended_row(&name, ended, record.as_deref(), words, columns)
        }
        RunEvent::TaskSettled {
            task,
            subject,
            fate,
            why,
        } => match ShownOutcome::of(fate) {
            // Its last attempt, or its question, has told it.
            ShownOutcome::Passed
            | ShownOutcome::Partial
            | ShownOutcome::Failed
            | ShownOutcome::Stuck => return Vec::new(),
            // Whoever interrupts a run knows that what was not begun is not done.
            ShownOutcome::Interrupted if !account.was_tried(task) => return Vec::new(),
            fate => StyledLine::default()
                .then(fate.style(), fate.as_str())
                .then(Style::new(), format!(" {task} {}: ", one_line(subject)))
                .then(Style::new(), brief(why)),
        },
        RunEvent::TaskAnswered { task, by, words } => StyledLine::default()
            .then(AnsiColor::Green.on_default(), "answered")
            .then(
                Style::new(),
                format!(" {task} by {}: {}", one_line(by), brief(words)),
            ),
        RunEvent::TaskSaid {
            said: ReportMeaning::Behind | ReportMeaning::Late | ReportMeaning::GaveUp,
            ..
        }
        | RunEvent::TaskAdded { .. }
        | RunEvent::TaskWaits { .. }
        | RunEvent::LandStarted { .. }
        | RunEvent::LandLanded { .. }
        | RunEvent::LandRefused { .. }
        | RunEvent::LandStaged { .. } => {
            let words = words::words(event).unwrap_or_default();
            StyledLine::plain(words.trim_start())
        }
        RunEvent::Started { .. }
        | RunEvent::Recovered { .. }
        | RunEvent::Notice { .. }
        | RunEvent::AgentOpen { .. }
        | RunEvent::Mended => {
            return fold(&words::words(event).unwrap_or_default(), columns, LINES);
        }
        _ => return Vec::new(),
    };
    vec![row.fit(columns, painted)]
}

/// A name gives way to what is said of it, and keeps a part of the line.
fn ended_row(
    name: &str,
    (fate, attempt, seconds): (ShownOutcome, Attempt, u64),
    record: Option<&AttemptRecord>,
    words: &str,
    columns: usize,
) -> StyledLine {
    let denied = format::denied(record);
    let outcome = words::outcome(fate, denied.len());
    let mut time = format!(" ({})", lasting(Duration::from_secs(seconds)));
    if attempt.number > 1 || fate == ShownOutcome::Failed || fate == ShownOutcome::Partial {
        time = format!(", {}{time}", a_try(attempt));
    }
    let why = match fate {
        ShownOutcome::Passed => format::refused(&denied, denied.len()),
        _ => brief(words),
    };
    let why = match why.is_empty() {
        true => why,
        false => format!(": {why}"),
    };
    let room = columns.saturating_sub(width(&outcome) + width(&time) + 1);
    let room = room.saturating_sub(width(&why)).max(columns / 3);
    StyledLine::default()
        .then(fate.style(), outcome)
        .then(Style::new(), format!(" {}", cut(name, room)))
        .then(AnsiColor::BrightBlack.on_default(), time)
        .then(Style::new(), why)
}
