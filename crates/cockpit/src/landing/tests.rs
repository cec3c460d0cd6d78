//! The page of what is to land, as it is drawn, and when git is asked for it.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use super::*;
use crate::{
    act::Act,
    app::App,
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
fn a_refusal_shows_its_first_lines_and_all_where_its_branch_is_selected() {
    let mut app = shown(answer());
    let page = screen(&mut app);
    assert!(
        page.contains("running") && !page.contains("failed: b.rs"),
        "{page}"
    );
    assert!(page.contains("… 2 more"), "{page}");
    press(&mut app, "j", 0);
    assert!(screen(&mut app).contains("failed: b.rs"));
    press(&mut app, "j", 0);
    assert!(!screen(&mut app).contains("failed: b.rs"));
}

#[test]
fn a_page_that_becomes_shorter_stays_in_sight() {
    let mut app = shown(answer());
    app.size = (80, 14);
    press(&mut app, "j", 0);
    press(&mut app, "pgdn", 0);
    let short = json!({"onto": "main", "commit": "0", "branches": [], "landed": []});
    give(&mut app, Input::Landing(Outcome::Answer(short)), 0);
    assert!(screen(&mut app).contains("Target     main"));
}

#[test]
fn the_selection_stays_on_its_branch() {
    let mut app = shown(answer());
    press(&mut app, "j", 0);
    let mut other = answer();
    let branches = other["branches"].as_array_mut().unwrap();
    branches.swap(0, 1);
    give(&mut app, Input::Landing(Outcome::Answer(other)), 0);
    assert_eq!(app.selected_task(), Some("5".parse().unwrap()));
}

#[test]
fn a_landing_that_ended_early_and_what_a_person_said_are_told() {
    let mut early = answer();
    early["doing"] = Value::Null;
    early["failed"] =
        json!({"why": "the check fails on main itself", "at": "2026-11-22T14:00:09Z"});
    early["branches"][0]["approved"] =
        json!({"by": "ann", "commit": "c", "at": "2026-11-22T14:00:00Z"});
    early["branches"][1]["refused"]["by"] = json!("ann");
    early["branches"][2]["state"] = json!("unapproved");
    let page = screen(&mut shown(early));
    for words in [
        "Failed     the last landing ended early, 2m ago: the check fails on main itself",
        "approved   #3 Lexer",
        "returned   #5 Docs",
        "to review  #6 Guide",
    ] {
        assert!(page.contains(words), "no {words:?}: {page}");
    }
}

#[test]
fn git_is_asked_as_time_goes_by_while_a_landing_is_under_way() {
    let tick = |app: &mut App| give(app, Input::Tick(crate::fixture::now()), 0).len();
    assert_eq!(tick(&mut shown(answer())), 1);
    let mut idle = answer();
    idle["doing"] = Value::Null;
    assert_eq!(tick(&mut shown(idle)), 0);
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
