//! A disk that is full in the middle of a run: it ends, its agents with it, and the next one goes
//! on once there is room.

use std::fs;

use flagpost_testkit::{background::is_alive, race::until, scratch::SmallDisk};

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

#[test]
fn a_full_disk_ends_the_run_and_the_next_one_goes_on() {
    for where_ in ["home", "sessions"] {
        let Some(disk) = SmallDisk::mount(2_000) else {
            return;
        };
        let stage = on(&disk, where_);
        let filler = disk.path().join("filler");
        let body = format!(
            r#"[ $task != 2 ] || {{ child left; mark works; sleep 600; }}
            await works; await left; cat /dev/zero > '{}'; report PASS"#,
            filler.display()
        );
        let ended = stage.start(&body, &["--timeout", "5s"]).end();
        assert_ne!(ended.code, 0, "{ended}");
        assert!(
            ended.stderr.contains("No space left on device"),
            "{where_}: {ended}"
        );
        assert!(ended.stderr.contains("make room"), "{where_}: {ended}");
        let left = stage.pid("left");
        until("the agents are gone", || !is_alive(left));
        fs::remove_file(filler).unwrap();
        let ran = stage.run("report PASS", &[]);
        assert_eq!(ran.code, 0, "{where_}: {ran}");
        assert!(ran.stdout.contains("3 of 3 passed"), "{where_}: {ran}");
    }
}
