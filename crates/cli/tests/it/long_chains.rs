//! Tasks that wait for each other in a chain as long as the list.

use std::fs;

use flagpost_testkit::sealed::World;

use crate::world_with;

/// A world whose list has this many tasks, each waiting for the one before.
fn chain(tasks: usize) -> World {
    let world = world_with(&["Task 1"]);
    for n in 2..=tasks {
        let file = format!(
            r#"{{"id":"{n}","subject":"Task {n}","status":"pending","blocks":[],"blockedBy":["{}"]}}"#,
            n - 1
        );
        fs::write(world.list("web").join(format!("{n}.json")), file).unwrap();
    }
    world
}

#[test]
fn a_chain_as_long_as_the_list_is_drawn() {
    const TASKS: usize = 20_000;
    let world = chain(TASKS);
    let text = world.ok(["task", "graph"]);
    assert_eq!(text.lines().count(), TASKS);
    assert!(text.lines().all(|line| line.chars().count() < 150));
    assert!(text.ends_with("… ○ 20000 Task 20000\n"));
    let (_, json) = world.json(["task", "graph", "2"]);
    assert_eq!(json["nodes"].as_array().unwrap().len(), TASKS - 1);
    assert_eq!(world.ok(["task", "graph", "-q"]).lines().count(), TASKS);
}

#[test]
fn deep_levels_are_indented_no_more() {
    let text = chain(43).ok(["task", "graph"]);
    let indents = |line: &str| line.chars().take_while(|c| *c == ' ').count();
    let deep: Vec<_> = text.lines().skip(39).collect();
    assert_eq!(
        deep.iter()
            .map(|line| line.trim_start())
            .collect::<Vec<_>>(),
        [
            "└─ ○ 40 Task 40",
            "└─ ○ 41 Task 41",
            "… ○ 42 Task 42",
            "… ○ 43 Task 43"
        ]
    );
    assert_eq!(
        deep.iter().map(|line| indents(line)).collect::<Vec<_>>(),
        [114, 117, 120, 120]
    );
}
