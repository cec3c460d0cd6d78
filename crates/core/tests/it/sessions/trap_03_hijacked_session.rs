//! The lock is looked at before anything is cleaned: whoever is refused changes nothing.

use std::fs;

use flagpost_core::Error;

use super::{
    Files, archive_complete, begin, child::CHILDREN, dirs, files, notes, of, put_foreign, put_task,
    recover, row, start, try_begin,
};
use crate::world::{World, add, id};

/// The session's files and the tasks'.
fn everything(world: &World) -> Files {
    let mut all = files(&of(world).live_dir());
    let is_task = |name: &str| name.ends_with(".json");
    let tasks = files(world.list().dir()).into_iter();
    all.extend(tasks.filter(|(path, _)| is_task(path.to_str().unwrap())));
    all
}

fn refuses_all(world: &World, list: &flagpost_core::List<'_>) {
    let refused = |answer: Result<(), Error>| {
        fails!(answer, Error::SessionLive { .. });
    };
    refused(try_begin(&world.home, &world.repository, list).map(drop));
    refused(recover(world, list).map(drop));
    refused(archive_complete(world).map(drop));
    let place = world.place();
    assert_eq!(CHILDREN.start("begin", place).finish(), ["refused"]);
}

#[test]
fn by_a_second_start_in_this_process_or_another() {
    let world = World::real();
    let list = world.list();
    (1..=3).for_each(|n| drop(add(&list, &format!("Task {n}"), &[])));
    let mut live = begin(&world, &list).live;
    start(&list, live.id(), 1);
    live.log(&row(2)).unwrap();
    live.merge(&[notes(2, "use the pool")]).unwrap();
    fs::write(live.notes_path(&id(1)), "- half a thou").unwrap();
    fs::write(live.dir().join("stale.tmp"), "looks stale").unwrap();
    let before = everything(&world);
    assert!(before.len() > 8);
    refuses_all(&world, &list);
    assert_eq!(everything(&world), before);
    assert_eq!(
        dirs(&world, ""),
        [".gitignore", ".start.lock", "__live_session__"]
    );
    live.log(&row(1)).unwrap();
}

#[test]
fn of_another_program_that_is_alive() {
    let world = World::real();
    let list = world.list();
    put_task(&world, 1, "in_progress");
    let lock = format!(
        "task_execution_id: auth-1\ntimestamp: 2026-02-05T14:30:22Z\npid: {}\n",
        std::process::id()
    );
    put_foreign(&world, &lock);
    let before = everything(&world);
    refuses_all(&world, &list);
    assert_eq!(everything(&world), before);
}

/// In a process of its own: a fork between two of its steps would hold the lock for a moment more.
#[test]
fn whoever_only_looks_keeps_nobody_from_beginning() {
    let world = World::with_tasks(&["Task"]);
    let place = world.place();
    assert_eq!(CHILDREN.start("look", place).finish(), ["began"]);
}
