//! A disk that is full in the middle of a run: the run waits until there is room, its agents go on; one
//! that is not to wait ends, its agents with it, and the next one goes on.

use std::{fs, path::PathBuf};

use flagpost_testkit::{background::is_alive, race::until, scratch::SmallDisk};
use rustix::process::Signal;

use crate::run_stage::Stage;

/// A stage whose home, or whose repository's sessions, lie on a disk of their own.
fn on(disk: &SmallDisk, where_: &str) -> Stage {
    let world = if where_ == "home" {
        crate::world().with("FLAGPOST_HOME", disk.path().join("home"))
    } else {
        let world = crate::world_without_repository();
        let there = disk.path().join("web");
        fs::create_dir(&there).unwrap();
        fs::remove_dir(world.repository()).unwrap();
        std::os::unix::fs::symlink(&there, world.repository()).unwrap();
        let ran = world.run(world.command_of("git").args(["init", "--quiet"]));
        assert_eq!(ran.code, 0, "{ran}");
        world
    };
    Stage::in_world(world, "- [ ] Fill\n- [ ] Work\n- [ ] Wait (after: 1, 2)\n")
}

/// Task 1 fills the disk once, while task 2 is at work.
fn agent(disk: &SmallDisk) -> String {
    format!(
        r#"nth
        if [ $task = 2 ] && [ $n = 1 ]; then child left; mark works; await enough; fi
        if [ $task = 1 ] && [ $n = 1 ]; then await works; await left; cat /dev/zero > '{}'; fi
        report PASS"#,
        filler(disk).display()
    )
}

fn filler(disk: &SmallDisk) -> PathBuf {
    disk.path().join("filler")
}

const WAITS: &str = "waiting until you make room";

#[test]
fn a_run_waits_while_the_disk_is_full_and_goes_on() {
    for where_ in ["home", "sessions"] {
        let disk = or_skip!(SmallDisk::mount(2_000));
        let stage = on(&disk, where_);
        let run = stage.start(&agent(&disk), &[]);
        until("it waits", || run.stderr().contains(WAITS));
        assert!(
            run.stderr().contains("No space left on device"),
            "{where_}: {}",
            run.stderr()
        );
        assert!(is_alive(stage.pid("left")));
        fs::remove_file(filler(&disk)).unwrap();
        until("it goes on", || run.stderr().contains("going on"));
        stage.mark("enough");
        let ran = run.end();
        assert_eq!(ran.code, 0, "{where_}: {ran}");
        assert!(ran.stdout.contains("3 of 3 passed"), "{where_}: {ran}");
        assert_eq!(ran.stderr.matches(WAITS).count(), 1, "{where_}: {ran}");
        assert_eq!(stage.left("starts-2"), "x", "{where_}: {ran}");
    }
}

#[test]
fn a_run_that_is_not_to_wait_for_room_ends_and_the_next_one_goes_on() {
    for where_ in ["home", "sessions"] {
        let disk = or_skip!(SmallDisk::mount(2_000));
        let stage = on(&disk, where_);
        let mut run = stage.start(&agent(&disk), &[]);
        until("it waits", || run.stderr().contains(WAITS));
        let left = stage.pid("left");
        run.signal(Signal::TERM);
        let ended = run.end();
        assert_eq!(ended.code, 1, "{where_}: {ended}");
        assert!(
            ended.stderr.contains("is dead, and its agent"),
            "{where_}: {ended}"
        );
        let hint = "hint: make room; 'flagpost run' goes on with what is left";
        assert!(ended.stderr.contains(hint), "{where_}: {ended}");
        until("the agents are gone", || !is_alive(left));
        fs::remove_file(filler(&disk)).unwrap();
        stage.mark("enough");
        let ran = stage.run("report PASS", &[]);
        assert_eq!(ran.code, 0, "{where_}: {ran}");
        // Where the sessions had room, task 1 left its report before the run died, and is not done again.
        let passed = if where_ == "home" {
            "2 of 2 passed"
        } else {
            "3 of 3 passed"
        };
        assert!(ran.stdout.contains(passed), "{where_}: {ran}");
        let shown = stage.world.flagpost(["list", "--all", "--json"]);
        let done = shown.stdout.matches(r#""state":"completed""#).count();
        assert_eq!(done, 3, "{where_}: {shown}");
    }
}
