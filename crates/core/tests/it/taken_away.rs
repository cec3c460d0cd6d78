//! A task's file that somebody takes away after the change was answered: the history keeps what happened.

use std::fs;

use flagpost_core::{claims, history::Kind, tasks};
use flagpost_model::task::Ending;
use flagpost_testkit::table;

use crate::world::{World, act, add, finish, id, terms};

/// What is done before a file is taken away.
type Make = fn(&World);

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
