//! A running bridge overwrote concurrent edits by the command line.

use std::{collections::BTreeSet, ops::ControlFlow, slice, thread, time::Duration};

use flagpost_core::{
    bridge::{Processed, Processor},
    tasks,
};
use flagpost_testkit::race::until;
use serde_json::json;

use super::{
    bridge,
    child::{CHILDREN, COMMANDS},
    command, put,
};
use crate::{
    account,
    world::{World, add, id, tasks_of, worker},
};

/// So often both change one task at the same moment.
const INTERLEAVINGS: usize = 500;

/// Each of these in turn.
const TASKS: usize = 25;

#[test]
fn five_hundred_interleavings_keep_what_both_say_of_a_task() {
    let world = World::real();
    for n in 0..TASKS {
        add(&world.list(), &format!("Task {n}"), &[]);
    }
    let bridge = bridge(&world.home);
    let mut processor = Processor::start(&bridge).unwrap().unwrap();
    for n in 0..INTERLEAVINGS {
        let task = id((n % TASKS + 1) as u64);
        let note = json!({"taskId": task, "content": format!("bridge {n}")});
        let asked = command(&format!("c{n}"), "add-note", note);
        put(&world.home, asked.to_string());
        thread::scope(|scope| {
            scope.spawn(|| {
                // Both are somewhere else on their way each time.
                thread::sleep(Duration::from_micros((n / TASKS) as u64 * 100));
                let note = format!("line {n}");
                tasks::note(&world.list(), &worker("ann"), slice::from_ref(&task), &note).unwrap();
            });
            let mut hear = |done: &Processed| {
                assert_eq!(done.error, None);
                ControlFlow::Continue(())
            };
            processor.pass(&mut hear).unwrap();
        });
    }
    let tasks = tasks_of(&world.list());
    let notes = tasks.values().flat_map(|task| &task.notes);
    let mut notes: Vec<String> = notes.map(|note| note.text.clone()).collect();
    let said = |who: &'static str| (0..INTERLEAVINGS).map(move |n| format!("{who} {n}"));
    let mut expected: Vec<String> = said("bridge").chain(said("line")).collect();
    notes.sort_unstable();
    expected.sort_unstable();
    assert_eq!(notes, expected);
    account::agrees(&world);
}

#[test]
fn the_union_of_both_survives() {
    let world = World::real();
    let server = CHILDREN.start("serve", world.place());
    assert_eq!(server.next_report().as_deref(), Some("serving"));
    let producer = CHILDREN.start("produce", world.place());
    let editor = CHILDREN.start("edit", world.place());
    producer.finish();
    editor.finish();
    until("all is done", || {
        tasks_of(&world.list()).len() >= 2 * COMMANDS
    });
    std::fs::write(world.place().join("stop"), "").unwrap();
    server.finish();
    let tasks = tasks_of(&world.list());
    let subjects: BTreeSet<String> = tasks.values().map(|it| it.subject.clone()).collect();
    let sent = (0..COMMANDS).map(|n| format!("0-{n}"));
    let edited = (0..COMMANDS).map(|n| format!("by hand {n}"));
    assert_eq!(subjects, sent.chain(edited).collect());
    for task in tasks
        .values()
        .filter(|it| it.subject.starts_with("by hand"))
    {
        let note = task.subject.replace("by hand", "note");
        assert_eq!(
            task.notes
                .iter()
                .map(|it| it.text.clone())
                .collect::<Vec<_>>(),
            [note]
        );
    }
    account::agrees(&world);
}
