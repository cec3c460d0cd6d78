//! A whole list, fast.
//!
//! Owns the look at a list's directory: every load looks at every file's stamp, reads again what
//! differs from the cache, and believes the directory. A load holds of each task what the caller
//! asked for: its outline, or only its standing. What was loaded can be renewed by such a look, too.
//! Deleting the cache costs one slow load.

mod form;

use std::{
    borrow::Borrow,
    ffi::{OsStr, OsString},
    io,
    os::unix::ffi::OsStrExt,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use flagpost_disk::{
    self as disk,
    dialects::claude_tasks::{self, CACHE, TaskFile},
    fsx::{self, FileKind, Fs, Stat},
};
use flagpost_model::{
    TaskId,
    plan::{Index, Node},
    task::{Outline, Task, TaskSummary},
};
use jiff::Timestamp;

use super::{Loaded, vanished};
use crate::{error::Result, home::Home, skipped::Skipped};
use form::{Form, Stamp};

/// Rewriting the cache pays from this many files that were read anew.
pub(super) const WORTHWHILE: usize = 64;

/// So many files take longer to read than a thread to begin.
const MANY: usize = 16;

/// A cache this large is decoded while the directory is looked at.
const ASIDE_FROM: usize = 64 << 10;

/// No list's outlines come near it, 1 GiB: a larger file is no cache.
const LIMIT: u64 = 1 << 30;

/// What is held of each task of a list.
trait Cached: Node + Send + Sized {
    /// Of a task that was read.
    fn of(task: &Task) -> Self;

    /// All of them, as the cache has them.
    fn cached(form: &Form<'_>) -> Option<Vec<Self>>;
}

impl Cached for Outline {
    fn of(task: &Task) -> Self {
        task.into()
    }

    fn cached(form: &Form<'_>) -> Option<Vec<Self>> {
        form.outlines()
    }
}

impl Cached for Arc<Outline> {
    fn of(task: &Task) -> Self {
        Outline::from(task).into()
    }

    fn cached(form: &Form<'_>) -> Option<Vec<Self>> {
        form.outlines()
    }
}

impl Cached for TaskSummary {
    fn of(task: &Task) -> Self {
        task.into()
    }

    fn cached(form: &Form<'_>) -> Option<Vec<Self>> {
        form.summaries()
    }
}

/// Whether a load leaves the cache as it should be next time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leave {
    /// Up to date, where that pays.
    Fresh,
    /// As it was found.
    Untouched,
}

/// The tasks by id, each with the stamp of its file, and what is no task.
#[derive(Debug)]
pub(super) struct CachedList<T> {
    stamps: Vec<Stamp>,
    pub(super) tasks: Vec<T>,
    pub(super) skipped: Vec<Skipped>,
    /// Whether the next load would be faster with another cache.
    is_stale: bool,
}

/// Everything that can be read.
pub(super) fn load(home: &Home, dir: &Path, leave: Leave) -> Result<Loaded> {
    let seen = read_list::<Outline>(home, dir, leave)?;
    Ok(Loaded {
        outlines: seen.tasks,
        skipped: seen.skipped,
    })
}

/// Where each task stands, seen after `begun` was called. Leaves the cache fresh.
pub(super) fn summaries(
    home: &Home,
    dir: &Path,
    begun: impl FnOnce(),
) -> Result<(Vec<TaskSummary>, Vec<Skipped>)> {
    let bytes = read_cache(home, dir);
    begun();
    let (scan, form, standings) = look::<TaskSummary>(home, dir, &bytes)?;
    if scan.may_be_stale()
        && let Some(outlines) = Outline::cached(&form)
    {
        let seen = scan.merge(outlines);
        seen.leave(home, dir);
        let standings = seen.tasks.iter().map(TaskSummary::from).collect();
        return Ok((standings, seen.skipped));
    }
    let seen = scan.merge(standings);
    Ok((seen.tasks, seen.skipped))
}

fn read_list<T: Cached + Borrow<Outline>>(
    home: &Home,
    dir: &Path,
    leave: Leave,
) -> Result<CachedList<T>> {
    let bytes = read_cache(home, dir);
    let (scan, _, outlines) = look::<T>(home, dir, &bytes)?;
    let seen = scan.merge(outlines);
    if leave == Leave::Fresh {
        seen.leave(home, dir);
    }
    Ok(seen)
}

impl<T: Borrow<Outline>> CachedList<T> {
    /// Writes the cache anew, where that pays.
    fn leave(&self, home: &Home, dir: &Path) {
        let bytes = self
            .is_stale
            .then(|| form::encode(&self.stamps, &self.tasks));
        if let Some(Ok(bytes)) = bytes {
            // Not being able to cache is no reason not to answer.
            let _: disk::Result<()> = fsx::replace(home.fs(), &dir.join(CACHE), &bytes);
        }
    }
}

impl CachedList<Arc<Outline>> {
    /// Everything that can be read, to be renewed by and by.
    pub(super) fn begin(home: &Home, dir: &Path, leave: Leave) -> Result<Self> {
        read_list(home, dir, leave)
    }

    /// The same a moment later: reads only the files that changed since.
    pub(super) fn renewed(self, home: &Home, dir: &Path) -> Result<Self> {
        let known = self.tasks.clone();
        let names = known.iter().map(|task| task.id.as_str());
        let mut scan = DirScan::begin(home, dir, names, self.stamps);
        scan.look()?;
        Ok(scan.merge(self.tasks))
    }
}

fn read_cache(home: &Home, dir: &Path) -> Vec<u8> {
    let bytes = home.fs().read(&dir.join(CACHE), 0, LIMIT);
    bytes.unwrap_or_default()
}

/// A look at a list's directory, beside what is known of it.
#[derive(Debug)]
struct DirScan<'l> {
    fs: &'l dyn Fs,
    dir: &'l Path,
    places: Index<'l>,
    stamps: Vec<Stamp>,
    news: DirDiff,
    /// When it began.
    at: Timestamp,
}

/// The look, and the cache with the tasks that it has.
fn look<'l, T: Cached>(
    home: &'l Home,
    dir: &'l Path,
    cache: &'l [u8],
) -> Result<(DirScan<'l>, Form<'l>, Vec<T>)> {
    let form = Form::decode(cache).unwrap_or(Form::EMPTY);
    let mut scan = DirScan::begin(home, dir, form.names.iter().copied(), form.stamps());
    let tasks = if cache.len() < ASIDE_FROM {
        scan.look()?;
        T::cached(&form)
    } else {
        thread::scope(|scope| {
            let tasks = scope.spawn(|| T::cached(&form));
            scan.look()?;
            Ok::<_, disk::Error>(tasks.join().ok().flatten())
        })?
    };
    match tasks {
        Some(tasks) => Ok((scan, form, tasks)),
        None => look(home, dir, &[]),
    }
}

impl<'l> DirScan<'l> {
    fn begin(
        home: &'l Home,
        dir: &'l Path,
        names: impl ExactSizeIterator<Item = &'l str>,
        stamps: Vec<Stamp>,
    ) -> Self {
        Self {
            fs: home.fs(),
            dir,
            places: Index::new(names),
            stamps,
            news: DirDiff::default(),
            at: home.now(),
        }
    }

    fn look(&mut self) -> disk::Result<()> {
        self.news = DirDiff::of(self.fs, self.dir, &self.stamps, &self.places)?;
        Ok(())
    }

    fn is_settled(&self, stat: &Stat) -> bool {
        stat.is_settled(self.at)
    }

    /// Whether the next look would be faster with another cache, if all that is new can be read.
    fn may_be_stale(&self) -> bool {
        let files = self.news.files.iter();
        let settled = files.filter(|(_, stat)| self.is_settled(stat)).count();
        self.is_stale(settled, self.gone())
    }

    fn is_stale(&self, settled: usize, gone: usize) -> bool {
        let known = self.stamps.len();
        settled >= WORTHWHILE.max(known / 512) || gone > WORTHWHILE.max(known / 2)
    }

    /// How many of the known tasks have no file any more.
    fn gone(&self) -> usize {
        let other = self.news.current.iter().filter(|it| !**it).count();
        let files = self.news.files.iter();
        let there = files.filter(|(name, _)| self.place_of(name).is_some());
        other.saturating_sub(there.count())
    }

    /// Where the task that a file of this name holds has its place, if it is known.
    fn place_of(&self, name: &OsStr) -> Option<usize> {
        place_of(&self.places, name.as_bytes())
    }

    /// Reads what is new, and takes it in; takes out what is not there any more.
    fn merge<T: Cached>(mut self, mut tasks: Vec<T>) -> CachedList<T> {
        let (mut new, mut skipped) = (Vec::new(), Vec::new());
        let (mut settled, gone) = (0, self.gone());
        let mut stamps = self.stamps.clone();
        let DirDiff { mut current, files } = std::mem::take(&mut self.news);
        let read = read_all(self.fs, self.dir, &files, |file| T::of(&file.task));
        for ((name, stat), read) in files.into_iter().zip(read) {
            let place = self.place_of(&name);
            let task = match read {
                Ok(Some(task)) => task,
                Ok(None) => continue,
                Err(reason) => {
                    let (file, name) = (name.clone(), name.to_string_lossy().into_owned());
                    skipped.push(Skipped { name, file, reason });
                    continue;
                }
            };
            let is_settled = self.is_settled(&stat);
            settled += usize::from(is_settled);
            let stamp = if is_settled {
                Stamp::from(stat)
            } else {
                Stamp::NONE
            };
            match place {
                Some(at) => {
                    (stamps[at], tasks[at]) = (stamp, task);
                    current[at] = true;
                }
                None => new.push((stamp, task)),
            }
        }
        skipped.sort_by(|a, b| a.name.cmp(&b.name));
        let is_stale = self.is_stale(settled, gone);
        if current.contains(&false) {
            let mut keep = current.iter();
            stamps.retain(|_| keep.next() == Some(&true));
            let mut keep = current.iter();
            tasks.retain(|_| keep.next() == Some(&true));
        }
        take_in(&mut stamps, &mut tasks, new);
        CachedList {
            stamps,
            tasks,
            skipped,
            is_stale,
        }
    }
}

/// What a look at the directory found to differ from the cache.
#[derive(Debug, Default)]
struct DirDiff {
    /// By place in the cache: whether its file is still as it was.
    current: Vec<bool>,
    /// The other files.
    files: Vec<(OsString, Stat)>,
}

impl DirDiff {
    fn of(fs: &dyn Fs, dir: &Path, stamps: &[Stamp], places: &Index<'_>) -> disk::Result<Self> {
        let current: Vec<AtomicBool> = (0..stamps.len()).map(|_| AtomicBool::new(false)).collect();
        let is_news = |name: &[u8], stat: Stat| {
            let place = place_of(places, name);
            let known = place.filter(|&at| stamps.get(at) == Some(&Stamp::from(stat)));
            if let Some(at) = known {
                current[at].store(true, Ordering::Relaxed);
            }
            known.is_none()
        };
        let files = fs
            .look(dir, &claude_tasks::is_task_name, &is_news)
            .map_err(disk::Error::io("list", dir))?;
        Ok(Self {
            current: current.into_iter().map(AtomicBool::into_inner).collect(),
            files,
        })
    }
}

/// What is kept of each file, as [`read_file`] says, read by two threads where there are many.
pub(super) fn read_all<T: Send>(
    fs: &dyn Fs,
    dir: &Path,
    files: &[(OsString, Stat)],
    kept: impl Fn(TaskFile) -> T + Sync,
) -> Vec<Result<Option<T>, String>> {
    let read = |(name, stat): &(OsString, Stat)| {
        let id = name.to_str().and_then(claude_tasks::id_of);
        Ok(read_file(fs, &dir.join(name), id, *stat)?.map(&kept))
    };
    if files.len() < MANY {
        return files.iter().map(read).collect();
    }
    let (one, other) = files.split_at(files.len() / 2);
    thread::scope(|scope| {
        let other = scope.spawn(|| other.iter().map(read).collect::<Vec<_>>());
        let mut all: Vec<_> = one.iter().map(read).collect();
        match other.join() {
            Ok(others) => all.extend(others),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        all
    })
}

fn place_of(places: &Index<'_>, name: &[u8]) -> Option<usize> {
    places.get(claude_tasks::stem(name)?)
}

fn take_in<T: Cached>(stamps: &mut Vec<Stamp>, tasks: &mut Vec<T>, mut new: Vec<(Stamp, T)>) {
    new.sort_by(|(_, a), (_, b)| a.id().cmp(b.id()));
    // New tasks have the highest ids, unless somebody else named them.
    if let (Some(last), Some((_, first))) = (tasks.last(), new.first())
        && last.id() > first.id()
    {
        new.extend(
            std::mem::take(stamps)
                .into_iter()
                .zip(std::mem::take(tasks)),
        );
        new.sort_by(|(_, a), (_, b)| a.id().cmp(b.id()));
    }
    for (stamp, task) in new {
        stamps.push(stamp);
        tasks.push(task);
    }
}

/// `Ok(None)` for a file that is gone since the directory was read; the error says why the file
/// is no task.
pub(super) fn read_file(
    fs: &dyn Fs,
    path: &Path,
    id: Option<TaskId>,
    stat: Stat,
) -> Result<Option<TaskFile>, String> {
    let id = id.ok_or("its name is no task id")?;
    if stat.kind != FileKind::File {
        return Err("it is not a regular file".to_owned());
    }
    let bytes = match fs.read(path, 0, fsx::READ_LIMIT) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    match vanished::is_nothing(&bytes) {
        true => Err("it is empty".to_owned()),
        false => claude_tasks::read(&id, &bytes).map(Some),
    }
}
