//! What changed in the worktrees of a repository and is in no commit.
//!
//! Owns the look. Flagpost's own files are nobody's work and are left out. What cannot be looked at
//! is an error of that worktree and hides no other. A look changes nothing.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use flagpost_core::git::{Git, commit, worktrees};

use super::{error::WorktreeResult, status};

/// What Flagpost keeps in a repository.
pub(super) const OURS: &[&str] = &[".flagpost", ".claude/sessions", ".coordination"];

/// A worktree and what changed in it.
#[derive(Debug)]
pub struct Tree {
    /// Where it is.
    pub path: PathBuf,
    /// The branch it stands on.
    pub branch: Option<String>,
    /// Every changed or new file, from its top; what is not UTF-8 in a name is shown as U+FFFD.
    pub files: WorktreeResult<Vec<String>>,
}

/// Every worktree of the repository that is there, the main one first.
pub fn touched(top: &Path) -> WorktreeResult<Vec<Tree>> {
    let there = worktrees::entries(top)?.into_iter();
    let there = there.filter(|entry| entry.path.exists());
    Ok(there
        .map(|entry| Tree {
            files: files(&entry.path),
            branch: entry
                .branch
                .map(|name| name.trim_start_matches("refs/heads/").to_owned()),
            path: entry.path,
        })
        .collect())
}

/// A number for how a worktree is now: its commit, and the changed files with their sizes and times.
/// It means nothing to another process.
pub fn stamp(worktree: &Path) -> WorktreeResult<u64> {
    let mut hasher = DefaultHasher::new();
    for file in files(worktree)? {
        let stat = worktree.join(&file).symlink_metadata().ok();
        let stat = stat.map(|it| (it.size(), it.mtime(), it.mtime_nsec()));
        (file, stat).hash(&mut hasher);
    }
    commit(worktree, "HEAD")?.hash(&mut hasher);
    Ok(hasher.finish())
}

fn files(worktree: &Path) -> WorktreeResult<Vec<String>> {
    status::stands_alone(worktree)?;
    let mut git = Git::at(worktree)
        .args(&["status", "--porcelain=v1", "-z", "--no-renames"])
        .args(&[
            "--untracked-files=all",
            "--ignore-submodules=none",
            "--",
            ".",
        ]);
    for ours in OURS {
        git = git.arg(format!(":(top,exclude){ours}"));
    }
    let out = git.run()?;
    let lines = out.split(|&byte| byte == 0).filter(|line| line.len() > 3);
    Ok(lines
        .map(|line| String::from_utf8_lossy(&line[3..]).into_owned())
        .collect())
}
