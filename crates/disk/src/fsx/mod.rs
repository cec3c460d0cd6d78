//! The primitives every writer uses (`tree.md` §0).
//!
//! Owns the only code that may create, rename or remove. Invariants: content is synced before its
//! name appears; a name is synced before the caller is told; nothing is removed whose replacement
//! is not durable. Every primitive works through [`Fs`], so that a simulated file system can cut
//! the power after each of its steps.

mod append;
mod batch;
mod draft;
mod flag;
mod lock;
mod number;
mod publish;
mod quarantine;
mod real;
mod shared;
mod socket;
mod sweep;
mod temporary;

use std::{
    collections::BTreeSet, ffi::OsString, fmt, io, path::Path, path::PathBuf, time::Duration,
};

use jiff::Timestamp;

pub use crate::holder::Holder;
pub use append::{Durability, append, complete};
pub use batch::{Batch, Effect, StagedBatch, replace};
pub use draft::StagedFile;
pub use flag::{Raised, flag, flags};
pub use lock::{
    DEFAULT_WAIT, Lock, Rank, hold, holder, holds_a_lock, lock, lock_all, try_hold, try_lock,
};
pub use number::{allocate, allocate_in, peek};
pub use publish::publish;
pub use quarantine::{Case, Kept, QUARANTINE, kept, quarantine, store};
pub use real::RealFs;
pub use shared::{make_shared_dir, rewrite};
pub use socket::listen;
pub use sweep::{orphans, remove_orphans};

use uuid::Uuid;

use crate::error::{Error, Result, found};

/// Largest file we read whole: 16 MiB. No envelope, task or artifact comes near it.
pub const READ_LIMIT: u64 = 16 << 20;

/// A file that changed less than this before it was looked at, in nanoseconds, may change again within
/// the same tick of the file system's clock, of 10 ms at most.
const SETTLED: i128 = 30_000_000;

/// The system calls that the primitives are made of. One method, one step that a power cut can
/// fall behind.
pub trait Fs: Send + Sync + fmt::Debug {
    /// The content of a regular file, from `offset`, without following a final symlink. A file
    /// over `limit` bytes beyond the offset is refused with `FileTooLarge`.
    fn read(&self, path: &Path, offset: u64, limit: u64) -> io::Result<Vec<u8>>;
    /// At most `len` bytes of a regular file, from `offset`, without following a final symlink.
    fn read_part(&self, path: &Path, offset: u64, len: u64) -> io::Result<Vec<u8>>;
    /// What is there, without following a final symlink.
    fn stat(&self, path: &Path) -> io::Result<Stat>;
    /// The names in a directory and what kind each is, in no order.
    fn entries(&self, dir: &Path) -> io::Result<Vec<(OsString, FileKind)>>;
    /// The names in a directory, in no order.
    fn names(&self, dir: &Path) -> io::Result<Vec<OsString>> {
        let entries = self.entries(dir)?.into_iter();
        Ok(entries.map(|(name, _)| name).collect())
    }
    /// The names in a directory that `wanted` takes, with what is there, in no order.
    fn scan_dir(
        &self,
        dir: &Path,
        wanted: &(dyn Fn(&[u8]) -> bool + Sync),
    ) -> io::Result<Vec<(OsString, Stat)>> {
        self.look(dir, wanted, &|_, _| true)
    }
    /// As [`Fs::scan_dir`], of which only what `is_news` says is kept. It is asked once of each, by
    /// several threads at a time.
    fn look(
        &self,
        dir: &Path,
        wanted: &(dyn Fn(&[u8]) -> bool + Sync),
        is_news: &(dyn Fn(&[u8], Stat) -> bool + Sync),
    ) -> io::Result<Vec<(OsString, Stat)>>;
    /// The path with every symlink resolved.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;
    /// Creates one directory, 0700.
    fn make_dir(&self, path: &Path) -> io::Result<()>;
    /// Creates a file that must not exist, 0600.
    fn create(&self, path: &Path) -> io::Result<Box<dyn Handle>>;
    /// Creates a directory that is not ours alone: 0755, as far as the umask lets it.
    fn make_shared_dir(&self, path: &Path) -> io::Result<()>;
    /// Creates a file that must not exist with the mode and the group of the file `like`; where that is
    /// not there, with the mode `or`, as far as the umask lets it. A group that cannot be given may do
    /// no more than everybody.
    fn create_like(&self, path: &Path, like: &Path, or: u32) -> io::Result<Box<dyn Handle>>;
    /// Opens a file for appending, creating it 0600.
    fn open_append(&self, path: &Path) -> io::Result<Box<dyn Handle>>;
    /// Overwrites a file in place, creating it 0600. Nothing of it is durable and a crash may leave
    /// anything in it: for hints that are worth nothing then.
    fn overwrite(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Cuts a file off after so many bytes, durable on return.
    fn cut(&self, path: &Path, len: u64) -> io::Result<()>;
    /// Renames, replacing the target.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Renames to a name that must not exist (`AlreadyExists`).
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives two files each other's name in one step, so that neither name is ever free; `Unsupported`
    /// where the file system cannot.
    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Sets who may do what with a file or directory, without following a final symlink.
    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()>;
    /// How much room there is around a path.
    fn room(&self, path: &Path) -> io::Result<Room>;
    /// Makes the names of a directory durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Makes what was written to each of these durable, and says of each whether it is.
    fn sync_each(&self, files: &mut [Box<dyn Handle>]) -> Vec<io::Result<()>> {
        files.iter_mut().map(|file| file.sync()).collect()
    }
    /// Makes the content of every file of the file system that holds `dir` durable.
    fn sync_all(&self, dir: &Path) -> io::Result<()>;
    /// A random id (UUID, version 4) that nobody else has.
    fn random_id(&self) -> Uuid {
        Uuid::new_v4()
    }
    /// An id (UUID, version 7) that nobody else has, later in order than those that were given before.
    fn dated_id(&self) -> Uuid {
        Uuid::now_v7()
    }
    /// Takes the `flock` on a file, creating it 0600; `None` when it was not free within `wait`.
    fn flock(&self, path: &Path, wait: Duration) -> io::Result<Option<Box<dyn Flock>>>;
}

/// An open file being written.
pub trait Handle: Send {
    /// Writes all of `bytes` with one call where the system allows it.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes what was written durable.
    fn sync(&mut self) -> io::Result<()>;
}

/// A held `flock`; dropping it lets go.
pub trait Flock: Send + fmt::Debug {
    /// Writes who holds the lock into the lock file. Not durable: it matters only while held.
    fn sign(&mut self, holder: &str) -> io::Result<()>;
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// A file, a directory, or neither.
    pub kind: FileKind,
    /// Size in bytes.
    pub len: u64,
    /// Inode number.
    pub inode: u64,
    /// The permission bits.
    pub mode: u32,
    /// Last change of content, nanoseconds since 1970.
    pub modified: i64,
    /// Last change of content or attributes, nanoseconds since 1970.
    pub changed: i64,
}

impl Stat {
    /// Whether every change since it was looked at shows in another stat. `looked_at` is from before
    /// that; until then the stat proves nothing yet.
    pub fn is_settled(&self, looked_at: Timestamp) -> bool {
        looked_at.as_nanosecond() - i128::from(self.changed) > SETTLED
    }
}

/// What a file system has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Bytes that we may still write.
    pub bytes: u64,
    /// Files that we may still create; `None` where nothing limits them.
    pub files: Option<u64>,
    /// It refuses every write.
    pub read_only: bool,
}

/// The kinds of thing that matter to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link.
    Symlink,
    /// A device, a socket, a pipe.
    Other,
}

/// The whole file, or `None` where there is none.
pub fn read(fs: &dyn Fs, path: &Path) -> Result<Option<Vec<u8>>> {
    read_up_to(fs, path, READ_LIMIT)
}

/// The same for a file that may be larger than ours are.
pub fn read_up_to(fs: &dyn Fs, path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    found(fs.read(path, 0, limit)).map_err(Error::io("read", path))
}

/// The whole file as text, or `None` where there is none. Bytes that are not UTF-8 are shown as
/// U+FFFD: for artifacts that agents write, never for what is written back.
pub fn read_lossy(fs: &dyn Fs, path: &Path) -> Result<Option<String>> {
    Ok(read(fs, path)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// The names in a directory, in no order; none where nothing is there.
pub fn names(fs: &dyn Fs, dir: &Path) -> Result<Vec<OsString>> {
    let names = found(fs.names(dir)).map_err(Error::io("list", dir))?;
    Ok(names.unwrap_or_default())
}

/// The names in a directory and what kind each is, in no order; none where nothing is there.
pub fn entries(fs: &dyn Fs, dir: &Path) -> Result<Vec<(OsString, FileKind)>> {
    let entries = found(fs.entries(dir)).map_err(Error::io("list", dir))?;
    Ok(entries.unwrap_or_default())
}

/// What is at the path, or `None`.
pub fn stat(fs: &dyn Fs, path: &Path) -> Result<Option<Stat>> {
    found(fs.stat(path)).map_err(Error::io("look at", path))
}

/// Creates a directory and those above it, each durable in its parent before anything is made in
/// it. So one that is there may lack its sync, where its maker was killed, and none above it does.
pub fn make_dirs(fs: &dyn Fs, dir: &Path) -> Result<()> {
    let there = found(fs.stat(dir)).map_err(Error::io("create", dir))?;
    if there.is_some() {
        return match sync_parent(fs, dir) {
            // Who may not read the parent cannot have synced what they made in it: we did not.
            Err(error) if error.is_denied() => Ok(()),
            synced => synced,
        };
    }
    let parent = dir.parent().ok_or_else(|| io::ErrorKind::NotFound.into());
    make_dirs(fs, parent.map_err(Error::io("create", dir))?)?;
    match fs.make_dir(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(Error::io("create", dir)(error));
        }
        _ => {}
    }
    sync_parent(fs, dir)
}

/// Refuses a directory that a link leads to somewhere below `root`: what is written there lies elsewhere. The
/// root itself may be a link.
pub fn must_not_be_linked(fs: &dyn Fs, root: &Path, dir: &Path) -> Result<()> {
    let Ok(below) = dir.strip_prefix(root) else {
        return Ok(());
    };
    let mut path = root.to_owned();
    for part in below {
        path.push(part);
        // Where something else is wrong, whoever writes there is told so.
        if matches!(fs.stat(&path), Ok(it) if it.kind == FileKind::Symlink) {
            return Err(Error::Linked { path });
        }
    }
    Ok(())
}

/// Renames a whole directory, or a file, to a name that must be free; durable on return.
pub fn move_dir(fs: &dyn Fs, from: &Path, to: &Path) -> Result<()> {
    publish::rename_new(fs, from, to)?;
    sync_parent(fs, to)?;
    if from.parent() == to.parent() {
        return Ok(());
    }
    sync_parent(fs, from)
}

/// Renames files to names that must be free, in order; durable on return.
pub fn move_files(fs: &dyn Fs, moves: &[(PathBuf, PathBuf)]) -> Result<()> {
    let (mut to_dirs, mut from_dirs) = (BTreeSet::new(), BTreeSet::new());
    for (from, to) in moves {
        publish::rename_new(fs, from, to)?;
        to_dirs.extend(to.parent());
        from_dirs.extend(from.parent());
    }
    // Where it came to first: better twice than nowhere.
    for dir in to_dirs.into_iter().chain(from_dirs) {
        fs.sync_dir(dir).map_err(Error::io("sync", dir))?;
    }
    Ok(())
}

/// Takes a file away to a name that must be free and leaves another with this content in its place;
/// durable on return. No moment is without a file under its name, where the file system can do so.
pub fn take_leaving(fs: &dyn Fs, from: &Path, to: &Path, left: &[u8]) -> Result<()> {
    publish(fs, to, left)?;
    match fs.exchange(from, to) {
        Ok(()) => return sync_parent(fs, to),
        Err(error) => {
            remove(fs, to)?;
            if error.kind() != io::ErrorKind::Unsupported {
                return Err(Error::io("take", from)(error));
            }
        }
    }
    move_files(fs, &[(from.to_owned(), to.to_owned())])?;
    match publish(fs, from, left) {
        // What came meanwhile stays.
        Err(Error::Conflict { .. }) => Ok(()),
        published => published,
    }
}

/// Removes a file; durable on return. One that is not there is no error, and whoever removed it may
/// have died before its sync.
pub fn remove(fs: &dyn Fs, path: &Path) -> Result<()> {
    found(fs.remove(path)).map_err(Error::io("remove", path))?;
    let parent = path.parent().unwrap_or(Path::new("/"));
    found(fs.sync_dir(parent)).map_err(Error::io("sync", parent))?;
    Ok(())
}

/// Lets nobody but the owner in; whether that was not so. What is no file or directory is left
/// alone: a link's mode means nothing.
pub fn close_to_others(fs: &dyn Fs, path: &Path) -> Result<bool> {
    match stat(fs, path)? {
        Some(stat) if is_open_to_others(&stat) => {
            fs.set_mode(path, stat.mode & 0o700)
                .map_err(Error::io("set the mode of", path))?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Whether the mode of a file or directory lets others in.
pub fn is_open_to_others(stat: &Stat) -> bool {
    matches!(stat.kind, FileKind::File | FileKind::Dir) && stat.mode & 0o077 != 0
}

/// Makes a file that another program wrote durable, and its name.
pub fn sync(fs: &dyn Fs, path: &Path) -> Result<()> {
    let path = fs.canonical(path).map_err(Error::io("resolve", path))?;
    let parent = path.parent().unwrap_or(Path::new("/"));
    let synced = match fs.open_append(&path) {
        Ok(mut file) => file.sync(),
        // Its mode may forbid writing into it, and still it may just have been renamed here.
        Err(_) => fs.sync_all(parent),
    };
    synced.map_err(Error::io("sync", &path))?;
    sync_parent(fs, &path)
}

/// The canonical form of `path`, which must lie within `root`, symlinks included.
pub fn within(fs: &dyn Fs, root: &Path, path: &Path) -> Result<PathBuf> {
    let root = fs.canonical(root).map_err(Error::io("resolve", root))?;
    let real = fs.canonical(path).map_err(Error::io("resolve", path))?;
    if real.starts_with(&root) {
        Ok(real)
    } else {
        Err(Error::Outside {
            path: path.to_owned(),
            root,
        })
    }
}

/// The same; `None` where nothing is there, which leads nowhere.
pub fn within_if_there(fs: &dyn Fs, root: &Path, path: &Path) -> Result<Option<PathBuf>> {
    match within(fs, root, path) {
        Ok(real) => Ok(Some(real)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

fn sync_parent(fs: &dyn Fs, path: &Path) -> Result<()> {
    let parent = path.parent().unwrap_or(Path::new("/"));
    fs.sync_dir(parent).map_err(Error::io("sync", parent))
}

/// Opens a file that a child process prints into, appending, 0600. It is the one write that does
/// not go through [`Fs`]: the bytes are the child's.
pub fn open_log(path: &Path) -> Result<std::fs::File> {
    real::open_append(path).map_err(Error::io("open", path))
}

/// Makes a link to a directory, at a name that must be free. Nothing is told to be there because of it,
/// so it does not go through [`Fs`]; its name is durable on return all the same.
pub fn link(to: &Path, at: &Path) -> Result<()> {
    real::link(to, at).map_err(Error::io("link", at))?;
    sync_parent(&RealFs, at)
}

/// Copies a file with its permissions, over what is there; a file system that can share the blocks of two files
/// does. For what can be copied again: nothing of it needs to be durable.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    real::copy(from, to).map_err(Error::io("copy", from))
}

/// Gives back the room that a part of such a file takes up, which reads as zeros from then on, and writes
/// these words where it begins. `false` where the file system cannot: then all is as it was. The child may
/// print on meanwhile.
pub fn hollow(path: &Path, part: std::ops::Range<u64>, words: &str) -> Result<bool> {
    real::hollow(path, part, words).map_err(Error::io("give back a part of", path))
}

/// Removes a directory of another program's making where nothing is in it; says whether it did.
pub fn remove_empty_dir(dir: &Path) -> bool {
    real::remove_empty_dir(dir).is_ok()
}

/// Removes a directory with all that is in it. For what a child process was given to write and nobody
/// reads again: nothing of it needs to be durable, so it does not go through [`Fs`] either. What is not
/// there is no error.
pub fn remove_tree(dir: &Path) -> Result<()> {
    found(real::remove_tree(dir)).map_err(Error::io("remove", dir))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_just_now_or_later_proves_nothing() {
        let stat = Stat {
            kind: FileKind::File,
            len: 0,
            inode: 1,
            mode: 0o600,
            modified: 0,
            changed: 1_000_000_000,
        };
        for (looked_at, is_settled) in [(0, false), (1000, false), (1030, false), (1031, true)] {
            let looked_at = Timestamp::from_millisecond(looked_at).unwrap();
            assert_eq!(stat.is_settled(looked_at), is_settled, "{looked_at}");
        }
    }
}
