//! The simulated disk as the primitives see it.
//!
//! Owns the answers of each call, which are those of Linux. A call that the system would refuse is
//! refused before it counts as a step.

use std::{
    ffi::OsString,
    io,
    os::unix::ffi::OsStrExt,
    path::{Component, Path, PathBuf},
    time::Duration,
};

use flagpost_disk::fsx::{FileKind, Flock, Fs, Handle, Room, Stat};
use rustix::io::Errno;
use uuid::Uuid;

use super::{
    fs::{Machine, PowerFs},
    step::DiskStep,
};

impl Fs for PowerFs {
    fn read(&self, path: &Path, offset: u64, limit: u64) -> io::Result<Vec<u8>> {
        let machine = self.powered()?;
        let node = machine.tree.node(machine.tree.inode(path)?);
        if node.is_dir {
            return Err(io::Error::other("not a regular file"));
        }
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let bytes = node.content.get(from..).unwrap_or_default();
        if bytes.len() as u64 > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes.to_owned())
    }

    fn read_part(&self, path: &Path, offset: u64, len: u64) -> io::Result<Vec<u8>> {
        let mut bytes = self.read(path, offset, u64::MAX)?;
        bytes.truncate(usize::try_from(len).unwrap_or(usize::MAX));
        Ok(bytes)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let machine = self.powered()?;
        Ok(machine.tree.stat(machine.tree.inode(path)?))
    }

    fn entries(&self, dir: &Path) -> io::Result<Vec<(OsString, FileKind)>> {
        let all = self.scan_dir(dir, &|_| true)?.into_iter();
        Ok(all.map(|(name, stat)| (name, stat.kind)).collect())
    }

    fn look(
        &self,
        dir: &Path,
        wanted: &(dyn Fn(&[u8]) -> bool + Sync),
        is_news: &(dyn Fn(&[u8], Stat) -> bool + Sync),
    ) -> io::Result<Vec<(OsString, Stat)>> {
        let machine = self.powered()?;
        let inode = machine.tree.inode(dir)?;
        if !machine.tree.node(inode).is_dir {
            return Err(Errno::NOTDIR.into());
        }
        let entries = machine.tree.entries(inode);
        Ok(entries
            .filter(|(name, _)| wanted(name.as_bytes()))
            .map(|(name, child)| (name.clone(), machine.tree.stat(child)))
            .filter(|(name, stat)| is_news(name.as_bytes(), *stat))
            .collect())
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.powered()?.tree.inode(path)?;
        let mut plain = PathBuf::from("/");
        for part in path.components() {
            match part {
                Component::Normal(name) => plain.push(name),
                Component::ParentDir => _ = plain.pop(),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            }
        }
        Ok(plain)
    }

    fn make_dir(&self, path: &Path) -> io::Result<()> {
        let mut machine = self.powered()?;
        let slot = machine.tree.slot(path)?;
        if machine.tree.names.contains_key(&slot) {
            return Err(Errno::EXIST.into());
        }
        machine.step(DiskStep::MakeDir(path.to_owned()))?;
        machine.tree.create(slot, true);
        Ok(())
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn Handle>> {
        let mut machine = self.powered()?;
        let slot = machine.tree.slot(path)?;
        if machine.tree.names.contains_key(&slot) {
            return Err(Errno::EXIST.into());
        }
        machine.step(DiskStep::Create(path.to_owned()))?;
        let inode = machine.tree.create(slot, false);
        Ok(handle(self, path, inode, false))
    }

    fn make_shared_dir(&self, path: &Path) -> io::Result<()> {
        self.make_dir(path)
    }

    fn create_like(&self, path: &Path, _: &Path, _: u32) -> io::Result<Box<dyn Handle>> {
        self.create(path)
    }

    fn open_append(&self, path: &Path) -> io::Result<Box<dyn Handle>> {
        let mut machine = self.powered()?;
        let slot = machine.tree.slot(path)?;
        let inode = match machine.tree.names.get(&slot).copied() {
            Some(inode) if machine.tree.node(inode).is_dir => return Err(Errno::ISDIR.into()),
            Some(inode) => inode,
            None => {
                machine.step(DiskStep::Create(path.to_owned()))?;
                machine.tree.create(slot, false)
            }
        };
        Ok(handle(self, path, inode, true))
    }

    fn overwrite(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut machine = self.powered()?;
        let slot = machine.tree.slot(path)?;
        let known = machine.tree.names.get(&slot).copied();
        if known.is_some_and(|inode| machine.tree.node(inode).is_dir) {
            return Err(Errno::ISDIR.into());
        }
        machine.step(DiskStep::Overwrite(path.to_owned()))?;
        let inode = known.unwrap_or_else(|| machine.tree.create(slot, false));
        machine.tree.overwrite(inode, bytes);
        Ok(())
    }

    fn cut(&self, path: &Path, len: u64) -> io::Result<()> {
        let mut machine = self.powered()?;
        let inode = machine.tree.inode(path)?;
        if machine.tree.node(inode).is_dir {
            return Err(Errno::ISDIR.into());
        }
        machine.step(DiskStep::Cut(path.to_owned()))?;
        machine.tree.cut(inode, len);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut machine = self.powered()?;
        let (source, target) = (machine.tree.slot(from)?, machine.tree.slot(to)?);
        let inode = *machine.tree.names.get(&source).ok_or(Errno::NOENT)?;
        if let Some(there) = machine.tree.names.get(&target) {
            let kinds = [inode, *there].map(|inode| machine.tree.node(inode).is_dir);
            match kinds {
                [true, false] => return Err(Errno::NOTDIR.into()),
                [false, true] => return Err(Errno::ISDIR.into()),
                [true, true] if machine.tree.entries(*there).next().is_some() => {
                    return Err(Errno::NOTEMPTY.into());
                }
                _ => {}
            }
        }
        if to.starts_with(from) && from != to {
            return Err(Errno::INVAL.into());
        }
        machine.step(DiskStep::Rename(from.to_owned(), to.to_owned()))?;
        machine.tree.rename(source, target, true);
        Ok(())
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut machine = self.powered()?;
        machine.rival(to)?;
        let (source, target) = (machine.tree.slot(from)?, machine.tree.slot(to)?);
        if !machine.tree.names.contains_key(&source) {
            return Err(Errno::NOENT.into());
        }
        if machine.tree.names.contains_key(&target) {
            return Err(Errno::EXIST.into());
        }
        if to.starts_with(from) {
            return Err(Errno::INVAL.into());
        }
        machine.step(DiskStep::RenameNew(from.to_owned(), to.to_owned()))?;
        machine.tree.rename(source, target, false);
        Ok(())
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        let mut machine = self.powered()?;
        let slots = (machine.tree.slot(one)?, machine.tree.slot(other)?);
        let is_there = |slot| machine.tree.names.contains_key(slot);
        if !is_there(&slots.0) || !is_there(&slots.1) {
            return Err(Errno::NOENT.into());
        }
        machine.step(DiskStep::Exchange(one.to_owned(), other.to_owned()))?;
        machine.tree.exchange(slots.0, slots.1);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut machine = self.powered()?;
        let slot = machine.tree.slot(path)?;
        let inode = *machine.tree.names.get(&slot).ok_or(Errno::NOENT)?;
        if machine.tree.node(inode).is_dir {
            return Err(Errno::ISDIR.into());
        }
        machine.step(DiskStep::Remove(path.to_owned()))?;
        machine.tree.remove(slot);
        Ok(())
    }

    /// Modes are what they are created with here: setting one is no step.
    fn set_mode(&self, path: &Path, _: u32) -> io::Result<()> {
        self.powered()?.tree.inode(path).map(drop)
    }

    fn room(&self, path: &Path) -> io::Result<Room> {
        self.powered()?.tree.inode(path)?;
        Ok(Room {
            bytes: u64::MAX,
            files: None,
            read_only: false,
        })
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut machine = self.powered()?;
        let inode = machine.tree.inode(dir)?;
        if machine.sync(DiskStep::SyncDir(dir.to_owned()))? {
            machine.tree.sync_dir(inode);
        }
        Ok(())
    }

    fn sync_all(&self, dir: &Path) -> io::Result<()> {
        let mut machine = self.powered()?;
        machine.tree.inode(dir)?;
        if machine.sync(DiskStep::SyncAll(dir.to_owned()))? {
            machine.tree.settle();
        }
        Ok(())
    }

    fn random_id(&self) -> Uuid {
        let [random, _] = self.machine().ids();
        random
    }

    fn dated_id(&self) -> Uuid {
        let [_, dated] = self.machine().ids();
        dated
    }

    fn flock(&self, path: &Path, wait: Duration) -> io::Result<Option<Box<dyn Flock>>> {
        let mut machine = self.powered()?;
        let slot = machine.tree.slot(path)?;
        let inode = match machine.tree.names.get(&slot).copied() {
            Some(inode) => inode,
            None => {
                machine.step(DiskStep::CreateLock(path.to_owned()))?;
                machine.tree.create(slot, false)
            }
        };
        let held = |machine: &mut Machine| machine.locked.contains(&inode);
        let (mut machine, _) = self
            .0
            .unlocked
            .wait_timeout_while(machine, wait, held)
            .expect("no test panics inside it");
        if !machine.locked.insert(inode) {
            return Ok(None);
        }
        Ok(Some(Box::new(PowerFlock {
            fs: self.clone(),
            path: path.to_owned(),
            inode,
        })))
    }
}

fn handle(fs: &PowerFs, path: &Path, inode: u64, is_append: bool) -> Box<dyn Handle> {
    Box::new(PowerHandle {
        fs: fs.clone(),
        path: path.to_owned(),
        inode,
        is_append,
    })
}

struct PowerHandle {
    fs: PowerFs,
    path: PathBuf,
    inode: u64,
    is_append: bool,
}

impl Handle for PowerHandle {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut machine = self.fs.powered()?;
        let asked = machine.step(if self.is_append {
            DiskStep::Append(self.path.clone())
        } else {
            DiskStep::Write(self.path.clone())
        });
        // A full disk takes what it has room for.
        let is_half = matches!(&asked, Err(error) if error.kind() == io::ErrorKind::StorageFull);
        let written = match asked {
            Ok(()) => bytes,
            Err(_) if is_half => bytes.get(..bytes.len() / 2).unwrap_or_default(),
            Err(_) => &[],
        };
        machine.tree.extend(self.inode, written);
        asked
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut machine = self.fs.powered()?;
        if machine.sync(DiskStep::SyncFile(self.path.clone()))? {
            machine.tree.sync_file(self.inode);
        }
        Ok(())
    }
}

#[derive(Debug)]
struct PowerFlock {
    fs: PowerFs,
    path: PathBuf,
    inode: u64,
}

impl Flock for PowerFlock {
    fn sign(&mut self, holder: &str) -> io::Result<()> {
        let mut machine = self.fs.powered()?;
        machine.step(DiskStep::Sign(self.path.clone()))?;
        machine.tree.overwrite(self.inode, holder.as_bytes());
        Ok(())
    }
}

impl Drop for PowerFlock {
    fn drop(&mut self) {
        if let Ok(mut machine) = self.fs.0.machine.lock() {
            machine.locked.remove(&self.inode);
        }
        self.fs.0.unlocked.notify_all();
    }
}
