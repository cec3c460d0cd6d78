//! What `doctor` advises, followed: from each finding that it can name, its repairs and its words lead
//! to a home that works.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use flagpost_model::finding::{Code, Severity};
use flagpost_testkit::{scratch::SmallDisk, sealed::World};
use serde_json::{Value, json};

use crate::{
    doctor_faults::{chained, edit, mode, put, task},
    world_with,
};

mod lists;
mod mail;
mod sessions;

/// What the words of a finding tell somebody to do; nothing where `--fix` does it.
type ByHand = Box<dyn FnOnce(&mut World)>;

/// Brings the fault about.
type Make = fn(&mut World) -> ByHand;

/// Tasks for each of the faults, a worker, a second worker that nobody uses, and a second list.
fn home() -> World {
    let world = world_with(&["a", "b", "c", "d", "e", "f", "g", "h"]);
    world.ok(["--list", "other", "add", "elsewhere"]);
    world.ok(["worker", "add", "W1"]);
    world.ok(["worker", "add", "W2"]);
    world.ok(["assign", "6", "W2", "--inline", "Wait"]);
    world
}

fn fixed() -> ByHand {
    Box::new(|_| {})
}

fn by_hand(hand: impl FnOnce(&mut World) + 'static) -> ByHand {
    Box::new(hand)
}

fn codes(world: &World) -> Vec<Code> {
    let (_, answer) = world.json(["doctor"]);
    let findings = answer["findings"].as_array().unwrap().iter();
    let code = |it: &Value| it["code"].as_str().unwrap().parse().unwrap();
    findings.map(code).collect()
}

/// Everything that a day needs of a home.
fn is_used(world: &World) {
    let added = world.ok(["add", "new", "--quiet"]);
    let id = added.trim();
    world.ok(["claim", id, "--as", "W1"]);
    world.ok(["done", id, "it is there", "--as", "W1"]);
    world.ok(["worker", "heartbeat", "--as", "W1"]);
    world.ok(["assign", "7", "W1", "--inline", "Do it"]);
    world.ok(["ratify", "W1"]);
    let next = world.ok(["worker", "next", "--as", "W1"]);
    assert!(next.contains("Do it"), "{next}");
    assert!(world.ok(["list", "--all"]).contains("new"));
}

/// Finds it, mends what `--fix` mends, does by hand what is left, and uses the home.
fn leads_home(code: Code, make: Make) {
    let mut world = home();
    let by_hand = make(&mut world);
    let found = codes(&world);
    assert!(found.contains(&code), "{code} is not found: {found:?}");
    mends(&world);
    by_hand(&mut world);
    let told = world.flagpost(["doctor"]);
    assert!(
        !codes(&world).contains(&code),
        "{code} is still there: {told}"
    );
    is_used(&world);
    let left = codes(&world);
    let bad: Vec<_> = left
        .iter()
        .filter(|it| it.severity() == Severity::Error)
        .collect();
    assert!(bad.is_empty(), "after {code} there is {bad:?}");
}

fn mends(world: &World) {
    let ran = world.flagpost(["doctor", "--fix", "--yes", "--json"]);
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    for it in answer["fixed"].as_array().unwrap() {
        assert_ne!(it["outcome"], "failed", "{it}");
    }
}

/// The repository's own directory in the home, whatever else lies beside it.
fn repository(world: &World) -> PathBuf {
    let binding = fs::read_to_string(world.list("other").join(".repo")).unwrap();
    world.home().join("repos").join(binding.trim())
}

fn history(world: &World) -> PathBuf {
    repository(world).join("history.jsonl")
}

fn old(path: &Path) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000))
        .unwrap();
}

fn of_tasks(code: Code) -> Option<Make> {
    Some(match code {
        Code::LinkOneSided => |world| {
            world.ok(["task", "dep", "add", "2", "1"]);
            edit(&task(world, "1"), |task| task["blocks"] = json!([]));
            fixed()
        },
        Code::LinkUnknown => |world| {
            edit(&task(world, "1"), |task| task["blockedBy"] = json!(["9"]));
            by_hand(|world| drop(world.ok(["task", "dep", "rm", "1", "9"])))
        },
        Code::LinkDangling => |world| {
            edit(&task(world, "3"), |task| task["blocks"] = json!(["9"]));
            fixed()
        },
        Code::Circle => |world| {
            world.ok(["task", "dep", "add", "2", "1"]);
            edit(&task(world, "1"), |task| task["blockedBy"] = json!(["2"]));
            edit(&task(world, "2"), |task| task["blocks"] = json!(["1"]));
            by_hand(|world| drop(world.ok(["task", "dep", "rm", "1", "2"])))
        },
        Code::ParentUnknown => |world| {
            edit(&task(world, "4"), |task| {
                task["metadata"]["parent"] = json!("19")
            });
            by_hand(|world| drop(world.ok(["task", "edit", "4", "--parent", "none"])))
        },
        Code::ParentCircle => |world| {
            edit(&task(world, "1"), |task| {
                task["metadata"]["parent"] = json!("2")
            });
            edit(&task(world, "2"), |task| {
                task["metadata"]["parent"] = json!("1")
            });
            by_hand(|world| drop(world.ok(["task", "edit", "1", "--parent", "none"])))
        },
        Code::TaskTwice => |world| {
            let whole = fs::read(task(world, "1")).unwrap();
            world.ok(["task", "move", "1", "--to", "other"]);
            put(&task(world, "1"), whole);
            by_hand(|world| drop(world.ok(["task", "cancel", "1"])))
        },
        Code::ClaimExpired => |world| {
            world.ok(["claim", "5", "--as", "W1"]);
            world.set("FLAGPOST_CLOCK", "2026-05-13T16:00:00Z");
            by_hand(|world| drop(world.ok(["task", "release", "5", "--force"])))
        },
        Code::StateOverruled => |world| {
            edit(&task(world, "6"), |task| {
                task["status"] = json!("completed")
            });
            by_hand(|world| drop(world.ok(["task", "edit", "6", "--priority", "high"])))
        },
        _ => return None,
    })
}

fn of_records(code: Code) -> Option<Make> {
    Some(match code {
        Code::RecordUnreadable => |world| {
            let record = repository(world).join("repo.json");
            let whole = fs::read(&record).unwrap();
            put(&record, "{");
            by_hand(move |_| put(&record, whole))
        },
        Code::RepositoryUnregistered => |world| {
            let dir = world
                .home()
                .join("repos/00000000-0000-4000-8000-000000000000");
            fs::create_dir(&dir).unwrap();
            mode(&dir, 0o700);
            by_hand(move |_| fs::remove_dir(dir).unwrap())
        },
        Code::RepositoryGone => |world| {
            let (there, gone) = (world.outside().join("other"), world.outside().join("moved"));
            fs::create_dir(&there).unwrap();
            let mut git = world.command_of("git");
            world.run(git.args(["init", "--quiet"]).current_dir(&there));
            world.run(world.command().arg("init").current_dir(&there));
            fs::rename(&there, &gone).unwrap();
            by_hand(move |_| fs::rename(gone, there).unwrap())
        },
        Code::RepositoryIdInvalid => |world| {
            let id = repository(world);
            let set = |world: &World, id: &str| {
                let mut git = world.command_of("git");
                world.run(git.args(["config", "flagpost.repoId", id]));
            };
            set(world, "../evil");
            by_hand(move |world| set(world, id.file_name().unwrap().to_str().unwrap()))
        },
        Code::HistoryUnreadable => |world| {
            let (path, kept) = (history(world), repository(world).join("kept"));
            fs::rename(&path, &kept).unwrap();
            symlink("kept", &path).unwrap();
            by_hand(move |_| fs::rename(kept, path).unwrap())
        },
        Code::HistoryDamaged => |world| {
            let text = fs::read_to_string(history(world)).unwrap();
            put(&history(world), text + "garbage\n");
            fixed()
        },
        Code::HistoryAltered => |world| {
            let text = fs::read_to_string(history(world)).unwrap();
            put(
                &history(world),
                text.replacen("task.created", "task.noted", 1),
            );
            fixed()
        },
        Code::HistoryBehind => |world| {
            world.ok(["claim", "1", "--as", "W1"]);
            let text = fs::read_to_string(history(world)).unwrap();
            let first = text.lines().next().unwrap();
            put(&history(world), format!("{first}\n"));
            fixed()
        },
        Code::HistoryJumped => |world| {
            let text = fs::read_to_string(history(world)).unwrap();
            let line = text
                .lines()
                .find(|it| it.contains("worker.registered"))
                .unwrap();
            let mut line: Value = serde_json::from_str(line).unwrap();
            line["n"] = json!(9_007_199_254_740_992_u64);
            put(&history(world), chained(&text, line));
            fixed()
        },
        Code::HistoryUnsettled => |world| {
            let text = fs::read_to_string(history(world)).unwrap();
            let line = text.lines().find(|it| it.contains("task.created")).unwrap();
            let mut line: Value = serde_json::from_str(line).unwrap();
            line["n"] = json!(text.lines().count() + 1);
            line["detail"]["rev"] = json!(2);
            put(&history(world), chained(&text, line));
            fixed()
        },
        Code::WorkerBroken => |world| {
            let file = repository(world).join("workers/W2/worker.json");
            let whole = fs::read(&file).unwrap();
            put(&file, "{");
            by_hand(move |_| put(&file, whole))
        },
        Code::WorkerMissing => |world| {
            world.ok(["worker", "add", "W5"]);
            world.ok(["assign", "9", "W5", "--inline", "Wait"]);
            // The last change of a history may be one that never appeared.
            world.ok(["--list", "other", "add", "after it"]);
            fs::remove_file(repository(world).join("workers/W5/worker.json")).unwrap();
            by_hand(|world| drop(world.ok(["worker", "add", "W5"])))
        },
        Code::BriefWithheld => |world| {
            let name = world.ok(["assign", "7", "W1", "--inline", "words", "--quiet"]);
            let number: u64 = name.trim().strip_prefix("W1/").unwrap().parse().unwrap();
            let body = format!("workers/W1/inbox/{number:04}.brief");
            let body = repository(world).join(body);
            let whole = fs::read(&body).unwrap();
            put(&body, "other words");
            by_hand(move |_| put(&body, whole))
        },
        Code::BriefMisread => |world| {
            world.ok(["worker", "add", "W4"]);
            world.ok(["assign", "8", "W4", "--inline", "words"]);
            world.ok(["ratify", "W4", "1"]);
            let inbox = repository(world).join("workers/W4/inbox");
            put(&inbox.join("0001.brief"), "other words");
            put(&inbox.join("0001.read"), "");
            by_hand(|world| drop(world.ok(["relay", "reject", "W4", "1"])))
        },
        Code::FlagsContradict => |world| {
            world.ok(["worker", "add", "W3"]);
            world.ok(["assign", "8", "W3", "--inline", "words"]);
            world.ok(["ratify", "W3", "1"]);
            put(
                &repository(world).join("workers/W3/inbox/0001.rejected"),
                "",
            );
            by_hand(|world| drop(world.ok(["ratify", "W3", "1"])))
        },
        Code::MailBroken => |world| {
            let file = repository(world).join("workers/W2/inbox/0001.brief.meta.json");
            let whole = fs::read(&file).unwrap();
            put(&file, "[]");
            by_hand(move |_| put(&file, whole))
        },
        Code::ReservationBroken => |world| {
            world.ok(["reserve", "add", "src/**", "--as", "W1"]);
            let dir = repository(world).join("reservations");
            let mut files = fs::read_dir(dir).unwrap().map(|it| it.unwrap().path());
            let file = files
                .find(|it| it.extension().is_some_and(|it| it == "json"))
                .unwrap();
            put(&file, "{");
            by_hand(move |_| fs::remove_file(file).unwrap())
        },
        Code::CoordinationBroken => |world| {
            world.ok(["coord", "leader", "init", "Build it"]);
            let table = world.repository().join(".coordination/tasks.json");
            let whole = fs::read(&table).unwrap();
            fs::write(&table, "{\"tasks\": [").unwrap();
            by_hand(move |_| fs::write(table, whole).unwrap())
        },
        _ => return None,
    })
}

fn of_the_machine(code: Code) -> Option<Make> {
    Some(match code {
        Code::LockHeld => |world| {
            let lock = world.list("other").join(".lock");
            let held = fs::File::options().write(true).open(&lock).unwrap();
            held.lock().unwrap();
            put(
                &lock,
                "pid: 4711\ncommand: agent\nsince: 2026-05-13T14:25:00Z\n",
            );
            world.set("FLAGPOST_CLOCK", "2026-05-13T14:27:00Z");
            by_hand(move |_| drop(held))
        },
        Code::LockUnusable => |world| {
            let lock = world.list("web").join(".lock");
            fs::remove_file(&lock).unwrap();
            symlink("nowhere", &lock).unwrap();
            by_hand(move |_| fs::remove_file(lock).unwrap())
        },
        Code::TemporaryOrphaned => |world| {
            let name = ".1.json.tmp-2147483647-0123456789abcdef0123456789abcdef";
            let path = world.list("web").join(name);
            put(&path, "half");
            old(&path);
            fixed()
        },
        Code::HomeUnreadable => |world| {
            let (home, file) = (world.home(), world.outside().join("file"));
            fs::write(&file, "x").unwrap();
            world.set("FLAGPOST_HOME", &file);
            by_hand(move |world| world.set("FLAGPOST_HOME", home))
        },
        Code::HomeOpen => |world| {
            mode(&world.home(), 0o755);
            fixed()
        },
        Code::ModeOpen => |world| {
            mode(&task(world, "1"), 0o644);
            fixed()
        },
        Code::ParkUnreadable => |world| {
            let dir = world.home().join("parked");
            fs::create_dir(&dir).unwrap();
            mode(&dir, 0o700);
            let note = dir.join("codex-1.json");
            put(&note, "{");
            by_hand(move |_| fs::remove_file(&note).unwrap())
        },
        Code::NoticeFailed => |world| {
            world.ok(["config", "set", "notify.channels", "command"]);
            assert_eq!(world.flagpost(["notify", "test"]).code, 1);
            by_hand(|world| {
                world.ok(["config", "set", "notify.command", "true"]);
                world.ok(["notify", "test"]);
            })
        },
        Code::NoticesUnreadable => |world| {
            let record = world.home().join("run/notified.json");
            if !record.with_file_name("").exists() {
                fs::create_dir(record.with_file_name("")).unwrap();
                mode(&record.with_file_name(""), 0o700);
            }
            put(&record, "{");
            by_hand(move |_| fs::remove_file(&record).unwrap())
        },
        Code::SettingBroken => |world| {
            put(&world.home().join("config.toml"), "not toml [");
            by_hand(|world| put(&world.home().join("config.toml"), ""))
        },
        Code::SettingUnknown => |world| {
            put(&world.home().join("config.toml"), "[run]\nretrys = 3\n");
            by_hand(|world| put(&world.home().join("config.toml"), "[run]\nretries = 3\n"))
        },
        Code::HomeReadOnly => |world| {
            mode(&world.list("web"), 0o500);
            by_hand(|world| mode(&world.list("web"), 0o700))
        },
        Code::ClockBeyond => |world| {
            world.set("FLAGPOST_CLOCK", "1969-12-31T00:00:00Z");
            by_hand(|world| world.set("FLAGPOST_CLOCK", "2026-05-13T14:25:00Z"))
        },
        Code::ClockBehind => |world| {
            world.set("FLAGPOST_CLOCK", "2026-05-13T13:00:00Z");
            by_hand(|world| world.set("FLAGPOST_CLOCK", "2026-05-13T14:25:00Z"))
        },
        Code::GitMissing => |world| without_git(world, None),
        Code::GitOld => |world| without_git(world, Some("git version 2.20.1")),
        _ => return None,
    })
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

/// How the fault is brought about; `None` where no test may.
fn made(code: Code) -> Option<Make> {
    let of = [
        lists::of_lists,
        of_tasks,
        of_records,
        sessions::of_sessions,
        of_the_machine,
        mail::of_mail,
    ];
    of.iter().find_map(|of| of(code))
}

#[test]
fn from_each_finding_to_a_home_that_works() {
    for code in Code::ALL {
        match (made(*code), code) {
            (Some(make), _) => leads_home(*code, make),
            // A full disk is a file system of its own, below; the machine's watches are everybody's.
            (None, Code::DiskFull | Code::WatchesFew) => {}
            // There is a report where a fleet is: the tests of several machines make one.
            (None, Code::ReportsUnheard | Code::ReportRefused | Code::ReportsHeld) => {}
            // They are a server's to mend, or another machine's; doctor_machines tells each.
            (None, code) if code.to_string().starts_with("fleet-") => {}
            (None, _) => panic!("nobody tries {code}"),
        }
    }
}

#[test]
fn from_a_full_disk_to_a_home_that_works() {
    if !crate::is_root("mounting a disk") {
        return;
    }
    let Some(disk) = SmallDisk::mount(1024) else {
        return;
    };
    let mut world = crate::world();
    mode(&disk.path(), 0o700);
    world.set("FLAGPOST_HOME", disk.path());
    world.ok(["worker", "add", "W1"]);
    assert_eq!(codes(&world), [Code::DiskFull]);
    mends(&world);
    is_used(&world);
}

/// Those that can be in one home at one time: none of them hides another or keeps it from being mended.
#[test]
fn from_all_of_them_at_once_to_a_home_that_works() {
    use Code::*;
    // In place of these another fault of the same file stands, or they keep everybody out.
    let alone = [
        CounterUnreadable,
        CounterExhausted,
        BindingBroken,
        HistoryUnreadable,
        HistoryUnsettled,
        RecordUnreadable,
        RepositoryIdInvalid,
        RootMissing,
        RootUnreadable,
        NoticeFailed,
        SettingBroken,
        SettingUnknown,
        LockUnusable,
        HomeUnreadable,
        HomeReadOnly,
        ClockBehind,
        GitMissing,
        GitOld,
        CheckFailed,
        SessionUnnamed,
        SessionUnasked,
        SessionUnreadable,
        TaskOfDeadSession,
        LinkUnknown,
        Circle,
        ParentCircle,
        TaskTwice,
        WorktreeLeft,
        PointerBroken,
        HistoryBehind,
        LockHeld,
        Code::ClockBeyond,
        Code::BriefWithheld,
        Code::BriefMisread,
        Code::FlagsContradict,
    ];
    let mut all: Vec<Code> = Code::ALL
        .iter()
        .copied()
        .filter(|it| !alone.contains(it))
        .collect();
    // Those of the history at the end: then nothing more can be written.
    all.sort_by_key(|it| it.as_str().starts_with("history"));
    let mut world = home();
    let mut hands = Vec::new();
    let mut wanted = Vec::new();
    for code in all {
        if let Some(make) = made(code) {
            hands.push(make(&mut world));
            wanted.push(code);
        }
    }
    let found = codes(&world);
    for code in &wanted {
        assert!(found.contains(code), "{code} is not among {found:?}");
    }
    mends(&world);
    hands.into_iter().for_each(|by_hand| by_hand(&mut world));
    mends(&world);
    is_used(&world);
    let told = world.flagpost(["doctor"]);
    assert_eq!(codes(&world), [], "{told}");
}
