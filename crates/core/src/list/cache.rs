//! A whole list, fast.
//!
//! Owns the look at a list's directory: every load looks at every file's stamp, reads again what
//! differs from the cache, and believes the directory. A load holds of each task what the caller
//! asked for: its outline, or only its standing. Deleting the cache costs one slow load.

mod form;

use std::{
    ffi::OsString,
    io,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use flagpost_disk::{
    self as disk,
    dialects::claude_tasks::{self, CACHE, TaskFile},
    fsx::{self, Fs, Kind, Stat},
};
use flagpost_model::{
    TaskId,
    plan::{Index, Node},
    task::{Outline, Standing, Task},
};

use super::{Loaded, Skipped};
use crate::{error::Result, home::Home};
use form::{Form, Stamp};

/// A file that changed less than this before it was read, in nanoseconds, may change again within
/// the same tick of the file system's clock, of 10 ms at most: its stamp proves nothing yet.
pub(crate) const SETTLED: i128 = 30_000_000;

/// Rewriting the cache pays from this many files that were read anew.
pub(super) const WORTHWHILE: usize = 64;

/// So many files take longer to read than a thread to begin.
const MANY: usize = 16;

/// A cache this large is decoded while the directory is looked at.
const ASIDE_FROM: usize = 64 << 10;

/// No list's outlines come near it, 1 GiB: a larger file is no cache.
const LIMIT: u64 = 1 << 30;

/// What is held of each task of a list.
trait Held: Node + for<'t> From<&'t Task> {
    /// All of them, as the cache has them.
    fn cached(form: &Form<'_>) -> Option<Vec<Self>>;
}

impl Held for Outline {
    fn cached(form: &Form<'_>) -> Option<Vec<Self>> {
        form.outlines()
    }
}

impl Held for Standing {
    fn cached(form: &Form<'_>) -> Option<Vec<Self>> {
        form.standings()
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
struct Seen<T> {
    stamps: Vec<Stamp>,
    tasks: Vec<T>,
    skipped: Vec<Skipped>,
    /// Whether the next load would be faster with another cache.
    is_stale: bool,
}

/// Everything that can be read.
pub(super) fn load(home: &Home, dir: &Path, leave: Leave) -> Result<Loaded> {
    let seen: Seen<Outline> = look(home, dir, || ())?;
    if seen.is_stale && leave == Leave::Fresh {
        // Not being able to cache is no reason not to answer.
        let _: Result<(), disk::Error> = write(home.fs(), dir, &seen);
    }
    Ok(Loaded {
        outlines: seen.tasks,
        skipped: seen.skipped,
    })
}

/// Where each task stands, seen after `begun` was called. `None` where the cache is of no help: [`load`]
/// mends that.
pub(super) fn standings(
    home: &Home,
    dir: &Path,
    begun: impl FnOnce(),
) -> Result<Option<(Vec<Standing>, Vec<Skipped>)>> {
    let seen = look(home, dir, begun)?;
    Ok((!seen.is_stale).then_some((seen.tasks, seen.skipped)))
}

fn write(fs: &dyn Fs, dir: &Path, seen: &Seen<Outline>) -> Result<(), disk::Error> {
    match form::encode(&seen.stamps, &seen.tasks) {
        Ok(bytes) => fsx::replace(fs, &dir.join(CACHE), &bytes),
        Err(_) => Ok(()),
    }
}

fn look<T: Held + Send>(home: &Home, dir: &Path, begun: impl FnOnce()) -> Result<Seen<T>> {
    let fs = home.fs();
    let bytes = fs.read(&dir.join(CACHE), 0, LIMIT).unwrap_or_default();
    let form = Form::decode(&bytes);
    let places = form
        .as_ref()
        .map(|form| Index::new(form.names.iter().copied()));
    begun();
    let looked_at = home.now().as_nanosecond();
    if let (Some(form), Some(places)) = (form, places) {
        let look = || News::of(fs, dir, &form, &places);
        let (news, tasks) = if bytes.len() < ASIDE_FROM {
            (look()?, T::cached(&form))
        } else {
            thread::scope(|scope| {
                let tasks = scope.spawn(|| T::cached(&form));
                let news = look()?;
                Ok::<_, disk::Error>((news, tasks.join().ok().flatten()))
            })?
        };
        if let Some(tasks) = tasks.filter(|tasks| tasks.len() == form.len()) {
            return Ok(news.merge(fs, dir, (form.stamps(), tasks), &places, looked_at));
        }
    }
    let (form, places) = (Form::EMPTY, Index::new([].into_iter()));
    let news = News::of(fs, dir, &form, &places)?;
    Ok(news.merge(fs, dir, (Vec::new(), Vec::new()), &places, looked_at))
}

/// What a look at the directory found to differ from the cache.
#[derive(Debug)]
struct News {
    /// By place in the cache: whether its file is still as it was.
    current: Vec<bool>,
    /// The other files.
    files: Vec<(OsString, Stat)>,
}

impl News {
    fn of(fs: &dyn Fs, dir: &Path, form: &Form<'_>, places: &Index<'_>) -> disk::Result<Self> {
        let current: Vec<AtomicBool> = (0..form.len()).map(|_| AtomicBool::new(false)).collect();
        let is_news = |name: &[u8], stat: Stat| {
            let place = place_of(places, name);
            let known = place.filter(|&at| form.stamp(at) == Stamp::from(stat));
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

    /// Reads what is new, and takes it in; takes out what is not there any more.
    fn merge<T: Held + Send>(
        mut self,
        fs: &dyn Fs,
        dir: &Path,
        (mut stamps, mut tasks): (Vec<Stamp>, Vec<T>),
        places: &Index<'_>,
        looked_at: i128,
    ) -> Seen<T> {
        use std::os::unix::ffi::OsStrExt;

        let (mut new, mut skipped) = (Vec::new(), Vec::new());
        let (mut settled, mut gone) = (0, self.current.iter().filter(|it| !**it).count());
        let read = read_all(fs, dir, &self.files, |file| T::from(&file.task));
        for ((name, stat), read) in self.files.into_iter().zip(read) {
            let place = place_of(places, name.as_bytes());
            gone -= usize::from(place.is_some());
            let task = match read {
                Ok(Some(task)) => task,
                Ok(None) => continue,
                Err(reason) => {
                    let (file, name) = (name.clone(), name.to_string_lossy().into_owned());
                    skipped.push(Skipped { name, file, reason });
                    continue;
                }
            };
            let is_settled = looked_at - i128::from(stat.changed) > SETTLED;
            settled += usize::from(is_settled);
            let stamp = if is_settled {
                Stamp::from(stat)
            } else {
                Stamp::NONE
            };
            match place {
                Some(at) => {
                    (stamps[at], tasks[at]) = (stamp, task);
                    self.current[at] = true;
                }
                None => new.push((stamp, task)),
            }
        }
        skipped.sort_by(|a, b| a.name.cmp(&b.name));
        let cached = tasks.len();
        if self.current.contains(&false) {
            let mut keep = self.current.iter();
            stamps.retain(|_| keep.next() == Some(&true));
            let mut keep = self.current.iter();
            tasks.retain(|_| keep.next() == Some(&true));
        }
        take_in(&mut stamps, &mut tasks, new);
        Seen {
            stamps,
            tasks,
            skipped,
            is_stale: settled >= WORTHWHILE.max(cached / 512) || gone > WORTHWHILE.max(cached / 2),
        }
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

/// Where the cache has the task that a file of this name holds.
fn place_of(places: &Index<'_>, name: &[u8]) -> Option<usize> {
    places.get(claude_tasks::stem(name)?)
}

fn take_in<T: Held>(stamps: &mut Vec<Stamp>, tasks: &mut Vec<T>, mut new: Vec<(Stamp, T)>) {
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
    if stat.kind != Kind::File {
        return Err("it is not a regular file".to_owned());
    }
    let bytes = match fs.read(path, 0, fsx::READ_LIMIT) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    claude_tasks::read(&id, &bytes).map(Some)
}
