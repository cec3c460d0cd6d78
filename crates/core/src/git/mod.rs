//! The `git` program, as the rooms that need a repository ask it.
//!
//! Owns how git is called, the names of the tasks' branches, and the plain questions about refs and
//! commits. What is done with the answers belongs to whoever asks. It must never pass `--force`.

pub mod branch;
mod call;
pub mod worktrees;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

pub use branch::Branch;
pub use call::{Git, GitOutput, PARENT_VARIABLES, become_git, parent_variables};

/// A result of this subject.
pub type GitResult<T, E = GitError> = std::result::Result<T, E>;

/// `git` failed.
#[derive(Debug, thiserror::Error)]
#[error("git {call} in {}: {message}", dir.display())]
pub struct GitError {
    /// What it was asked.
    pub call: String,
    /// Where.
    pub dir: PathBuf,
    /// What it said.
    pub message: String,
}

/// Where somebody set the hooks to lie that git runs in a working tree. A place that is named from the top of a
/// tree leads in each to its own files, which a branch may have brought.
pub fn hooks_path(top: &Path) -> GitResult<Option<PathBuf>> {
    let mut git = Git::at(top).args(&["config", "--type=path", "--get", "core.hooksPath"]);
    let answer = git.ask()?;
    match answer.code() {
        Some(0) => Ok(Some(top.join(text(&answer.out)))),
        Some(1) => Ok(None),
        _ => Err(git.refused(&answer)),
    }
}

/// The setting by which git runs the hooks of the operator's tree in another one; none where they lie where git has
/// them for all trees.
pub fn own_hooks(top: &Path) -> GitResult<Option<String>> {
    let hooks = hooks_path(top)?;
    Ok(hooks.map(|it| format!("core.hooksPath={}", it.display())))
}

/// The setting by which git runs no hook.
pub const NO_HOOKS: &str = "core.hooksPath=/dev/null";

/// Git that changes names which are ours alone, of which no hook need hear: the hooks of work that has just landed
/// would be the next to run.
pub fn without_hooks(top: &Path) -> Git {
    Git::at(top).config(NO_HOOKS)
}

/// Git with these hooks ([`own_hooks`]).
pub fn with_hooks(git: Git, hooks: Option<&str>) -> Git {
    match hooks {
        Some(hooks) => git.config(hooks),
        None => git,
    }
}

/// The commit that a name stands for in `dir`; none where there is no such name.
pub fn commit(dir: &Path, name: &str) -> GitResult<Option<String>> {
    let mut git = Git::at(dir)
        .args(&["rev-parse", "--verify", "--quiet"])
        .arg(format!("{name}^{{commit}}"));
    let answer = git.ask()?;
    match answer.code() {
        Some(0) => Ok(Some(text(&answer.out))),
        Some(1) => Ok(None),
        _ => Err(git.refused(&answer)),
    }
}

/// The first line of what a commit says of itself.
pub fn subject(dir: &Path, commit: &str) -> GitResult<String> {
    let out = Git::at(dir)
        .args(&["log", "-1", "--format=%s", commit, "--"])
        .run()?;
    Ok(text(&out))
}

/// The commit of the branch of this whole name; none where there is none. Words that name a commit in another
/// way, as `main~1` does, are no branch's.
pub fn tip(dir: &Path, full: &str) -> GitResult<Option<String>> {
    let out = Git::at(dir)
        .args(&["for-each-ref", "--format=%(objectname) %(refname)", full])
        .run()?;
    let lines = String::from_utf8_lossy(&out);
    let mut named = lines.lines().filter_map(|line| line.split_once(' '));
    let found = named.find(|(_, name)| *name == full);
    Ok(found.map(|(commit, _)| commit.to_owned()))
}

/// Whether there is a branch, tag or remote branch of this whole name.
pub fn exists(dir: &Path, full: &str) -> GitResult<bool> {
    let mut git = Git::at(dir).args(&["show-ref", "--verify", "--quiet", full]);
    let answer = git.ask()?;
    match answer.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => Err(git.refused(&answer)),
    }
}

/// Whether `commit` is `of` or an ancestor of it.
pub fn is_ancestor(dir: &Path, commit: &str, of: &str) -> GitResult<bool> {
    let mut git = Git::at(dir).args(&["merge-base", "--is-ancestor", commit, of]);
    let answer = git.ask()?;
    match answer.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => Err(git.refused(&answer)),
    }
}

/// Those of these commits that are `of` or ancestors of it, in one question.
pub fn ancestors<'c>(
    dir: &Path,
    commits: impl IntoIterator<Item = &'c str>,
    of: &str,
) -> GitResult<BTreeSet<&'c str>> {
    let mut found: BTreeSet<&str> = commits.into_iter().collect();
    if found.is_empty() {
        return Ok(found);
    }
    let asked: String = found.iter().map(|it| format!("{it}\n")).collect();
    let out = Git::at(dir)
        .args(&["rev-list", "--stdin"])
        .input(format!("{asked}^{of}\n"))
        .run()?;
    for other in text(&out).lines() {
        found.remove(other);
    }
    Ok(found)
}

/// Merges two commits on trial, without a working tree: the tree that comes of it, which nothing names, and the files
/// in conflict, each ended by a NUL. Git before 2.38 does not know how.
pub fn try_merge(dir: &Path, ours: &str, theirs: &str) -> GitResult<(String, Vec<u8>)> {
    let mut merge = Git::at(dir)
        .args(&["merge-tree", "--write-tree", "--name-only"])
        .args(&["--no-messages", "-z", ours, theirs]);
    let answer = merge.ask()?;
    if !matches!(answer.code(), Some(0 | 1)) {
        return Err(merge.refused(&answer));
    }
    let end = answer.out.iter().position(|byte| *byte == 0);
    let (tree, files) = answer.out.split_at(end.unwrap_or(answer.out.len()));
    Ok((text(tree), files.to_vec()))
}

/// What git answered, without the white space around it.
pub fn text(out: &[u8]) -> String {
    String::from_utf8_lossy(out).trim().to_owned()
}
