//! The page of what is to land: the answer of `landing.show` as lines.
//!
//! Owns the words and their order. It holds no rule: where a branch stands, the answer says.

use jiff::Timestamp;
use serde_json::Value;

use super::age;
use crate::{app::App, event::Outcome, landing::LandingPage, text};

/// So much of a commit's name is shown.
const SHORT: usize = 10;
/// So many lines of a refusal are shown where its branch is not selected.
const FIRST: usize = 3;
/// What stands beside a label or a state begins in this column.
const COLUMN: usize = 11;

/// A line of the page.
#[derive(Debug, Clone)]
pub struct LandingLine {
    /// The column where it begins.
    pub column: usize,
    /// Its words.
    pub words: String,
    /// Whether it names the selected branch.
    pub is_selected: bool,
}

/// The page as lines.
pub fn lines(app: &App, page: &LandingPage) -> Vec<LandingLine> {
    match &page.answer {
        None => vec![line(0, "…")],
        Some(Outcome::Refused { text, .. }) => vec![line(0, text::line(text))],
        Some(Outcome::Answer(answer)) => {
            let parts = [
                now(app, answer),
                queue(answer, page.at),
                landed(app, answer),
            ];
            let parts: Vec<_> = parts.into_iter().filter(|it| !it.is_empty()).collect();
            parts.join(&line(0, ""))
        }
    }
}

fn line(column: usize, words: impl Into<String>) -> LandingLine {
    LandingLine {
        column,
        words: words.into(),
        is_selected: false,
    }
}

/// The target, and what is done at the moment.
fn now(app: &App, answer: &Value) -> Vec<LandingLine> {
    let (onto, commit) = (word(&answer["onto"]), short(&answer["commit"]));
    let mut lines = vec![labelled("Target", &format!("{onto} ({commit})"))];
    let doing = &answer["doing"];
    if let Some(step) = doing["step"].as_str() {
        let (tasks, at) = (ids(&doing["tasks"]), moment(app, &doing["since"]));
        lines.push(labelled("Now", &format!("{step} {tasks}, begun {at}")));
        let check = doing["check"].as_str().filter(|_| step == "checking");
        lines.extend(check.map(|it| line(COLUMN, text::line(it))));
    }
    if let Some(why) = answer["failed"]["why"].as_str() {
        let at = moment(app, &answer["failed"]["at"]);
        let words = format!("the last landing ended early, {at}: {}", text::line(why));
        lines.push(labelled("Failed", &words));
    }
    if answer["staged"].is_string() {
        lines.push(labelled("Passed", "a tested commit waits for your working tree: commit or stash your changes, then 'flagpost land' takes it"));
    }
    lines
}

/// The branches, those that land next first.
fn queue(answer: &Value, selected: usize) -> Vec<LandingLine> {
    let branches = answer["branches"].as_array().map_or(&[][..], |it| it);
    if branches.is_empty() {
        let fills = "No passed task has a branch that waits. 'flagpost run --worktrees' gives tasks branches.";
        return vec![line(0, fills)];
    }
    let mut lines = Vec::new();
    for (at, it) in branches.iter().enumerate() {
        let (task, subject, ahead) = (word(&it["task"]), word(&it["subject"]), &it["ahead"]);
        let commits = if *ahead == 1 { "commit" } else { "commits" };
        let (state, waits) = match it["state"].as_str().unwrap_or_default() {
            "waits" => ("waits", format!(", for {}", ids(&it["waits_for"]))),
            "staged" => ("passed", String::new()),
            "unapproved" => ("to review", String::new()),
            "queued" if it["approved"].is_object() => ("approved", String::new()),
            "refused" if it["refused"]["by"].is_string() => ("returned", String::new()),
            state => (state, String::new()),
        };
        let subject = format!("#{task} {subject} · {ahead} {commits}{waits}");
        lines.push(LandingLine {
            is_selected: at == selected,
            ..labelled(state, &subject)
        });
        lines.push(line(COLUMN, word(&it["branch"])));
        let why = it["refused"]["why"].as_str().unwrap_or_default();
        let shown = if at == selected { usize::MAX } else { FIRST };
        let more = why.lines().count().saturating_sub(shown);
        let why = why.lines().take(shown);
        lines.extend(why.map(|it| line(COLUMN, text::line(it))));
        if more > 0 {
            lines.push(line(COLUMN, format!("… {more} more")));
        }
    }
    lines
}

/// What landed, the newest first, and what passed with nothing to land.
fn landed(app: &App, answer: &Value) -> Vec<LandingLine> {
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

fn labelled(label: &str, words: &str) -> LandingLine {
    line(0, format!("{label:<COLUMN$}{words}"))
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
