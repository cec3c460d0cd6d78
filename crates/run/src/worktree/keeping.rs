//! What an agent left uncommitted when its task passed, brought onto the task's branch.
//!
//! Owns the one commit that is made of it, whose message says so, and that the branch follows where an agent
//! committed on one of its own. Nothing is forced: what stands in the way is told, and all stays as it is. A
//! repository that an agent made in its worktree is not committed: a commit would hold a pointer to it alone. Nor
//! is what lies in a submodule: its commits are its own.

use std::path::Path;

use flagpost_core::{
    git::{
        Git, NO_HOOKS, branch::PREFIX, commit, is_ancestor, own_hooks, text, with_hooks,
        without_hooks,
    },
    landing::passed_ref,
};

use super::{Branch, FileList, Worktree, WorktreeResult, reflog, status};

/// What became of it.
#[derive(Debug, PartialEq, Eq)]
pub enum KeptWork {
    /// There was nothing.
    Nothing,
    /// These files are in a commit on the task's branch now.
    Committed(FileList),
    /// The branch holds what the agent committed on this one, or on none, and these files.
    Followed(FileList),
    /// Work is in the worktree that the branch does not hold, and why.
    Left(String),
    /// What its agent committed cannot be brought onto the branch, and why.
    Elsewhere(String),
}

/// Brings what is in a worktree, of the repository at `top`, onto its task's branch. What the repository ignores
/// stays where it is.
pub fn keep(top: &Path, worktree: &Worktree, subject: &str) -> WorktreeResult<KeptWork> {
    let (path, branch) = (&worktree.path, worktree.branch.full());
    let files = status::uncommitted(path)?.all;
    // In submodules, and in repositories that no commit knows.
    let mut within = FileList::default();
    if !files.is_empty() {
        if let Some(what) = status::underway(path)? {
            return Ok(KeptWork::Left(format!(
                "a {what} is under way in it: {files}"
            )));
        }
        if let Some(why) = commit_all(top, worktree, subject)? {
            return Ok(KeptWork::Left(format!("{files}: {why}")));
        }
        within = status::uncommitted(path)?.all;
    }
    let whole = |kept| match within.is_empty() {
        true => kept,
        false => KeptWork::Left(format!(
            "{within}: no commit of this repository holds what lies in a submodule or in another repository"
        )),
    };
    let mut where_to = Git::at(path).args(&["symbolic-ref", "--quiet", "HEAD"]);
    let stands_on = text(&where_to.ask()?.out);
    let (head, tip) = (commit(path, "HEAD")?, commit(path, &branch)?);
    let Some(head) = head else {
        return Ok(KeptWork::Left(format!(
            "there is no branch {}",
            worktree.branch
        )));
    };
    let Some(tip) = tip else {
        // Its agent removed it: what it did is where it stands.
        follow(top, &branch, &head, "")?;
        return Ok(whole(KeptWork::Followed(files)));
    };
    if stands_on == branch || head == tip {
        let lacks = |it: &&String| !is_ancestor(path, it, &tip).unwrap_or(false);
        let elsewhere = reflog::left(Git::at(path))?;
        if let Some(left) = elsewhere.iter().find(lacks) {
            if is_ancestor(path, &tip, left)? {
                match stands_on == branch {
                    true => go_on_to(path, left)?,
                    false => follow(top, &branch, left, &tip)?,
                }
                return Ok(whole(KeptWork::Followed(files)));
            }
            return Ok(KeptWork::Elsewhere(format!(
                "its agent committed {left:.10} and left it"
            )));
        }
        return Ok(whole(match files.is_empty() {
            true => KeptWork::Nothing,
            false => KeptWork::Committed(files),
        }));
    }
    if !is_ancestor(path, &tip, &head)? {
        return Ok(KeptWork::Elsewhere(format!(
            "it stands on {head:.10}, which does not build on {}",
            worktree.branch
        )));
    }
    follow(top, &branch, &head, &tip)?;
    Ok(whole(KeptWork::Followed(files)))
}

/// The repositories in a worktree that are no submodules of it.
fn nested(worktree: &Path) -> WorktreeResult<Vec<String>> {
    let out = Git::at(worktree)
        .args(&["ls-files", "--others", "--exclude-standard", "-z"])
        .run()?;
    // Git goes into new directories, and not into repositories.
    let all = out.split(|&byte| byte == 0);
    let nested = all.filter_map(|path| path.strip_suffix(b"/"));
    Ok(nested
        .map(|it| String::from_utf8_lossy(it).into_owned())
        .collect())
}

/// Has a branch stand where its agent stands; `tip` is where it stood, nothing where it is no more.
fn follow(top: &Path, branch: &str, head: &str, tip: &str) -> WorktreeResult<()> {
    let why = "flagpost: follows its agent";
    Git::at(top)
        .args(&["update-ref", "-m", why, branch, head, tip])
        .run_patiently()?;
    Ok(())
}

/// Takes the branch and what is checked out on to a commit that builds on it; why it cannot be is an error.
fn go_on_to(path: &Path, commit: &str) -> WorktreeResult<()> {
    Git::at(path)
        .config(NO_HOOKS)
        .args(&["merge", "--quiet", "--ff-only", commit])
        .run_patiently()?;
    Ok(())
}

/// Commits all that a commit can hold; why not, in git's words.
fn commit_all(top: &Path, worktree: &Worktree, subject: &str) -> WorktreeResult<Option<String>> {
    let hooks = own_hooks(top)?;
    let git = || with_hooks(Git::at(&worktree.path), hooks.as_deref());
    let but = nested(&worktree.path)?.into_iter();
    let but = but.map(|it| format!(":(exclude,literal){it}"));
    let but: Vec<String> = but.collect();
    git()
        .args(&["add", "--all", "--", "."])
        .args(&but)
        .run_patiently()?;
    let mut staged = git().args(&["diff", "--cached", "--quiet"]);
    if staged.ask()?.code() == Some(0) {
        return Ok(None);
    }
    let subject = subject.split_whitespace().collect::<Vec<_>>().join(" ");
    let message = format!(
        "Task {}: {subject}\n\nIts agent said that it was done and left this uncommitted. Flagpost committed it.\n",
        worktree.task
    );
    // Made by this program: not signed in the user's name, and no hook has to like what an agent left. The check
    // of the landing does.
    let mut git = git().args(&[
        "commit",
        "--quiet",
        "--no-verify",
        "--no-gpg-sign",
        "-m",
        &message,
    ]);
    let answer = git.ask_patiently()?;
    Ok((answer.code() != Some(0)).then(|| git.refused(&answer).message))
}

/// Marks the commit that a task's branch stands on as the one with which it passed.
pub fn mark_passed(top: &Path, branch: &Branch) -> WorktreeResult<()> {
    without_hooks(top)
        .args(&["update-ref", "-m", "flagpost: passed"])
        .arg(passed_ref(branch))
        .arg(branch.full())
        .run_patiently()?;
    Ok(())
}

/// Whether a task's branch has work that was done for it: a commit with which it did not begin, and that is neither
/// in `base`, what the run began with, nor another task's; or a merge in which something was resolved.
/// Whoever else holds it, the target included, it is work.
pub fn has_commits(top: &Path, branch: &Branch, base: &str) -> WorktreeResult<bool> {
    let began = Git::at(top)
        .args(&["log", "--walk-reflogs", "--format=%H"])
        .args(&[&branch.full(), "--"])
        .run()?;
    let began = text(&began).lines().last().map(str::to_owned);
    let began = began.as_deref().unwrap_or(base);
    let own = |git: Git| {
        git.arg(branch.full())
            .args(&["--not", base, began])
            .arg(format!("--exclude={branch}"))
            .arg(format!("--branches={PREFIX}/*"))
            .run()
    };
    let commits = own(Git::at(top).args(&["rev-list", "--count", "--no-merges"]))?;
    if text(&commits) != "0" {
        return Ok(true);
    }
    // Of a merge that went by itself, this shows nothing.
    let resolved = own(Git::at(top).args(&["log", "--merges", "--cc", "--format="]))?;
    Ok(!text(&resolved).is_empty())
}
