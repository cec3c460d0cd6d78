//! What is asked on a terminal, a real one: `script` gives the binary a pseudo-terminal.

use std::process::Stdio;

use flagpost_testkit::sealed::World;

use crate::world;

/// Runs a command on a terminal at which somebody types this; what the terminal showed.
fn typed(world: &World, command: &str, answer: &str) -> (i32, String) {
    let mut script = world.command_of("script");
    let binary = env!("CARGO_BIN_EXE_flagpost");
    script
        .args(["-qec", &format!("{binary} {command}"), "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = script
        .spawn()
        .expect("script is there: it comes with bsdutils");
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, answer.as_bytes()).unwrap();
    drop(stdin);
    let ended = child.wait_with_output().unwrap();
    let shown = String::from_utf8(ended.stdout).unwrap();
    (ended.status.code().unwrap(), shown)
}

fn with_parts() -> World {
    let world = world();
    world.ok(["add", "Ship"]);
    world.ok(["add", "Write", "--parent", "1"]);
    world
}

fn state(world: &World, id: &str) -> String {
    let (_, task) = world.json(["show", id]);
    task["state"].as_str().unwrap().to_owned()
}

#[test]
fn whether_a_task_with_open_parts_is_complete() {
    let world = with_parts();
    let (code, shown) = typed(&world, "done 1", "n\n");
    assert_eq!((code, &*state(&world, "1")), (4, "pending"), "{shown}");
    let (code, shown) = typed(&world, "done 1", "y\n");
    assert!(shown.contains("complete it all the same? [y/N]"), "{shown}");
    assert_eq!((code, &*state(&world, "1")), (0, "completed"), "{shown}");
}

#[test]
fn whether_tasks_that_a_query_selects_are_changed() {
    let world = with_parts();
    let (code, shown) = typed(&world, "task cancel --where parent=1", "\n");
    assert_eq!((code, &*state(&world, "2")), (2, "pending"), "{shown}");
    let (code, shown) = typed(&world, "task cancel --where parent=1", "y\n");
    assert!(shown.contains("cancel 1 task: 2 Write? [y/N]"), "{shown}");
    assert_eq!((code, &*state(&world, "2")), (0, "cancelled"), "{shown}");
}

#[test]
fn whether_a_task_is_removed() {
    let world = with_parts();
    let (code, shown) = typed(&world, "task rm 2", "no\n");
    assert_eq!(code, 2, "{shown}");
    assert_eq!(typed(&world, "task rm 2", "y\n").0, 0);
    assert_eq!(world.flagpost(["show", "2"]).code, 3);
}
