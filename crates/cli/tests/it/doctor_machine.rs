//! Faults of the home itself and of the machine under it: modes, locks, disks, clocks, git.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
};

use crate::{
    doctor_faults::{finds, finds_and_mends, is_healthy, mode, put, task},
    world, world_with,
};

#[test]
fn modes() {
    let world = world_with(&["a", "b"]);
    mode(&world.home(), 0o755);
    finds_and_mends(&world, 0, "home-open");
    mode(&task(&world, "1"), 0o644);
    mode(&task(&world, "2"), 0o640);
    finds_and_mends(&world, 0, "mode-open");
    for id in ["1", "2"] {
        let mode = fs::metadata(task(&world, id)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    mode(&world.list("web"), 0o755);
    finds_and_mends(&world, 0, "mode-open");
}

/// As an editor leaves them.
#[test]
fn modes_of_what_people_write_by_hand() {
    let world = world_with(&["a"]);
    for name in ["config.toml", "policy.toml"] {
        let file = world.home().join(name);
        put(&file, "");
        mode(&file, 0o644);
        is_healthy(&world);
        mode(&file, 0o664);
        finds_and_mends(&world, 0, "mode-open");
    }
}

#[test]
fn modes_that_keep_ourselves_out() {
    let world = world_with(&["a"]);
    mode(&world.list("web"), 0o500);
    finds(&world, 0, "home-read-only");
    mode(&world.list("web"), 0o700);
    is_healthy(&world);
}

/// A link's target is not ours to close.
#[test]
fn modes_behind_links_are_left_alone() {
    let world = world_with(&["a"]);
    let outside = world.outside().join("mine");
    fs::write(&outside, "x").unwrap();
    mode(&outside, 0o644);
    symlink(&outside, world.list("web").join("note.md")).unwrap();
    is_healthy(&world);
}

#[test]
fn homes_that_are_none() {
    let mut world = world();
    let file = world.outside().join("file");
    fs::write(&file, "x").unwrap();
    world.set("FLAGPOST_HOME", &file);
    finds(&world, 1, "home-unreadable");
}

#[test]
fn lists_that_are_none() {
    let world = world_with(&["a"]);
    let tasks = world.home().join("tasks");
    fs::create_dir(tasks.join("no list")).unwrap();
    mode(&tasks.join("no list"), 0o700);
    finds(&world, 0, "list-misnamed");
    fs::remove_dir(tasks.join("no list")).unwrap();
    symlink("/etc", tasks.join("etc")).unwrap();
    finds(&world, 1, "list-unreadable");
    fs::remove_file(tasks.join("etc")).unwrap();
    symlink("loop", tasks.join("loop")).unwrap();
    finds(&world, 1, "list-unreadable");
}

#[test]
fn locks() {
    let mut world = world_with(&["a"]);
    let lock = world.list("web").join(".lock");
    let held = fs::File::options().write(true).open(&lock).unwrap();
    held.lock().unwrap();
    put(
        &lock,
        "pid: 4711\ncommand: agent\nsince: 2026-05-13T14:25:00Z\n",
    );
    is_healthy(&world);
    world.set("FLAGPOST_CLOCK", "2026-05-13T14:27:00Z");
    finds(&world, 0, "lock-held");
    drop(held);
    is_healthy(&world);
    fs::remove_file(&lock).unwrap();
    symlink("nowhere", &lock).unwrap();
    finds(&world, 1, "lock-unusable");
}

/// A disk that can only be read, and one that is nearly full.
#[test]
fn disks() {
    use flagpost_testkit::scratch::SmallDisk;
    if !crate::is_root("mounting a disk") {
        return;
    }
    let Some(disk) = SmallDisk::mount(1024) else {
        return;
    };
    let mut world = world();
    mode(&disk.path(), 0o700);
    world.set("FLAGPOST_HOME", disk.path());
    world.ok(["add", "a"]);
    finds(&world, 0, "disk-full");
    disk.make_read_only();
    finds(&world, 0, "home-read-only");
}

#[test]
fn clock_behind() {
    let mut world = world_with(&["a"]);
    world.set("FLAGPOST_CLOCK", "2026-05-13T14:21:00Z");
    is_healthy(&world);
    world.set("FLAGPOST_CLOCK", "2026-05-13T14:19:00Z");
    finds(&world, 0, "clock-behind");
}

#[test]
fn gits() {
    let mut world = world_with(&["a"]);
    let bin = world.outside().join("bin");
    fs::create_dir(&bin).unwrap();
    world.set("PATH", &bin);
    finds(&world, 0, "git-missing");
    let real = std::env::var_os("PATH").unwrap();
    let real = std::env::split_paths(&real)
        .map(|dir| dir.join("git"))
        .find(|git| git.exists());
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *--version) echo git version 2.20.1; exit ;; esac\nexec {} \"$@\"\n",
        real.unwrap().display()
    );
    put(&bin.join("git"), script);
    mode(&bin.join("git"), 0o755);
    finds(&world, 0, "git-old");
}

#[test]
fn notes_of_accounts_that_rest() {
    let world = world_with(&["a"]);
    let dir = world.home().join("parked");
    fs::create_dir(&dir).unwrap();
    mode(&dir, 0o700);
    let note = dir.join("codex-1.json");
    let rests = r#"{"agent":"codex","until":"2026-05-13T15:00:00Z","why":"limit"}"#;
    put(&note, rests);
    is_healthy(&world);
    put(&note, "{");
    finds(&world, 0, "park-unreadable");
    fs::remove_file(&note).unwrap();
    symlink("nowhere", &note).unwrap();
    finds(&world, 0, "park-unreadable");
    fs::remove_file(&note).unwrap();
    is_healthy(&world);
}

#[test]
fn settings() {
    let mut world = world_with(&["a"]);
    let file = world.home().join("config.toml");
    put(&file, "not toml [");
    finds(&world, 1, "setting-broken");
    put(&file, "[run]\nretries = \"many\"\n");
    finds(&world, 1, "setting-broken");
    put(&file, "queries.a = 'prio=high'\n");
    finds(&world, 1, "setting-broken");
    put(&file, "[run]\nretrys = 3\n");
    finds(&world, 0, "setting-unknown");
    put(&file, "[run]\nretries = 3\n");
    is_healthy(&world);
    world.set("FLAGPOST_RUN_RETRIES", "many");
    finds(&world, 1, "setting-broken");
}
