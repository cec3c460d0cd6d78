//! The remote that tested commits are pushed to.
//!
//! Owns that a push which comes too late is no failure: what others pushed is fetched, and the branches
//! are tried again on top of it. Whether it was too late the remote's branch tells, not git's words. A
//! remote that refuses for another reason ends the landing. Nothing is ever forced.

use flagpost_core::{
    git::{self, Git, GitError, is_ancestor, text},
    landing::{LandingRefusal, Target},
};

use super::Landing;
use crate::{
    error::{Error, Result},
    events::RunEvent,
};

impl Landing<'_> {
    /// The target with what others pushed to it, where it is pushed.
    pub(super) fn fetched(&mut self, target: Target) -> Result<Target> {
        let Some(remote) = self.terms.push.clone() else {
            return Ok(target);
        };
        let top = self.stage.repository.top.clone();
        let Some(theirs) = self.tip_at(&remote, &target)? else {
            return Ok(target);
        };
        let mut fetch = Git::at(&top).args(&["fetch", "--quiet", "--", &remote, &target.full()]);
        let answer = self.calls().ask(&mut fetch)?;
        if answer.code() != Some(0) {
            self.must_go_on(&target)?;
            return Err(refused(remote, target.branch, fetch.refused(&answer)));
        }
        if is_ancestor(&top, &theirs, &target.tip)? {
            return Ok(target);
        }
        if !is_ancestor(&top, &target.tip, &theirs)? {
            return Err(LandingRefusal::Diverged {
                branch: target.branch,
                remote,
            }
            .into());
        }
        // What was staged before lacks it, and is tried again on top.
        self.stage(&target, &theirs)?;
        self.advance(&target, &theirs)?;
        self.target()
    }

    /// Where the target stands at a remote; none where it has no such branch yet.
    fn tip_at(&mut self, remote: &str, target: &Target) -> Result<Option<String>> {
        let mut git = Git::at(&self.stage.repository.top).args(&[
            "ls-remote",
            "--exit-code",
            "--",
            remote,
            &target.full(),
        ]);
        let answer = self.calls().ask(&mut git)?;
        match answer.code() {
            Some(0) => {
                let line = text(&answer.out);
                Ok(line.split_whitespace().next().map(str::to_owned))
            }
            Some(2) => Ok(None),
            _ => {
                self.must_go_on(target)?;
                let (remote, branch) = (remote.to_owned(), target.branch.clone());
                Err(refused(remote, branch, git.refused(&answer)))
            }
        }
    }

    /// Pushes a commit, where that is wanted; false where others pushed first.
    pub(super) fn pushed(&mut self, target: &Target, commit: &str) -> Result<bool> {
        let Some(remote) = self.terms.push.clone() else {
            return Ok(true);
        };
        let top = self.stage.repository.top.clone();
        let mut git = Git::at(&top)
            .args(&["push", "--quiet", "--", &remote])
            .arg(format!("{commit}:{}", target.full()));
        let answer = self.calls().ask(&mut git)?;
        if answer.code() == Some(0) {
            (self.tell)(RunEvent::LandPushed {
                onto: target.branch.clone(),
                remote,
                commit: commit.to_owned(),
            })?;
            return Ok(true);
        }
        self.must_go_on(target)?;
        let is_too_late = match self.tip_at(&remote, target)? {
            Some(theirs) => {
                git::commit(&top, &theirs)?.is_none() || !is_ancestor(&top, &theirs, commit)?
            }
            None => false,
        };
        match is_too_late {
            true => Ok(false),
            false => Err(refused(remote, target.branch.clone(), git.refused(&answer))),
        }
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
