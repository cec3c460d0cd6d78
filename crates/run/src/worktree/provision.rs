//! What a new worktree gets beside its commit: copies, links, submodules, and what a command of the operator's makes.
//!
//! Owns that all of it is there before an agent is, and which of it is still as it came: that is nobody's work, and
//! keeps no worktree. Until it has all, git holds a lock of the worktree for us, and one that was cut off there is
//! made anew. Invariants: nothing that a commit has is written over; nothing is written outside of the worktree, save
//! a line in the `info/exclude` of the repository. Commands come from the settings alone: what lies beside a worktree
//! can be written by an agent.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use flagpost_core::{
    self as core, Config, Home, Repository, Settings,
    config::{PortBlocks, keys},
    git::{Git, worktrees::WorktreeEntry},
};
use flagpost_disk::fsx::{self, Durability, FileKind};
use flagpost_model::envelope::Hash;
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::{
    close::{Because, Safe},
    error::{WorktreeError, WorktreeResult},
    status, submodules,
    touched::OURS,
};
use crate::command::{CommandEnd, CommandError, ShellCommand, words_in};

/// Why git holds the lock of a worktree that does not have all yet.
pub(super) const SETTING_UP: &str = "flagpost sets it up";

/// The file of patterns that other programs for worktrees read, too.
const INCLUDE: &str = ".worktreeinclude";

/// What a worktree came with, in the directory that git has for it.
const RECORD: &str = "flagpost-provision";

/// The words of the command that ended its use, beside that.
const TEARDOWN_LOG: &str = "flagpost-teardown.log";

/// How long that may take.
const TEARDOWN_LIMIT: SignedDuration = SignedDuration::from_mins(1);

/// A file that is larger is not read to tell whether it changed: its time tells.
const LARGE: u64 = 64 << 20;

/// So many of the last lines of its words are told.
const LINES: usize = 5;

/// So many files are named in a prompt.
const NAMED: usize = 12;

/// What the settings give to new worktrees.
#[derive(Debug, Clone, Default)]
pub struct Provision {
    copy: Vec<String>,
    link: Vec<PathBuf>,
    submodules: bool,
    /// The command that is run before an agent starts there.
    pub(crate) setup: Option<String>,
    teardown: Option<String>,
    ports: Option<PortBlocks>,
    /// The names of the variables of this process.
    variables: BTreeSet<String>,
}

/// What a worktree came with.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Record {
    /// The number of its ports; 0 where it has none.
    slot: usize,
    /// Files, each with what was in it; of a link, where it leads.
    files: BTreeMap<String, String>,
    /// Directories that the setup made: all in them can be made again.
    dirs: BTreeSet<String>,
}

impl Provision {
    /// What the settings say for a repository.
    pub fn of(home: &Home, settings: &Settings, repository: &Repository) -> core::Result<Self> {
        let config = Config::of(home, &repository.name)?;
        Ok(Self {
            copy: config.get(&keys::RUN_WORKTREE_COPY)?.unwrap_or_default(),
            link: config.get(&keys::RUN_WORKTREE_LINK)?.unwrap_or_default(),
            submodules: config.need(&keys::RUN_WORKTREE_SUBMODULES)?,
            setup: config.get(&keys::RUN_WORKTREE_SETUP)?,
            teardown: config.get(&keys::RUN_WORKTREE_TEARDOWN)?,
            ports: config.get(&keys::RUN_WORKTREE_PORTS)?,
            variables: settings.variables.clone(),
        })
    }

    /// The slot of whoever works in a worktree; none where it was made without one.
    pub(crate) fn slot_of(worktree: &Path) -> Option<usize> {
        let slot = Record::read(worktree).ok()?.slot;
        (slot > 0).then_some(slot)
    }

    /// What tells those who work in a slot which place, and which ports, are theirs. A landing has slot 0.
    pub(crate) fn variables(&self, slot: usize) -> Vec<(String, OsString)> {
        let port = self.ports.and_then(|it| it.port(slot));
        let port = port.map(|port| ("FLAGPOST_PORT".to_owned(), port.to_string().into()));
        let slot = ("FLAGPOST_SLOT".to_owned(), slot.to_string().into());
        [slot].into_iter().chain(port).collect()
    }

    /// What a worktree came with, and its ports, in words for its agent.
    pub(crate) fn told(&self, worktree: &Path) -> WorktreeResult<Vec<String>> {
        let mut told = Vec::new();
        let record = Record::read(worktree)?;
        if !record.files.is_empty() {
            let named = record.files.keys().take(NAMED).map(String::as_str);
            let named = named.collect::<Vec<_>>().join(", ");
            let more = match record.files.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            told.push(format!(
                "Git ignores these files, which were put here for you: {named}{more}."
            ));
        }
        for path in self.link.iter().filter(|it| is_link(&worktree.join(it))) {
            let path = path.display();
            told.push(format!(
                "{path} is a link: what you change there changes for everybody."
            ));
        }
        if let Some(setup) = &self.setup {
            told.push(format!("`{setup}` was run here already."));
        }
        if let Some((ports, first)) = self.ports.and_then(|it| Some((it, it.port(record.slot)?))) {
            let last = first.saturating_add(ports.each - 1);
            told.push(match ports.each {
                1 => format!("Port {first} is yours alone; $FLAGPOST_PORT has it."),
                _ => format!(
                    "Ports {first} to {last} are yours alone; $FLAGPOST_PORT has the first."
                ),
            });
        }
        Ok(told)
    }

    /// Whether a new worktree of the repository gets anything.
    pub(super) fn gives(&self, top: &Path) -> bool {
        !self.copy.is_empty()
            || !self.link.is_empty()
            || self.setup.is_some()
            || self.ports.is_some()
            || top.join(INCLUDE).is_file()
            || self.submodules && top.join(".gitmodules").is_file()
    }

    /// Gives a new worktree all but what the setup makes. What was left out, and why, a line each.
    pub(crate) fn fill(&self, top: &Path, worktree: &Path) -> WorktreeResult<Vec<String>> {
        let mut left_out = Vec::new();
        let mut tried = |path: &Path, done: WorktreeResult<()>| {
            if let Err(error) = done {
                let (path, error) = (path.display(), core::describe(&error));
                left_out.push(format!("{path} of run.worktree is left out: {error}"));
            }
        };
        for path in self.to_copy(top)? {
            tried(&path, copy(&top.join(&path), worktree, &path));
        }
        for path in &self.link {
            tried(path, link(top, worktree, path));
        }
        left_out.extend(self.fill_submodules(top, worktree)?);
        Ok(left_out)
    }

    /// Gives a worktree the submodules of the commit that it stands on, where it is to have any.
    pub(crate) fn fill_submodules(
        &self,
        top: &Path,
        worktree: &Path,
    ) -> WorktreeResult<Vec<String>> {
        match self.submodules {
            true => submodules::set_up(top, worktree),
            false => Ok(Vec::new()),
        }
    }

    /// Gives a worktree that was filled the lowest slot that no other of the repository has, and notes what it has now.
    pub(super) fn begin(top: &Path, worktree: &Path) -> WorktreeResult<()> {
        let slot = free_slot(top)?;
        let files = Record::of_files(worktree)?;
        Record { slot, ..files }.write(worktree)
    }

    /// The files to copy, from the top of the repository: those that match, and that git ignores.
    fn to_copy(&self, top: &Path) -> WorktreeResult<Vec<PathBuf>> {
        let include = top.join(INCLUDE);
        if self.copy.is_empty() && !include.is_file() {
            return Ok(Vec::new());
        }
        let mut list = Git::at(top).args(&["ls-files", "--others", "--ignored", "-z"]);
        for pattern in &self.copy {
            list = list.arg(format!("--exclude={pattern}"));
        }
        if include.is_file() {
            list = list.arg(format!("--exclude-from={INCLUDE}"));
        }
        list = list.args(&["--", "."]);
        for ours in OURS {
            list = list.arg(format!(":(top,exclude){ours}"));
        }
        let matching = list.run()?;
        let mut ask = Git::at(top)
            .args(&["check-ignore", "--stdin", "-z"])
            .input(matching);
        let answer = ask.ask()?;
        if !matches!(answer.code(), Some(0 | 1)) {
            return Err(ask.refused(&answer).into());
        }
        let paths = answer.out.split(|&byte| byte == 0).map(OsStr::from_bytes);
        let paths = paths.map(PathBuf::from).filter(|path| {
            let is_linked = self.link.iter().any(|link| path.starts_with(link));
            !is_linked && top.join(path).is_file()
        });
        Ok(paths.collect())
    }

    /// Lets go of a worktree that has all now; what is in it and in no commit is what it came with.
    pub(super) fn finish(top: &Path, worktree: &Path) -> WorktreeResult<()> {
        let common = |dir| submodules::git_dirs(dir).map(|[_, common]| common);
        if common(worktree)? != common(top)? {
            return Err(WorktreeError::NoRepository {
                dir: worktree.to_owned(),
                reason: "it belongs to another repository now".to_owned(),
            });
        }
        Record::of_all(worktree)?.write(worktree)?;
        unlock(top, worktree)
    }

    /// Runs the command that ends the use of a worktree.
    pub(crate) fn tear_down(&self, worktree: &Path) -> Safe<()> {
        let Some(command) = &self.teardown else {
            return Ok(());
        };
        let log = submodules::git_dirs(worktree)?[0].join(TEARDOWN_LOG);
        let run = ShellCommand {
            command,
            dir: worktree,
            log: &log,
            set: self.variables(Self::slot_of(worktree).unwrap_or_default()),
            variables: &self.variables,
        };
        let fs = &fsx::RealFs;
        let untellable = |error: CommandError| Because::Untellable(core::describe(&error));
        let ended = run.run(fs, TEARDOWN_LIMIT, || false);
        match ended.map_err(untellable)? {
            CommandEnd::Passed | CommandEnd::Stopped => Ok(()),
            CommandEnd::Failed(how) => {
                let words = words_in(fs, &log, LINES).map_err(untellable)?;
                Err(Because::Teardown(format!("`{command}` {how}. {words}")))
            }
        }
    }
}

/// The lowest slot that no worktree of the repository has.
fn free_slot(top: &Path) -> WorktreeResult<usize> {
    let dirs = submodules::git_dirs(top)?[1].join("worktrees");
    let names = fsx::names(&fsx::RealFs, &dirs).unwrap_or_default();
    let taken: BTreeSet<usize> = names
        .iter()
        .filter_map(|name| Record::at(&dirs.join(name).join(RECORD)).ok())
        .map(|record| record.slot)
        .collect();
    Ok((1..).find(|slot| !taken.contains(slot)).unwrap_or(1))
}

/// Whether a worktree does not have all yet: nobody was handed it.
pub(super) fn is_unfinished(entry: &WorktreeEntry) -> bool {
    entry.locked.as_deref() == Some(SETTING_UP)
}

/// What a worktree came with is left out of what it holds: whether this, as git names it, is such.
pub(super) fn is_as_it_came(worktree: &Path) -> WorktreeResult<impl Fn(&[u8]) -> bool> {
    let record = Record::read(worktree)?;
    let worktree = worktree.to_owned();
    Ok(move |path: &[u8]| record.has(&worktree, path))
}

pub(super) fn unlock(top: &Path, worktree: &Path) -> WorktreeResult<()> {
    Git::at(top)
        .args(&["worktree", "unlock"])
        .arg(worktree)
        .run()?;
    Ok(())
}

impl Record {
    fn read(worktree: &Path) -> WorktreeResult<Self> {
        Self::at(&submodules::git_dirs(worktree)?[0].join(RECORD))
    }

    fn at(path: &Path) -> WorktreeResult<Self> {
        let bytes = fsx::read(&fsx::RealFs, path)?.unwrap_or_default();
        // An agent may have written it: what cannot be read says nothing.
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    fn write(&self, worktree: &Path) -> WorktreeResult<()> {
        let path = submodules::git_dirs(worktree)?[0].join(RECORD);
        let bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        Ok(fsx::replace(&fsx::RealFs, &path, &bytes)?)
    }

    /// Each file of a worktree that git ignores.
    fn of_files(worktree: &Path) -> WorktreeResult<Self> {
        let mut record = Self::default();
        for path in status::ignored(worktree)? {
            record.add(worktree, Path::new(OsStr::from_bytes(&path)));
        }
        Ok(record)
    }

    /// The same once the setup has run: a directory that it made counts as a whole.
    fn of_all(worktree: &Path) -> WorktreeResult<Self> {
        let before = Self::read(worktree)?;
        let mut record = Self {
            slot: before.slot,
            ..Self::default()
        };
        for path in status::ignored(worktree)? {
            let path = Path::new(OsStr::from_bytes(&path));
            let is_within = |file: &String| Path::new(file).starts_with(path);
            let is_new = worktree.join(path).is_dir()
                && !is_link(&worktree.join(path))
                && !before.files.keys().any(is_within);
            match path.to_str().filter(|_| is_new) {
                Some(dir) => drop(record.dirs.insert(dir.to_owned())),
                None => record.add(worktree, path),
            }
        }
        Ok(record)
    }

    /// Adds a file, or all in a directory. What has a name that is not UTF-8 is left out: it counts as somebody's work.
    fn add(&mut self, worktree: &Path, path: &Path) {
        let place = worktree.join(path);
        if is_dir(&place) {
            for name in fsx::names(&fsx::RealFs, &place).unwrap_or_default() {
                self.add(worktree, &path.join(name));
            }
        } else if let (Some(name), Some(print)) = (path.to_str(), print_of(&place)) {
            self.files.insert(name.to_owned(), print);
        }
    }

    /// Whether a file, or each file in a directory, is as it came.
    fn has(&self, worktree: &Path, path: &[u8]) -> bool {
        let path = Path::new(OsStr::from_bytes(path));
        if self.dirs.iter().any(|dir| path.starts_with(dir)) {
            return true;
        }
        let place = worktree.join(path);
        if is_dir(&place) {
            let names = fsx::names(&fsx::RealFs, &place);
            return names.is_ok_and(|names| {
                let mut paths = names.iter().map(|name| path.join(name));
                paths.all(|it| self.has(worktree, it.as_os_str().as_bytes()))
            });
        }
        let came = path.to_str().and_then(|name| self.files.get(name));
        came.is_some_and(|came| print_of(&place).as_ref() == Some(came))
    }
}

/// What tells whether a file is another than it was.
fn print_of(path: &Path) -> Option<String> {
    if let Ok(to) = path.read_link() {
        return Some(format!("-> {}", to.to_str()?));
    }
    let stat = fsx::stat(&fsx::RealFs, path).ok()??;
    if stat.len > LARGE {
        return Some(format!("{} bytes of {}", stat.len, stat.modified));
    }
    let bytes = fsx::read_up_to(&fsx::RealFs, path, LARGE).ok()??;
    Some(Hash::of(&bytes).to_string())
}

fn is_dir(path: &Path) -> bool {
    kind_of(path) == Some(FileKind::Dir)
}

fn is_link(path: &Path) -> bool {
    kind_of(path) == Some(FileKind::Symlink)
}

fn kind_of(path: &Path) -> Option<FileKind> {
    let stat = fsx::stat(&fsx::RealFs, path).ok().flatten()?;
    Some(stat.kind)
}

/// Copies a file into a worktree, where nothing is in its place.
fn copy(from: &Path, worktree: &Path, path: &Path) -> WorktreeResult<()> {
    let to = worktree.join(path);
    if to.symlink_metadata().is_ok() {
        return Ok(());
    }
    make_parent(worktree, &to)?;
    Ok(fsx::copy(from, &to)?)
}

/// Links a worktree to what git ignores in the repository's own, where nothing is in its place.
fn link(top: &Path, worktree: &Path, path: &Path) -> WorktreeResult<()> {
    let (from, to) = (top.join(path), worktree.join(path));
    let reason = match from.exists() {
        false => "nothing is there",
        true if !is_ignored(top, path)? => "git does not ignore it",
        true if to.symlink_metadata().is_ok() => return Ok(()),
        true => {
            make_parent(worktree, &to)?;
            fsx::link(&from, &to)?;
            return exclude(worktree, path);
        }
    };
    Err(WorktreeError::NoLink { reason })
}

fn is_ignored(tree: &Path, path: &Path) -> WorktreeResult<bool> {
    let mut ask = Git::at(tree)
        .args(&["check-ignore", "--quiet", "--"])
        .arg(path);
    Ok(ask.ask()?.code() == Some(0))
}

/// Makes the directory in which something is to be put, within a worktree. A link there would lead elsewhere.
fn make_parent(worktree: &Path, path: &Path) -> WorktreeResult<()> {
    let parent = path.parent().unwrap_or(worktree);
    fsx::must_not_be_linked(&fsx::RealFs, worktree, parent)?;
    let below = parent.strip_prefix(worktree).unwrap_or(parent);
    let mut dir = worktree.to_owned();
    for part in below {
        dir.push(part);
        if !is_dir(&dir) {
            fsx::make_shared_dir(&fsx::RealFs, &dir)?;
        }
    }
    Ok(())
}

/// Sees to it that git ignores a link. A pattern that ends in a slash means directories, and a link is none.
fn exclude(worktree: &Path, path: &Path) -> WorktreeResult<()> {
    if is_ignored(worktree, path)? {
        return Ok(());
    }
    let info = submodules::git_dirs(worktree)?[1].join("info");
    fsx::make_dirs(&fsx::RealFs, &info)?;
    let mut line = b"/".to_vec();
    for &byte in path.as_os_str().as_bytes() {
        if b"\\*?[ ".contains(&byte) {
            line.push(b'\\');
        }
        line.push(byte);
    }
    line.push(b'\n');
    let path = info.join("exclude");
    Ok(fsx::append(&fsx::RealFs, &path, &line, Durability::Lazy)?)
}
