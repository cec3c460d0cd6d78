//! One branch brought onto the commit that the landing's tree stands on.
//!
//! Owns the three ways of it, and which of git's answers is the branch's fault: files in conflict are, and
//! whatever else git refuses (a hook, a missing name, a full disk) is not. Hooks and signatures are those
//! of the repository.

use std::path::Path;

use flagpost_core::{
    git::{self, Git, GitOutput, GitResult},
    landing::QueuedBranch,
};

use flagpost_model::task::LandingMethod;

use crate::worktree::{FileList, WorktreeResult, conflicts};

/// What came of it.
#[derive(Debug)]
pub(super) enum Merged {
    /// The tree stands on this commit, which holds the branch's work.
    Commit(String),
    /// These files are in conflict. The tree stands where it stood.
    Conflict(FileList),
    /// Git did not do it, for another reason. The tree stands where it stood.
    Not(String),
}

/// Brings a branch in.
pub(super) fn take_in(
    tree: &Path,
    branch: &QueuedBranch,
    method: LandingMethod,
) -> WorktreeResult<Merged> {
    let before = head(tree)?;
    let message = message(branch);
    let mut git = match method {
        LandingMethod::Merge => Git::at(tree)
            .args(&["merge", "--quiet", "--no-ff", "--commit", "--no-squash"])
            .args(&["--no-autostash", "--no-edit", "-m", &message, &branch.tip]),
        LandingMethod::Rebase => {
            Git::at(tree)
                .args(&["checkout", "--quiet", "--detach", &branch.tip])
                .run_patiently()?;
            Git::at(tree).args(&["rebase", "--quiet", &before])
        }
        LandingMethod::Squash => Git::at(tree).args(&[
            "merge",
            "--quiet",
            "--squash",
            "--no-autostash",
            &branch.tip,
        ]),
    };
    let answer = git.ask_patiently()?;
    if answer.code() == Some(0) {
        if method == LandingMethod::Squash {
            return commit(tree, &before, &message);
        }
        return Ok(Merged::Commit(head(tree)?));
    }
    gave_up(tree, &before, &git, &answer)
}

/// The one commit of a squash. Nothing is to be committed where the target has all of it.
fn commit(tree: &Path, before: &str, message: &str) -> WorktreeResult<Merged> {
    let mut look = Git::at(tree).args(&["diff", "--cached", "--quiet"]);
    if look.ask()?.code() == Some(0) {
        return Ok(Merged::Commit(before.to_owned()));
    }
    let mut git = Git::at(tree).args(&["commit", "--quiet", "-m", message]);
    let answer = git.ask_patiently()?;
    match answer.code() {
        Some(0) => Ok(Merged::Commit(head(tree)?)),
        _ => gave_up(tree, before, &git, &answer),
    }
}

/// Why git did not do it; the tree stands where it stood.
fn gave_up(tree: &Path, before: &str, git: &Git, answer: &GitOutput) -> WorktreeResult<Merged> {
    let files = conflicts(tree)?;
    let reason = git.refused(answer).to_string();
    let mut quit = Git::at(tree).args(&["rebase", "--quit"]);
    quit.ask()?;
    Git::at(tree)
        .args(&["reset", "--quiet", "--hard"])
        .run_patiently()?;
    Git::at(tree)
        .args(&["checkout", "--quiet", "--detach", before])
        .run_patiently()?;
    Ok(match files.is_empty() {
        false => Merged::Conflict(files),
        true => Merged::Not(reason),
    })
}

/// The message of the commit that brings a task's work. It names the original commit.
fn message(branch: &QueuedBranch) -> String {
    let QueuedBranch {
        task,
        subject,
        branch,
        tip,
        ..
    } = branch;
    let subject = subject.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("Land task {task}: {subject}\n\nBranch: {branch}\nOriginal-commit: {tip}\n")
}

fn head(tree: &Path) -> GitResult<String> {
    let out = Git::at(tree)
        .args(&["rev-parse", "--verify", "HEAD"])
        .run()?;
    Ok(git::text(&out))
}
