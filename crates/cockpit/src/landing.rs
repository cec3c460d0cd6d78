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

/// What landed, the newest first.
fn landed(app: &App, answer: &Value) -> Vec<(usize, String)> {
    let landed = answer["landed"].as_array().into_iter().flatten();
    let landed = landed.map(|it| {
        let (task, onto, at) = (word(&it["task"]), word(&it["onto"]), moment(app, &it["at"]));
        let commit = short(&it["commit"]);
        labelled("landed", &format!("#{task} on {onto} ({commit}), {at}"))
    });
    landed.collect()
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
mod tests {
    use std::{sync::Arc, time::Duration};

    use super::*;
    use crate::{
        fixture::{cockpit, draw, fleet, give, press, screen},
        theme::Glyphs,
    };

    /// A landing that is under way.
    fn answer() -> Value {
        json!({
            "onto": "main",
            "commit": "0123456789abcdef",
            "doing": {"step": "checking", "tasks": ["3", "4"], "check": "cargo test", "since": "2026-11-22T14:02:00Z"},
            "staged": null,
            "branches": [
                {"task": "3", "subject": "Lexer", "branch": "flagpost/exec/3", "ahead": 1, "state": "queued"},
                {"task": "5", "subject": "Docs", "branch": "flagpost/exec/5", "ahead": 2, "state": "refused",
                 "refused": {"times": 1, "why": "The check failed.\nIt said:\nrunning\nfailed: a.rs\nfailed: b.rs"}},
                {"task": "6", "subject": "Guide", "branch": "flagpost/exec/6", "ahead": 3, "state": "waits", "waits_for": ["5"]},
            ],
            "landed": [{"task": "1", "commit": "fedcba9876543210", "onto": "main", "at": "2026-11-22T13:02:09Z"}],
        })
    }

    /// The page, once this was answered.
    fn shows(answer: Outcome, size: (u16, u16), glyphs: Glyphs) -> App {
        let mut app = cockpit(fleet(), size, glyphs);
        press(&mut app, "7", 0);
        give(&mut app, Input::Landing(answer), 0);
        app
    }

    fn shown(answer: Value) -> App {
        shows(Outcome::Answer(answer), (100, 40), Glyphs::Unicode)
    }

    #[test]
    fn the_page_in_every_size_with_either_set_of_signs() {
        for (columns, rows) in [(79, 23), (80, 24), (120, 40), (200, 60)] {
            for (glyphs, name) in [(Glyphs::Unicode, "unicode"), (Glyphs::Ascii, "ascii")] {
                let app = &mut shows(Outcome::Answer(answer()), (columns, rows), glyphs);
                let page = screen(app);
                assert!(glyphs == Glyphs::Unicode || page.is_ascii(), "{page}");
                insta::assert_snapshot!(format!("landing_{columns}x{rows}_{name}"), page);
            }
        }
    }

    #[test]
    fn a_refusal_shows_its_first_lines_and_enter_shows_all() {
        let mut app = shown(answer());
        let page = screen(&mut app);
        assert!(
            page.contains("running") && !page.contains("failed: b.rs"),
            "{page}"
        );
        assert!(page.contains("… 2 more: enter shows all"), "{page}");
        press(&mut app, "enter", 0);
        assert!(screen(&mut app).contains("failed: b.rs"));
        press(&mut app, "enter", 0);
        assert!(!screen(&mut app).contains("failed: b.rs"));
    }

    #[test]
    fn a_page_that_becomes_shorter_stays_in_sight() {
        let mut app = shown(answer());
        app.size = (80, 14);
        press(&mut app, "enter", 0);
        press(&mut app, "G", 0);
        let short = json!({"onto": "main", "commit": "0", "branches": [], "landed": []});
        give(&mut app, Input::Landing(Outcome::Answer(short)), 0);
        assert!(screen(&mut app).contains("Target     main"));
    }

    #[test]
    fn the_command_is_named_where_branches_are_queued_and_nothing_is_under_way() {
        let command = "In a terminal: flagpost land --list web";
        assert!(!screen(&mut shown(answer())).contains(command));
        let mut idle = answer();
        idle["doing"] = Value::Null;
        assert!(screen(&mut shown(idle.clone())).contains(command));
        idle["branches"][0]["state"] = json!("refused");
        assert!(!screen(&mut shown(idle)).contains(command));
    }

    #[test]
    fn what_passed_says_how_it_is_taken() {
        let mut staged = answer();
        staged["staged"] = json!("0123456789abcdef");
        staged["branches"][0]["state"] = json!("staged");
        let page = screen(&mut shown(staged));
        assert!(
            page.contains("a tested commit waits for your working tree"),
            "{page}"
        );
        assert!(page.contains("passed     #3 Lexer"), "{page}");
    }

    #[test]
    fn an_empty_queue_says_what_fills_it() {
        let nothing = json!({"onto": "main", "commit": "0", "branches": [], "landed": []});
        let page = screen(&mut shown(nothing));
        assert!(
            page.contains("No passed task has a branch that waits."),
            "{page}"
        );
    }

    #[test]
    fn where_nothing_can_land_the_page_says_why_and_no_error_stays() {
        let refused = Outcome::Refused {
            is_conflict: true,
            text: "the repository stands on no branch; name one with --onto".to_owned(),
        };
        let mut app = shows(refused, (100, 40), Glyphs::Unicode);
        let page = screen(&mut app);
        assert!(
            page.contains("stands on no branch; name one with --onto"),
            "{page}"
        );
        assert!(app.toasts.is_empty());
    }

    #[test]
    fn text_of_others_steers_nothing() {
        let evil = "\u{1b}]52;c;x\u{7}\u{1b}[2J\u{202e}evil";
        let mut hostile = answer();
        hostile["onto"] = json!(evil);
        hostile["doing"]["check"] = json!(evil);
        for key in ["subject", "branch"] {
            hostile["branches"][1][key] = json!(evil);
        }
        hostile["branches"][1]["refused"]["why"] = json!(evil);
        for cell in draw(&mut shown(hostile)).content() {
            let steers = cell
                .symbol()
                .contains(|c: char| flagpost_model::drawing::steers(c));
            assert!(!steers, "{:?}", cell.symbol());
        }
    }

    #[test]
    fn git_is_asked_while_the_page_is_open_and_something_changed() {
        let asks = |acts: &[Act]| match acts {
            [Act::OpenLanding] => "opens",
            [Act::LookAtLanding] => "looks",
            [] => "nothing",
            _ => "else",
        };
        let mut app = cockpit(fleet(), (80, 24), Glyphs::Unicode);
        let change = |app: &mut App| give(app, Input::Data(Arc::new(fleet())), 0);
        assert_eq!(asks(&change(&mut app)), "nothing");
        assert_eq!(asks(&press(&mut app, "7", 0)), "opens");
        assert_eq!(asks(&change(&mut app)), "looks");
        press(&mut app, "?", 0);
        assert_eq!(asks(&change(&mut app)), "looks", "below another page");
        press(&mut app, "esc", 0);
        press(&mut app, "esc", 0);
        assert_eq!(asks(&change(&mut app)), "nothing");
    }

    #[test]
    fn an_answer_that_comes_after_the_page_was_closed_is_not_shown() {
        let mut app = cockpit(fleet(), (80, 24), Glyphs::Unicode);
        press(&mut app, "7", 0);
        press(&mut app, "esc", 0);
        give(&mut app, Input::Landing(Outcome::Answer(answer())), 0);
        assert!(app.pages.is_empty() && app.toasts.is_empty());
    }

    #[test]
    fn changes_that_come_together_are_one_look_and_nobody_looks_without_a_change() {
        let looks = |changes: usize| {
            let (change, told) = mpsc::channel();
            for _ in 0..changes {
                change.send(()).unwrap();
            }
            drop(change);
            let mut looks = 0;
            follow(&told, Duration::ZERO, || {
                looks += 1;
                true
            });
            looks
        };
        assert_eq!(looks(0), 1, "when it is opened");
        assert_eq!(looks(1), 2);
        assert_eq!(looks(50), 2);
    }

    #[test]
    fn nobody_looks_for_a_cockpit_that_is_gone() {
        let (change, told) = mpsc::channel();
        change.send(()).unwrap();
        follow(&told, Duration::ZERO, || false);
        assert!(told.try_recv().is_ok());
    }
}
