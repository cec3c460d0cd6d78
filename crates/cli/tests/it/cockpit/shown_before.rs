//! A brief that changes while it is on the screen: nobody decides on words that were not shown.

use std::fs;

use flagpost_testkit::background::kill;
use rustix::process::Signal;

use crate::{
    cockpit::{
        stage::{assert_undecided, decided, next, until_decided, waiting},
        terminal::Terminal,
    },
    fleet::Fleet,
};

/// Has this happen while the cockpit can see nothing, and presses `y` meanwhile.
fn y_during(fleet: &Fleet, happens: impl FnOnce(&Fleet)) -> Option<Terminal<'_>> {
    let terminal = Terminal::open(&fleet.world, 80, 24)?;
    terminal.cockpit_of_a_script();
    terminal.shows("by noon");
    let pid = terminal.pid();
    kill(pid, Signal::STOP);
    happens(fleet);
    terminal.keys(&["y"]);
    kill(pid, Signal::CONT);
    Some(terminal)
}

#[test]
fn words_that_a_foreign_hand_changes_at_the_last_moment_are_shown_and_not_let_through() {
    let fleet = waiting(1);
    let Some(terminal) = y_during(&fleet, |fleet| {
        fs::write(fleet.inbox("W1").join("0001.brief"), "Delete everything").unwrap();
    }) else {
        return;
    };
    let screen = terminal.shows("Delete everything");
    assert!(screen.contains("changed since it was proposed"), "{screen}");
    terminal.rests();
    assert_undecided(&fleet, "W1");
}

#[test]
fn words_that_a_foreign_hand_changes_are_marked_as_such() {
    let fleet = waiting(1);
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    fs::write(fleet.inbox("W1").join("0001.brief"), "Delete everything").unwrap();
    let screen = terminal.shows("Delete everything");
    assert!(screen.contains("changed since it was proposed"), "{screen}");
    assert!(!screen.contains("by noon"), "{screen}");
    // And no list of briefs has it let through.
    terminal.looks();
    terminal.keys(&["Y"]).shows("no brief is listed");
    assert_undecided(&fleet, "W1");
}

#[test]
fn an_expiry_or_a_recipient_that_changes_was_not_shown_either() {
    let fleet = waiting(1);
    let Some(terminal) = y_during(&fleet, |fleet| {
        let path = fleet.inbox("W1").join("0001.brief.meta.json");
        let text = fs::read_to_string(&path).unwrap();
        let text = text.replace("\"target_ticket\": \"", "\"target_ticket\": \"9");
        fs::write(&path, text).unwrap();
    }) else {
        return;
    };
    terminal.shows("changed since it was proposed");
    terminal.rests();
    assert_undecided(&fleet, "W1");
}

#[test]
fn what_somebody_else_decided_meanwhile_stands() {
    let fleet = waiting(1);
    let Some(terminal) = y_during(&fleet, |fleet| {
        let ran = fleet.world.feed(
            ["relay", "edit", "W1", "1", "--file", "-"],
            b"Only look at it",
        );
        assert_eq!(ran.code, 0, "{ran}");
    }) else {
        return;
    };
    terminal.shows("nothing needs you");
    terminal.rests();
    let line = until_decided(&fleet, 1).remove(0);
    assert_eq!(line["detail"]["decision"], "edited");
    assert_eq!(next(&fleet, "W1")["body"], "Only look at it");
}

#[test]
fn what_somebody_else_rejected_meanwhile_stays_rejected() {
    let fleet = waiting(1);
    let Some(terminal) = y_during(&fleet, |fleet| {
        fleet.world.ok(["reject", "W1", "1"]);
    }) else {
        return;
    };
    terminal.shows("nothing needs you");
    terminal.rests();
    assert_eq!(decided(&fleet).len(), 1);
    assert_eq!(next(&fleet, "W1")["decision"], "rejected");
}

#[test]
fn a_reason_typed_for_other_words_rejects_nothing() {
    let fleet = waiting(1);
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.keys(&["n"]).shows("reject W1 1, why");
    fs::write(fleet.inbox("W1").join("0001.brief"), "Delete everything").unwrap();
    terminal.shows("Delete everything");
    terminal.types("too late");
    terminal.keys(&["Enter"]);
    terminal.until("it is refused", |it| !it.contains("why:"));
    terminal.rests();
    assert_undecided(&fleet, "W1");
}
