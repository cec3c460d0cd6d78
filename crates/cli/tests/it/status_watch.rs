//! `status --watch`: the status again after each change.

use flagpost_testkit::background::Background;
use serde_json::Value;

use crate::world_with;

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
