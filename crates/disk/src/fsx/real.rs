//! The real file system.
//!
//! Owns the system calls behind [`Fs`]. New files are 0600 and directories 0700 whatever the umask
//! allows, and what replaces a file has its mode; a final symlink is never followed and only regular files are read.

#![expect(
    clippy::disallowed_methods,
    reason = "the one room that creates, renames and removes"
)]

use std::{
    ffi::{OsStr, OsString},
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    ops::Range,
    os::unix::{
        ffi::OsStrExt,
        fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt},
    },
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Duration,
};

use rustix::fs::{self as sys, AtFlags, FileType, Gid, Mode, OFlags, RenameFlags};

use super::{FileKind, Flock, Fs, Handle, Room, Stat};

/// The machine's own file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealFs;

/// So many bytes of a directory are read at once: some hundred entries, so that two who share them
/// end at about the same time.
const ENTRIES: usize = 8 << 10;

/// So many files are synced at a time: more threads cost more than they hide of a disk's waits.
const TOGETHER: usize = 8;

/// After so many files of a directory, a second thread looks on with the first.
const MANY: usize = 200;

/// A regular file, and how long it is.
fn open(path: &Path) -> io::Result<(File, u64)> {
    // NONBLOCK: opening a pipe that somebody left here must not hang.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let opened = sys::open(path, flags, Mode::empty()).map_err(|errno| match errno {
        rustix::io::Errno::LOOP => no_file("a symbolic link, which is not followed"),
        // What a socket answers.
        rustix::io::Errno::NXIO => no_file("not a regular file"),
        errno => errno.into(),
    });
    let file = File::from(opened?);
    let stat = regular(&file)?;
    let len = u64::try_from(stat.st_size).unwrap_or_default();
    Ok((file, len))
}

/// About `len` bytes and at most `limit`.
fn read_from(file: &mut File, offset: u64, len: u64, limit: u64) -> io::Result<Vec<u8>> {
    if offset > 0 {
        file.seek(SeekFrom::Start(offset))?;
    }
    let mut bytes = Vec::new();
    // What the machine cannot hold is an error of this file, and no end of the process.
    bytes.try_reserve_exact(usize::try_from(len).unwrap_or_default().saturating_add(1))?;
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Fs for RealFs {
    fn read(&self, path: &Path, offset: u64, limit: u64) -> io::Result<Vec<u8>> {
        let (mut file, len) = open(path)?;
        let len = len.saturating_sub(offset);
        if len > limit {
            let text = format!("{len} bytes are more than the {limit} that are read whole");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        read_from(&mut file, offset, len, limit)
    }

    fn read_part(&self, path: &Path, offset: u64, len: u64) -> io::Result<Vec<u8>> {
        let (mut file, whole) = open(path)?;
        read_from(
            &mut file,
            offset,
            whole.saturating_sub(offset).min(len),
            len,
        )
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        Ok(stat_of(&sys::lstat(path)?))
    }

    fn entries(&self, dir: &Path) -> io::Result<Vec<(OsString, FileKind)>> {
        let entry = |entry: io::Result<std::fs::DirEntry>| {
            let entry = entry?;
            let kind = match entry.file_type()? {
                it if it.is_file() => FileKind::File,
                it if it.is_dir() => FileKind::Dir,
                it if it.is_symlink() => FileKind::Symlink,
                _ => FileKind::Other,
            };
            Ok((entry.file_name(), kind))
        };
        std::fs::read_dir(dir)?.map(entry).collect()
    }

    fn look(
        &self,
        dir: &Path,
        wanted: &(dyn Fn(&[u8]) -> bool + Sync),
        is_news: &(dyn Fn(&[u8], Stat) -> bool + Sync),
    ) -> io::Result<Vec<(OsString, Stat)>> {
        let fd = sys::open(
            dir,
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        // The kernel gives each entry to one of those who read on from the same descriptor.
        let look_on = |after_many: &mut dyn FnMut()| -> io::Result<Vec<(OsString, Stat)>> {
            let mut news = Vec::new();
            let mut buffer = Vec::with_capacity(ENTRIES);
            let mut entries = sys::RawDir::new(&fd, buffer.spare_capacity_mut());
            let mut count = 0;
            while let Some(entry) = entries.next() {
                let entry = entry?;
                let name = entry.file_name();
                let is_own = name != c"." && name != c"..";
                if !is_own || !wanted(name.to_bytes()) {
                    continue;
                }
                match sys::statat(&fd, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => {
                        let stat = stat_of(&stat);
                        if is_news(name.to_bytes(), stat) {
                            news.push((OsStr::from_bytes(name.to_bytes()).to_owned(), stat));
                        }
                    }
                    // Gone since the directory was read.
                    Err(rustix::io::Errno::NOENT) => {}
                    Err(errno) => return Err(errno.into()),
                }
                count += 1;
                if count == MANY {
                    after_many();
                }
            }
            Ok(news)
        };
        thread::scope(|scope| {
            let mut other = None;
            let mut news = look_on(&mut || other = Some(scope.spawn(|| look_on(&mut || ()))))?;
            if let Some(other) = other {
                let gone = |_| io::Error::other("a reader thread panicked");
                news.extend(other.join().map_err(gone)??);
            }
            Ok(news)
        })
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize()
    }

    fn make_dir(&self, path: &Path) -> io::Result<()> {
        std::fs::DirBuilder::new().mode(0o700).create(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn Handle>> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        Ok(Box::new(RealHandle(file)))
    }

    fn make_shared_dir(&self, path: &Path) -> io::Result<()> {
        std::fs::DirBuilder::new().mode(0o755).create(path)
    }

    fn create_like(&self, path: &Path, like: &Path, or: u32) -> io::Result<Box<dyn Handle>> {
        let like = match sys::lstat(like) {
            Ok(stat) => Some(stat).filter(|stat| stat_of(stat).kind == FileKind::File),
            Err(rustix::io::Errno::NOENT) => None,
            Err(errno) => return Err(errno.into()),
        };
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(if like.is_some() { 0o600 } else { or })
            .open(path)?;
        if let Some(like) = like {
            resemble(&file, &like)?;
        }
        Ok(Box::new(RealHandle(file)))
    }

    fn open_append(&self, path: &Path) -> io::Result<Box<dyn Handle>> {
        Ok(Box::new(RealHandle(open_append(path)?)))
    }

    fn overwrite(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
            .open(path)?;
        regular(&file)?;
        overwrite_in_place(&file, bytes)
    }

    fn cut(&self, path: &Path, len: u64) -> io::Result<()> {
        let file = open_append(path)?;
        file.set_len(len)?;
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        Ok(sys::rename(from, to)?)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        match rename_noreplace(from, to) {
            // Not every file system knows the flag; a hard link never replaces either.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
                if self.stat(from)?.kind == FileKind::Dir {
                    return rename_dir(from, to);
                }
                sys::link(from, to)?;
                Ok(sys::unlink(from)?)
            }
            other => Ok(other?),
        }
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        match rename_exchange(one, other) {
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
                Err(io::ErrorKind::Unsupported.into())
            }
            exchanged => Ok(exchanged?),
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        Ok(sys::unlink(path)?)
    }

    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = sys::open(path, flags, Mode::empty())?;
        Ok(sys::fchmod(&file, Mode::from_raw_mode(mode))?)
    }

    fn room(&self, path: &Path) -> io::Result<Room> {
        let disk = sys::statvfs(path)?;
        Ok(Room {
            bytes: disk.f_bavail.saturating_mul(disk.f_frsize),
            files: (disk.f_files > 0).then_some(disk.f_favail),
            read_only: disk.f_flag.contains(sys::StatVfsMountFlags::RDONLY),
        })
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    /// Several at a time: a disk that waits for one waits for several as long.
    fn sync_each(&self, files: &mut [Box<dyn Handle>]) -> Vec<io::Result<()>> {
        let share = files.len().div_ceil(TOGETHER).max(1);
        let sync = |share: &mut [Box<dyn Handle>]| -> Vec<_> {
            share.iter_mut().map(|file| file.sync()).collect()
        };
        let mut shares = files.chunks_mut(share);
        let first = shares.next().unwrap_or_default();
        thread::scope(|scope| {
            let others: Vec<_> = shares.map(|it| scope.spawn(move || sync(it))).collect();
            let mut all = sync(first);
            for other in others {
                match other.join() {
                    Ok(synced) => all.extend(synced),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        })
    }

    fn sync_all(&self, dir: &Path) -> io::Result<()> {
        sync_file_system(&File::open(dir)?)
    }

    fn flock(&self, path: &Path, wait: Duration) -> io::Result<Option<Box<dyn Flock>>> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(OFlags::NOFOLLOW.bits() as i32)
            .open(path);
        let file = match file {
            // Whoever may only read can hold a lock that is there all the same.
            Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => OpenOptions::new()
                .read(true)
                .custom_flags(OFlags::NOFOLLOW.bits() as i32)
                .open(path)
                .map_err(|_| error)?,
            opened => opened?,
        };
        match file.try_lock() {
            Ok(()) => return Ok(Some(Box::new(RealFlock(file)))),
            Err(TryLockError::WouldBlock) if wait.is_zero() => return Ok(None),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // Only a blocking call queues fairly, and it knows no time limit: a thread waits for us.
        // Past the limit its lock arrives at a closed channel and is dropped at once.
        let (send, receive) = mpsc::sync_channel(1);
        thread::Builder::new().spawn(move || {
            let locked = file.lock().map(|()| file);
            let _: Result<(), _> = send.try_send(locked);
        })?;
        match receive.recv_timeout(wait) {
            Ok(locked) => Ok(Some(Box::new(RealFlock(locked?)))),
            Err(_) => Ok(None),
        }
    }
}

pub(super) fn open_append(path: &Path) -> io::Result<File> {
    // NONBLOCK: a pipe here must not hang us either. A child that inherits the file expects none.
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
        .open(path)?;
    regular(&file)?;
    sys::fcntl_setfl(&file, OFlags::APPEND)?;
    Ok(file)
}

pub(super) fn link(to: &Path, at: &Path) -> io::Result<()> {
    Ok(sys::symlink(to, at)?)
}

pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::copy(from, to).map(drop)
}

#[cfg(target_os = "linux")]
pub(super) fn hollow(path: &Path, part: Range<u64>, words: &str) -> io::Result<bool> {
    use rustix::{fs::FallocateFlags, io::Errno};
    let file = OpenOptions::new()
        .write(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
        .open(path)?;
    regular(&file)?;
    let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    match sys::fallocate(&file, how, part.start, part.end - part.start) {
        Ok(()) => {}
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(false),
        Err(errno) => return Err(errno.into()),
    }
    file.write_all_at(words.as_bytes(), part.start)?;
    Ok(true)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn hollow(_path: &Path, _part: Range<u64>, _words: &str) -> io::Result<bool> {
    Ok(false)
}

pub(super) fn remove_empty_dir(dir: &Path) -> io::Result<()> {
    std::fs::remove_dir(dir)
}

pub(super) fn remove_tree(dir: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(dir) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_dirs(dir)?;
            std::fs::remove_dir_all(dir)
        }
        removed => removed,
    }
}

/// Lets the owner into a directory and those below it, without following links.
fn open_dirs(dir: &Path) -> io::Result<()> {
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700))?;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_dirs(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn rename_noreplace(from: &Path, to: &Path) -> rustix::io::Result<()> {
    sys::renameat_with(sys::CWD, from, sys::CWD, to, RenameFlags::NOREPLACE)
}

#[cfg(not(target_os = "linux"))]
fn rename_noreplace(from: &Path, to: &Path) -> rustix::io::Result<()> {
    let _ = (from, to, RenameFlags::NOREPLACE);
    Err(rustix::io::Errno::NOSYS)
}

#[cfg(target_os = "linux")]
fn rename_exchange(one: &Path, other: &Path) -> rustix::io::Result<()> {
    sys::renameat_with(sys::CWD, one, sys::CWD, other, RenameFlags::EXCHANGE)
}

#[cfg(not(target_os = "linux"))]
fn rename_exchange(_: &Path, _: &Path) -> rustix::io::Result<()> {
    Err(rustix::io::Errno::NOSYS)
}

/// Directories have no hard links. A rename refuses a directory that holds something, and one that
/// holds nothing is no loss, should it appear just now.
fn rename_dir(from: &Path, to: &Path) -> io::Result<()> {
    match sys::lstat(to) {
        Err(rustix::io::Errno::NOENT) => Ok(sys::rename(from, to)?),
        Ok(_) => Err(rustix::io::Errno::EXIST.into()),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(target_os = "linux")]
fn sync_file_system(file: &File) -> io::Result<()> {
    Ok(sys::syncfs(file)?)
}

#[cfg(not(target_os = "linux"))]
fn sync_file_system(_: &File) -> io::Result<()> {
    sys::sync();
    Ok(())
}

/// Cutting a file off and growing it again would make work for the next sync of anybody.
fn overwrite_in_place(file: &File, bytes: &[u8]) -> io::Result<()> {
    file.write_all_at(bytes, 0)?;
    let len = bytes.len() as u64;
    if file.metadata()?.len() != len {
        file.set_len(len)?;
    }
    Ok(())
}

/// The open file's status, which must be a regular file's.
fn regular(file: &File) -> io::Result<sys::Stat> {
    let stat = sys::fstat(file)?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
        Ok(stat)
    } else {
        Err(no_file("not a regular file"))
    }
}

/// Gives a new file, 0600, the group and the mode of another.
fn resemble(file: &File, like: &sys::Stat) -> io::Result<()> {
    let group = Gid::from_raw(like.st_gid);
    let is_in_group =
        sys::fstat(file)?.st_gid == like.st_gid || sys::fchown(file, None, Some(group)).is_ok();
    let mode = like.st_mode & 0o777;
    let mode = match is_in_group {
        true => mode,
        // Another group is to see no more than everybody may.
        false => mode & (0o707 | (mode & 0o007) << 3),
    };
    if mode != 0o600 {
        // Unlike a mode at creation, it is not cut down by the umask.
        sys::fchmod(file, Mode::from_raw_mode(mode))?;
    }
    Ok(())
}

fn no_file(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn stat_of(stat: &sys::Stat) -> Stat {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Dir,
        FileType::Symlink => FileKind::Symlink,
        _ => FileKind::Other,
    };
    let nanos =
        |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
    Stat {
        kind,
        len: u64::try_from(stat.st_size).unwrap_or_default(),
        inode: stat.st_ino,
        mode: stat.st_mode & 0o7777,
        modified: nanos(
            stat.st_mtime,
            i64::try_from(stat.st_mtime_nsec).unwrap_or_default(),
        ),
        changed: nanos(
            stat.st_ctime,
            i64::try_from(stat.st_ctime_nsec).unwrap_or_default(),
        ),
    }
}

struct RealHandle(File);

impl Handle for RealHandle {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}

#[derive(Debug)]
struct RealFlock(File);

impl Flock for RealFlock {
    fn sign(&mut self, holder: &str) -> io::Result<()> {
        overwrite_in_place(&self.0, holder.as_bytes())
    }
}
