//! What others did, as messages at the bottom.
//!
//! Owns which lines of the history a person is told of while watching: reports, briefs that wait, ends of
//! tasks, and what comes over the bridge. What I did myself is told as the answer to it.

use std::time::Duration;

use flagpost_core::history::{Kind, Line};

use crate::app::App;

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
        Kind::TaskCreated if is_bridge(line) => format!("Agent: created {}", task?),
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
