//! The power goes at any moment: `doctor` finds nothing worse than a warning, and can mend all of
//! it. While it mends, the power may go as well.

use std::path::Path;

use flagpost_core::{
    List, Result, claims,
    doctor::{self, Finding, Repair, RepairOutcome},
    plans::{self, ImportMode},
    tasks,
};
use flagpost_disk::dialects::markdown_plan;
use flagpost_model::{
    finding::{Code, Severity},
    intake::{Format, assemble},
};
use flagpost_testkit::power::{PowerFs, every_crash, every_fault};

use crate::{
    account,
    world::{self, World, add, id, ids, power, subject, terms, worker},
};

fn setup() -> PowerFs {
    let fs = power();
    let world = World::simulated(&fs);
    let list = world.list();
    add(&list, "Done", &[]);
    add(&list, "Follows", &[1]);
    add(&list, "Free", &[]);
    claims::claim(&list, &terms("W1"), &id(3)).unwrap();
    fs.settle();
    assert_eq!(examine(&fs), []);
    fs
}

fn examine(fs: &PowerFs) -> Vec<Finding> {
    doctor::examine(&world::simulated_home(fs), Path::new("/repo"))
}

fn mend(fs: &PowerFs) -> Result<()> {
    let fixes = examine(fs).into_iter().filter_map(|it| match it.repair {
        Repair::Fix(fix) => Some(fix),
        Repair::ByHand(_) | Repair::Nothing => None,
    });
    let home = world::simulated_home(fs);
    for mended in doctor::mend(&home, &worker("operator"), fixes.collect()) {
        if let RepairOutcome::Failed(error) = mended.outcome {
            return Err(error);
        }
    }
    Ok(())
}

/// All that is wrong is a warning at most, and is mended; but what a cut-off import waits for is
/// mended by importing again.
fn is_mended(fs: &PowerFs) {
    let found = examine(fs);
    let is_light = |it: &Finding| it.severity() != Severity::Error;
    assert!(found.iter().all(is_light), "{found:#?}");
    mend(fs).unwrap();
    let left = examine(fs);
    let is_unfinished = |it: &Finding| it.code == Code::LinkUnknown;
    assert!(left.iter().all(is_unfinished), "{left:#?} after {found:#?}");
    account::agrees(&World::simulated(fs));
}

fn survives(operation: impl Fn(&List<'_>) -> Result<()>) {
    let run = |fs: &PowerFs| {
        let home = world::simulated_home(fs);
        operation(&List::open(&home, &"repo".parse().unwrap())?)
    };
    every_crash(setup, run, |fs, _| is_mended(fs));
}

#[test]
fn of_adding() {
    survives(|list| tasks::add(list, &worker("W2"), &subject("New"), &ids(&[1, 3])).map(drop));
}

#[test]
fn of_linking_and_removing() {
    survives(|list| tasks::link(list, &worker("W2"), &id(3), &ids(&[1, 2])).map(drop));
    survives(|list| tasks::remove(list, &worker("W2"), &id(1)).map(drop));
}

#[test]
fn of_claiming() {
    survives(|list| claims::claim_next(list, &terms("W2")).map(drop));
}

#[test]
fn of_importing() {
    let plan =
        markdown_plan::parse("1. [ ] One (after: 2) {uid: a}\n2. [ ] Two {uid: b}\n").unwrap();
    let plan = assemble(Format::Markdown, plan.into()).unwrap();
    survives(|list| plans::import(list, &worker("W2"), &plan, ImportMode::Import).map(drop));
}

/// Half a link, a lost history, a counter that is none and a list that is nobody's.
#[test]
fn of_mending() {
    let ill = || {
        let fs = setup();
        let world = World::simulated(&fs);
        let put = |name: &str, text: &[u8]| {
            flagpost_disk::fsx::replace(&fs, &world.path(name), text).unwrap();
        };
        let first = br#"{"id": "1", "subject": "Done", "status": "pending", "blocks": []}"#;
        put("1.json", first);
        put(".highwatermark", b"many");
        put(".repo", b"../evil");
        let history = world.history_path();
        flagpost_disk::fsx::replace(&fs, &history, b"garbage\n").unwrap();
        fs.settle();
        fs
    };
    let check = |fs: &PowerFs, _: &Result<()>| {
        mend(fs).unwrap();
        let mut found = examine(fs);
        // What the history lost stays lost, and is told of.
        found.retain(|it| it.code != Code::HistoryAcknowledged);
        assert_eq!(found, []);
        let all: Vec<u8> = fs.files().into_values().flatten().collect();
        for kept in ["many", "../evil", "garbage\n"] {
            let found = all.windows(kept.len()).any(|it| it == kept.as_bytes());
            assert!(found, "{kept} is gone");
        }
    };
    every_crash(ill, mend, check);
    every_fault(ill, mend, check);
}
