//! A task's file that somebody takes away after the change was answered: the history keeps what happened.

use std::{collections::BTreeSet, fs};

use flagpost_core::{
    Error, claims,
    doctor::{self, Fix},
    history::Kind,
    tasks::{self, UndoMode, observe::TaskWatch},
};
use flagpost_model::{
    TaskId,
    task::{Ending, State},
};
use flagpost_testkit::table;

use crate::world::{World, act, add, finish, id, subject, terms, worker};

/// What is done before a file is taken away.
type Make = fn(&World);
/// What becomes of the file of a task then.
type Lose = fn(&World, u64);

/// What another program does to it.
const LOSSES: [(&str, Lose); 2] = [
    ("the file removed", remove),
    ("the file emptied", |world, n| {
        world.put(&format!("{n}.json"), "")
    }),
];

fn remove(world: &World, number: u64) {
    fs::remove_file(world.path(&format!("{number}.json"))).unwrap();
}

/// As another program makes one.
fn foreign(world: &World, number: u64) {
    let text = format!(
        r#"{{"id":"{number}","subject":"Theirs","description":"","status":"pending","blocks":[],"blockedBy":[]}}"#
    );
    fs::create_dir_all(world.list().dir()).unwrap();
    world.put(&format!("{number}.json"), text);
}

fn vanished(world: &World) -> BTreeSet<TaskId> {
    let list = world.list();
    list.vanished(&list.load().unwrap().skipped).unwrap()
}

fn bring_back(world: &World) {
    let fixes = vec![Fix::BringBack(
        world.repository.name.clone(),
        world.repository.id.clone(),
    )];
    let mended = doctor::mend(&world.home, &worker("ann"), fixes);
    assert_eq!(mended[0].outcome.as_str(), "done");
}

fn complete(world: &World, number: u64) {
    let list = world.list();
    let claimed = claims::claim(&list, &terms("W1"), &id(number)).unwrap();
    let act = act("W1", Some(claimed.claim.token));
    tasks::act(&list, &act, &id(number), finish(Ending::Completed)).unwrap();
}

#[test]
fn nothing_that_was_acknowledged_is_taken_back() {
    let rows: &[(&str, Make)] = &[
        ("a new task", |world| drop(add(&world.list(), "One", &[]))),
        ("a completed one", |world| {
            add(&world.list(), "One", &[]);
            complete(world, 1);
        }),
        ("another program's", |world| {
            foreign(world, 1);
            complete(world, 1);
        }),
    ];
    table::each(rows.iter().map(|row| (row.0, row.1)), |make| {
        let world = World::real();
        make(&world);
        let before = world.history();
        remove(&world, 1);
        add(&world.list(), "Next", &[]);
        let after = world.history();
        assert_eq!(after[..before.len()], before[..]);
        assert!(after.iter().all(|line| line.entry.kind != Kind::Void));
    });
}

#[test]
fn an_id_that_the_history_knows_is_given_to_nobody_again() {
    let world = World::real();
    add(&world.list(), "One", &[]);
    foreign(&world, 7);
    complete(&world, 7);
    remove(&world, 7);
    assert_eq!(add(&world.list(), "Next", &[]).id, id(8));
}

#[test]
fn what_was_taken_away_is_known_and_comes_back_as_we_wrote_it_last() {
    let rows: &[(&str, Make)] = &[
        ("a new task", |world| drop(add(&world.list(), "One", &[]))),
        ("a completed one", |world| {
            add(&world.list(), "One", &[]);
            complete(world, 1);
        }),
        ("another program's that we completed", |world| {
            foreign(world, 1);
            complete(world, 1);
        }),
        ("one whose neighbour was linked to it", |world| {
            add(&world.list(), "One", &[]);
            add(&world.list(), "Two", &[1]);
        }),
        ("another program's that a task waits for", |world| {
            foreign(world, 1);
            add(&world.list(), "Two", &[1]);
        }),
        ("one that came back before", |world| {
            add(&world.list(), "One", &[]);
            add(&world.list(), "Two", &[]);
            remove(world, 1);
            bring_back(world);
        }),
    ];
    table::each(rows.iter().map(|row| (row.0, row.1)), |make| {
        let world = World::real();
        make(&world);
        add(&world.list(), "Last", &[]);
        let before = world.list().task(&id(1)).unwrap();
        assert!(vanished(&world).is_empty());
        remove(&world, 1);
        let away = BTreeSet::from([id(1)]);
        assert_eq!(vanished(&world), away);
        assert_eq!(world.list().vanished_lately(&[]).unwrap(), away);
        let refused = world.list().resolve("1").unwrap_err();
        assert!(matches!(refused, Error::Vanished { .. }), "{refused}");
        bring_back(&world);
        assert!(vanished(&world).is_empty());
        let after = world.list().task(&id(1)).unwrap();
        assert_eq!(after.fingerprint(), before.fingerprint());
        assert!(after.task.rev > before.task.rev);
        for nothing in ["", "\n", "\0\0\0"] {
            world.put("1.json", nothing);
            let refused = world.list().resolve("1").unwrap_err();
            assert!(matches!(refused, Error::Vanished { .. }), "{refused}");
            bring_back(&world);
            let after = world.list().task(&id(1)).unwrap();
            assert_eq!(after.fingerprint(), before.fingerprint());
        }
        let half = "{\"id\": \"1\"".to_owned();
        world.put("1.json", half.clone());
        let nothing = vec![Fix::BringBack(
            world.repository.name.clone(),
            world.repository.id.clone(),
        )];
        let mended = doctor::mend(&world.home, &worker("ann"), nothing);
        assert_eq!(mended[0].outcome.as_str(), "needless");
        let kept = fs::read_to_string(world.path("1.json")).unwrap();
        assert_eq!(kept, half, "a person may be in the middle of it");
    });
}

#[test]
fn undo_brings_back_what_it_takes_a_change_back_from() {
    let world = World::real();
    add(&world.list(), "One", &[]);
    let before = world.list().task(&id(1)).unwrap().task;
    complete(&world, 1);
    remove(&world, 1);
    let undone = tasks::undo(&world.list(), &worker("W1"), UndoMode::Undo).unwrap();
    assert_eq!(undone.tasks.len(), 1);
    let after = world.list().task(&id(1)).unwrap().task;
    assert!(matches!(after.state, State::Claimed(_)), "{after:?}");
    assert_eq!(
        (after.subject, after.description),
        (before.subject, before.description)
    );
    assert!(vanished(&world).is_empty());
    // That a file is there again is nothing to take back.
    remove(&world, 1);
    bring_back(&world);
    let refused = tasks::undo(&world.list(), &worker("ann"), UndoMode::Undo).unwrap_err();
    assert!(matches!(refused, Error::NothingToUndo { .. }), "{refused}");
    // What was added and then taken away is told of, with the way to have it back.
    let world = World::real();
    add(&world.list(), "One", &[]);
    remove(&world, 1);
    // It is not taken for another whose id begins alike.
    for n in 2..=10 {
        tasks::add(&world.list(), &worker("ann"), &subject(&n.to_string()), &[]).unwrap();
    }
    let refused = tasks::undo(&world.list(), &worker("operator"), UndoMode::Undo).unwrap_err();
    assert!(matches!(refused, Error::Vanished { .. }), "{refused}");
}

#[test]
fn the_name_of_one_that_was_taken_away_means_no_other() {
    table::each(LOSSES, |lose| {
        let world = World::with_tasks(&["One"]);
        lose(&world, 1);
        // The only one whose id begins with that of the first.
        foreign(&world, 17);
        let refused = world.list().resolve("1").unwrap_err();
        assert!(matches!(refused, Error::Vanished { .. }), "{refused}");
        let undone = tasks::undo(&world.list(), &worker("operator"), UndoMode::Undo).unwrap_err();
        assert!(matches!(undone, Error::Vanished { .. }), "{undone}");
        bring_back(&world);
        complete(&world, 1);
        lose(&world, 1);
        tasks::undo(&world.list(), &worker("W1"), UndoMode::Undo).unwrap();
        let after = world.list().task(&id(1)).unwrap().task;
        assert!(matches!(after.state, State::Claimed(_)), "{after:?}");
    });
}

#[test]
fn what_we_removed_or_never_knew_was_not_taken_away() {
    let rows: &[(&str, Make)] = &[
        ("removed", |world| {
            add(&world.list(), "One", &[]);
            tasks::remove(&world.list(), &worker("ann"), &id(1)).unwrap();
        }),
        ("another program's own", |world| {
            foreign(world, 1);
            add(&world.list(), "Two", &[]);
            remove(world, 1);
        }),
        ("taken back", |world| {
            add(&world.list(), "One", &[]);
            tasks::undo(&world.list(), &worker("operator"), tasks::UndoMode::Undo).unwrap();
        }),
    ];
    table::each(rows.iter().map(|row| (row.0, row.1)), |make| {
        let world = World::real();
        make(&world);
        assert!(vanished(&world).is_empty());
        add(&world.list(), "Last", &[]);
        assert!(vanished(&world).is_empty());
    });
}

#[test]
fn nobody_waits_for_what_was_completed_and_then_taken_away() {
    table::each(LOSSES, |lose| {
        let world = World::real();
        add(&world.list(), "One", &[]);
        add(&world.list(), "Two", &[1]);
        add(&world.list(), "Three", &[]);
        add(&world.list(), "Four", &[3]);
        add(&world.list(), "Five", &[1]);
        complete(&world, 1);
        lose(&world, 1);
        // Nobody knows whether this one was ever done.
        lose(&world, 3);
        let ready = || {
            let outlines = world.list().load().unwrap().outlines;
            let ready = tasks::ready(&outlines, world.home.now());
            ready.iter().map(|it| it.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(ready(), [id(2), id(5)]);
        assert_eq!(vanished(&world), BTreeSet::from([id(1), id(3)]));
        let next = claims::claim_next(&world.list(), &terms("W1")).unwrap();
        assert_eq!(next.task.id, id(2));
        let act = act("W1", Some(next.claim.token));
        tasks::act(&world.list(), &act, &id(2), finish(Ending::Completed)).unwrap();
        complete(&world, 5);
        bring_back(&world);
        assert_eq!(ready(), [id(3)]);
    });
}

#[test]
fn what_a_watch_saw_another_program_write_comes_back_with_the_file() {
    let world = World::with_tasks(&["One"]);
    add(&world.list(), "Two", &[1]);
    let look = |watch: &mut TaskWatch| watch.look(&world.home, &world.repository.id).unwrap();
    let mut watch = TaskWatch::begin(&world.home, &world.repository.id).unwrap();
    let path = world.list().dir().join("1.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut file: serde_json::Value = serde_json::from_str(&text).unwrap();
    file["status"] = "completed".into();
    file["description"] = "as they left it".into();
    std::fs::write(&path, file.to_string()).unwrap();
    assert_eq!(look(&mut watch), 1);
    remove(&world, 1);
    assert_eq!(look(&mut watch), 1);
    let outlines = world.list().load().unwrap().outlines;
    assert_eq!(tasks::ready(&outlines, world.home.now()).len(), 1);
    bring_back(&world);
    let back = world.list().task(&id(1)).unwrap().task;
    assert_eq!(back.state, State::Completed);
    assert_eq!(back.description, "as they left it");
    assert!(back.rev > 0);
}

#[test]
fn a_watch_records_that_a_file_went_without_a_line_of_ours() {
    let world = World::with_tasks(&["One", "Two"]);
    let mut watch = TaskWatch::begin(&world.home, &world.repository.id).unwrap();
    complete(&world, 1);
    remove(&world, 1);
    watch.look(&world.home, &world.repository.id).unwrap();
    let history = world.history();
    let last = &history.last().unwrap().entry;
    assert_eq!(
        (&last.kind, &last.task),
        (&Kind::TaskVanished, &Some(id(1)))
    );
    assert_eq!(vanished(&world), BTreeSet::from([id(1)]));
    bring_back(&world);
    assert_eq!(watch.look(&world.home, &world.repository.id).unwrap(), 0);
    assert!(vanished(&world).is_empty());
}
