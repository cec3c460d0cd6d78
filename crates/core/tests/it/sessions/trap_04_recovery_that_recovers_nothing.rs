//! What ran at the crash goes back to pending, named in a log or not, and nobody else's task does.

use std::fs;

use flagpost_core::{List, Repository, claims, history::Kind};
use flagpost_model::task::StateName::{Claimed, InProgress, Pending};

use super::{
    begin, child::CHILDREN, dies, dirs, kinds, of, put_foreign, put_task, recover, releases, start,
    state, try_begin,
};
use crate::{
    account,
    world::{World, add, id, ids, terms, worker},
};

fn eight_tasks(list: &List<'_>) {
    (1..=8).for_each(|n| drop(add(list, &format!("Task {n}"), &[])));
}

/// Another repository that runs the same list.
fn another(world: &World) -> Repository {
    let top = world.repository.top.with_file_name("other");
    fs::create_dir(&top).unwrap();
    Repository::register(&world.home, &top, &worker("operator")).unwrap()
}

#[test]
fn of_a_killed_process_with_an_empty_log() {
    let world = World::real();
    let list = world.list();
    eight_tasks(&list);
    let elsewhere = another(&world);
    let other = try_begin(&world.home, &elsewhere, &list).unwrap().live;
    start(&list, other.id(), 7);
    claims::claim(&list, &terms("W1"), &id(5)).unwrap();
    claims::start(&list, &terms("W2"), None, &id(6)).unwrap();

    let child = CHILDREN.start("work", world.place());
    let dead = child.next_report().unwrap();
    let log = fs::read_to_string(of(&world).live_dir().join("task_log.md")).unwrap();
    assert!(!log.contains("| 1 |"), "{log}");
    child.kill();

    let begun = begin(&world, &list);
    let recovered = begun.recovered.unwrap();
    assert_eq!(recovered.tasks, ids(&[1, 2, 3, 4]));
    assert_eq!(recovered.session.unwrap().as_str(), dead);
    let states = [1, 2, 3, 4, 5, 6, 7, 8].map(|n| state(&list, n));
    let rest = [Claimed, InProgress, InProgress, Pending];
    assert_eq!(states[..4], [Pending; 4]);
    assert_eq!(states[4..], rest);
    assert!(list.task(&id(1)).unwrap().task.owner.is_none());

    let name = dirs(&world, "interrupted-").pop().unwrap();
    assert_eq!(recovered.dir.file_name().unwrap().to_str().unwrap(), name);
    for file in [".lock", "execution_plan.md", "task_log.md", "progress.md"] {
        assert!(recovered.dir.join(file).is_file(), "{file}");
    }
    assert!(!recovered.dir.join(".recovering").exists());
    // No screen shows it at work any more.
    let progress = fs::read_to_string(recovered.dir.join("progress.md")).unwrap();
    assert!(progress.contains("\nStatus: Interrupted\n"), "{progress}");
    assert!(!progress.contains("Task 1"), "{progress}");
    let lines = world.history();
    for task in ids(&[1, 2, 3, 4]) {
        assert_eq!(releases(&lines, &task), 1);
    }
    let told = kinds(&world, Kind::SessionRecovered);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].entry.detail["session"], *dead);
    assert_ne!(begun.live.id().as_str(), dead);
    account::agrees(&world);
}

/// Claims tell sessions apart by their ids alone.
#[test]
fn of_two_repositories_whose_sessions_began_in_one_second() {
    let world = World::real();
    let list = world.list();
    eight_tasks(&list);
    let elsewhere = another(&world);
    let other = try_begin(&world.home, &elsewhere, &list).unwrap().live;
    let mine = begin(&world, &list).live;
    assert_ne!(mine.id(), other.id());
    start(&list, other.id(), 1);
    start(&list, mine.id(), 2);
    dies(&world, mine);
    let recovered = recover(&world, &list).unwrap().unwrap();
    let live = fs::read_dir(of(&world).live_dir()).unwrap();
    assert_eq!(live.count(), 0, "it is there, and empty");
    assert_eq!(recovered.tasks, ids(&[2]));
    assert_eq!(state(&list, 1), InProgress);
}

/// A session that dies and its successor may share their second too.
#[test]
fn of_a_session_whose_successor_began_in_the_same_second() {
    let world = World::real();
    let list = world.list();
    eight_tasks(&list);
    let first = begin(&world, &list).live.id().clone();
    let second = begin(&world, &list).live;
    assert_ne!(*second.id(), first);
    start(&list, second.id(), 1);
    assert!(
        of(&world)
            .find(first.as_str())
            .unwrap()
            .name
            .starts_with("interrupted-")
    );
    assert_eq!(
        of(&world).find(second.id().as_str()).unwrap().dir,
        second.dir()
    );
}

const SEED: &str =
    "task_execution_id: auth-1\ntimestamp: 2026-02-05T14:30:22Z\npid: orchestrator\n";

/// Other programs set the status and claim nothing.
#[test]
fn of_another_program_that_claims_nothing() {
    let world = World::real();
    let list = world.list();
    (1..=3).for_each(|n| put_task(&world, n, "in_progress"));
    put_task(&world, 4, "completed");
    claims::claim(&list, &terms("W1"), &add(&list, "Mine", &[]).id).unwrap();
    put_foreign(&world, SEED);
    let begun = begin(&world, &list);
    assert_eq!(begun.recovered.unwrap().tasks, ids(&[1, 2, 3]));
    assert_eq!(state(&list, 5), Claimed);
    account::agrees(&world);
}

/// A stray file is no session, and what a person does by hand is not its work.
#[test]
fn of_something_that_was_no_session() {
    let world = World::real();
    let list = world.list();
    put_task(&world, 1, "in_progress");
    let live = of(&world).live_dir();
    fs::create_dir_all(&live).unwrap();
    fs::write(live.join(".DS_Store"), "stray").unwrap();
    let recovered = begin(&world, &list).recovered.unwrap();
    assert!(recovered.tasks.is_empty());
    assert_eq!(state(&list, 1), InProgress);
    assert!(recovered.dir.join(".DS_Store").is_file(), "kept");
}

/// The recovery itself was killed after it had moved the files.
#[test]
fn of_a_recovery_that_was_cut_off() {
    for foreign in [false, true] {
        let world = World::real();
        let list = world.list();
        let live = if foreign {
            put_task(&world, 1, "in_progress");
            put_foreign(&world, SEED)
        } else {
            add(&list, "Task 1", &[]);
            let live = begin(&world, &list).live;
            start(&list, live.id(), 1);
            live.dir().to_owned()
        };
        let moved = live.with_file_name("interrupted-20260513-142500-abcdef");
        fs::write(live.join(".recovering"), "").unwrap();
        fs::rename(&live, &moved).unwrap();
        let recovered = recover(&world, &list).unwrap().unwrap();
        assert_eq!((recovered.tasks, recovered.dir), (ids(&[1]), moved));
        assert_eq!(state(&list, 1), Pending);
        // It is over: what somebody takes up now stays theirs.
        put_task(&world, 1, "in_progress");
        assert!(recover(&world, &list).unwrap().is_none());
        assert!(begin(&world, &list).recovered.is_none());
        assert_eq!(state(&list, 1), InProgress);
    }
}

/// The dead session ran another list than the one that begins.
#[test]
fn of_another_list() {
    let world = World::with_tasks(&["Task 1"]);
    let list = world.list();
    let live = begin(&world, &list).live;
    start(&list, live.id(), 1);
    dies(&world, live);
    let other = List::open_or_create(&world.home, &"other".parse().unwrap(), &world.repository);
    let other = other.unwrap();
    let begun = try_begin(&world.home, &world.repository, &other).unwrap();
    assert_eq!(begun.recovered.unwrap().tasks, ids(&[1]));
    assert_eq!(state(&list, 1), Pending);
}
