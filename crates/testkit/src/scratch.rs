//! Directories that tests may fill, and small disks that they may fill up.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

/// A directory that vanishes with the value; in memory where the machine has such a place, since
/// a real sync costs tests minutes and proves nothing that [`power`](crate::power) does not.
///
/// # Panics
/// Where no directory can be made.
pub fn scratch() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() {
        TempDir::new_in(memory)
    } else {
        TempDir::new()
    };
    made.expect("a temporary directory can be made")
}

/// A real file system of its own, of a few pages; unmounted with the value.
#[derive(Debug)]
pub struct SmallDisk(TempDir);

impl SmallDisk {
    /// Mounts one of so many KiB. `None`, and a line that says so, where mounting is not allowed.
    pub fn mount(kib: u32) -> Option<Self> {
        let dir = TempDir::new().expect("a temporary directory can be made");
        let options = format!("size={kib}k");
        if mount(&["-t", "tmpfs", "-o", &options, "tmpfs"], dir.path()) {
            return Some(Self(dir));
        }
        eprintln!("skipped: no file system can be mounted here");
        None
    }

    /// Where it is mounted.
    pub fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    /// Refuses every write from now on, of root too.
    ///
    /// # Panics
    /// Where it is busy.
    pub fn make_read_only(&self) {
        assert!(mount(&["-o", "remount,ro"], self.0.path()));
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let gone = Command::new("umount").arg("-l").arg(self.0.path()).status();
        if !gone.is_ok_and(|status| status.success()) {
            eprintln!("{} stays mounted", self.0.path().display());
        }
    }
}

fn mount(options: &[&str], at: &Path) -> bool {
    let mut command = Command::new("mount");
    command.args(options).arg(at);
    command.output().is_ok_and(|output| output.status.success())
}
