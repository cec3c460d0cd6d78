//! Commits of submodules that only a worktree has.
//!
//! Owns finding them: git gives each worktree repositories of its own for its submodules, below its own git
//! directory, and they go with it. Where a branch brings a pointer to such a commit, it is fetched into the
//! repository's own copy of the submodule, under a name that keeps it. Nothing is fetched into a submodule that
//! is not set up in the repository: its operator did not ask for it.

use std::path::{Path, PathBuf};

use flagpost_core::git::{Git, text};
use flagpost_disk::fsx;

use super::error::WorktreeResult;

/// The mode of a tree's entry that points to a commit of a submodule.
const POINTER: &str = "160000";

/// Commits of a submodule that only one worktree has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LonelyCommits {
    /// The submodule's name.
    pub submodule: String,
    /// How many they are.
    pub commits: usize,
}

/// The commits of a worktree's submodules that are on no remote branch and not in the repository's own copies.
pub(super) fn only_here(worktree: &Path) -> WorktreeResult<Vec<LonelyCommits>> {
    let [own, common] = git_dirs(worktree)?;
    let mut found = Vec::new();
    for module in modules(&own.join("modules")) {
        let Ok(name) = module.strip_prefix(own.join("modules")) else {
            continue;
        };
        let copy = common.join("modules").join(name);
        let listed = in_module(&module)
            .args(&["rev-list", "HEAD", "--branches", "--not", "--remotes", "--"])
            .run()?;
        let listed = text(&listed);
        let mut commits = 0;
        for commit in listed.lines() {
            commits += usize::from(!has(&copy, commit)?);
        }
        if commits > 0 {
            let submodule = name.to_string_lossy().into_owned();
            found.push(LonelyCommits { submodule, commits });
        }
    }
    Ok(found)
}

/// What is with the commits of submodules to which a commit points.
pub(crate) enum Pointed {
    /// The repository has all of them.
    There,
    /// What lies at this path is a repository that is no submodule: a commit holds nothing but the pointer.
    NoSubmodule(String),
    /// One cannot be had, and why.
    Missing(String),
}

/// Sees to it that the repository at `top` has each commit of a submodule to which `commit` points and `base`
/// does not.
pub(crate) fn bring_pointed(top: &Path, base: &str, commit: &str) -> WorktreeResult<Pointed> {
    let changed = pointers(top, base, commit)?;
    if changed.is_empty() {
        return Ok(Pointed::There);
    }
    let [_, common] = git_dirs(top)?;
    let names = names(top, commit)?;
    for (path, pointed) in changed {
        let known = names.iter().find(|(it, _)| *it == path);
        let Some((_, name)) = known else {
            return Ok(Pointed::NoSubmodule(path));
        };
        let copy = common.join("modules").join(name);
        if !copy.is_dir() {
            return Ok(Pointed::Missing(format!(
                "submodule {name} is not set up in {}: 'git submodule update --init {path}' does that",
                top.display()
            )));
        }
        if !fetch(&copy, &common, name, &pointed)? {
            return Ok(Pointed::Missing(format!(
                "it points submodule {name} to {pointed}, which neither this repository, its worktrees nor the \
                 submodule's remote has"
            )));
        }
    }
    Ok(Pointed::There)
}

/// Whether the copy has the commit, from a worktree or from its remote where it had it not.
fn fetch(copy: &Path, common: &Path, name: &str, commit: &str) -> WorktreeResult<bool> {
    if has(copy, commit)? {
        return Ok(true);
    }
    let worktrees = fsx::names(&fsx::RealFs, &common.join("worktrees")).unwrap_or_default();
    let of_worktree = |it| common.join("worktrees").join(it).join("modules").join(name);
    let kept = format!("{commit}:refs/flagpost/landed/{commit}");
    for module in worktrees.into_iter().map(of_worktree) {
        if module.is_dir() && has(&module, commit)? {
            in_module(copy)
                .args(&["fetch", "--quiet", "--no-tags", "--"])
                .arg(&module)
                .arg(&kept)
                .run_patiently()?;
            return has(copy, commit);
        }
    }
    // Where the remote does not give it, that is the answer.
    in_module(copy)
        .args(&["fetch", "--quiet", "--no-tags", "--", "origin", &kept])
        .ask()?;
    has(copy, commit)
}

/// The pointers of `commit` that `base` has not: the path and the commit.
fn pointers(top: &Path, base: &str, commit: &str) -> WorktreeResult<Vec<(String, String)>> {
    let out = Git::at(top)
        .args(&[
            "diff-tree",
            "-r",
            "-z",
            "--raw",
            "--no-renames",
            base,
            commit,
        ])
        .run()?;
    let out = String::from_utf8_lossy(&out);
    let mut parts = out.split('\0');
    let mut found = Vec::new();
    // `:OLD-MODE NEW-MODE OLD NEW STATUS`, then the path.
    while let (Some(entry), Some(path)) = (parts.next(), parts.next()) {
        let words: Vec<&str> = entry.split(' ').collect();
        if let [_, POINTER, _, pointed, _] = words.as_slice() {
            found.push((path.to_owned(), (*pointed).to_owned()));
        }
    }
    Ok(found)
}

/// The submodules that a commit knows: the path and the name of each.
fn names(top: &Path, commit: &str) -> WorktreeResult<Vec<(String, String)>> {
    let mut git = Git::at(top)
        .args(&["config", "--blob"])
        .arg(format!("{commit}:.gitmodules"))
        .args(&["-z", "--get-regexp", r"^submodule\..*\.path$"]);
    let out = git.ask()?.out;
    let out = String::from_utf8_lossy(&out);
    let named = out.split('\0').filter_map(|entry| {
        let (key, path) = entry.split_once('\n')?;
        let name = key.strip_prefix("submodule.")?.strip_suffix(".path")?;
        Some((path.to_owned(), name.to_owned()))
    });
    Ok(named.collect())
}

/// Git in the repository of a submodule, whose working tree may be gone: git would go there first.
fn in_module(repository: &Path) -> Git {
    Git::at(repository).args(&["--git-dir=.", "--work-tree=."])
}

fn has(repository: &Path, commit: &str) -> WorktreeResult<bool> {
    if !repository.is_dir() {
        return Ok(false);
    }
    let mut git = in_module(repository)
        .args(&["cat-file", "-e"])
        .arg(format!("{commit}^{{commit}}"));
    Ok(git.ask()?.code() == Some(0))
}

/// The repositories of submodules below a directory; those of submodules in them lie within them.
fn modules(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let names = fsx::names(&fsx::RealFs, dir).unwrap_or_default();
    for path in names.into_iter().map(|name| dir.join(name)) {
        match path.join("HEAD").is_file() {
            true => found.push(path),
            // A name with a slash is a directory in a directory.
            false if path.is_dir() => found.extend(modules(&path)),
            false => {}
        }
    }
    found
}

/// The git directory of a working tree, and that of its repository.
fn git_dirs(dir: &Path) -> WorktreeResult<[PathBuf; 2]> {
    let out = Git::at(dir)
        .args(&["rev-parse", "--path-format=absolute"])
        .args(&["--git-dir", "--git-common-dir"])
        .run()?;
    let out = text(&out);
    let mut lines = out.lines().map(PathBuf::from);
    let own = lines.next().unwrap_or_default();
    let common = lines.next().unwrap_or_else(|| own.clone());
    Ok([own, common])
}
