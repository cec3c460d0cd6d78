//! The steps that a write path is made of, and the order they must keep.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// Something that was done to the simulated disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A file was created.
    Create(PathBuf),
    /// Content was written to a new file.
    Write(PathBuf),
    /// Content was written at the end of a file.
    Append(PathBuf),
    /// A file's content was synced.
    SyncFile(PathBuf),
    /// A name was moved onto another.
    Rename(PathBuf, PathBuf),
    /// A name was moved to a free one.
    RenameNew(PathBuf, PathBuf),
    /// A file was removed.
    Remove(PathBuf),
    /// A directory was created.
    MakeDir(PathBuf),
    /// A directory's names were synced.
    SyncDir(PathBuf),
    /// Everything was synced.
    SyncAll(PathBuf),
    /// A lock file was created. It means nothing after a crash, so nobody syncs it.
    CreateLock(PathBuf),
    /// A hint was overwritten in place, or created. Nobody relies on it, so nobody syncs it.
    Overwrite(PathBuf),
    /// A lock's holder signed.
    Sign(PathBuf),
}

/// Checks the order of an operation that promises durability: a file is synced before its name is
/// moved, and on return nothing that was changed is without its sync, content or directory.
///
/// # Panics
/// Where a step is out of order.
pub fn assert_synced_before_rename(steps: &[Step]) {
    let mut files: BTreeSet<&Path> = BTreeSet::new();
    let mut dirs: BTreeSet<&Path> = BTreeSet::new();
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Create(path) | Step::MakeDir(path) => dirs.extend(path.parent()),
            Step::Write(path) | Step::Append(path) => {
                files.insert(path);
            }
            Step::SyncFile(path) => {
                files.remove(path.as_path());
            }
            Step::Rename(from, to) | Step::RenameNew(from, to) => {
                assert!(
                    !files.contains(from.as_path()),
                    "step {} moves content that is not synced, of {steps:#?}",
                    at + 1
                );
                files.remove(to.as_path());
                dirs.extend(from.parent().into_iter().chain(to.parent()));
            }
            Step::Remove(path) => {
                files.remove(path.as_path());
                dirs.extend(path.parent());
            }
            Step::SyncDir(path) => {
                dirs.remove(path.as_path());
            }
            Step::SyncAll(_) => {
                files.clear();
                dirs.clear();
            }
            Step::CreateLock(_) | Step::Overwrite(_) | Step::Sign(_) => {}
        }
    }
    assert!(files.is_empty(), "{files:?} are not synced by {steps:#?}");
    assert!(dirs.is_empty(), "{dirs:?} are not synced by {steps:#?}");
}
