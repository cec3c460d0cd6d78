//! Who watches a home is woken by what the system tells: nothing here looks by itself.

use std::{fs, sync::mpsc};

use flagpost_core::watch::{HomeWatch, Wake};
use flagpost_testkit::patience::patience;

use crate::world::World;

/// More than the coming of a directory is told by.
const CHANGES: usize = 10;

#[test]
fn at_once_and_in_directories_that_came_later() {
    let world = World::real();
    let beside = world.place().join("beside");
    fs::create_dir(&beside).unwrap();
    let (told, wakes) = mpsc::channel();
    let woken = move |wake| told.send(wake).unwrap();
    let mut watch = HomeWatch::begin(&world.home, vec![beside.clone()], woken).unwrap();
    assert_eq!(watch.renew(&world.home), Ok(false));
    let later = world.home.tasks_root().join("later");
    let change = |dir: &std::path::Path| {
        for n in 0..CHANGES {
            fs::write(dir.join(format!("{n}.json")), "{}").unwrap();
            assert_eq!(wakes.recv_timeout(patience()), Ok(Wake::Changed), "{n}");
        }
        // What tells of the same changes once more tells of nothing that comes.
        fs::write(dir.join("last"), "{}").unwrap();
        while wakes.try_recv().is_ok() {}
    };
    for dir in [world.list().dir(), &beside] {
        change(dir);
    }
    fs::create_dir(&later).unwrap();
    assert_eq!(watch.renew(&world.home), Ok(true));
    change(&later);
}
