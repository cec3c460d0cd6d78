//! `status --watch`: the status again after each change.

use std::time::{Duration, Instant};

use flagpost_testkit::background::Background;
use serde_json::Value;

use crate::world_with;

#[test]
fn each_change_is_a_line_more_and_nothing_else_is() {
    let world = world_with(&["One"]);
    let mut watching = Background::start(world.command().args(["status", "--watch", "--json"]));
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut totals = |least: usize| loop {
        let told = watching.stdout();
        let lines: Vec<Value> = told
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        if lines.last().is_some_and(|it| it["total"] == least) {
            assert!(lines.iter().all(|it| it["schema"] == "flagpost.status/1"));
            return lines.len();
        }
        assert!(watching.is_running() && Instant::now() < deadline, "{told}");
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(totals(1), 1);
    world.ok(["add", "Two"]);
    let after_one = totals(2);
    world.ok(["add", "Three"]);
    assert!(totals(3) > after_one);
}
