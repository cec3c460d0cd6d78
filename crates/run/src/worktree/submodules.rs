//! The submodules of a worktree: where they are, and the commits of them that it alone has.
//!
//! Owns finding these: git gives each worktree repositories of its own for its submodules, below its own git
//! directory, and they go with it. Where a branch brings a pointer to such a commit, it is fetched into the
//! repository's own copy of the submodule, under a name that keeps it. Nothing is fetched into a submodule that
//! is not set up in the repository: its operator did not ask for it. A repository to which a commit points counts
//! as a submodule here, whether `.gitmodules` names it or not.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use flagpost_core::git::{self, Git, text};
use flagpost_disk::fsx;

use super::{error::WorktreeResult, reflog};

/// The mode of a tree's entry that points to a commit of a submodule.
const POINTER: &str = "160000";

/// A repository in the git directory of another, for one question to a remote.
const SCRATCH: &str = "flagpost-scratch";

/// Commits of a submodule that only one worktree has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LonelyCommits {
    /// The submodule's name.
    pub submodule: String,
    /// How many they are.
    pub commits: usize,
}

/// Where a working tree has submodules, from its top: those that are set up, and those that are not.
pub(super) fn places(worktree: &Path) -> WorktreeResult<(Vec<PathBuf>, Vec<PathBuf>)> {
    let out = Git::at(worktree)
        .args(&["ls-files", "--stage", "-z"])
        .run()?;
    let pointers = out.split(|&byte| byte == 0).filter_map(|line| {
        let entry = line.strip_prefix(POINTER.as_bytes())?;
        let tab = entry.iter().position(|&byte| byte == b'\t')?;
        Some(PathBuf::from(OsStr::from_bytes(&entry[tab + 1..])))
    });
    Ok(pointers.partition(|it| worktree.join(it).join(".git").exists()))
}

/// Those that are set up, and those within them.
fn all_set_up(worktree: &Path) -> WorktreeResult<Vec<PathBuf>> {
    let mut all = Vec::new();
    for place in places(worktree)?.0 {
        let within = all_set_up(&worktree.join(&place))?;
        all.extend(within.into_iter().map(|it| place.join(it)));
        all.push(place);
    }
    Ok(all)
}

/// Sets those up in a worktree that are set up in the repository's own working tree, from there: nothing is asked of a
/// remote. Each has the remote that it has there. Those that are there come to stand on the commit that is wanted. What
/// could not be done, in words.
pub(super) fn set_up(top: &Path, worktree: &Path) -> WorktreeResult<Vec<String>> {
    // Where another task moved one on, its worktree alone may have the commit.
    if let Some(base) = git::commit(top, "HEAD")? {
        let tip = git::commit(worktree, "HEAD")?;
        bring_pointed(top, &base, tip.as_deref().unwrap_or(&base))?;
    }
    let mut left_out = Vec::new();
    let (there, missing) = places(worktree)?;
    let [own_dir, _] = git_dirs(worktree)?;
    let names = names(&own_dir, "HEAD")?;
    for place in there.iter().chain(&missing) {
        let (own, there) = (top.join(place), worktree.join(place));
        let name = names.iter().find(|(path, _)| Path::new(path) == place);
        let Some((_, name)) = name.filter(|_| own.join(".git").exists()) else {
            continue;
        };
        let done = match missing.contains(place) {
            true => make(worktree, (place, name), &own),
            false => move_on(worktree, place, &own),
        };
        match done.and_then(|()| set_up(&own, &there)) {
            Ok(within) => left_out.extend(within),
            Err(error) => {
                let (place, error) = (place.display(), flagpost_core::describe(&error));
                left_out.push(format!("submodule {place} could not be set up: {error}"));
            }
        }
    }
    Ok(left_out)
}

/// Makes a worktree's own copy of a submodule.
fn make(worktree: &Path, (place, name): (&Path, &str), from: &Path) -> WorktreeResult<()> {
    let url = format!("submodule.{name}.url={}", from.display());
    Git::at(worktree)
        .config("protocol.file.allow=always")
        .config(&url)
        .args(&["submodule", "--quiet", "update", "--init", "--"])
        .arg(place)
        .run_patiently()?;
    let mut ask = Git::at(from).args(&["remote", "get-url", "origin"]);
    let remote = ask.ask()?;
    if remote.code() == Some(0) {
        Git::at(&worktree.join(place))
            .args(&["remote", "set-url", "origin"])
            .arg(text(&remote.out))
            .run()?;
    }
    Ok(())
}

/// Brings a worktree's own copy of a submodule to the commit that the worktree wants.
fn move_on(worktree: &Path, place: &Path, from: &Path) -> WorktreeResult<()> {
    let there = worktree.join(place);
    let mut pointer = OsString::from(":");
    pointer.push(place);
    let wanted = Git::at(worktree).args(&["rev-parse"]).arg(pointer).run()?;
    let wanted = text(&wanted);
    if git::commit(&there, "HEAD")?.as_ref() == Some(&wanted) {
        return Ok(());
    }
    Git::at(&there)
        .args(&["fetch", "--quiet"])
        .arg(from)
        .arg(&wanted)
        .run_patiently()?;
    Git::at(&there)
        .args(&["checkout", "--quiet", "--detach", &wanted])
        .run_patiently()?;
    Ok(())
}

/// Empties the submodules of a worktree and removes the repositories that it has for them: git removes no worktree
/// with such. Nothing is to be lost with them, which the caller has seen.
pub(super) fn empty(worktree: &Path) -> WorktreeResult<()> {
    let (set_up, _) = places(worktree)?;
    for dir in set_up.iter().map(|it| worktree.join(it)) {
        fsx::remove_tree(&dir)?;
        // Without its directory it would be a change that git does not remove either.
        fsx::make_dirs(&fsx::RealFs, &dir)?;
    }
    let [own, _] = git_dirs(worktree)?;
    Ok(fsx::remove_tree(&own.join("modules"))?)
}

/// The commits of a worktree's submodules that are on no remote branch and not in the repository's own copies.
pub(super) fn only_here(worktree: &Path) -> WorktreeResult<Vec<LonelyCommits>> {
    let [own, common] = git_dirs(worktree)?;
    let of_git = modules(&own.join("modules"));
    let mut repositories: Vec<(PathBuf, PathBuf)> = of_git
        .into_iter()
        .filter_map(|it| Some((it.strip_prefix(own.join("modules")).ok()?.to_owned(), it)))
        .collect();
    // Made by hand, one lies within its working tree, and has those of its own submodules.
    for place in all_set_up(worktree)? {
        let git = worktree.join(&place).join(".git");
        if git.is_dir() {
            let within = modules(&git.join("modules")).into_iter();
            repositories.extend(within.filter_map(|it| {
                let name = place.join(it.strip_prefix(&git).ok()?);
                Some((name, it))
            }));
            repositories.push((place, git));
        }
    }
    let mut found = Vec::new();
    for (name, repository) in repositories {
        let copy = common.join("modules").join(&name);
        let listed = in_module(&repository)
            .args(&["rev-list", "HEAD", "--all"])
            .args(&reflog::left(in_module(&repository))?)
            .args(&["--not", "--remotes", "--"])
            .run()?;
        let listed = text(&listed);
        let mut commits = 0;
        for commit in listed.lines() {
            commits += usize::from(!has(&copy, commit)?);
        }
        if commits > 0 {
            let submodule = name.to_string_lossy().replace("/modules/", "/");
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
    let [_, common] = git_dirs(top)?;
    let worktrees = fsx::names(&fsx::RealFs, &common.join("worktrees")).unwrap_or_default();
    let worktrees = worktrees
        .into_iter()
        .map(|it| common.join("worktrees").join(it));
    let worktrees: Vec<PathBuf> = worktrees.collect();
    bring(&common, &worktrees, base, commit)
}

/// The same for a repository with its git directory at `own`, and at `others` those of the worktrees.
fn bring(own: &Path, others: &[PathBuf], base: &str, commit: &str) -> WorktreeResult<Pointed> {
    let changed = pointers(own, base, commit)?;
    if changed.is_empty() {
        return Ok(Pointed::There);
    }
    let names = names(own, commit)?;
    for Pointer { path, from, to } in changed {
        let known = names.iter().find(|(it, _)| *it == path);
        let Some((_, name)) = known else {
            return Ok(Pointed::NoSubmodule(path));
        };
        let module = |git_dir: &Path| git_dir.join("modules").join(name);
        let (copy, others) = (
            module(own),
            others.iter().map(|it| module(it)).collect::<Vec<_>>(),
        );
        if !copy.is_dir() {
            if is_pushed(&others, &to)? || remote_has(own, (commit, name), &to)? {
                // Whoever sets it up gets it from there.
                continue;
            }
            return Ok(Pointed::Missing(format!(
                "submodule {name} is not set up in this repository, which is to hold its commit {to}: push that to \
                 the submodule's remote, or 'git submodule update --init --recursive' sets up one that this \
                 repository knows"
            )));
        }
        if !fetch(&copy, &others, &to)? {
            return Ok(Pointed::Missing(format!(
                "it points submodule {name} to {to}, which neither this repository, its worktrees nor the \
                 submodule's remote has"
            )));
        }
        // What the submodule points to itself, where that can be compared.
        if has(&copy, &from)? {
            match bring(&copy, &others, &from, &to)? {
                Pointed::There => {}
                elsewhere => return Ok(elsewhere),
            }
        }
    }
    Ok(Pointed::There)
}

/// Whether the copy has the commit, from a worktree or from its remote where it had it not.
fn fetch(copy: &Path, of_worktrees: &[PathBuf], commit: &str) -> WorktreeResult<bool> {
    if has(copy, commit)? {
        return Ok(true);
    }
    let kept = format!("{commit}:refs/flagpost/landed/{commit}");
    let call =
        || in_module(copy).args(&["fetch", "--quiet", "--no-tags", "--no-recurse-submodules"]);
    for module in of_worktrees {
        if has(module, commit)? {
            call().arg("--").arg(module).arg(&kept).run_patiently()?;
            return has(copy, commit);
        }
    }
    // Where the remote does not give it, that is the answer.
    call().args(&["--", "origin", &kept]).ask()?;
    has(copy, commit)
}

/// Whether one of the worktrees' repositories of a submodule has the commit from the submodule's remote.
fn is_pushed(of_worktrees: &[PathBuf], commit: &str) -> WorktreeResult<bool> {
    for module in of_worktrees {
        if has(module, commit)? {
            let lonely = in_module(module)
                .args(&["rev-list", "--max-count=1", commit, "--not", "--remotes"])
                .run()?;
            if text(&lonely).is_empty() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether the remote that `.gitmodules` of a commit names for a submodule has this commit of it.
fn remote_has(own: &Path, (at, name): (&str, &str), commit: &str) -> WorktreeResult<bool> {
    let mut asked = in_module(own)
        .args(&["config", "--blob"])
        .arg(format!("{at}:.gitmodules"))
        .arg(format!("submodule.{name}.url"));
    let url = text(&asked.ask()?.out);
    // One that begins with a dot goes by where the repository itself comes from.
    if url.is_empty() || url.starts_with('.') {
        return Ok(false);
    }
    // Nothing is in there that could answer in the remote's place.
    let scratch = own.join(SCRATCH);
    fsx::remove_tree(&scratch)?;
    Git::at(own)
        .args(&["init", "--quiet", "--bare"])
        .arg(&scratch)
        .run()?;
    let mut fetch = in_module(&scratch)
        .args(&["fetch", "--quiet", "--no-tags", "--depth=1", "--"])
        .arg(url)
        .arg(commit);
    let answer = fetch.ask();
    fsx::remove_tree(&scratch)?;
    Ok(answer?.code() == Some(0))
}

/// A submodule that a commit brings to another commit.
struct Pointer {
    path: String,
    from: String,
    to: String,
}

/// The pointers of `commit` that `base` has not.
fn pointers(own: &Path, base: &str, commit: &str) -> WorktreeResult<Vec<Pointer>> {
    let out = in_module(own)
        .args(&["diff-tree", "-r", "-z", "--raw", "--no-renames"])
        .args(&[base, commit])
        .run()?;
    let out = String::from_utf8_lossy(&out);
    let mut parts = out.split('\0');
    let mut found = Vec::new();
    // `:OLD-MODE NEW-MODE OLD NEW STATUS`, then the path.
    while let (Some(entry), Some(path)) = (parts.next(), parts.next()) {
        let words: Vec<&str> = entry.split(' ').collect();
        if let [_, POINTER, from, to, _] = words.as_slice() {
            let [path, from, to] = [path, from, to].map(|it| it.to_owned());
            found.push(Pointer { path, from, to });
        }
    }
    Ok(found)
}

/// The submodules that a commit knows: the path and the name of each.
fn names(own: &Path, commit: &str) -> WorktreeResult<Vec<(String, String)>> {
    let mut git = in_module(own)
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

/// Git in the directory of a repository, whose working tree may be gone: git would go there first. Hooks of
/// submodules are not looked at when a run begins, and have nothing to do here.
fn in_module(repository: &Path) -> Git {
    Git::at(repository)
        .config(git::NO_HOOKS)
        .args(&["--git-dir=.", "--work-tree=."])
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

/// The repositories of submodules below a directory, and those that lie within them for theirs.
fn modules(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let names = fsx::names(&fsx::RealFs, dir).unwrap_or_default();
    for path in names.into_iter().map(|name| dir.join(name)) {
        match path.join("HEAD").is_file() {
            true => {
                found.extend(modules(&path.join("modules")));
                found.push(path);
            }
            // A name with a slash is a directory in a directory.
            false if path.is_dir() => found.extend(modules(&path)),
            false => {}
        }
    }
    found
}

/// The git directory of a working tree, and that of its repository.
pub(super) fn git_dirs(dir: &Path) -> WorktreeResult<[PathBuf; 2]> {
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
