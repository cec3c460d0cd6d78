//! What others did, as messages at the bottom.
//!
//! Owns which lines of the history a person is told of while watching: reports, briefs that wait, ends of
//! tasks, and what comes over the bridge. What I did myself is told as the answer to it.

use std::time::Duration;

use flagpost_core::history::{Kind, Line};

use crate::app::App;

/// What a command of the bridge did to a task, in the words of its messages.
const BRIDGE_VERBS: &[(Kind, &str)] = &[
    (Kind::TaskCreated, "created"),
    (Kind::TaskEdited, "updated"),
    (Kind::TaskStarted, "started"),
    (Kind::TaskCompleted, "completed"),
    (Kind::TaskReopened, "reopened"),
    (Kind::TaskReleased, "gave back"),
    (Kind::TaskCancelled, "cancelled"),
    (Kind::TaskRemoved, "deleted"),
    (Kind::TaskNoted, "made a note on"),
    (Kind::TimerStarted, "started the timer of"),
    (Kind::TimerStopped, "stopped the timer of"),
];

/// Tells of these.
pub(super) fn take(app: &mut App, lines: &[Line], at: Duration) {
    for line in lines {
        if let Some(text) = words(app, line) {
            app.toast(at, text);
        }
    }
}

fn words(app: &App, line: &Line) -> Option<String> {
    let entry = &line.entry;
    if entry.actor.as_ref().is_some_and(|it| it.as_str() == app.me) {
        return None;
    }
    let who = entry.actor.as_ref().map_or("somebody", |it| it.as_str());
    let subject = |given: &flagpost_model::TaskId| match app.data.task(given) {
        Some(task) => format!("#{given} {}", task.subject),
        None => format!("#{given}"),
    };
    if let (true, Some(given)) = (is_bridge(line), &entry.task) {
        let subject = app.data.task(given).map(|it| it.subject.as_str());
        // One that is gone, or that the line is ahead of.
        let told = |key| entry.detail.get(key)?.get("subject")?.as_str();
        let subject = subject.or_else(|| told("removed").or(told("content")));
        let named = subject.map_or_else(|| format!("#{given}"), |it| format!("'{it}'"));
        let (_, verb) = BRIDGE_VERBS.iter().find(|(kind, _)| *kind == entry.kind)?;
        return Some(format!("Agent: {verb} {named}"));
    }
    let task = entry.task.as_ref().map(subject);
    let mail = entry.worker.as_ref().zip(entry.seq);
    let mail = mail.map(|(worker, seq)| format!("{worker} {}", seq.get()));
    let words = match &entry.kind {
        Kind::BriefProposed => format!("brief {} waits for you", mail?),
        Kind::BriefDecided => format!("{who} decided on {}", mail?),
        Kind::Reported => format!("{who} reported: {}", mail?),
        Kind::TaskCompleted => format!("{who}: {} done", task?),
        Kind::TaskFailed => format!("{who}: {} failed", task?),
        Kind::TaskStuck => format!("{who} is stuck: {}", task?),
        Kind::SessionStarted => "a run began".to_owned(),
        Kind::SessionArchived => "the run is over".to_owned(),
        _ => return None,
    };
    Some(words)
}

/// Whether it came over the JSON bridge.
fn is_bridge(line: &Line) -> bool {
    line.entry.detail.contains_key("bridge")
}
