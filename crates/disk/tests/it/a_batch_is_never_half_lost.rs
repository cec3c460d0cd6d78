//! Files replaced and removed together: each is old or new whenever the power goes, and nothing is
//! removed before what replaces it is durable.

use std::path::{Path, PathBuf};

use flagpost_disk::{
    Error, Result,
    fsx::{Batch, read, replace},
};
use flagpost_testkit::power::{PowerFs, every_crash, every_fault};

const OLD: &[u8] = b"the old content\n";
const NEW: &[u8] = b"the new and longer content\n";

fn content(fs: &PowerFs, path: &str) -> Option<Vec<u8>> {
    read(fs, Path::new(path)).unwrap()
}

fn with_files(paths: &[&str]) -> PowerFs {
    let fs = PowerFs::with_dir("/d/archive");
    for path in paths {
        replace(&fs, Path::new(path), OLD).unwrap();
    }
    fs.settle();
    fs
}

fn run(fs: &PowerFs, puts: &[PathBuf], removals: &[&str]) -> Result<()> {
    let mut batch = Batch::new();
    for path in puts {
        batch.put(path.clone(), NEW.to_owned());
    }
    for path in removals {
        batch.remove(path.into());
    }
    batch.stage(fs)?.publish()
}

#[test]
fn each_file_is_old_or_new() {
    let setup = || with_files(&["/d/1.json", "/d/2.json", "/d/3.json"]);
    let puts = ["/d/1.json", "/d/archive/4.json"].map(PathBuf::from);
    let write = |fs: &PowerFs| run(fs, &puts, &["/d/2.json"]);
    let check = |fs: &PowerFs, answer: &Result<()>| {
        let done = answer.is_ok();
        let replaced = content(fs, "/d/1.json").expect("it was there before");
        assert!(replaced == NEW || replaced == OLD && !done);
        let created = content(fs, "/d/archive/4.json");
        assert!(created.as_deref() == Some(NEW) || created.is_none() && !done);
        let removed = content(fs, "/d/2.json");
        assert!(removed.is_none() || removed.as_deref() == Some(OLD) && !done);
        assert_eq!(content(fs, "/d/3.json").unwrap(), OLD, "not its business");
    };
    every_crash(setup, write, check);
    every_fault(setup, write, check);
}

#[test]
fn a_move_keeps_one_of_both() {
    for to in ["/d/archive/1.json", "/d/one.json"] {
        let write = |fs: &PowerFs| run(fs, &[PathBuf::from(to)], &["/d/1.json"]);
        let check = |fs: &PowerFs, answer: &Result<()>| {
            let (from, to) = (content(fs, "/d/1.json"), content(fs, to));
            assert!(from.is_some() || to.is_some(), "both are lost");
            assert!(to.as_deref().is_none_or(|to| to == NEW));
            assert!(answer.is_err() || from.is_none() && to.is_some());
        };
        every_crash(|| with_files(&["/d/1.json"]), write, check);
        every_fault(|| with_files(&["/d/1.json"]), write, check);
    }
}

#[test]
fn many_files_at_once() {
    let puts: Vec<PathBuf> = (0..17).map(|n| format!("/d/{n}.json").into()).collect();
    let write = |fs: &PowerFs| run(fs, &puts, &["/d/0.md"]);
    let check = |fs: &PowerFs, answer: &Result<()>| {
        for path in &puts {
            let content = read(fs, path).unwrap();
            let is_old = path.ends_with("0.json") && content.as_deref() == Some(OLD);
            let is_absent = !path.ends_with("0.json") && content.is_none();
            let is_new = content.as_deref() == Some(NEW);
            assert!(is_new || answer.is_err() && (is_old || is_absent));
        }
        assert!(answer.is_err() || content(fs, "/d/0.md").is_none());
    };
    every_crash(|| with_files(&["/d/0.json", "/d/0.md"]), write, check);
    every_fault(|| with_files(&["/d/0.json", "/d/0.md"]), write, check);
}

#[test]
fn what_is_sealed_but_not_revealed_leaves_no_trace() {
    let fs = with_files(&["/d/1.json"]);
    let before = fs.files();
    let mut batch = Batch::new();
    batch.put("/d/1.json".into(), NEW.to_owned());
    batch.remove("/d/1.json".into());
    let sealed = batch.stage(&fs).unwrap();
    assert_eq!(content(&fs, "/d/1.json").unwrap(), OLD);
    drop(sealed);
    assert_eq!(fs.files(), before);
}

/// A foreign writer may have taken the name since we looked.
#[test]
fn a_name_that_must_be_free_is_never_overwritten() {
    let fs = with_files(&["/d/1.json", "/d/2.json"]);
    let mut batch = Batch::new();
    batch.put("/d/1.json".into(), NEW.to_owned());
    batch.create("/d/2.json".into(), NEW.to_owned());
    batch.create("/d/3.json".into(), NEW.to_owned());
    let answer = batch.stage(&fs).unwrap().publish();
    let path = Path::new("/d/2.json");
    assert!(matches!(&answer, Err(Error::Conflict { path: taken }) if taken == path));
    for old in ["/d/1.json", "/d/2.json"] {
        assert_eq!(content(&fs, old).unwrap(), OLD, "new names come first");
    }
    assert_eq!(content(&fs, "/d/3.json"), None);
    assert!(fs.temporaries().is_empty());
}
