//! The real disk, with an account of what was synced.
//!
//! Owns [`SyncedFs`], which does all that [`RealFs`] does and notes each path that was made durable, in
//! order. It changes nothing of what it is asked for.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use flagpost_disk::fsx::{Flock, Fs, Handle, RealFs, Room, Stat};

/// A real disk that notes what is synced. Clones share the account.
#[derive(Debug, Clone, Default)]
pub struct SyncedFs(Arc<Mutex<Vec<PathBuf>>>);

impl SyncedFs {
    /// The paths that were synced since this was asked last, in order.
    pub fn take(&self) -> Vec<PathBuf> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    fn note(&self, path: &Path) {
        self.0.lock().unwrap().push(path.to_owned());
    }

    fn noted(&self, path: &Path, file: Box<dyn Handle>) -> Box<dyn Handle> {
        Box::new(Noted {
            disk: self.clone(),
            path: path.to_owned(),
            file,
        })
    }
}

struct Noted {
    disk: SyncedFs,
    path: PathBuf,
    file: Box<dyn Handle>,
}

impl Handle for Noted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.note(&self.path);
        self.file.sync()
    }
}

impl Fs for SyncedFs {
    fn read(&self, path: &Path, offset: u64, limit: u64) -> io::Result<Vec<u8>> {
        RealFs.read(path, offset, limit)
    }

    fn read_part(&self, path: &Path, offset: u64, len: u64) -> io::Result<Vec<u8>> {
        RealFs.read_part(path, offset, len)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        RealFs.stat(path)
    }

    fn names(&self, dir: &Path) -> io::Result<Vec<OsString>> {
        RealFs.names(dir)
    }

    fn look(
        &self,
        dir: &Path,
        wanted: &(dyn Fn(&[u8]) -> bool + Sync),
        is_news: &(dyn Fn(&[u8], Stat) -> bool + Sync),
    ) -> io::Result<Vec<(OsString, Stat)>> {
        RealFs.look(dir, wanted, is_news)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        RealFs.canonical(path)
    }

    fn make_dir(&self, path: &Path) -> io::Result<()> {
        RealFs.make_dir(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn Handle>> {
        Ok(self.noted(path, RealFs.create(path)?))
    }

    fn make_shared_dir(&self, path: &Path) -> io::Result<()> {
        RealFs.make_shared_dir(path)
    }

    fn create_like(&self, path: &Path, like: &Path, or: u32) -> io::Result<Box<dyn Handle>> {
        Ok(self.noted(path, RealFs.create_like(path, like, or)?))
    }

    fn open_append(&self, path: &Path) -> io::Result<Box<dyn Handle>> {
        Ok(self.noted(path, RealFs.open_append(path)?))
    }

    fn overwrite(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        RealFs.overwrite(path, bytes)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealFs.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealFs.rename_new(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealFs.remove(path)
    }

    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        RealFs.set_mode(path, mode)
    }

    fn room(&self, path: &Path) -> io::Result<Room> {
        RealFs.room(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.note(dir);
        RealFs.sync_dir(dir)
    }

    fn sync_all(&self, dir: &Path) -> io::Result<()> {
        self.note(dir);
        RealFs.sync_all(dir)
    }

    fn flock(&self, path: &Path, wait: Duration) -> io::Result<Option<Box<dyn Flock>>> {
        RealFs.flock(path, wait)
    }
}
