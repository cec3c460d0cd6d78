//! The page of what is to land: the answer of `landing.show` as lines.
//!
//! Owns the words and their order, and that there is one question at a time: git is asked for the answer, so
//! it is asked while the page is open and something changed, and not before the last answer is there. It
//! holds no rule: where a branch stands, the answer says.

use flagpost_core::operations::Operation;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    act::{Act, Request},
    app::{App, Page},
    text,
};

/// So much of a commit's name is shown.
const SHORT: usize = 10;

/// The page.
#[derive(Debug, Default)]
pub struct LandingPage {
    /// Its lines, once there are some.
    pub lines: Option<Vec<String>>,
    /// How far it is scrolled.
    pub top: usize,
    is_asked: bool,
    /// Something changed since it was asked.
    is_old: bool,
}

impl LandingPage {
    /// Asks for what is to land now.
    pub fn ask(&mut self, list: &str) -> Vec<Act> {
        if std::mem::replace(&mut self.is_asked, true) {
            self.is_old = true;
            return Vec::new();
        }
        let command = "flagpost land --status";
        let request = Request::new(Operation::LandingShow, json!({"list": list}), command);
        vec![Act::Carry(request)]
    }

    /// Takes the answer, or why there is none; asks again where something changed meanwhile.
    pub fn take(&mut self, answer: Result<&Value, String>, list: &str) -> Vec<Act> {
        self.is_asked = false;
        self.lines = Some(match answer {
            Ok(answer) => lines(answer),
            Err(why) => vec![text::line(&why).into_owned()],
        });
        match std::mem::take(&mut self.is_old) {
            true => self.ask(list),
            false => Vec::new(),
        }
    }
}

/// Asks anew where the page is open: something changed.
pub fn refresh(app: &mut App) -> Vec<Act> {
    let list = app.data.list.clone();
    match app.pages.last_mut() {
        Some(Page::Landing(page)) => page.ask(&list),
        _ => Vec::new(),
    }
}

/// The answer as lines.
fn lines(answer: &Value) -> Vec<String> {
    let onto = word(&answer["onto"]);
    let branches: Vec<&Value> = answer["branches"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    let mut lines = vec![format!("Target  {onto} ({})", short(&answer["commit"]))];
    if let Some(step) = answer["doing"]["step"].as_str() {
        let check = answer["doing"]["check"]
            .as_str()
            .filter(|_| step == "checking");
        let check = check.map(|it| format!(": {}", text::line(it)));
        let tasks = ids(&answer["doing"]["tasks"]);
        let since = moment(&answer["doing"]["since"]);
        lines.push(format!(
            "Now     {step} {tasks}{} since {since}",
            check.unwrap_or_default()
        ));
    }
    if answer["staged"].is_string() {
        lines.push("Passed  a tested commit waits for your working tree: commit or stash your changes, then 'flagpost land'".to_owned());
    }
    lines.push(String::new());
    if branches.is_empty() {
        lines.push(format!(
            "Nothing is to land on {onto}: 'flagpost run --worktrees' gives tasks branches."
        ));
    }
    for it in &branches {
        let state = match it["state"].as_str().unwrap_or_default() {
            "waits" => format!("waits for {}", ids(&it["waits_for"])),
            "staged" => "passed".to_owned(),
            state => state.to_owned(),
        };
        let (task, ahead) = (word(&it["task"]), &it["ahead"]);
        let commits = if ahead == 1 { "commit" } else { "commits" };
        lines.push(format!(
            "{state:<10} #{task} {} · {ahead} {commits}",
            word(&it["subject"])
        ));
        let why = it["refused"]["why"].as_str().unwrap_or_default();
        lines.extend(why.lines().map(|line| format!("  {}", text::line(line))));
    }
    let is_idle = answer["doing"].is_null();
    if is_idle && branches.iter().any(|it| it["state"] == "queued") {
        lines.push(String::new());
        lines.push("'flagpost land' in a terminal lands them.".to_owned());
    }
    let landed: Vec<&Value> = answer["landed"].as_array().into_iter().flatten().collect();
    if !landed.is_empty() {
        lines.extend([String::new(), "Landed, the newest first".to_owned()]);
    }
    for it in landed {
        let (task, onto, at) = (word(&it["task"]), word(&it["onto"]), word(&it["at"]));
        lines.push(format!(
            "           #{task} on {onto} ({}) at {at}",
            short(&it["commit"])
        ));
    }
    lines
}

fn ids(tasks: &Value) -> String {
    let tasks = tasks.as_array().into_iter().flatten();
    let tasks: Vec<String> = tasks.map(|it| format!("#{}", word(it))).collect();
    tasks.join(", ")
}

fn word(value: &Value) -> String {
    text::line(value.as_str().unwrap_or_default()).into_owned()
}

/// A time in whole seconds.
fn moment(value: &Value) -> String {
    let at = word(value);
    at.parse::<Timestamp>().map_or(at, |it| format!("{it:.0}"))
}

fn short(commit: &Value) -> String {
    word(commit).chars().take(SHORT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> Value {
        json!({
            "onto": "main",
            "commit": "0123456789abcdef",
            "doing": {"step": "checking", "tasks": ["3", "4"], "check": "cargo test", "since": "2026-05-13T14:25:00Z"},
            "staged": null,
            "branches": [
                {"task": "3", "subject": "Lexer", "ahead": 1, "state": "queued"},
                {"task": "5", "subject": "Docs\u{1b}[2J", "ahead": 2, "state": "refused",
                 "refused": {"why": "It conflicts.\nIn a.rs."}},
                {"task": "6", "subject": "Guide", "ahead": 3, "state": "waits", "waits_for": ["5"]},
            ],
            "landed": [{"task": "1", "commit": "fedcba9876543210", "onto": "main", "at": "2026-05-13T14:20:00Z"}],
        })
    }

    #[test]
    fn it_says_what_is_checked_what_waits_and_why_something_was_refused() {
        let shown = lines(&answer()).join("\n");
        for expected in [
            "Target  main (0123456789)",
            "Now     checking #3, #4: cargo test",
            "queued     #3 Lexer · 1 commit",
            "refused    #5 Docs",
            "\n  In a.rs.",
            "waits for #5 #6 Guide · 3 commits",
            "#1 on main (fedcba9876)",
        ] {
            assert!(shown.contains(expected), "{expected} is not in\n{shown}");
        }
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
        assert!(!shown.contains("'flagpost land' in a terminal"), "{shown}");
    }

    #[test]
    fn an_empty_queue_says_what_fills_it() {
        let nothing = json!({"onto": "main", "commit": "0", "branches": [], "landed": []});
        let shown = lines(&nothing).join("\n");
        assert!(
            shown.contains("Nothing is to land on main: 'flagpost run --worktrees'"),
            "{shown}"
        );
    }

    #[test]
    fn git_is_asked_once_at_a_time_and_again_where_something_changed_meanwhile() {
        let mut page = LandingPage::default();
        assert_eq!(page.ask("web").len(), 1);
        assert_eq!(page.ask("web").len(), 0);
        assert_eq!(page.take(Ok(&answer()), "web").len(), 1);
        assert_eq!(page.take(Ok(&answer()), "web").len(), 0);
    }
}
