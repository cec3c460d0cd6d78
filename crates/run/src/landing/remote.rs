//! The remote that tested commits are pushed to.
//!
//! Owns that a push which comes too late is no failure: what others pushed is fetched, and the branches
//! are tried again on top of it. A remote that refuses for another reason ends the landing. Nothing is
//! ever forced.

use flagpost_core::{
    git::{Git, GitError, is_ancestor, text},
    landing::{LandingRefusal, Target},
};

use super::Landing;
use crate::{
    error::{Error, Result},
    events::RunEvent,
};

/// What git says of a push that comes too late.
const TOO_LATE: &[&str] = &["[rejected]", "non-fast-forward", "fetch first"];

impl Landing<'_> {
    /// The target with what others pushed to it, where it is pushed.
    pub(super) fn fetched(&mut self, target: Target) -> Result<Target> {
        let Some(remote) = self.terms.push.clone() else {
            return Ok(target);
        };
        let top = self.stage.repository.top.clone();
        let full = target.full();
        let mut asked = Git::at(&top).args(&["ls-remote", "--exit-code", "--", &remote, &full]);
        let answer = asked.ask()?;
        match answer.code() {
            Some(0) => {}
            // It has no such branch yet.
            Some(2) => return Ok(target),
            _ => return Err(refused(remote, target.branch, asked.refused(&answer))),
        }
        let fetched = Git::at(&top)
            .args(&["fetch", "--quiet", "--", &remote, &full])
            .run_patiently();
        if let Err(error) = fetched {
            return Err(refused(remote, target.branch, error));
        }
        let theirs = text(&answer.out);
        let theirs = theirs.split_whitespace().next().unwrap_or_default();
        if is_ancestor(&top, theirs, &target.tip)? {
            return Ok(target);
        }
        if !is_ancestor(&top, &target.tip, theirs)? {
            return Err(LandingRefusal::Diverged {
                branch: target.branch,
                remote,
            }
            .into());
        }
        // What was staged before lacks it, and is tried again on top.
        self.stage(&target, theirs)?;
        self.advance(&target, theirs)?;
        self.target()
    }

    /// Pushes a commit, where that is wanted; false where others pushed first.
    pub(super) fn pushed(&mut self, target: &Target, commit: &str) -> Result<bool> {
        let Some(remote) = self.terms.push.clone() else {
            return Ok(true);
        };
        let mut git = Git::at(&self.stage.repository.top)
            .args(&["push", "--quiet", "--", &remote])
            .arg(format!("{commit}:{}", target.full()));
        let answer = git.ask()?;
        if answer.code() == Some(0) {
            (self.tell)(RunEvent::LandPushed {
                onto: target.branch.clone(),
                remote,
                commit: commit.to_owned(),
            })?;
            return Ok(true);
        }
        let error = git.refused(&answer);
        if TOO_LATE.iter().any(|word| error.message.contains(word)) {
            return Ok(false);
        }
        Err(refused(remote, target.branch.clone(), error))
    }
}

fn refused(remote: String, branch: String, error: GitError) -> Error {
    let why = error.message;
    LandingRefusal::Remote {
        remote,
        branch,
        why,
    }
    .into()
}
