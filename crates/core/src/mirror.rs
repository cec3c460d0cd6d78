//! The lists of this home where another program looks for its own (`tasks.mirror`).
//!
//! Owns how each list appears there (`tasks.mirror_as`): as a link to its directory, so that whatever either
//! side writes is in the same files, or as a copy for programs that pass links over. Invariants: the home's
//! files are the tasks, and a copy is never read; what is there under a list's name is left as it is unless it
//! is our own copy, which a file in it says; no list is ever removed; a mirror within our own home is refused.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use flagpost_disk::{dialects::claude_tasks, fsx};
use flagpost_model::{ListId, MirrorForm};

use crate::{
    config::{self, Config, Stored, keys},
    error::{Error, Result},
    home::Home,
    roots::expand,
};

/// The file of a copy that says of which list's directory it is one.
const MARK: &str = ".flagpost-copy";

/// A list that does not appear in the mirror as it should.
#[derive(Debug, PartialEq, Eq)]
pub struct Absent {
    /// The list.
    pub list: ListId,
    /// Where it would appear.
    pub path: PathBuf,
    /// What is there.
    pub there: Instead,
}

/// What is where a list would appear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instead {
    /// Nothing.
    Nothing,
    /// Our copy, which is not up to date.
    OldCopy,
    /// Something that is not ours.
    Other,
}

/// Where lists appear, and how.
struct Mirror {
    dir: PathBuf,
    form: MirrorForm,
}

/// Has every list appear in the mirror, where one is set, whose name is free there; those that do not.
pub fn keep(home: &Home) -> Result<Vec<Absent>> {
    let Some(mirror) = Mirror::of(home)? else {
        return Ok(Vec::new());
    };
    let mut taken = Vec::new();
    for absent in mirror.missing(home)? {
        if absent.there == Instead::Other {
            taken.push(absent);
            continue;
        }
        let list = home.fs().canonical(&home.list_dir(&absent.list));
        let list = list.map_err(flagpost_disk::Error::io("resolve", &absent.path))?;
        match mirror.form {
            MirrorForm::Link => {
                home.make_dirs(&mirror.dir)?;
                fsx::link(&list, &absent.path)?;
            }
            MirrorForm::Copy => {
                home.make_dirs(&absent.path)?;
                fsx::replace(home.fs(), &absent.path.join(MARK), mark(&list).as_bytes())?;
                for name in task_files(home, &list)?.union(&task_files(home, &absent.path)?) {
                    copy(home, &list.join(name), &absent.path.join(name))?;
                }
            }
        }
    }
    Ok(taken)
}

/// The lists that do not appear in the mirror as they should. Changes nothing.
pub fn missing(home: &Home) -> Result<Vec<Absent>> {
    match Mirror::of(home)? {
        Some(mirror) => mirror.missing(home),
        None => Ok(Vec::new()),
    }
}

/// Brings these files of tasks up to date in the copies of their lists, where there are any. The files are what
/// counts: of a copy that stays behind, the doctor tells.
pub(crate) fn refresh(home: &Home, files: impl IntoIterator<Item = PathBuf>) {
    let Ok(Some(Mirror {
        dir,
        form: MirrorForm::Copy,
    })) = Mirror::of(home)
    else {
        return;
    };
    for file in files {
        let list = file.parent().unwrap_or(&file);
        let (Some(called), Some(name)) = (list.file_name(), file.file_name()) else {
            continue;
        };
        let to = dir.join(called);
        if is_copy_of(home, &to, list) {
            let _: Result<()> = copy(home, &file, &to.join(name));
        }
    }
}

impl Mirror {
    /// The one that is set.
    fn of(home: &Home) -> Result<Option<Self>> {
        let config = Config::read(home)?;
        let Some(dir) = config.get(&keys::TASKS_MIRROR)? else {
            return Ok(None);
        };
        let dir = place(home, &dir)?;
        let form = config.need(&keys::TASKS_MIRROR_AS)?;
        Ok(Some(Self { dir, form }))
    }

    fn missing(&self, home: &Home) -> Result<Vec<Absent>> {
        let fs = home.fs();
        let mut missing = Vec::new();
        for list in home.lists()? {
            // One that leads elsewhere is not ours to show.
            let here = fsx::within_if_there(fs, &home.tasks_root(), &home.list_dir(&list));
            let Ok(Some(here)) = here else { continue };
            let path = self.dir.join(list.as_str());
            // What cannot be looked at is something, and not ours.
            let is_there = !matches!(fsx::stat(fs, &path), Ok(None));
            let there = match self.form {
                _ if !is_there => Some(Instead::Nothing),
                MirrorForm::Link => {
                    (fs.canonical(&path).ok() != Some(here)).then_some(Instead::Other)
                }
                MirrorForm::Copy if !is_copy_of(home, &path, &here) => Some(Instead::Other),
                MirrorForm::Copy => {
                    let is_same = is_same(home, &here, &path).unwrap_or(false);
                    (!is_same).then_some(Instead::OldCopy)
                }
            };
            missing.extend(there.map(|there| Absent { list, path, there }));
        }
        Ok(missing)
    }
}

/// What the mark of a copy of this directory says.
fn mark(list: &Path) -> String {
    format!("{}\n", list.display())
}

/// Whether this is our copy of a list.
fn is_copy_of(home: &Home, path: &Path, list: &Path) -> bool {
    let says = fsx::read_lossy(home.fs(), &path.join(MARK));
    let real = home.fs().canonical(list);
    matches!((says, real), (Ok(Some(says)), Ok(real)) if says == mark(&real))
}

/// Whether a copy says of each task what the list says.
fn is_same(home: &Home, list: &Path, copy: &Path) -> Result<bool> {
    let names = task_files(home, list)?;
    if names != task_files(home, copy)? {
        return Ok(false);
    }
    for name in &names {
        let read = |dir: &Path| fsx::read(home.fs(), &dir.join(name));
        if read(list)? != read(copy)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The files of tasks.
fn task_files(home: &Home, dir: &Path) -> Result<BTreeSet<OsString>> {
    let mut names: BTreeSet<OsString> = fsx::names(home.fs(), dir)?.into_iter().collect();
    names.retain(|it| claude_tasks::is_task_name(it.as_bytes()));
    Ok(names)
}

/// Makes a file say what another says; it goes where that is gone.
fn copy(home: &Home, from: &Path, to: &Path) -> Result<()> {
    match fsx::read(home.fs(), from)? {
        Some(bytes) => fsx::replace(home.fs(), to, &bytes)?,
        None => fsx::remove(home.fs(), to)?,
    }
    Ok(())
}

/// Stores what was typed for a setting, as [`config::set`] does, and has the lists appear where that says so.
pub fn set(home: &Home, name: &str, typed: &[String]) -> Result<Stored> {
    let is_mirror = name == keys::TASKS_MIRROR.about.name;
    if let ([dir], true) = (typed, is_mirror) {
        place(home, dir)?;
    }
    let stored = config::set(home, name, typed)?;
    if is_mirror || name == keys::TASKS_MIRROR_AS.about.name {
        // What cannot appear there, the doctor tells of.
        keep(home)?;
    }
    Ok(stored)
}

/// Where a mirror is that is set so.
fn place(home: &Home, dir: &str) -> Result<PathBuf> {
    let dir = expand(home, &keys::TASKS_MIRROR.about, dir)?;
    let real = fsx::within_if_there(home.fs(), home.root(), &dir);
    if dir.starts_with(home.root()) || matches!(real, Ok(Some(_))) {
        return Err(Error::Invalid {
            what: keys::TASKS_MIRROR.about.name.to_owned(),
            reason: format!("{} lies in Flagpost's own home", dir.display()),
        });
    }
    Ok(dir)
}
