//! Each fault that `doctor` can name, as a table: just that is found, what `--fix` can mend it mends
//! without losing content, and its repairs and its words lead to a home that works.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use flagpost_model::finding::Code::{self, *};
use flagpost_testkit::{scratch::SmallDisk, sealed::World, table};
use serde_json::{Value, json};

use crate::{
    doctor_faults::{chained, edit, mode, put, quarantined, task},
    world_with,
};

mod histories;
mod lists;
mod machine;
mod mail;
mod records;
mod sessions;
mod tasks;

/// What it is, the exit code of `doctor`, the one code that it finds, and how the fault is brought about.
type Fault = (&'static str, i32, Code, Make);

/// What the words of a finding tell somebody to do; nothing where `--fix` does it. It may look as well
/// at what came of the repair.
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

/// The exit code, and what is found, in the order in which it is told.
fn codes(world: &World) -> (i32, Vec<Code>) {
    let (exit, answer) = world.json(["doctor"]);
    let findings = answer["findings"].as_array().unwrap().iter();
    let code = |it: &Value| it["code"].as_str().unwrap().parse().unwrap();
    (exit, findings.map(code).collect())
}

/// What is found beside a fault, because it follows from how it is brought about.
fn follows(code: Code) -> &'static [Code] {
    match code {
        RepositoryIdInvalid => &[RepositoryGone],
        TaskTwice => &[HistoryUnsettled],
        // Each of the other tasks has one as well.
        WorktreeLeft => &[WorktreeLeft; 7],
        _ => &[],
    }
}

/// What stays as a note, whoever mends it.
fn stays(code: Code) -> &'static [Code] {
    match code {
        HistoryAltered | HistoryAcknowledged | HistoryBehind => &[HistoryAcknowledged],
        TargetMoved => &[TargetMoved],
        _ => &[],
    }
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

/// Finds just this, mends what `--fix` mends, does by hand what is left, and uses the home.
fn lead_home(faults: &[Fault]) {
    let named = faults.iter().map(|fault| (fault.0, fault));
    table::each(named, |(_, exit, code, make)| {
        let mut world = home();
        let by_hand = make(&mut world);
        assert_eq!(
            codes(&world),
            (*exit, [&[*code][..], follows(*code)].concat())
        );
        mends(&world);
        by_hand(&mut world);
        assert_eq!(codes(&world), (0, stays(*code).to_vec()));
        is_used(&world);
        assert_eq!(codes(&world), (0, stays(*code).to_vec()));
    });
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

/// How each fault is brought about, in the first of its ways.
fn made(code: Code) -> Option<Make> {
    let all = [
        lists::FAULTS,
        tasks::FAULTS,
        records::FAULTS,
        histories::FAULTS,
        sessions::FAULTS,
        machine::FAULTS,
        mail::FAULTS,
    ];
    let mut faults = all.into_iter().flatten();
    let fault = faults.find(|(_, _, of, _)| *of == code);
    fault.map(|(_, _, _, make)| *make)
}

#[test]
fn each_finding_is_a_row_of_a_table() {
    for code in Code::ALL {
        let is_tried_elsewhere = match code {
            // A full disk is a file system of its own, below; the machine's watches are everybody's.
            DiskFull | WatchesFew => true,
            // There is a report where a fleet is: the tests of several machines make one.
            ReportsUnheard | ReportRefused | ReportsHeld => true,
            // They are a server's to mend, or another machine's; doctor_machines tells each.
            code => code.as_str().starts_with("fleet-"),
        };
        assert!(made(*code).is_some() != is_tried_elsewhere, "{code}");
    }
}

#[test]
fn from_a_full_disk_to_a_home_that_works_and_one_that_can_only_be_read() {
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
    assert_eq!(codes(&world), (0, vec![DiskFull]));
    mends(&world);
    is_used(&world);
    disk.make_read_only();
    assert_eq!(codes(&world), (0, vec![HomeReadOnly]));
}

/// Those that can be in one home at one time: none of them hides another or keeps it from being mended.
#[test]
fn from_all_of_them_at_once_to_a_home_that_works() {
    // In place of these another fault of the same file stands, or they keep everybody out.
    let alone = [
        CounterUnreadable,
        CounterExhausted,
        BindingBroken,
        HistoryUnreadable,
        HistoryUnsettled,
        HistoryAcknowledged,
        DaemonOther,
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
        ZoneUnknown,
        GitMissing,
        GitOld,
        CheckFailed,
        SessionUnnamed,
        SessionUnasked,
        SessionUnreadable,
        TaskOfDeadSession,
        LinkUnknown,
        TargetMoved,
        TaskVanished,
        Circle,
        ParentCircle,
        TaskTwice,
        WorktreeLeft,
        BranchOwnerless,
        PointerBroken,
        HistoryBehind,
        LockHeld,
        ClockBeyond,
        BriefWithheld,
        BriefMisread,
        FlagsContradict,
        DirectoryLinked,
        MailMany,
        PolicyWithheld,
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
    let (_, found) = codes(&world);
    for code in &wanted {
        assert!(found.contains(code), "{code} is not among {found:?}");
    }
    mends(&world);
    hands.into_iter().for_each(|by_hand| by_hand(&mut world));
    mends(&world);
    is_used(&world);
    assert_eq!(codes(&world), (0, stays(HistoryAltered).to_vec()));
}
