//! What a worktree holds that no commit does.
//!
//! Owns the looks that decide whether anything would be lost with a worktree. Invariants: a look
//! changes nothing; no setting of the user hides a file from it; what cannot be told is an error,
//! never an empty answer.

use std::{
    ffi::OsStr,
    fmt,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use flagpost_core::git::Git;
use flagpost_disk::fsx;

use super::{
    error::{WorktreeError, WorktreeResult},
    provision::is_as_it_came,
    submodules,
};

/// So many files are named; of the others, how many they are.
const NAMED: usize = 20;

/// What git leaves in its directory while it is in the middle of something.
const UNDERWAY: &[(&str, &str)] = &[
    ("MERGE_HEAD", "merge"),
    ("MERGE_AUTOSTASH", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("sequencer", "cherry-pick or revert"),
    ("BISECT_LOG", "bisection"),
];

/// Some files, the first of them by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileList {
    /// The first twenty, relative to the worktree.
    pub named: Vec<PathBuf>,
    /// How many there are in all.
    pub total: usize,
}

impl FileList {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Names that git ended with zero bytes.
    pub(crate) fn from_names(out: &[u8]) -> Self {
        let mut files = Self::default();
        let names = out.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        names.for_each(|name| files.add(name));
        files
    }

    fn add(&mut self, path: &[u8]) {
        self.total += 1;
        if self.named.len() < NAMED {
            self.named.push(PathBuf::from(OsStr::from_bytes(path)));
        }
    }

    /// Adds what another look found within a directory.
    fn add_within(&mut self, dir: &Path, found: &Self) {
        self.total += found.total;
        let room = NAMED.saturating_sub(self.named.len());
        let named = found.named.iter().take(room);
        self.named.extend(named.map(|it| dir.join(it)));
    }
}

impl fmt::Display for FileList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, path) in self.named.iter().enumerate() {
            let comma = if n == 0 { "" } else { ", " };
            write!(f, "{comma}{}", path.display())?;
        }
        match self.total - self.named.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// A worktree's files that are in no commit. Directories that are new as a whole count once.
#[derive(Debug, Default)]
pub(crate) struct Uncommitted {
    /// Changed, staged or conflicting.
    pub(crate) tracked: FileList,
    /// Those, and new ones.
    pub(crate) all: FileList,
    /// Those that the repository wants ignored, save what the worktree came with.
    pub(crate) ignored: FileList,
}

/// Looks for files that are in no commit.
pub(crate) fn uncommitted(worktree: &Path) -> WorktreeResult<Uncommitted> {
    stands_alone(worktree)?;
    let out = Git::at(worktree)
        .args(&["status", "--porcelain=v1", "-z", "--no-renames"])
        .args(&["--untracked-files=normal", "--ignored=traditional"])
        .arg("--ignore-submodules=none")
        .run()?;
    let mut found = Uncommitted::default();
    let (set_up, empty) = submodules::places(worktree)?;
    let mut changed = Vec::new();
    let lines = out.split(|&byte| byte == 0).filter(|line| line.len() > 3);
    // Git is asked where that is written only where it matters.
    let as_it_came = match lines.clone().any(|line| line.starts_with(b"!!")) {
        true => Some(is_as_it_came(worktree)?),
        false => None,
    };
    for line in lines {
        let path = &line[3..];
        match &line[..2] {
            b"!!" if as_it_came.as_ref().is_some_and(|it| it(path)) => {}
            _ if set_up.iter().any(|it| it.as_os_str().as_bytes() == path) => changed.push(path),
            b"!!" => found.ignored.add(path),
            b"??" => found.all.add(path),
            _ => {
                found.tracked.add(path);
                found.all.add(path);
            }
        }
    }
    for dir in set_up {
        // Git does not tell what one ignores, nor what some setting of it hides.
        let within = uncommitted(&worktree.join(&dir))?;
        found.ignored.add_within(&dir, &within.ignored);
        found.tracked.add_within(&dir, &within.tracked);
        found.all.add_within(&dir, &within.all);
        let path = dir.as_os_str().as_bytes();
        if within.all.is_empty() && changed.contains(&path) {
            // It stands on another commit.
            found.tracked.add(path);
            found.all.add(path);
        }
    }
    for dir in empty {
        // Git looks at nothing that lies in the place of one.
        let mut names = fsx::names(&fsx::RealFs, &worktree.join(&dir))?;
        names.sort();
        for name in names {
            found.all.add(dir.join(name).as_os_str().as_bytes());
        }
    }
    Ok(found)
}

/// The names of the files and directories that git ignores, as it tells them.
pub(super) fn ignored(worktree: &Path) -> WorktreeResult<Vec<Vec<u8>>> {
    stands_alone(worktree)?;
    let out = Git::at(worktree)
        .args(&["status", "--porcelain=v1", "-z", "--no-renames"])
        .args(&["--untracked-files=normal", "--ignored=traditional"])
        .run()?;
    let lines = out.split(|&byte| byte == 0);
    let names = lines.filter_map(|line| line.strip_prefix(b"!! "));
    Ok(names.map(<[u8]>::to_vec).collect())
}

/// The tracked files that a fast-forward could meet: it leaves what submodules stand on alone.
pub fn changed(worktree: &Path) -> WorktreeResult<FileList> {
    stands_alone(worktree)?;
    let out = Git::at(worktree)
        .args(&["status", "--porcelain=v1", "-z", "--no-renames"])
        .args(&["--untracked-files=no", "--ignore-submodules=all"])
        .run()?;
    let mut found = FileList::default();
    let lines = out.split(|&byte| byte == 0).filter(|line| line.len() > 3);
    lines.for_each(|line| found.add(&line[3..]));
    Ok(found)
}

/// Files whose changes git was told to overlook (`update-index --assume-unchanged`,
/// `--skip-worktree`): whether they changed cannot be told from a status.
pub(crate) fn overlooked(worktree: &Path) -> WorktreeResult<FileList> {
    let out = Git::at(worktree).args(&["ls-files", "-v", "-z"]).run()?;
    let mut found = FileList::default();
    for line in out.split(|&byte| byte == 0).filter(|line| line.len() > 2) {
        let path = &line[2..];
        // A sparse checkout leaves such files out; then there is nothing to overlook.
        let skipped = line[0] == b'S'
            && worktree
                .join(OsStr::from_bytes(path))
                .symlink_metadata()
                .is_ok();
        if line[0].is_ascii_lowercase() || skipped {
            found.add(path);
        }
    }
    for dir in submodules::places(worktree)?.0 {
        found.add_within(&dir, &overlooked(&worktree.join(&dir))?);
    }
    Ok(found)
}

/// What git is in the middle of there.
pub(crate) fn underway(worktree: &Path) -> WorktreeResult<Option<&'static str>> {
    let dir = line(
        &Git::at(worktree)
            .args(&["rev-parse", "--absolute-git-dir"])
            .run()?,
    );
    let left = |name: &str| dir.join(name).symlink_metadata().is_ok();
    Ok(UNDERWAY
        .iter()
        .find(|(name, _)| left(name))
        .map(|&(_, what)| what))
}

/// An error unless `dir` is itself the top of a working tree: where one has lost its `.git`, git
/// would answer for a repository further up.
pub(crate) fn stands_alone(dir: &Path) -> WorktreeResult<()> {
    let no = |reason: String| WorktreeError::NoRepository {
        dir: dir.to_owned(),
        reason,
    };
    let mut git = Git::at(dir).args(&["rev-parse", "--show-toplevel"]);
    let answer = git.ask()?;
    if answer.code() != Some(0) {
        return Err(no(git.refused(&answer).to_string()));
    }
    let top = line(&answer.out);
    let same = match (top.canonicalize(), dir.canonicalize()) {
        (Ok(top), Ok(dir)) => top == dir,
        _ => false,
    };
    if same {
        Ok(())
    } else {
        Err(no(format!("it belongs to {}", top.display())))
    }
}

/// The one line that git answered with, as a path.
fn line(out: &[u8]) -> PathBuf {
    let line = out.strip_suffix(b"\n").unwrap_or(out);
    PathBuf::from(OsStr::from_bytes(line))
}
