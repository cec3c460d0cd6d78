//! The page of what is to land: the answer of `landing.show` as lines.
//!
//! Owns the words and their order, and the thread that asks git for the answer: it looks once when the page is
//! opened and then only when it is told of a change, never twice in [`REST`]. It holds no rule: where a
//! branch stands, the answer says.

use std::{
    sync::{
        Arc,
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::Duration,
};

use flagpost_core::operations::Operation;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    act::{Act, Request, quoted},
    app::{App, Page},
    snapshot::Place,
    text,
    update::{Input, Outcome},
    view::age,
    worker::{Person, answer},
};

/// So much of a commit's name is shown.
const SHORT: usize = 10;
/// So many lines of a refusal are shown before somebody asks for all.
const FIRST: usize = 3;
/// What stands beside a label or a state begins in this column.
const COLUMN: usize = 11;
/// A look asks git several times: the next one waits so long.
const REST: Duration = Duration::from_secs(2);

/// The page.
#[derive(Debug, Default)]
pub struct LandingPage {
    /// What was answered, once something was.
    pub answer: Option<Outcome>,
    /// All lines of a refusal are shown.
    pub is_whole: bool,
    /// How far it is scrolled.
    pub top: usize,
}

/// Looks from a thread of its own, for as long as somebody tells of changes; who opens the page again begins
/// anew.
pub fn start(place: Arc<Place>, person: Person, send: Sender<Input>) -> Sender<()> {
    let (change, changes) = mpsc::channel();
    let command = "flagpost land --status";
    let request = Request::new(Operation::LandingShow, json!({"list": place.list}), command);
    thread::spawn(move || {
        let look = || send.send(Input::Landing(answer(&place, &person, &request)));
        follow(&changes, REST, || look().is_ok());
    });
    change
}

/// Looks, and again once for all changes that came meanwhile; until nobody tells of any, or listens.
fn follow(changes: &Receiver<()>, rest: Duration, mut look: impl FnMut() -> bool) {
    while look() {
        thread::sleep(rest);
        if changes.recv().is_err() {
            return;
        }
        changes.try_iter().for_each(drop);
    }
}

/// Something changed: looks again where the page is open.
pub fn refresh(app: &App) -> Vec<Act> {
    let is_open = app.pages.iter().any(|it| matches!(it, Page::Landing(_)));
    match is_open {
        true => vec![Act::LookAtLanding],
        false => Vec::new(),
    }
}

/// The page as lines, each with the column where it begins.
pub fn lines(app: &App, page: &LandingPage) -> Vec<(usize, String)> {
    match &page.answer {
        None => vec![(0, "…".to_owned())],
        Some(Outcome::Refused { text, .. }) => vec![(0, text::line(text).into_owned())],
        Some(Outcome::Answer(answer)) => {
            let parts = [
                now(app, answer),
                queue(app, answer, page.is_whole),
                landed(app, answer),
            ];
            let parts: Vec<_> = parts.into_iter().filter(|it| !it.is_empty()).collect();
            parts.join(&(0, String::new()))
        }
    }
}

/// The target, and what is done at the moment.
fn now(app: &App, answer: &Value) -> Vec<(usize, String)> {
    let (onto, commit) = (word(&answer["onto"]), short(&answer["commit"]));
    let mut lines = vec![labelled("Target", &format!("{onto} ({commit})"))];
    let doing = &answer["doing"];
    if let Some(step) = doing["step"].as_str() {
        let (tasks, at) = (ids(&doing["tasks"]), moment(app, &doing["since"]));
        lines.push(labelled("Now", &format!("{step} {tasks}, begun {at}")));
        let check = doing["check"].as_str().filter(|_| step == "checking");
        lines.extend(check.map(|it| (COLUMN, text::line(it).into_owned())));
    }
    if answer["staged"].is_string() {
        lines.push(labelled("Passed", "a tested commit waits for your working tree: commit or stash your changes, then 'flagpost land' takes it"));
    }
    lines
}

/// The branches, those that land next first.
fn queue(app: &App, answer: &Value, is_whole: bool) -> Vec<(usize, String)> {
    let branches = answer["branches"].as_array().map_or(&[][..], |it| it);
    if branches.is_empty() {
        let fills = "No passed task has a branch that waits. 'flagpost run --worktrees' gives tasks branches.";
        return vec![(0, fills.to_owned())];
    }
    let mut lines = Vec::new();
    for it in branches {
        let (task, subject, ahead) = (word(&it["task"]), word(&it["subject"]), &it["ahead"]);
        let commits = if *ahead == 1 { "commit" } else { "commits" };
        let (state, waits) = match it["state"].as_str().unwrap_or_default() {
            "waits" => ("waits", format!(", for {}", ids(&it["waits_for"]))),
            "staged" => ("passed", String::new()),
            state => (state, String::new()),
        };
        let subject = format!("#{task} {subject} · {ahead} {commits}{waits}");
        lines.extend([labelled(state, &subject), (COLUMN, word(&it["branch"]))]);
        let why = it["refused"]["why"].as_str().unwrap_or_default();
        let shown = if is_whole { usize::MAX } else { FIRST };
        let more = why.lines().count().saturating_sub(shown);
        let why = why.lines().take(shown);
        lines.extend(why.map(|it| (COLUMN, text::line(it).into_owned())));
        if more > 0 {
            lines.push((COLUMN, format!("… {more} more: enter shows all")));
        }
    }
    if answer["doing"].is_null() && branches.iter().any(|it| it["state"] == "queued") {
        let list = quoted(&text::line(&app.data.list));
        let command = format!("In a terminal: flagpost land --list {list}");
        lines.extend([(0, String::new()), (0, command)]);
    }
    lines
}

/// What landed, the newest first, and what passed with nothing to land.
fn landed(app: &App, answer: &Value) -> Vec<(usize, String)> {
    let each = |key: &str| answer[key].as_array().into_iter().flatten();
    let landed = each("landed").map(|it| {
        let (task, onto, at) = (word(&it["task"]), word(&it["onto"]), moment(app, &it["at"]));
        let commit = short(&it["commit"]);
        labelled("landed", &format!("#{task} on {onto} ({commit}), {at}"))
    });
    let without = each("no_commit").map(|it| {
        let (task, at) = (word(&it["task"]), moment(app, &it["at"]));
        labelled("passed", &format!("#{task} without a commit, {at}"))
    });
    landed.chain(without).collect()
}

fn labelled(label: &str, words: &str) -> (usize, String) {
    (0, format!("{label:<COLUMN$}{words}"))
}

fn ids(tasks: &Value) -> String {
    let tasks = tasks.as_array().into_iter().flatten();
    let tasks: Vec<String> = tasks.map(|it| format!("#{}", word(it))).collect();
    tasks.join(", ")
}

fn word(value: &Value) -> String {
    text::line(value.as_str().unwrap_or_default()).into_owned()
}

/// How long ago, or when, as everywhere.
fn moment(app: &App, value: &Value) -> String {
    let at = word(value);
    match at.parse::<Timestamp>() {
        Ok(it) if app.absolute => age(app, it),
        Ok(it) => format!("{} ago", age(app, it)),
        Err(_) => at,
    }
}

fn short(commit: &Value) -> String {
    word(commit).chars().take(SHORT).collect()
}

#[cfg(test)]
mod tests;
