//! The order of every write path: content, its sync, its name, the directory's sync, the answer.

use std::{path::Path, time::Duration};

use flagpost_disk::{
    Result,
    fsx::{
        Batch, DEFAULT_WAIT, Durability, Fs, Rank, allocate, append, flag, lock, make_dirs,
        make_shared_dir, move_dir, publish, quarantine, remove, replace, rewrite,
    },
};
use flagpost_testkit::power::{DiskStep, PowerFs, assert_synced_before_rename};
use jiff::Timestamp;

fn in_order(operation: impl Fn(&PowerFs) -> Result<()>) -> Vec<DiskStep> {
    let fs = PowerFs::with_dir("/d/sub");
    replace(&fs, Path::new("/d/file"), b"old").unwrap();
    fs.settle();
    fs.run_free();
    operation(&fs).unwrap();
    assert_synced_before_rename(&fs.steps());
    fs.steps()
}

#[test]
fn in_each_primitive() {
    let file = Path::new("/d/file");
    let free = Path::new("/d/free");
    in_order(|fs| replace(fs, file, b"new"));
    in_order(|fs| publish(fs, free, b"new"));
    in_order(|fs| rewrite(fs, file, Some(b"old"), b"new"));
    in_order(|fs| rewrite(fs, free, None, b"new"));
    in_order(|fs| make_shared_dir(fs, free));
    in_order(|fs| flag(fs, free).map(drop));
    in_order(|fs| append(fs, file, b"line\n", Durability::Synced));
    in_order(|fs| append(fs, free, b"line\n", Durability::Synced));
    in_order(|fs| allocate(fs, Path::new("/d/.seq"), 0, 1).map(drop));
    in_order(|fs| match quarantine(fs, file, b"old", "why")? {
        Some(case) => case.store(fs),
        None => Ok(()),
    });
    in_order(|fs| make_dirs(fs, Path::new("/d/x/y/z")));
    in_order(|fs| move_dir(fs, Path::new("/d/sub"), Path::new("/d/moved")));
    in_order(|fs| remove(fs, file));
}

#[test]
fn in_a_move_between_directories() {
    in_order(|fs| {
        make_dirs(fs, Path::new("/d/archive"))?;
        move_dir(fs, Path::new("/d/sub"), Path::new("/d/archive/1"))
    });
}

#[test]
fn in_a_batch_of_any_size() {
    for files in [1, 2, 31, 32, 33, 40] {
        let steps = in_order(|fs| {
            let mut batch = Batch::new();
            for n in 0..files {
                batch.put(format!("/d/sub/{n}.json").into(), b"new".to_vec());
            }
            batch.remove("/d/file".into());
            batch.stage(fs)?.publish()
        });
        let syncs = steps.iter().filter(|step| {
            matches!(
                step,
                DiskStep::SyncFile(_) | DiskStep::SyncAll(_) | DiskStep::SyncDir(_)
            )
        });
        assert!(syncs.count() <= 34, "{files} files: {steps:#?}");
    }
}

#[test]
fn a_lock_costs_no_sync() {
    let steps = in_order(|fs| {
        let path = Path::new("/d/.lock");
        drop(lock(
            fs,
            path,
            Rank::List,
            DEFAULT_WAIT,
            Timestamp::UNIX_EPOCH,
        )?);
        let held = fs.flock(path, Duration::ZERO).unwrap();
        assert!(held.is_some(), "it was let go");
        Ok(())
    });
    assert_eq!(steps.len(), 2, "{steps:?}");
}
