//! Faults of the home itself and of the machine under it: locks, modes, settings, clocks, git.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::doctor_faults::is_healthy;

pub(super) const FAULTS: &[Fault] = &[
    ("a lock that is held for minutes", 0, LockHeld, |world| {
        let held = hold(world);
        world.set("FLAGPOST_CLOCK", "2026-05-13T14:27:00Z");
        by_hand(move |_| drop(held))
    }),
    ("a daemon of another version", 0, DaemonOther, |world| {
        world.ok(["up"]);
        let note = world.home().join("run/daemon.json");
        let read =
            move || -> Value { serde_json::from_str(&fs::read_to_string(&note).unwrap()).unwrap() };
        let mut old = read();
        let ours = std::mem::replace(&mut old["version"], json!("0.0.1"));
        put(&world.home().join("run/daemon.json"), old.to_string());
        by_hand(move |world| {
            let told = world.flagpost(["status"]);
            assert!(
                told.stderr.contains("the daemon is Flagpost 0.0.1"),
                "{told}"
            );
            world.ok(["up"]);
            let new = read();
            assert_eq!(new["version"], ours);
            assert_ne!(new["pid"], old["pid"]);
            world.ok(["down"]);
        })
    }),
    ("a link in the place of a lock", 1, LockUnusable, |world| {
        let lock = world.list("web").join(".lock");
        fs::remove_file(&lock).unwrap();
        symlink("nowhere", &lock).unwrap();
        by_hand(move |_| fs::remove_file(lock).unwrap())
    }),
    ("only a dead writer's file", 0, TemporaryOrphaned, |world| {
        let list = world.list("web");
        let dead = temporary(&list, "1.json", 2_147_483_647);
        let alive = temporary(&list, "1.json", std::process::id());
        by_hand(move |_| assert!(!dead.exists() && alive.exists()))
    }),
    ("half a result of a worker", 0, TemporaryOrphaned, |world| {
        world.ok(["coord", "leader", "init", "A goal"]);
        let results = world.repository().join(".coordination/results");
        let dead = temporary(&results, "task-001.md", 2_147_483_647);
        by_hand(move |_| assert!(!dead.exists()))
    }),
    ("the home is a file", 1, HomeUnreadable, |world| {
        let (home, file) = (world.home(), world.outside().join("file"));
        fs::write(&file, "x").unwrap();
        world.set("FLAGPOST_HOME", &file);
        by_hand(move |world| world.set("FLAGPOST_HOME", home))
    }),
    ("a home that others can read", 0, HomeOpen, |world| {
        mode(&world.home(), 0o755);
        fixed()
    }),
    ("a worker's outbox is a link", 1, DirectoryLinked, |world| {
        let outbox = repository(world).join("workers/W1/outbox");
        let elsewhere = world.outside().join("elsewhere");
        fs::rename(&outbox, &elsewhere).unwrap();
        symlink(&elsewhere, &outbox).unwrap();
        by_hand(move |_| {
            fs::remove_file(&outbox).unwrap();
            fs::rename(&elsewhere, &outbox).unwrap();
        })
    }),
    ("a task that others can read", 0, ModeOpen, |world| {
        opened(task(world, "1"), 0o644, 0o600)
    }),
    ("two tasks that others can read", 0, ModeOpen, |world| {
        mode(&task(world, "1"), 0o644);
        opened(task(world, "2"), 0o640, 0o600)
    }),
    ("a list that others can read", 0, ModeOpen, |world| {
        opened(world.list("web"), 0o755, 0o700)
    }),
    ("settings that the group can write", 0, ModeOpen, |world| {
        put(&world.home().join("config.toml"), "");
        opened(world.home().join("config.toml"), 0o664, 0o600)
    }),
    ("a policy that the group can write", 0, ModeOpen, |world| {
        put(&world.home().join("policy.toml"), "");
        opened(world.home().join("policy.toml"), 0o664, 0o600)
    }),
    ("a note of a rest is torn", 0, ParkUnreadable, |world| {
        let note = note_of_rest(world, "{");
        by_hand(move |_| fs::remove_file(&note).unwrap())
    }),
    ("a note of a rest is a link", 0, ParkUnreadable, |world| {
        let note = note_of_rest(world, "{");
        fs::remove_file(&note).unwrap();
        symlink("nowhere", &note).unwrap();
        by_hand(move |_| fs::remove_file(&note).unwrap())
    }),
    ("a notice that did not go out", 0, NoticeFailed, |world| {
        world.ok(["config", "set", "notify.channels", "command"]);
        assert_eq!(world.flagpost(["notify", "test"]).code, 1);
        by_hand(|world| {
            world.ok(["config", "set", "notify.command", "true"]);
            world.ok(["notify", "test"]);
        })
    }),
    (
        "notices on record are torn",
        1,
        NoticesUnreadable,
        |world| {
            let record = world.home().join("run/notified.json");
            let dir = record.parent().unwrap();
            fs::create_dir_all(dir).unwrap();
            mode(dir, 0o700);
            put(&record, "{");
            by_hand(move |_| fs::remove_file(&record).unwrap())
        },
    ),
    ("settings that are no TOML", 1, SettingBroken, |world| {
        set(world, "not toml [")
    }),
    ("a setting that is no number", 1, SettingBroken, |world| {
        set(world, "[run]\nretries = \"many\"\n")
    }),
    ("a saved query that is none", 1, SettingBroken, |world| {
        set(world, "queries.a = 'prio=high'\n")
    }),
    ("a variable that is no number", 1, SettingBroken, |world| {
        world.set("FLAGPOST_RUN_RETRIES", "many");
        by_hand(|world| world.unset("FLAGPOST_RUN_RETRIES"))
    }),
    ("a setting that there is not", 0, SettingUnknown, |world| {
        set(world, "[run]\nretrys = 3\n")
    }),
    ("a list keeps ourselves out", 0, HomeReadOnly, |world| {
        mode(&world.list("web"), 0o500);
        by_hand(|world| mode(&world.list("web"), 0o700))
    }),
    ("a clock before all times", 1, ClockBeyond, |world| {
        clock(world, "1969-12-31T00:00:00Z")
    }),
    ("a clock went back six minutes", 0, ClockBehind, |world| {
        clock(world, "2026-05-13T14:19:00Z")
    }),
    ("a zone that nobody knows", 0, ZoneUnknown, |world| {
        world.set("TZ", "Mars/Olympus");
        by_hand(|world| world.unset("TZ"))
    }),
    ("no git", 0, GitMissing, |world| without_git(world, None)),
    ("an old git", 0, GitOld, |world| {
        without_git(world, Some("git version 2.20.1"))
    }),
];

/// What looks like a fault and is none, and how it is brought about.
const HARMLESS: &[(&str, Make)] = &[
    ("a lock that is held since just now", |world| {
        let held = hold(world);
        by_hand(move |_| drop(held))
    }),
    ("a clock that went back four minutes", |world| {
        clock(world, "2026-05-13T14:21:00Z")
    }),
    ("a claim that was over a little while ago", |world| {
        world.ok(["claim", "5", "--as", "W1"]);
        clock(world, "2026-05-13T15:30:00Z")
    }),
    ("a task that is a part of another", |world| {
        edit(&task(world, "1"), |task| {
            task["metadata"]["parent"] = json!("2")
        });
        fixed()
    }),
    ("settings and a policy that others can read", |world| {
        for (name, text) in [("config.toml", "run.retries = 3\n"), ("policy.toml", "")] {
            put(&world.home().join(name), text);
            mode(&world.home().join(name), 0o644);
        }
        fixed()
    }),
    ("a link to what others can read", |world| {
        let outside = world.outside().join("mine");
        fs::write(&outside, "x").unwrap();
        mode(&outside, 0o644);
        symlink(&outside, world.list("web").join("note.md")).unwrap();
        fixed()
    }),
    ("an account that rests", |world| {
        let rests = r#"{"agent":"codex","until":"2026-05-13T15:00:00Z","why":"limit"}"#;
        note_of_rest(world, rests);
        fixed()
    }),
    ("a coordination directory with a task", |world| {
        world.ok(["coord", "leader", "init", "Build it"]);
        world.ok(["coord", "leader", "add-task", "Write"]);
        fixed()
    }),
];

/// Takes the lock of a list, as of a time just now.
fn hold(world: &World) -> fs::File {
    let lock = world.list("other").join(".lock");
    let held = fs::File::options().write(true).open(&lock).unwrap();
    held.lock().unwrap();
    put(
        &lock,
        "pid: 4711\ncommand: agent\nsince: 2026-05-13T14:25:00Z\n",
    );
    held
}

/// Half a file, written long ago by this process.
fn temporary(dir: &Path, name: &str, pid: u32) -> PathBuf {
    let path = dir.join(format!(
        ".{name}.tmp-{pid}-0123456789abcdef0123456789abcdef"
    ));
    put(&path, "half");
    old(&path);
    path
}

/// Opened to others; then closed to what it should be.
fn opened(path: PathBuf, open: u32, closed: u32) -> ByHand {
    mode(&path, open);
    by_hand(move |_| {
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, closed);
    })
}

fn note_of_rest(world: &World, content: &str) -> PathBuf {
    let dir = world.home().join("parked");
    fs::create_dir(&dir).unwrap();
    mode(&dir, 0o700);
    let note = dir.join("codex-1.json");
    put(&note, content);
    note
}

/// These settings, in place of which there are none in the end.
fn set(world: &World, settings: &str) -> ByHand {
    put(&world.home().join("config.toml"), settings);
    by_hand(|world| put(&world.home().join("config.toml"), ""))
}

fn clock(world: &mut World, time: &str) -> ByHand {
    world.set("FLAGPOST_CLOCK", time);
    by_hand(|world| world.set("FLAGPOST_CLOCK", "2026-05-13T14:25:00Z"))
}

/// With no git, or one that says this of itself.
fn without_git(world: &mut World, version: Option<&str>) -> ByHand {
    let path = std::env::var_os("PATH").unwrap();
    let bin = world.outside().join("bin");
    fs::create_dir(&bin).unwrap();
    if let Some(version) = version {
        let mut all = std::env::split_paths(&path).map(|dir| dir.join("git"));
        let git = all.find(|git| git.exists()).unwrap();
        let real = git.display();
        let script = format!(
            "#!/bin/sh\ncase \"$*\" in *--version) echo {version}; exit ;; esac\nexec {real} \"$@\"\n"
        );
        put(&bin.join("git"), script);
        mode(&bin.join("git"), 0o755);
    }
    world.set("PATH", &bin);
    by_hand(move |world| world.set("PATH", path))
}

#[test]
fn from_each_fault_of_the_machine_to_a_home_that_works() {
    lead_home(FAULTS);
}

#[test]
fn what_is_no_fault_is_left_in_peace() {
    table::each(HARMLESS.iter().copied(), |make| {
        let mut world = home();
        let by_hand = make(&mut world);
        is_healthy(&world);
        by_hand(&mut world);
    });
}
