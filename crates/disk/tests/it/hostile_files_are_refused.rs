//! What lies under a name we read may be anything: nothing of it is followed, waited for or
//! swallowed whole.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::symlink,
    path::Path,
};

use flagpost_disk::{
    Error,
    fsx::{Durability, READ_LIMIT, Raised, RealFs, append, flag, publish, read, replace, within},
};
use flagpost_testkit::scratch::scratch;
use rustix::fs::{CWD, FileType, Mode, mknodat};

fn kind(error: &Error) -> Option<io::ErrorKind> {
    match error {
        Error::Io { source, .. } => Some(source.kind()),
        _ => None,
    }
}

fn make_fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap();
}

#[test]
fn trap_09_a_path_that_leads_out_of_its_root() {
    let place = scratch();
    let (root, outside) = (place.path().join("root"), place.path().join("outside"));
    fs::create_dir_all(root.join("lists/a")).unwrap();
    fs::create_dir_all(outside.join("lists")).unwrap();
    symlink(&outside, root.join("out")).unwrap();
    symlink("../../outside", root.join("lists/up")).unwrap();
    symlink("lists/a", root.join("in")).unwrap();
    // Its name starts like the root's, and is another directory.
    fs::create_dir(place.path().join("rootless")).unwrap();

    for way_out in [
        "out",
        "out/lists",
        "lists/up",
        "..",
        "lists/../..",
        "../rootless",
    ] {
        let error = within(&RealFs, &root, &root.join(way_out)).unwrap_err();
        assert!(matches!(error, Error::Outside { .. }), "{way_out}: {error}");
    }
    within(&RealFs, &root, Path::new("/etc")).unwrap_err();
    let missing = within(&RealFs, &root, &root.join("missing")).unwrap_err();
    assert!(missing.is_not_found());
    let real = root.canonicalize().unwrap();
    assert_eq!(
        within(&RealFs, &root, &root.join("in")).unwrap(),
        real.join("lists/a")
    );
    assert_eq!(within(&RealFs, &root, &root).unwrap(), real);
}

#[test]
fn a_symlink_is_not_read_nor_written_through() {
    let place = scratch();
    let secret = place.path().join("secret");
    let link = place.path().join("7.json");
    fs::write(&secret, "secret").unwrap();
    symlink(&secret, &link).unwrap();
    read(&RealFs, &link).unwrap_err();
    append(&RealFs, &link, b"line\n", Durability::Lazy).unwrap_err();
    let taken = publish(&RealFs, &link, b"new").unwrap_err();
    assert!(matches!(taken, Error::Conflict { .. }));
    assert_eq!(flag(&RealFs, &link).unwrap(), Raised::Before);
    // A replacement takes the link's place.
    replace(&RealFs, &link, b"new").unwrap();
    assert!(link.symlink_metadata().unwrap().is_file());
    assert_eq!(fs::read(&secret).unwrap(), b"secret");
}

#[test]
fn a_symlink_to_nowhere_is_a_taken_name() {
    let place = scratch();
    let target = place.path().join("target");
    let link = place.path().join("7.ratified");
    symlink(&target, &link).unwrap();
    publish(&RealFs, &link, b"new").unwrap_err();
    assert_eq!(flag(&RealFs, &link).unwrap(), Raised::Before);
    assert!(!target.exists());
}

#[test]
fn a_directory_is_not_a_file() {
    let place = scratch();
    let dir = place.path().join("7.json");
    fs::create_dir(&dir).unwrap();
    read(&RealFs, &dir).unwrap_err();
    replace(&RealFs, &dir, b"new").unwrap_err();
    publish(&RealFs, &dir, b"new").unwrap_err();
    append(&RealFs, &dir, b"new", Durability::Lazy).unwrap_err();
    assert_eq!(
        fs::read_dir(place.path()).unwrap().count(),
        1,
        "something was left behind"
    );
}

#[test]
fn a_pipe_does_not_make_us_wait() {
    let place = scratch();
    let pipe = place.path().join("7.json");
    make_fifo(&pipe);
    read(&RealFs, &pipe).unwrap_err();
    append(&RealFs, &pipe, b"line\n", Durability::Synced).unwrap_err();
    // With somebody at its other end as well.
    let _reader = rustix::fs::open(
        &pipe,
        rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK,
        Mode::empty(),
    )
    .unwrap();
    append(&RealFs, &pipe, b"line\n", Durability::Synced).unwrap_err();
}

#[test]
fn a_huge_file_is_not_swallowed() {
    let place = scratch();
    let path = place.path().join("7.json");
    let file = File::create(&path).unwrap();
    file.set_len(READ_LIMIT).unwrap();
    assert_eq!(
        read(&RealFs, &path).unwrap().unwrap().len() as u64,
        READ_LIMIT
    );
    file.set_len(READ_LIMIT + 1).unwrap();
    let error = read(&RealFs, &path).unwrap_err();
    assert_eq!(kind(&error), Some(io::ErrorKind::FileTooLarge), "{error}");
    file.set_len(1 << 40).unwrap();
    read(&RealFs, &path).unwrap_err();
}

#[test]
fn a_huge_log_is_still_appended_to() {
    let place = scratch();
    let path = place.path().join("log");
    File::create(&path)
        .unwrap()
        .set_len(READ_LIMIT + 1)
        .unwrap();
    append(&RealFs, &path, b"line\n", Durability::Synced).unwrap();
    // The sparse file ends in no line break, so one comes first.
    assert_eq!(fs::metadata(&path).unwrap().len(), READ_LIMIT + 1 + 6);
}
