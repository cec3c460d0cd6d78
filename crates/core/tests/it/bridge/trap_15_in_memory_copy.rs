//! A running bridge overwrote concurrent edits by the command line.

use std::collections::BTreeSet;

use flagpost_testkit::race::until;

use super::child::{CHILDREN, COMMANDS};
use crate::{
    account,
    world::{World, tasks_of},
};

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
