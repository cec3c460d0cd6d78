//! Keys that decide, and whom they reach.

use crate::{
    cockpit::{
        stage::{assert_undecided, decided, next, propose, until_decided, waiting},
        terminal::Terminal,
    },
    fleet::Fleet,
};

#[test]
fn y_lets_the_shown_brief_through_and_the_history_says_by_whom() {
    let fleet = waiting(1);
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.shows("by noon");
    terminal.keys(&["y"]);
    let line = until_decided(&fleet, 1).remove(0);
    tells!(line, {"actor": "ann", "worker": "W1"});
    let detail = &line["detail"];
    tells!(detail, {"decision": "ratified", "by": "ann", "via": "cockpit"});
    terminal.shows("Inbox ");
    terminal.shows("nothing needs you");
    let inbox = fleet.inbox("W1");
    for name in ["0001.ratified", ".0001.decision.json"] {
        assert!(inbox.join(name).exists(), "{name}");
    }
    let offer = next(&fleet, "W1");
    tells!(offer, {"decision": "ratified", "body": "Merge the seal 1\n\nby noon"});
}

#[test]
fn what_i_decided_is_told_as_the_answer_to_it_and_not_as_news_of_somebody() {
    let fleet = waiting(1);
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.keys(&["y"]).shows("nothing needs you");
    let screen = terminal.rests();
    assert!(screen.contains("RATIFIED #1"), "{screen}");
    assert!(!screen.contains("ann decided on"), "{screen}");
}

#[test]
fn n_asks_for_the_reason_that_the_worker_is_told() {
    let fleet = waiting(1);
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 140, 24));
    terminal.keys(&["n"]).shows("reject W1 1, why");
    terminal.types("not yet: y or n, q 1 or 2?");
    terminal.shows("not yet: y or n, q 1 or 2?");
    assert_undecided(&fleet, "W1");
    terminal.keys(&["Enter"]);
    let line = until_decided(&fleet, 1).remove(0);
    tells!(line, {"detail/decision": "rejected", "detail/via": "cockpit"});
    let offer = next(&fleet, "W1");
    tells!(offer, {"decision": "rejected", "reason": "not yet: y or n, q 1 or 2?"});
}

#[test]
fn a_rejection_that_is_left_rejects_nothing() {
    let fleet = waiting(1);
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    for leave in ["Escape", "C-c"] {
        terminal.keys(&["n"]).shows("reject W1 1, why");
        terminal.types("no");
        terminal.keys(&[leave]);
        terminal.until("it is left", |it| !it.contains("why:"));
    }
    terminal.rests();
    assert_undecided(&fleet, "W1");
}

#[test]
fn capital_y_lets_through_those_that_were_listed_and_none_that_came_meanwhile() {
    let fleet = waiting(3);
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.types("jjY").shows("approve these 3");
    propose(&fleet, "W2", "I came later");
    terminal.shows("Inbox(4)");
    terminal.keys(&["y"]);
    until_decided(&fleet, 3);
    terminal.shows("Inbox(1)");
    let screen = terminal.rests();
    assert!(screen.contains("I came later"), "{screen}");
    assert_eq!(decided(&fleet).len(), 3);
    assert!(!fleet.inbox("W2").join("0002.ratified").exists());
}

#[test]
fn capital_y_takes_nothing_but_y_for_an_answer() {
    let fleet = waiting(2);
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.keys(&["j"]);
    for answer in ["Enter", "Y", "n", "Escape", "Space"] {
        terminal.keys(&["Y"]).shows("approve these 2");
        terminal.keys(&[answer]);
        terminal.until("it is left", |it| !it.contains("[y/N]"));
    }
    // Nor anything pasted.
    terminal.keys(&["Y"]).shows("approve these 2");
    terminal.tmux(&["set-buffer", "y"]);
    terminal.tmux(&["paste-buffer", "-p"]);
    terminal.rests();
    assert_undecided(&fleet, "W1");
}

#[test]
fn two_keys_at_once_decide_on_one_brief() {
    let fleet = waiting(2);
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.types("yy");
    until_decided(&fleet, 1);
    terminal.shows("Inbox(1)");
    terminal.rests();
    assert_eq!(decided(&fleet).len(), 1);
    assert!(!fleet.inbox("W2").join("0001.ratified").exists());
}

#[test]
fn a_long_brief_is_let_through_once_its_end_was_on_the_screen() {
    let fleet = Fleet::of(1);
    let lines: Vec<String> = (1..=60).map(|n| format!("line {n} of many")).collect();
    propose(&fleet, "W1", &lines.join("\n"));
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.keys(&["y"]);
    terminal.shows("its end has not been on the screen yet");
    assert_undecided(&fleet, "W1");
    // All at once: each of them is drawn.
    terminal.types("JJJJJJJJJJ").shows("line 60 of many");
    terminal.keys(&["y"]);
    until_decided(&fleet, 1);
}

#[test]
fn a_brief_that_comes_does_not_take_the_place_of_the_shown_one() {
    let fleet = Fleet::of(3);
    propose(&fleet, "W3", "I was first");
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.shows("I was first");
    propose(&fleet, "W1", "I am in front");
    terminal.shows("Inbox(2)");
    terminal.looks();
    terminal.keys(&["y"]);
    let line = until_decided(&fleet, 1).remove(0);
    assert_eq!(line["worker"], "W3");
}

#[test]
fn what_is_pasted_decides_nothing() {
    let fleet = waiting(2);
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.tmux(&["set-buffer", "yYy\ny\n"]);
    terminal.tmux(&["paste-buffer", "-p"]);
    terminal.rests();
    assert_undecided(&fleet, "W1");
}

#[test]
fn capital_j_scrolls_as_far_in_one_pane_as_beside_the_list() {
    let fleet = Fleet::of(1);
    let lines: Vec<String> = (1..=60).map(|n| format!("line {n} of many")).collect();
    propose(&fleet, "W1", &lines.join("\n"));
    for (columns, rows, zooms) in [(80, 24, false), (79, 24, false), (80, 24, true)] {
        let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, columns, rows));
        if zooms {
            terminal.keys(&["+"]);
            terminal.until("it is zoomed", |it| !it.contains("Needs you 1"));
        }
        terminal.keys(&["J"]);
        terminal.until("it is scrolled", |it| !it.contains("line 1 of many"));
        let screen = terminal.rests();
        assert!(
            !screen.contains("line 5 of many"),
            "{columns} columns, zoomed: {zooms}:\n{screen}"
        );
    }
}

#[test]
fn letters_of_a_filter_or_of_the_palette_decide_nothing() {
    let fleet = waiting(2);
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    for (key, typed) in [("/", "yYney"), (":", "yYney"), ("?", "yYney")] {
        terminal.keys(&[key]);
        terminal.types(typed).shows(typed);
        terminal.keys(&["Escape"]);
        terminal.until("it is left", |it| !it.contains(typed));
    }
    terminal.keys(&["Escape"]).shows("Needs you 2");
    assert_undecided(&fleet, "W1");
}

#[test]
fn a_click_selects_and_decides_nothing() {
    let fleet = waiting(2);
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.shows("Merge the seal 1");
    // The second row of the list, twice; then everywhere.
    for _ in 0..2 {
        terminal.types("\u{1b}[<0;6;6M\u{1b}[<0;6;6m");
    }
    terminal.shows("W2 · brief 0001");
    for row in 1..=24 {
        for column in [1, 3, 12, 30, 44, 60, 80] {
            terminal.types(&format!(
                "\u{1b}[<0;{column};{row}M\u{1b}[<0;{column};{row}m"
            ));
        }
    }
    terminal.rests();
    assert_undecided(&fleet, "W1");
    assert_undecided(&fleet, "W2");
}

#[test]
fn ctrl_o_copies_the_shown_words_and_no_more() {
    let fleet = waiting(1);
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.keys(&["C-o"]).until("they are copied", |_| {
        terminal.tmux(&["show-buffer"]) == "Merge the seal 1\n\nby noon"
    });
    assert_undecided(&fleet, "W1");
}

#[test]
fn ratify_all_of_the_palette_takes_nothing_that_came_while_it_was_typed() {
    let fleet = waiting(1);
    fleet.world.ok(["worker", "add", "W2"]);
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.keys(&[":"]);
    terminal.types("/ratify all").shows(":/ratify all");
    propose(&fleet, "W2", "I came later");
    terminal.keys(&["Enter"]);
    terminal.until("it is answered", |it| !it.contains(":/ratify all"));
    terminal.rests();
    let later = decided(&fleet);
    assert!(later.iter().all(|line| line["worker"] != "W2"), "{later:?}");
}
