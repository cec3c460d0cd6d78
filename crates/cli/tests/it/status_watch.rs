//! `status --watch`: the status again after each change.

use flagpost_testkit::background::Background;
use serde_json::Value;

use crate::{tmux::Tmux, world_with};

#[test]
fn each_change_is_a_line_more_and_nothing_else_is() {
    let world = world_with(&["One"]);
    let mut watching = Background::start(world.command().args(["status", "--watch", "--json"]));
    let lines = |watching: &Background| -> Vec<Value> {
        let told = watching.stdout();
        let lines = told.lines();
        lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    };
    let mut totals = |least: usize| {
        watching.until("the total is told", |it| {
            lines(it).last().is_some_and(|it| it["total"] == least)
        });
        let lines = lines(&watching);
        assert!(lines.iter().all(|it| it["schema"] == "flagpost.status/1"));
        lines.len()
    };
    assert_eq!(totals(1), 1);
    world.ok(["add", "Two"]);
    let after_one = totals(2);
    world.ok(["add", "Three"]);
    assert!(totals(3) > after_one);
}

#[test]
fn on_a_terminal_its_beginning_stays_in_sight() {
    let subjects: Vec<String> = (1..=24).map(|n| format!("Task {n}")).collect();
    let subjects: Vec<&str> = subjects.iter().map(String::as_str).collect();
    let world = world_with(&subjects);
    for id in 1..=8 {
        world.ok(["claim", &id.to_string()]);
        world.ok(["fail", &id.to_string(), "It broke"]);
    }
    let tmux = Tmux::of(&world);
    let binary = env!("CARGO_BIN_EXE_flagpost");
    tmux.open(80, 24, &format!("{binary} status --watch"));
    let screen = tmux.until("what is ready", |screen| screen.contains("9 Task 9"));
    assert!(screen.starts_with("Needs you: 8\n"), "{screen}");
    assert!(screen.contains("flagpost retry 1\n"), "{screen}");
}
