//! A lock that somebody else holds: waited for, then told with the holder's name.

use std::{
    fs::{self, File},
    thread,
    time::Duration,
};

use insta::assert_snapshot;

use crate::world_with;

/// Holds the list's lock as another process would, with its note.
pub fn hold(world: &flagpost_testkit::sealed::World, note: &str) -> File {
    let path = world.list("web").join(".lock");
    let file = File::options().write(true).open(&path).unwrap();
    file.lock().unwrap();
    fs::write(&path, note).unwrap();
    file
}

#[test]
fn a_held_lock_times_out_and_names_its_holder() {
    let world = world_with(&["a"]);
    let us = std::process::id();
    let _held = hold(
        &world,
        &format!("pid: {us}\ncommand: flagpost\nsince: 2026-05-13T14:20:00Z\n"),
    );
    thread::scope(|scope| {
        scope.spawn(|| assert_snapshot!(world.flagpost(["claim", "1"]), @r#"
        exit 5
        2> flagpost: [dir]/home/.flagpost/tasks/web/.lock is locked by pid [pid] (flagpost) since 2026-05-13T14:20:00Z; waited 5.0 s
        2>   hint: try again: the lock is free as soon as the process that holds it ends
        "#));
        scope.spawn(|| assert_snapshot!(world.flagpost(["claim", "1", "--json"]), @r#"
        exit 5
        {"schema":"flagpost.error/1","kind":"timed_out","exit_code":5,"message":"[dir]/home/.flagpost/tasks/web/.lock is locked by pid [pid] (flagpost) since 2026-05-13T14:20:00Z; waited 5.0 s","hint":"try again: the lock is free as soon as the process that holds it ends","causes":[]}
        "#));
    });
    // Looking needs no lock.
    assert_eq!(world.ok(["list", "--quiet"]), "1\n");
}

#[test]
fn a_holder_that_left_no_name() {
    let world = world_with(&["a"]);
    // The note of one that is not there any more names nobody.
    let of_the_dead = "pid: 999999999\ncommand: flagpost\nsince: 2026-05-13T14:20:00Z\n";
    let held = hold(&world, of_the_dead);
    let told = world.flagpost(["claim", "1"]).stderr;
    assert!(told.contains("/.lock is locked; waited 5.0 s"), "{told}");
    drop(held);
    let _held = hold(&world, "garbage\u{1b}[2J\n");
    assert_snapshot!(world.flagpost(["claim", "1"]), @r#"
    exit 5
    2> flagpost: [dir]/home/.flagpost/tasks/web/.lock is locked; waited 5.0 s
    2>   hint: try again: the lock is free as soon as the process that holds it ends
    "#);
}

#[test]
fn a_lock_that_is_let_go_in_time_is_taken() {
    let world = world_with(&["a"]);
    let held = hold(&world, "pid: 4242\n");
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(300));
            drop(held);
        });
        assert_eq!(world.flagpost(["claim", "1", "--quiet"]).code, 0);
    });
}

#[test]
fn the_note_of_a_dead_holder_stops_nobody() {
    let world = world_with(&["a"]);
    fs::write(
        world.list("web").join(".lock"),
        "pid: 1\ncommand: flagpost\nsince: 2020-01-01T00:00:00Z\n",
    )
    .unwrap();
    assert_eq!(world.flagpost(["claim", "1", "--quiet"]).code, 0);
}
