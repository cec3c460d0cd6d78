//! Temporaries of dead writers are removed in time, those of living ones never.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use flagpost_disk::fsx::{Batch, RealFs, orphans, remove_orphans, replace, stat};
use flagpost_testkit::{race::Child, scratch::scratch};
use jiff::{SignedDuration, Timestamp};

use crate::child::{CHILDREN, body};

fn temporaries(place: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(place).unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with('.'))
        .collect()
}

/// A moment so many seconds after the newest temporary was written.
fn after(place: &Path, seconds: i64) -> Timestamp {
    let written = temporaries(place)
        .iter()
        .map(|path| stat(&RealFs, path).unwrap().unwrap().modified)
        .max()
        .unwrap();
    let written = Timestamp::from_nanosecond(written.into()).unwrap();
    written + SignedDuration::from_secs(seconds)
}

/// A writer between its sync and its rename.
fn sealed_child(place: &Path) -> Child {
    let child = CHILDREN.start("seal", place);
    assert_eq!(child.next_report().as_deref(), Some("sealed"));
    child
}

#[test]
fn trap_34_fixed_temporary_names() {
    let place = scratch();
    let place = place.path();
    let dead = sealed_child(place);
    let mut living = sealed_child(place);
    assert_eq!(temporaries(place).len(), 2, "each writer has its own name");
    let pid = dead.id();
    dead.kill();

    assert_eq!(
        remove_orphans(&RealFs, place, after(place, 59)).unwrap(),
        0,
        "too young"
    );
    let late = after(place, 3600);
    let found = orphans(&RealFs, place, late).unwrap();
    assert_eq!(found.len(), 1);
    let name = found[0].file_name().unwrap().to_string_lossy();
    assert!(
        name.contains(&format!(".tmp-{pid}-")),
        "{name} is not {pid}'s"
    );

    assert_eq!(remove_orphans(&RealFs, place, late).unwrap(), 1);
    assert_eq!(temporaries(place).len(), 1, "the living writer's stays");
    living.release();
    living.finish();
    assert_eq!(fs::read(place.join("file.json")).unwrap(), body(0));
    assert!(temporaries(place).is_empty());
}

#[test]
fn trap_34_two_writers_in_one_process() {
    let place = scratch();
    let file = place.path().join("file.json");
    let seal = |n| {
        let mut batch = Batch::new();
        batch.put(file.clone(), body(n));
        batch.stage(&RealFs).unwrap()
    };
    let (first, second) = (seal(1), seal(2));
    assert_eq!(temporaries(place.path()).len(), 2);
    second.publish().unwrap();
    first.publish().unwrap();
    assert_eq!(fs::read(file).unwrap(), body(1));
}

#[test]
fn our_own_are_not_orphans() {
    let place = scratch();
    let mut batch = Batch::new();
    batch.put(place.path().join("file.json"), body(1));
    let sealed = batch.stage(&RealFs).unwrap();
    let late = after(place.path(), 3600);
    assert_eq!(remove_orphans(&RealFs, place.path(), late).unwrap(), 0);
    sealed.publish().unwrap();
}

#[test]
fn foreign_files_are_not_touched() {
    let place = scratch();
    let foreign = [
        "21.tmp.json",
        ".lock",
        ".file.tmp-1-short",
        "file.json.tmp-1-00000000000000000000000000000000",
    ];
    for name in foreign {
        replace(&RealFs, &place.path().join(name), b"somebody's").unwrap();
    }
    let late = after(place.path(), 3600);
    assert_eq!(remove_orphans(&RealFs, place.path(), late).unwrap(), 0);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), foreign.len());
}

#[test]
fn where_there_is_no_directory_there_are_none() {
    let place = scratch();
    let nowhere = place.path().join("nowhere");
    let now = Timestamp::UNIX_EPOCH;
    assert_eq!(remove_orphans(&RealFs, &nowhere, now).unwrap(), 0);
}
