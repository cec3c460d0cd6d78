//! The steps that a write path is made of, and the order they must keep.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// Something that was done to the simulated disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiskStep {
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
    /// Two files were given each other's name.
    Exchange(PathBuf, PathBuf),
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
    /// A file was cut off, and synced.
    Cut(PathBuf),
    /// A lock's holder signed.
    Sign(PathBuf),
}

impl DiskStep {
    /// Whether it makes something durable, and changes nothing.
    pub(super) fn is_sync(&self) -> bool {
        matches!(
            self,
            Self::SyncFile(_) | Self::SyncDir(_) | Self::SyncAll(_)
        )
    }
}

/// Checks the order of an operation that promises durability: a file is synced before its name is
/// moved, and on return nothing that was changed is without its sync, content or directory.
///
/// # Panics
/// Where a step is out of order.
pub fn assert_synced_before_rename(steps: &[DiskStep]) {
    let mut files: BTreeSet<&Path> = BTreeSet::new();
    let mut dirs: BTreeSet<&Path> = BTreeSet::new();
    for (at, step) in steps.iter().enumerate() {
        match step {
            DiskStep::Create(path) | DiskStep::MakeDir(path) => dirs.extend(path.parent()),
            DiskStep::Write(path) | DiskStep::Append(path) => {
                files.insert(path);
            }
            DiskStep::SyncFile(path) | DiskStep::Cut(path) => {
                files.remove(path.as_path());
            }
            DiskStep::Rename(from, to) | DiskStep::RenameNew(from, to) => {
                assert!(
                    !files.contains(from.as_path()),
                    "step {} moves content that is not synced, of {steps:#?}",
                    at + 1
                );
                files.remove(to.as_path());
                dirs.extend(from.parent().into_iter().chain(to.parent()));
            }
            DiskStep::Exchange(one, other) => {
                for path in [one, other] {
                    assert!(
                        !files.contains(path.as_path()),
                        "step {} moves content that is not synced, of {steps:#?}",
                        at + 1
                    );
                    dirs.extend(path.parent());
                }
            }
            DiskStep::Remove(path) => {
                files.remove(path.as_path());
                dirs.extend(path.parent());
            }
            DiskStep::SyncDir(path) => {
                dirs.remove(path.as_path());
            }
            DiskStep::SyncAll(_) => {
                files.clear();
                dirs.clear();
            }
            DiskStep::CreateLock(_) | DiskStep::Overwrite(_) | DiskStep::Sign(_) => {}
        }
    }
    assert!(files.is_empty(), "{files:?} are not synced by {steps:#?}");
    assert!(dirs.is_empty(), "{dirs:?} are not synced by {steps:#?}");
}
