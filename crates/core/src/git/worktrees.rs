//! The worktrees that git knows of.
//!
//! Owns reading `git worktree list --porcelain`. What git says there is the only truth about which
//! worktrees exist; nothing of ours keeps a second list.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use super::{Git, GitResult};

/// Git's exit code for an option that it does not know.
const USAGE: i32 = 129;

/// One worktree, as git lists it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorktreeEntry {
    /// Where it lies.
    pub path: PathBuf,
    /// The commit it stands on.
    pub head: Option<String>,
    /// The branch it stands on, with its whole name; `None` off any branch.
    pub branch: Option<String>,
    /// Why it is locked, if it is.
    pub locked: Option<String>,
}

impl WorktreeEntry {
    /// Whether git was cut off while it made this one: git holds this lock until it has finished.
    pub fn half_made(&self) -> bool {
        self.locked.as_deref() == Some("initializing")
    }
}

/// Every worktree of the repository, the main one first.
pub fn entries(top: &Path) -> GitResult<Vec<WorktreeEntry>> {
    let mut exact = Git::at(top).args(&["worktree", "list", "--porcelain", "-z"]);
    let answer = exact.ask()?;
    match answer.code() {
        Some(0) => Ok(parse(&answer.out, 0)),
        // Git before 2.36 ends lines with a newline only.
        Some(USAGE) => {
            let out = Git::at(top)
                .args(&["worktree", "list", "--porcelain"])
                .run()?;
            Ok(parse(&out, b'\n'))
        }
        _ => Err(exact.refused(&answer)),
    }
}

fn parse(out: &[u8], end: u8) -> Vec<WorktreeEntry> {
    let mut entries: Vec<WorktreeEntry> = Vec::new();
    for line in out.split(|&byte| byte == end) {
        let (key, value) = match line.iter().position(|&byte| byte == b' ') {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &line[..0]),
        };
        let text = || String::from_utf8_lossy(value).into_owned();
        match (key, entries.last_mut()) {
            (b"worktree", _) => entries.push(WorktreeEntry {
                path: PathBuf::from(OsStr::from_bytes(value)),
                ..WorktreeEntry::default()
            }),
            (b"HEAD", Some(entry)) => entry.head = Some(text()),
            (b"branch", Some(entry)) => entry.branch = Some(text()),
            (b"locked", Some(entry)) => entry.locked = Some(text()),
            _ => {}
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worktrees_are_read_whatever_their_paths_hold() {
        let out = b"worktree /a b\0HEAD 12\0branch refs/heads/main\0\0\
            worktree /c\nd\0HEAD 12\0detached\0locked initializing\0prunable gone\0\0\
            worktree /e\0bare\0locked\0\0";
        let entries = parse(out, 0);
        assert_eq!(entries.len(), 3);
        assert_eq!(entries[0].path, Path::new("/a b"));
        assert_eq!(entries[0].branch.as_deref(), Some("refs/heads/main"));
        assert_eq!(entries[1].path, Path::new("/c\nd"));
        assert_eq!(entries[1].branch, None);
        assert!(entries[1].half_made());
        assert_eq!(entries[2].locked.as_deref(), Some(""));
        assert!(!entries[2].half_made());
    }
}
