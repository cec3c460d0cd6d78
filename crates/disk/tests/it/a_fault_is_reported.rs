//! One call fails once, with a full disk or a broken one: the operation says so or keeps its
//! promise all the same, live files are whole, and no temporary stays.

use std::path::Path;

use flagpost_disk::{
    Result,
    fsx::{
        Durability, Fs, Rank, append, flag, lock, make_dirs, move_dir, publish, quarantine, read,
        remove, replace,
    },
};
use flagpost_testkit::power::{Fault, PowerFs, every_fault};
use jiff::Timestamp;

const OLD: &[u8] = b"the old content\n";
const NEW: &[u8] = b"the new and longer content\n";

fn setup() -> PowerFs {
    let fs = PowerFs::with_dir("/d/sub");
    replace(&fs, Path::new("/d/file"), OLD).unwrap();
    replace(&fs, Path::new("/d/sub/file"), OLD).unwrap();
    fs.settle();
    fs
}

fn content(fs: &PowerFs, path: &str) -> Option<Vec<u8>> {
    read(fs, Path::new(path)).unwrap()
}

/// A check that a file is old or new, and new once that was acknowledged.
fn old_or_new<'a, T>(
    path: &'a str,
    old: Option<&'a [u8]>,
    new: Option<&'a [u8]>,
) -> impl Fn(&PowerFs, &Result<T>) + 'a {
    move |fs, answer| {
        let there = content(fs, path);
        let is_new = there.as_deref() == new;
        assert!(
            is_new || there.as_deref() == old && answer.is_err(),
            "{there:?}"
        );
    }
}

#[test]
fn by_each_primitive() {
    let file = Path::new("/d/file");
    let free = Path::new("/d/free");
    let (old, new) = (Some(OLD), Some(NEW));
    every_fault(
        setup,
        |fs| replace(fs, file, NEW),
        old_or_new("/d/file", old, new),
    );
    every_fault(
        setup,
        |fs| publish(fs, free, NEW),
        old_or_new("/d/free", None, new),
    );
    every_fault(
        setup,
        |fs| flag(fs, free),
        old_or_new("/d/free", None, Some(b"")),
    );
    every_fault(
        setup,
        |fs| remove(fs, file),
        old_or_new("/d/file", old, None),
    );
    every_fault(
        setup,
        |fs| {
            make_dirs(fs, Path::new("/d/x/y"))?;
            publish(fs, Path::new("/d/x/y/z"), NEW)
        },
        old_or_new("/d/x/y/z", None, new),
    );
    every_fault(
        setup,
        |fs| {
            make_dirs(fs, Path::new("/d/archive"))?;
            move_dir(fs, Path::new("/d/sub"), Path::new("/d/archive/1"))
        },
        old_or_new("/d/archive/1/file", None, old),
    );
    every_fault(
        setup,
        |fs| match quarantine(fs, file, OLD, "why")? {
            Some(case) => case.store(fs),
            None => Ok(()),
        },
        |fs, _| assert_eq!(content(fs, "/d/file").unwrap(), OLD),
    );
}

#[test]
fn and_a_second_try_keeps_the_promise() {
    let file = Path::new("/d/x/y/file");
    let twice = |fs: &PowerFs| {
        let write = || {
            make_dirs(fs, Path::new("/d/x/y"))?;
            replace(fs, file, NEW)
        };
        write().or_else(|_| write())
    };
    every_fault(setup, twice, |fs, answer| {
        assert!(answer.is_ok());
        assert_eq!(content(fs, "/d/x/y/file").as_deref(), Some(NEW));
    });
}

#[test]
fn by_an_append_which_leaves_the_lines_around_it_whole() {
    let lines = ["first line", "second line", "third line"];
    let write = |fs: &PowerFs| {
        lines.map(|line| {
            let line = format!("{line}\n");
            append(fs, Path::new("/d/log"), line.as_bytes(), Durability::Synced).is_ok()
        })
    };
    every_fault(setup, write, |fs, answers| {
        let text = content(fs, "/d/log").unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        for (line, is_acknowledged) in lines.iter().zip(answers) {
            let is_there = text.lines().any(|there| there == *line);
            assert!(is_there || !is_acknowledged, "{line:?} is not in {text:?}");
        }
    });
}

#[test]
fn but_a_lock_can_be_had_on_a_full_disk() {
    let fs = PowerFs::with_dir("/d");
    let path = Path::new("/d/.lock");
    drop(fs.flock(path, std::time::Duration::ZERO).unwrap());
    fs.fail_step(1, Fault::NoSpace);
    let zero = std::time::Duration::ZERO;
    let held = lock(&fs, path, Rank::List, zero, Timestamp::UNIX_EPOCH);
    assert!(held.is_ok(), "what makes room works under a lock too");
    assert!(fs.failed().is_some());
}
