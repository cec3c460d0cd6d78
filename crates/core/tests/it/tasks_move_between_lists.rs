//! Tasks that move to another list: never lost between the two, and never there twice once the
//! move was made again.

use flagpost_core::{
    Error, List, Result,
    tasks::{self, Fields, Ties, UndoMode},
};
use flagpost_disk::fsx;
use flagpost_model::{Refusal, TaskId, finding::Code};
use flagpost_testkit::power::{PowerFs, every_crash, every_fault};

use crate::{
    account,
    world::{World, add, id, ids, power, simulated_home, subject, tasks_of, terms, worker},
};

/// `repo` has 1 ← 2 and 3; `other` has one task of its own.
fn setup() -> PowerFs {
    let fs = power();
    let world = World::simulated(&fs);
    let list = world.list();
    add(&list, "Write", &[]);
    add(&list, "Test", &[1]);
    add(&list, "Ship", &[]);
    let foreign = br#"{"id": "4", "subject": "Foreign", "status": "pending", "extra": {"n": 1}}"#;
    fsx::replace(&fs, &world.path("4.json"), foreign).unwrap();
    add(&other(&world), "Elsewhere", &[]);
    fs.settle();
    fs
}

fn other(world: &World) -> List<'_> {
    let id = "other".parse().unwrap();
    List::open_or_create(&world.home, &id, &world.repository).unwrap()
}

fn relocate(fs: &PowerFs, which: &[u64]) -> Result<()> {
    let home = simulated_home(fs);
    let from = List::open(&home, &"repo".parse()?)?;
    let to = List::open(&home, &"other".parse()?)?;
    tasks::relocate(&from, &to, &worker("W1"), &ids(which), Ties::Hold).map(drop)
}

fn subjects(list: &List<'_>) -> Vec<String> {
    let mut subjects: Vec<String> = tasks_of(list).into_values().map(|it| it.subject).collect();
    subjects.sort();
    subjects
}

/// Added after each crash, and so there before the next.
const PROBE: &str = "The next operation";

#[test]
fn the_power_may_go_at_any_moment() {
    for (which, gone) in [(&[1, 2][..], &["Test", "Write"][..]), (&[4], &["Foreign"])] {
        let check = |fs: &PowerFs, answer: &Result<()>| {
            let world = World::simulated(fs);
            let there = [subjects(&world.list()), subjects(&other(&world))].concat();
            for subject in gone {
                assert!(there.iter().any(|it| it == subject), "{subject} is lost");
            }
            // Whoever was cut short moves what is still there.
            let left = which.iter().copied();
            let left: Vec<u64> = left
                .filter(|n| tasks_of(&world.list()).contains_key(&id(*n)))
                .collect();
            assert!(answer.is_err() || left.is_empty());
            relocate(fs, &left).unwrap();
            let mut all = [subjects(&world.list()), subjects(&other(&world))].concat();
            all.sort();
            all.retain(|subject| subject != PROBE);
            assert_eq!(all, ["Elsewhere", "Foreign", "Ship", "Test", "Write"]);
            assert!(
                !subjects(&world.list())
                    .iter()
                    .any(|it| gone.contains(&it.as_str()))
            );
            let test = tasks_of(&other(&world)).into_values();
            for test in test.filter(|it| it.subject == "Test") {
                let write = &tasks_of(&other(&world))[&test.blocked_by[0]];
                assert_eq!(
                    (write.subject.as_str(), &write.blocks),
                    ("Write", &vec![test.id])
                );
                assert!(write.blocked_by.is_empty());
            }
            add(&world.list(), PROBE, &[]);
            account::agrees(&world);
        };
        every_crash(setup, |fs| relocate(fs, which), check);
        every_fault(setup, |fs| relocate(fs, which), check);
    }
}

fn world() -> (PowerFs, World) {
    let fs = setup();
    fs.run_free();
    let world = World::simulated(&fs);
    (fs, world)
}

#[test]
fn what_belongs_together_keeps_its_ties_and_a_foreign_file_its_keys() {
    let (fs, world) = world();
    relocate(&fs, &[1, 2, 4]).unwrap();
    let other = other(&world);
    let files: Vec<_> = [2, 3, 4].map(|n| other.task(&id(n)).unwrap()).into();
    assert_eq!(files[1].task.blocked_by, [id(2)]);
    assert_eq!(files[0].task.blocks, [id(3)]);
    assert_eq!(files[2].raw()["extra"]["n"], 1);
    assert_eq!(files[2].raw()["id"], "4");
}

#[test]
fn a_tie_a_claim_or_a_taken_uid_holds_a_task_where_it_is() {
    let (_fs, world) = world();
    let (list, other) = (world.list(), other(&world));
    let w1 = worker("W1");
    let refused = |which: &[u64], ties| -> Refusal {
        match tasks::relocate(&list, &other, &w1, &ids(which), ties) {
            Err(Error::Refused(refusal)) => refusal,
            answer => panic!("{answer:?}"),
        }
    };
    let tied = |task, others: &[u64]| Refusal::Tied {
        task: id(task),
        others: ids(others),
    };
    assert_eq!(refused(&[1], Ties::Hold), tied(1, &[2]));
    assert_eq!(refused(&[2], Ties::Hold), tied(2, &[1]));
    let part = Fields {
        parent: Some(Some(id(3))),
        ..Fields::default()
    };
    tasks::edit(&list, &w1, &id(2), &part).unwrap();
    assert_eq!(refused(&[3], Ties::Hold), tied(3, &[2]));
    flagpost_core::claims::claim(&list, &terms("W1"), &id(3)).unwrap();
    assert!(matches!(refused(&[3], Ties::Cut), Refusal::Held { .. }));
    let named = Fields {
        uid: Some("plan:1".to_owned()),
        ..Fields::default()
    };
    for (list, task) in [(&list, 1), (&other, 1)] {
        tasks::edit(list, &w1, &id(task), &named).unwrap();
    }
    assert!(matches!(refused(&[1], Ties::Cut), Refusal::UidTaken { .. }));
    let there: Vec<TaskId> = tasks_of(&other).into_keys().collect();
    assert_eq!(there, ids(&[1]));
    tasks::relocate(&list, &other, &w1, &ids(&[2]), Ties::Cut).unwrap();
    assert!(tasks_of(&list).values().all(|it| it.blocks.is_empty()));
    let moved = other.task(&id(2)).unwrap().task;
    assert_eq!((moved.parent, moved.blocked_by), (None, vec![]));
}

#[test]
fn a_move_is_taken_back_by_moving_back_and_not_by_half() {
    let (_fs, world) = world();
    let (list, other) = (world.list(), other(&world));
    let w1 = worker("W1");
    let moved = tasks::relocate(&list, &other, &w1, &ids(&[3]), Ties::Hold).unwrap();
    let there = moved[0].task.id.clone();
    for half in [&list, &other] {
        let refused = tasks::undo(half, &w1, UndoMode::Undo);
        let Err(Error::Refused(Refusal::Relocated { tasks, from, to })) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(
            (tasks, &from, &to),
            (
                vec![there.clone()],
                list.id().name().unwrap(),
                other.id().name().unwrap()
            )
        );
    }
    assert!(other.task(&there).is_ok() && list.task(&id(3)).is_err());
}

/// A move of task 3 that put its copy in place and was cut short there.
fn half_moved() -> (PowerFs, World) {
    let (fs, world) = world();
    let file = world.path("3.json");
    let whole = flagpost_disk::fsx::read(&fs, &file).unwrap().unwrap();
    relocate(&fs, &[3]).unwrap();
    fsx::replace(&fs, &file, &whole).unwrap();
    (fs, world)
}

#[test]
fn a_move_that_was_cut_short_does_not_pass_an_old_copy_off_as_the_task() {
    let (fs, world) = half_moved();
    relocate(&fs, &[3]).unwrap();
    assert_eq!(subjects(&other(&world)), ["Elsewhere", "Ship"]);

    let (fs, world) = half_moved();
    tasks::edit(&world.list(), &worker("W1"), &id(3), &subject("Ship it")).unwrap();
    relocate(&fs, &[3]).unwrap();
    assert_eq!(subjects(&other(&world)), ["Elsewhere", "Ship it"]);

    // Work on both has no winner.
    let (fs, world) = half_moved();
    tasks::edit(&world.list(), &worker("W1"), &id(3), &subject("Ship it")).unwrap();
    tasks::edit(&other(&world), &worker("W2"), &id(2), &subject("Shipped")).unwrap();
    fails!(relocate(&fs, &[3]), Error::Refused(Refusal::BuiltOn { .. }));
    assert_eq!(world.list().task(&id(3)).unwrap().task.subject, "Ship it");
    assert_eq!(subjects(&other(&world)), ["Elsewhere", "Shipped"]);
}

#[test]
fn a_move_that_was_cut_short_is_found_also_when_the_copy_was_moved_back() {
    let found = |fs: &PowerFs| {
        let home = simulated_home(fs);
        let findings = flagpost_core::doctor::examine(&home, std::path::Path::new("/repo"));
        let twice = findings.into_iter().filter(|it| it.code == Code::TaskTwice);
        twice.map(|it| it.what).collect::<Vec<_>>()
    };
    let (fs, _world) = world();
    relocate(&fs, &[3]).unwrap();
    assert_eq!(found(&fs), [""; 0], "a whole move");

    let (fs, world) = half_moved();
    let told = found(&fs);
    assert!(
        told[0].contains("task 2 of other is a copy of task 3 of"),
        "{told:?}"
    );
    let (list, other) = (world.list(), other(&world));
    let back = tasks::relocate(&other, &list, &worker("W1"), &[id(2)], Ties::Cut).unwrap();
    let told = found(&fs);
    let copy = format!("task {} of", back[0].task.id);
    assert!(told.len() == 1 && told[0].starts_with(&copy), "{told:?}");
}

#[test]
fn a_uid_that_moved_earlier_is_taken_there() {
    let (_fs, world) = world();
    let (list, other) = (world.list(), other(&world));
    let w1 = worker("W1");
    let named = Fields {
        uid: Some("plan:1".to_owned()),
        ..subject("Planned")
    };
    let moved = || {
        let task = tasks::add(&list, &w1, &named, &[]).unwrap().id;
        tasks::relocate(&list, &other, &w1, &[task], Ties::Hold)
    };
    moved().unwrap();
    fails!(moved(), Error::Refused(Refusal::UidTaken { .. }));
}
