//! The power goes at any moment of any operation, or one step of it fails. What was acknowledged is
//! in the table and in the history; what was not is there with its line, or not at all.

use std::path::Path;

use flagpost_core::{
    Home, List, Result, claims,
    coordination::{self, CoordSnapshot, Directory},
    history::Line,
    tasks,
};
use flagpost_disk::fsx::{self, Fs};
use flagpost_model::task::Ending;
use flagpost_testkit::power::{PowerFs, every_crash, every_fault};

use super::{add, begin, complete, draft, hand, id};
use crate::{
    account,
    world::{self, World, act, finish, power, subject, terms, worker},
};

/// What the next operation adds.
const PROBE: &str = "The next";

const DIR: &str = "/repo/.coordination";

/// 1 is free, 2 is held by W1.
fn setup() -> PowerFs {
    let fs = power();
    let world = World::simulated(&fs);
    let directory = begin(&world.home, Path::new("/repo"));
    add(&directory, "Free").unwrap();
    add(&directory, "Held").unwrap();
    coordination::claim(&directory, &worker("W1"), Some(&id("task-002"))).unwrap();
    fs.settle();
    fs
}

fn look(fs: &PowerFs) -> (CoordSnapshot, Vec<Line>) {
    let world = World::simulated(fs);
    let directory = Directory::open(&world.home, Path::new(DIR)).unwrap();
    (directory.look().unwrap(), world.history())
}

/// The tasks, without what was added to see whether the next operation works.
fn told(look: &CoordSnapshot) -> Vec<String> {
    let probes = look.tasks().filter(|(it, _)| it.description == PROBE);
    let probes: Vec<String> = probes.map(|(it, _)| format!("{} ", it.id)).collect();
    let mut told = super::told(look);
    told.retain(|line| !probes.iter().any(|id| line.starts_with(id)));
    told
}

/// The same of the verbs of a list.
fn survives_as_a_list(operation: &dyn Fn(&List<'_>) -> Result<()>) {
    survives_all(&|home| {
        operation(&List::of_table(
            home,
            Directory::open(home, Path::new(DIR))?,
        )?)
    });
}

fn survives(operation: &dyn Fn(&Directory<'_>) -> Result<()>) {
    survives_all(&|home| operation(&Directory::open(home, Path::new(DIR))?));
}

fn survives_all(operation: &dyn Fn(&Home) -> Result<()>) {
    let run = |fs: &PowerFs| operation(&world::simulated_home(fs));
    let fs = setup();
    let before = look(&fs);
    run(&fs).unwrap();
    let after = look(&fs);
    let added = after.1.len() - before.1.len();
    assert_eq!(added, 1, "it is one line");
    let check = |fs: &PowerFs, answer: &Result<()>| {
        let (now, _) = look(fs);
        // The next writer takes back what never appeared.
        let home = world::simulated_home(fs);
        let directory = Directory::open(&home, Path::new(DIR)).unwrap();
        let zoe = worker("zoe");
        let probe = coordination::add(&directory, &zoe, &[draft(PROBE)]).unwrap();
        let probe = &probe[0].id;
        let (_, lines) = look(fs);
        assert!(now.board.task(probe).is_none(), "{probe} is given twice");
        let voided = account::voided(&lines);
        let line = &after.1[before.1.len()];
        let same = |it: &Line| it.n == line.n && it.entry == line.entry;
        let stands = lines.iter().any(same) && !voided.contains(&line.n);
        let expected = if stands { &after.0 } else { &before.0 };
        assert_eq!(told(&now), told(expected));
        assert!(stands || answer.is_err(), "acknowledged and lost");
        let done = now
            .board
            .task(&id("task-002"))
            .is_some_and(|it| it.completed_at.is_some());
        let page = fsx::read(home.fs(), &Path::new(DIR).join("results/task-002.md")).unwrap();
        assert!(!done || page.is_some(), "done without its result");
    };
    every_crash(setup, |fs| run(fs), check);
    every_fault(setup, |fs| run(fs), check);
}

#[test]
fn an_added_task_survives() {
    survives(&|it| add(it, "New").map(drop));
}

#[test]
fn a_claim_survives() {
    survives(&|it| coordination::claim(it, &worker("W2"), None).map(drop));
}

#[test]
fn a_completion_survives_with_its_result() {
    survives(&|it| complete(it, "W1", "task-002"));
}

#[test]
fn a_failure_survives() {
    let by = worker("W1");
    survives(&|it| coordination::fail(it, &hand(&by), &id("task-002"), "no").map(drop));
}

#[test]
fn so_do_those_of_a_list() {
    survives_as_a_list(&|it| tasks::add(it, &worker("ann"), &subject("New"), &[]).map(drop));
    survives_as_a_list(&|it| claims::claim(it, &terms("W2"), &id("task-001")).map(drop));
    let done = finish(Ending::Completed);
    survives_as_a_list(&|it| {
        let act = act("W1", None);
        tasks::act(it, &act, &id("task-002"), done.clone()).map(drop)
    });
    survives_as_a_list(&|it| {
        let words = subject("Other words");
        tasks::edit(it, &worker("ann"), &id("task-001"), &words).map(drop)
    });
}

#[test]
fn what_comes_too_late_survives() {
    let check = |fs: &PowerFs, answer: &Result<()>| {
        let kept = fsx::read_lossy(fs, &Path::new(DIR).join("results/late/task-002.md")).unwrap();
        let kept = kept.is_some_and(|it| it.contains("what came of it\n"));
        assert!(kept || !matches!(answer, Err(flagpost_core::Error::CoordinationLate { .. })));
    };
    let run = |fs: &PowerFs| {
        let home = world::simulated_home(fs);
        complete(&Directory::open(&home, Path::new(DIR))?, "W2", "task-002")
    };
    every_crash(setup, run, check);
}

#[test]
fn a_directory_is_made_whole_or_can_be_made_again() {
    let make = |fs: &PowerFs| {
        let home = world::simulated_home(fs);
        coordination::init(&home, Path::new(DIR), "Build it", None).map(drop)
    };
    let setup = || {
        let fs = power();
        World::simulated(&fs);
        fs.settle();
        fs
    };
    let check = |fs: &PowerFs, answer: &Result<()>| {
        if fs.stat(&Path::new(DIR).join("tasks.json")).is_err() {
            assert!(answer.is_err(), "acknowledged and lost");
            make(fs).unwrap();
        }
        assert_eq!(look(fs).0.goal.as_deref(), Some("Build it"));
    };
    every_crash(setup, make, check);
}
