//! A real disk without room, and one without leave to write: a clear error, the old content, and
//! nothing left behind.

use std::{error::Error as _, fs, io};

use flagpost_disk::{
    Error,
    fsx::{
        DEFAULT_WAIT, Durability, Rank, RealFs, append, flag, lock, make_dirs, publish, remove,
        replace,
    },
};
use flagpost_testkit::scratch::SmallDisk;
use jiff::Timestamp;

const OLD: &[u8] = b"the old content\n";

fn assert_says(error: &Error, kind: io::ErrorKind, name: &str) {
    let Error::Io { source, path, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(source.kind(), kind, "{error}: {source}");
    assert!(path.ends_with(name), "{error}");
    assert!(!error.to_string().contains(".tmp-"), "{error}");
    assert!(error.source().is_some(), "the system's own words are kept");
}

#[test]
fn without_room() {
    let Some(disk) = SmallDisk::mount(64) else {
        return;
    };
    let file = disk.path().join("7.json");
    replace(&RealFs, &file, OLD).unwrap();
    drop(
        lock(
            &RealFs,
            &disk.path().join(".lock"),
            Rank::List,
            DEFAULT_WAIT,
            Timestamp::UNIX_EPOCH,
        )
        .unwrap(),
    );

    let error = replace(&RealFs, &file, &vec![b'x'; 100_000]).unwrap_err();
    assert_says(&error, io::ErrorKind::StorageFull, "7.json");
    let error = publish(&RealFs, &disk.path().join("8.json"), &vec![b'x'; 100_000]).unwrap_err();
    assert_says(&error, io::ErrorKind::StorageFull, "8.json");
    let names = |disk: &SmallDisk| fs::read_dir(disk.path()).unwrap().count();
    assert_eq!(names(&disk), 2, "something was left behind");
    assert_eq!(fs::read(&file).unwrap(), OLD);

    // Not even room for a line.
    let filler = disk.path().join("filler");
    while append(&RealFs, &filler, &[b'x'; 4096], Durability::Lazy).is_ok() {}
    let error = replace(&RealFs, &file, b"small\n").unwrap_err();
    assert_says(&error, io::ErrorKind::StorageFull, "7.json");
    assert_eq!(names(&disk), 3, "something was left behind");
    assert_eq!(fs::read(&file).unwrap(), OLD);

    // A lock that was never signed can be had, and what makes room works under it.
    let path = disk.path().join(".other-lock");
    let held = lock(
        &RealFs,
        &path,
        Rank::List,
        DEFAULT_WAIT,
        Timestamp::UNIX_EPOCH,
    )
    .unwrap();
    remove(&RealFs, &filler).unwrap();
    replace(&RealFs, &file, b"small\n").unwrap();
    drop(held);
}

#[test]
fn without_leave_to_write() {
    let Some(disk) = SmallDisk::mount(64) else {
        return;
    };
    let file = disk.path().join("7.json");
    replace(&RealFs, &file, OLD).unwrap();
    disk.make_read_only();
    let refused = io::ErrorKind::ReadOnlyFilesystem;
    assert_says(
        &replace(&RealFs, &file, b"new").unwrap_err(),
        refused,
        "7.json",
    );
    let free = disk.path().join("8.json");
    assert_says(
        &publish(&RealFs, &free, b"new").unwrap_err(),
        refused,
        "8.json",
    );
    assert_says(&flag(&RealFs, &free).unwrap_err(), refused, "8.json");
    assert_says(
        &append(&RealFs, &file, b"new\n", Durability::Synced).unwrap_err(),
        refused,
        "7.json",
    );
    assert_says(&make_dirs(&RealFs, &free).unwrap_err(), refused, "8.json");
    assert_says(&remove(&RealFs, &file).unwrap_err(), refused, "7.json");
    assert_eq!(fs::read(&file).unwrap(), OLD);
}
