//! One branch brought onto the commit that the landing's tree stands on.
//!
//! Owns the three ways of it, and which of git's answers is the branch's fault: files in conflict are, and
//! whatever else git refuses (a hook, a missing name, a full disk) is not. Hooks and signatures are those
//! of the operator's tree; settings that would make git do more or less than asked do not count. A squash leaves no trace of what it brought, so a branch that builds on it is merged
//! onto a commit that says so, which nothing names.

use std::path::Path;

use flagpost_core::{
    git::{self, Git, GitOutput, GitResult},
    landing::{QueuedBranch, Target, landed_below},
};
use flagpost_model::{plain::plain, task::LandingMethod};

use super::{tree::LandingTree, waiting::GitCalls};
use crate::{
    error::Result,
    worktree::{FileList, WorktreeResult, conflicts},
};

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

/// Brings a branch in. The tree stands on `before`, which holds the work of `brought`, other branches' tips.
pub(super) fn take_in(
    (tree, calls): (&LandingTree, &mut GitCalls<'_>),
    (before, brought): (&str, &[String]),
    branch: &QueuedBranch,
    method: LandingMethod,
) -> Result<Merged> {
    let message = message(branch);
    // What git resolves by itself nobody has looked at.
    let git = tree.git().config("rerere.autoUpdate=false");
    let mut git = match method {
        LandingMethod::Merge => git
            .args(&["merge", "--quiet", "--no-ff", "--commit", "--no-squash"])
            .args(&["--no-autostash", "--no-edit", "-m", &message, &branch.tip]),
        LandingMethod::Rebase => {
            tree.stand(&branch.tip)?;
            // Else it would rewrite every branch on the way.
            git.config("rebase.updateRefs=false")
                .config("rebase.autoSquash=false")
                .args(&["rebase", "--quiet", before])
        }
        LandingMethod::Squash => {
            stand_in(tree, before, brought)?;
            git.args(&["merge", "--quiet", "--squash", "--ff"])
                .args(&["--no-autostash", &branch.tip])
        }
    };
    let answer = calls.ask(&mut git)?;
    if answer.code() == Some(0) {
        if method == LandingMethod::Squash {
            return commit((tree, calls), before, &message);
        }
        return Ok(Merged::Commit(head(tree)?));
    }
    Ok(gave_up(tree, before, &git, &answer)?)
}

/// The tips of branches that this one builds on and whose work `base` and `merged` hold, where they were
/// squashed.
pub(super) fn brought(
    top: &Path,
    (branch, method): (&QueuedBranch, LandingMethod),
    (base, target): (&str, &Target),
    merged: &[(QueuedBranch, String)],
) -> WorktreeResult<Vec<String>> {
    if method != LandingMethod::Squash {
        return Ok(Vec::new());
    }
    let mut tips = landed_below(top, &branch.tip, base, target)?;
    let beside = merged.iter().map(|(it, _)| it.tip.as_str());
    let beside = git::ancestors(top, beside, &branch.tip)?;
    tips.extend(beside.into_iter().map(str::to_owned));
    Ok(tips)
}

/// Makes the tree stand on a commit of the same files that has `brought` as parents, too.
fn stand_in(tree: &LandingTree, before: &str, brought: &[String]) -> WorktreeResult<()> {
    if brought.is_empty() {
        return Ok(());
    }
    let mut made = tree
        .git()
        .args(&["commit-tree", "-m", "before a squash"])
        .arg(format!("{before}^{{tree}}"))
        .args(&["-p", before]);
    for tip in brought {
        made = made.args(&["-p", tip]);
    }
    let commit = git::text(&made.run()?);
    Ok(reset_softly(tree, &commit)?)
}

fn reset_softly(tree: &LandingTree, commit: &str) -> GitResult<()> {
    tree.git()
        .args(&["reset", "--quiet", "--soft", commit])
        .run_patiently()?;
    Ok(())
}

/// The one commit of a squash. Nothing is to be committed where the target has all of it.
fn commit(
    (tree, calls): (&LandingTree, &mut GitCalls<'_>),
    before: &str,
    message: &str,
) -> Result<Merged> {
    reset_softly(tree, before)?;
    let mut look = tree.git().args(&["diff", "--cached", "--quiet"]);
    if look.ask()?.code() == Some(0) {
        return Ok(Merged::Commit(before.to_owned()));
    }
    let mut git = tree.git().args(&["commit", "--quiet", "-m", message]);
    let answer = calls.ask(&mut git)?;
    match answer.code() {
        Some(0) => Ok(Merged::Commit(head(tree)?)),
        _ => Ok(gave_up(tree, before, &git, &answer)?),
    }
}

/// Why git did not do it; the tree stands where it stood.
fn gave_up(
    tree: &LandingTree,
    before: &str,
    git: &Git,
    answer: &GitOutput,
) -> WorktreeResult<Merged> {
    let files = conflicts(tree.path())?;
    let reason = git.refused(answer).message;
    let mut quit = tree.git().args(&["rebase", "--quit"]);
    quit.ask()?;
    tree.git()
        .args(&["reset", "--quiet", "--hard"])
        .run_patiently()?;
    tree.stand(before)?;
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
    let subject = plain(subject);
    let subject = subject.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("Land task {task}: {subject}\n\nBranch: {branch}\nOriginal-commit: {tip}\n")
}

fn head(tree: &LandingTree) -> GitResult<String> {
    let out = tree.git().args(&["rev-parse", "--verify", "HEAD"]).run()?;
    Ok(git::text(&out))
}
