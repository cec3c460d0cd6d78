//! A worktree per task, on real repositories.
//!
//! Owns the proof of trap 41: whatever is not elsewhere stays. Every git of these tests, ours
//! included, runs with the repository's own configuration only in what matters to it.

mod closing;
mod keeping;
mod opening;
mod stamps;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use flagpost_model::{SessionId, TaskId};
use flagpost_run::worktree::{Because, Branch, Closed, Opened, Provision, Worktree, Worktrees};

/// A repository with one commit, in a directory whose name has a space.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self::without_commit();
        place.write(&place.top(), "README", "hello\n");
        git(&place.top(), &["add", "."]);
        git(&place.top(), &["commit", "-qm", "first"]);
        place
    }

    fn without_commit() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let place = Self { dir };
        fs::create_dir(place.top()).unwrap();
        git(&place.top(), &["init", "-q", "-b", "main"]);
        // For the gits that run without our environment.
        for (key, value) in [("user.name", "Tester"), ("user.email", "t@example.com")] {
            git(&place.top(), &["config", key, value]);
        }
        place
    }

    fn top(&self) -> PathBuf {
        self.dir.path().join("my repo")
    }

    fn base(&self) -> PathBuf {
        self.dir.path().join("home/worktrees/my repo")
    }

    fn root(&self) -> PathBuf {
        self.base().join(session().as_str())
    }

    fn worktrees(&self) -> Worktrees {
        self.worktrees_of(&self.top())
    }

    fn worktrees_of(&self, top: &Path) -> Worktrees {
        Worktrees::new(top.to_owned(), self.base(), session(), Provision::default())
    }

    fn write(&self, dir: &Path, name: &str, text: &str) {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A script that git runs, below this directory.
    fn hook(&self, dir: &Path, name: &str, body: &str) {
        self.write(dir, name, &format!("#!/bin/sh\n{body}\n"));
        fs::set_permissions(
            dir.join(name),
            std::os::unix::fs::PermissionsExt::from_mode(0o700),
        )
        .unwrap();
    }

    /// Writes a file in a worktree and commits it.
    fn commit(&self, worktree: &Worktree, name: &str, text: &str) {
        self.write(&worktree.path, name, text);
        git(&worktree.path, &["add", "."]);
        git(&worktree.path, &["commit", "-qm", name]);
    }

    fn has_branch(&self, branch: &Branch) -> bool {
        let full = format!("refs/heads/{branch}");
        !git(&self.top(), &["for-each-ref", &full]).is_empty()
    }

    fn assert_gone(&self, worktree: &Worktree, closed: &Closed) {
        assert_eq!(*closed, Closed::Removed);
        assert!(!worktree.path.exists());
        assert!(!self.has_branch(&worktree.branch));
    }

    /// That worktree and branch are there; the reason.
    fn assert_kept(&self, worktree: &Worktree, closed: Closed) -> Because {
        assert!(worktree.path.join(".git").exists());
        assert!(self.has_branch(&worktree.branch));
        match closed {
            Closed::Removed => panic!("removed"),
            Closed::Kept {
                path,
                branch,
                because,
            } => {
                assert_eq!(path.as_ref(), Some(&worktree.path));
                assert_eq!(branch, worktree.branch);
                because
            }
        }
    }
}

fn session() -> SessionId {
    "web-20260513-142500".parse().unwrap()
}

fn id(text: &str) -> TaskId {
    text.parse().unwrap()
}

fn open(worktrees: &Worktrees, task: &str) -> Worktree {
    let Opened {
        worktree,
        missing,
        hook,
        left_out,
        is_unfinished,
    } = worktrees.open(&id(task), &[]).unwrap();
    assert!(left_out.is_empty() && !is_unfinished);
    assert!(missing.is_empty());
    assert_eq!(hook, None);
    worktree
}

/// Runs git as a person would; its answer, trimmed.
fn git(dir: &Path, args: &[&str]) -> String {
    let (ok, text) = try_git(dir, args);
    assert!(ok, "git {args:?}: {text}");
    text
}

fn try_git(dir: &Path, args: &[&str]) -> (bool, String) {
    let mut command = Command::new("git");
    for name in flagpost_core::git::PARENT_VARIABLES {
        command.env_remove(name);
    }
    let output = command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .arg("-C")
        .arg(dir)
        .args(args)
        .output()
        .unwrap();
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        text.push_str(&String::from_utf8_lossy(&output.stderr));
    }
    (output.status.success(), text.trim().to_owned())
}
