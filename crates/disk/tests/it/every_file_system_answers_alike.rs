//! One suite for every `Fs`: the simulated disk proves nothing where it answers unlike a real one.

use std::{
    ffi::OsString,
    io::ErrorKind,
    path::{Path, PathBuf},
    time::Duration,
};

use flagpost_disk::fsx::{FileKind, Fs, RealFs};
use flagpost_testkit::{patience::patience, power::PowerFs, scratch::scratch};

/// Runs a check on each implementation, in an empty directory.
fn on_each(check: impl Fn(&dyn Fs, &Path)) {
    check(&PowerFs::with_dir("/place"), Path::new("/place"));
    let place = scratch();
    check(&RealFs, &place.path().canonicalize().unwrap());
}

fn create(fs: &dyn Fs, path: &Path, content: &[u8]) {
    let mut file = fs.create(path).unwrap();
    file.write(content).unwrap();
    file.sync().unwrap();
}

fn refusal<T>(result: std::io::Result<T>) -> ErrorKind {
    match result {
        Ok(_) => panic!("it was not refused"),
        Err(error) => error.kind(),
    }
}

fn sorted_names(fs: &dyn Fs, dir: &Path) -> Vec<OsString> {
    let mut names = fs.names(dir).unwrap();
    names.sort();
    names
}

#[test]
fn when_creating() {
    on_each(|fs, place| {
        let file = place.join("file");
        create(fs, &file, b"content");
        assert_eq!(fs.read(&file, 0, 7).unwrap(), b"content");
        assert_eq!(fs.read(&file, 3, 4).unwrap(), b"tent");
        assert_eq!(fs.read(&file, 9, 4).unwrap(), b"");
        assert_eq!(refusal(fs.read(&file, 0, 6)), ErrorKind::FileTooLarge);
        assert_eq!(refusal(fs.create(&file)), ErrorKind::AlreadyExists);
        assert_eq!(refusal(fs.make_dir(&file)), ErrorKind::AlreadyExists);
        let nowhere = place.join("nowhere/file");
        assert_eq!(refusal(fs.create(&nowhere)), ErrorKind::NotFound);
        assert_eq!(refusal(fs.make_dir(&nowhere)), ErrorKind::NotFound);
        assert_eq!(refusal(fs.read(&nowhere, 0, 9)), ErrorKind::NotFound);
        assert_eq!(
            refusal(fs.create(&file.join("x"))),
            ErrorKind::NotADirectory
        );
    });
}

#[test]
fn when_appending() {
    on_each(|fs, place| {
        let file = place.join("log");
        fs.open_append(&file).unwrap().write(b"one").unwrap();
        let mut first = fs.open_append(&file).unwrap();
        let mut second = fs.open_append(&file).unwrap();
        second.write(b" two").unwrap();
        first.write(b" three").unwrap();
        assert_eq!(fs.read(&file, 0, 99).unwrap(), b"one two three");
        assert_eq!(refusal(fs.open_append(place)), ErrorKind::IsADirectory);
    });
}

#[test]
fn when_overwriting() {
    on_each(|fs, place| {
        let hint = place.join("hint");
        fs.overwrite(&hint, b"a long hint").unwrap();
        let inode = fs.stat(&hint).unwrap().inode;
        fs.overwrite(&hint, b"a hint").unwrap();
        assert_eq!(fs.read(&hint, 0, 99).unwrap(), b"a hint");
        assert_eq!(fs.stat(&hint).unwrap().inode, inode, "in place");
        assert_eq!(refusal(fs.overwrite(place, b"")), ErrorKind::IsADirectory);
        let nowhere = place.join("nowhere/hint");
        assert_eq!(refusal(fs.overwrite(&nowhere, b"")), ErrorKind::NotFound);
    });
}

#[test]
fn when_cutting() {
    on_each(|fs, place| {
        let file = place.join("file");
        create(fs, &file, b"a line\nhal");
        fs.cut(&file, 7).unwrap();
        assert_eq!(fs.read(&file, 0, 99).unwrap(), b"a line\n");
        assert_eq!(refusal(fs.cut(place, 0)), ErrorKind::IsADirectory);
    });
}

#[test]
fn when_renaming() {
    on_each(|fs, place| {
        let [a, b, dir] = ["a", "b", "dir"].map(|name| place.join(name));
        create(fs, &a, b"a");
        create(fs, &b, b"b");
        fs.make_dir(&dir).unwrap();
        create(fs, &dir.join("file"), b"");
        let inode = fs.stat(&a).unwrap().inode;
        assert_eq!(refusal(fs.rename_new(&a, &b)), ErrorKind::AlreadyExists);
        assert_eq!(refusal(fs.rename_new(&a, &dir)), ErrorKind::AlreadyExists);
        assert_eq!(refusal(fs.rename(&a, &dir)), ErrorKind::IsADirectory);
        assert_eq!(refusal(fs.rename(&dir, &a)), ErrorKind::NotADirectory);
        assert_eq!(
            refusal(fs.rename(&dir, &dir.join("in"))),
            ErrorKind::InvalidInput
        );
        assert_eq!(
            refusal(fs.rename(&place.join("no"), &a)),
            ErrorKind::NotFound
        );
        assert_eq!(
            refusal(fs.rename_new(&place.join("no"), &a)),
            ErrorKind::NotFound
        );

        fs.rename(&a, &b).unwrap();
        assert_eq!(fs.read(&b, 0, 9).unwrap(), b"a");
        assert_eq!(fs.stat(&b).unwrap().inode, inode);
        fs.rename_new(&b, &a).unwrap();
        fs.rename_new(&dir, &place.join("moved")).unwrap();
        assert_eq!(sorted_names(fs, place), ["a", "moved"]);
        assert_eq!(sorted_names(fs, &place.join("moved")), ["file"]);
    });
}

#[test]
fn when_exchanging() {
    on_each(|fs, place| {
        let [a, b] = ["a", "b"].map(|name| place.join(name));
        create(fs, &a, b"a");
        assert_eq!(refusal(fs.exchange(&a, &b)), ErrorKind::NotFound);
        assert_eq!(refusal(fs.exchange(&b, &a)), ErrorKind::NotFound);
        create(fs, &b, b"b");
        let inode = fs.stat(&a).unwrap().inode;
        fs.exchange(&a, &b).unwrap();
        assert_eq!(fs.stat(&b).unwrap().inode, inode);
        let read = |path| fs.read(path, 0, 9).unwrap();
        assert_eq!((read(&a), read(&b)), (b"b".to_vec(), b"a".to_vec()));
        assert_eq!(sorted_names(fs, place), ["a", "b"]);
    });
}

#[test]
fn when_removing() {
    on_each(|fs, place| {
        let file = place.join("file");
        create(fs, &file, b"");
        fs.remove(&file).unwrap();
        assert_eq!(refusal(fs.remove(&file)), ErrorKind::NotFound);
        assert_eq!(refusal(fs.stat(&file)), ErrorKind::NotFound);
        fs.make_dir(&file).unwrap();
        assert_eq!(refusal(fs.remove(&file)), ErrorKind::IsADirectory);
    });
}

#[test]
fn when_looking() {
    on_each(|fs, place| {
        let [file, dir] = ["file", "dir"].map(|name| place.join(name));
        create(fs, &file, b"content");
        fs.make_dir(&dir).unwrap();
        let stat = fs.stat(&file).unwrap();
        assert_eq!((stat.kind, stat.len), (FileKind::File, 7));
        assert_eq!(fs.stat(&dir).unwrap().kind, FileKind::Dir);
        assert_ne!(fs.stat(&dir).unwrap().inode, stat.inode);
        assert_eq!(sorted_names(fs, place), ["dir", "file"]);
        let found = fs.scan_dir(place, &|name| name.starts_with(b"f")).unwrap();
        assert_eq!(found, [(OsString::from("file"), stat)]);
        let all = fs.scan_dir(place, &|_| true).unwrap();
        assert_eq!(all.len(), 2, "neither itself nor what is above it");
        assert_eq!((stat.mode, fs.stat(&dir).unwrap().mode), (0o600, 0o700));
        assert!(!fs.room(place).unwrap().read_only);
        assert_eq!(
            refusal(fs.set_mode(&place.join("no"), 0o600)),
            ErrorKind::NotFound
        );
        assert_eq!(refusal(fs.names(&place.join("no"))), ErrorKind::NotFound);
        assert_eq!(refusal(fs.names(&file)), ErrorKind::NotADirectory);
        assert_eq!(
            refusal(fs.scan_dir(&file, &|_| true)),
            ErrorKind::NotADirectory
        );
        assert!(fs.read(&dir, 0, 9).is_err());
        // The next second need not have come, but time never goes back.
        fs.open_append(&file).unwrap().write(b"!").unwrap();
        assert!(fs.stat(&file).unwrap().modified >= stat.modified);
    });
}

#[test]
fn when_resolving() {
    on_each(|fs, place| {
        let dir = place.join("dir");
        fs.make_dir(&dir).unwrap();
        let roundabout: PathBuf = dir.join("../dir/.");
        assert_eq!(fs.canonical(&roundabout).unwrap(), dir);
        assert_eq!(
            refusal(fs.canonical(&place.join("no"))),
            ErrorKind::NotFound
        );
    });
}

#[test]
fn when_syncing() {
    on_each(|fs, place| {
        create(fs, &place.join("file"), b"");
        fs.sync_dir(place).unwrap();
        fs.sync_all(place).unwrap();
        fs.sync_all(&place.join("file")).unwrap();
        assert_eq!(refusal(fs.sync_dir(&place.join("no"))), ErrorKind::NotFound);
    });
}

#[test]
fn when_locking() {
    on_each(|fs, place| {
        let path = place.join(".lock");
        let mut held = fs
            .flock(&path, Duration::ZERO)
            .unwrap()
            .expect("it is free");
        held.sign("a long name").unwrap();
        held.sign("a name").unwrap();
        assert_eq!(fs.read(&path, 0, 99).unwrap(), b"a name");
        assert!(fs.flock(&path, Duration::ZERO).unwrap().is_none());
        assert!(fs.flock(&path, Duration::from_millis(5)).unwrap().is_none());
        let other = fs.flock(&place.join("other"), Duration::ZERO).unwrap();
        assert!(other.is_some());
        drop(held);
        let again = fs.flock(&path, patience()).unwrap();
        assert!(again.is_some(), "it is free again");
    });
}
