//! What the agent of a task that passed left in its worktree.
//!
//! Owns that only commits count: what is uncommitted comes onto the task's branch, or goes back to the agent or
//! to a person, as `run.uncommitted` says; and a task that brought no commit is known as such. Whether a task
//! passed is judged before.

use flagpost_core::landing;
use flagpost_model::{
    TaskId,
    session::Outcome,
    task::{LandingVerdict, NO_COMMIT, Uncommitted},
};

use super::Driver;
use crate::{
    error::Result,
    events::RunEvent,
    outcome::{Assessment, Judged},
    refusal::refusal,
    worktree::{self, FileList, KeptWork},
};

impl Driver<'_> {
    /// What is in no commit in the worktree of a task; nothing where that cannot be told, which its end says.
    pub(super) fn uncommitted(&self, id: &TaskId) -> Option<FileList> {
        let worktree = self.open_worktrees.get(id)?;
        let files = worktree::uncommitted(worktree).ok()?;
        (!files.is_empty()).then_some(files)
    }

    /// Brings what the agent of a task that passed left uncommitted onto the task's branch: those that wait for it
    /// and its landing go by that.
    pub(super) fn keep_work(&mut self, id: &TaskId) -> Result<Option<Assessment>> {
        if self.options.uncommitted != Uncommitted::Commit
            && let Some(files) = self.uncommitted(id)
        {
            let why = format!("Its agent left files of its worktree uncommitted: {files}.");
            return self.send_back(id, why).map(Some);
        }
        let Some(worktree) = self.open_worktrees.get(id) else {
            return Ok(None);
        };
        let top = &self.stage.repository.top;
        let kept = worktree::keep(top, worktree, &self.account.subject(id));
        let kept = kept.and_then(|kept| {
            if !matches!(kept, KeptWork::Elsewhere(_)) {
                // What comes onto the branch from now on nobody said was done.
                worktree::mark_passed(top, &worktree.branch)?;
            }
            Ok(kept)
        });
        let branch = &worktree.branch;
        // What cannot be told is said below.
        let base = self.target.as_ref().map_or("HEAD", |it| &it.tip);
        let is_bare = matches!(kept, Ok(KeptWork::Nothing | KeptWork::Left(_)))
            && !worktree::has_commits(top, branch, base).unwrap_or(true);
        let words = match kept {
            Ok(KeptWork::Nothing) if is_bare => format!("task {id} {NO_COMMIT}"),
            Ok(KeptWork::Nothing) => return Ok(None),
            Ok(KeptWork::Committed(files)) => {
                format!(
                    "task {id}: its agent left {files} uncommitted, which is committed on {branch} now"
                )
            }
            Ok(KeptWork::Followed(files)) if files.is_empty() => {
                format!("task {id}: its agent committed elsewhere, and {branch} has it now")
            }
            Ok(KeptWork::Followed(files)) => format!(
                "task {id}: its agent committed elsewhere and left {files} uncommitted; {branch} has both now"
            ),
            Ok(KeptWork::Left(why)) => {
                format!("task {id} passed, and not all of its work is on {branch}: {why}")
            }
            Ok(KeptWork::Elsewhere(why)) => {
                let why = format!("Not all of its work is on {branch}: {why}.");
                return self.send_back(id, why).map(Some);
            }
            Err(error) => {
                let why = format!("What is in its worktree cannot be told: {error}.");
                return self.send_back(id, why).map(Some);
            }
        };
        if is_bare {
            let actor = self.options.actor.clone();
            let record = |it: &mut Self| landing::record_no_commit(it.stage.list, &actor, id);
            // Whoever opened it again meanwhile does it again.
            if let Err(error) = self.patiently(record) {
                refusal(error)?;
            }
        }
        self.tell(RunEvent::Notice { words })?;
        Ok(None)
    }

    /// Sends a task back whose agent left work that its branch does not hold: it is done again, or a person is asked.
    fn send_back(&mut self, id: &TaskId, why: String) -> Result<Assessment> {
        let branch = self.open_worktrees.get(id);
        let verdict = LandingVerdict {
            why: why.clone(),
            onto: branch.map_or_else(String::new, |it| it.branch.to_string()),
            // The run counts the attempts.
            retries: match self.options.uncommitted {
                Uncommitted::Fail => u32::MAX,
                Uncommitted::Ask | Uncommitted::Commit => 0,
            },
        };
        let actor = self.options.actor.clone();
        let sent = self.patiently(|it| landing::refuse(it.stage.list, &actor, id, verdict.clone()));
        if let Err(error) = sent {
            refusal(error)?;
        }
        Ok(match self.options.uncommitted {
            Uncommitted::Fail => Assessment::Judged(Judged {
                outcome: Outcome::Fail,
                retryable: true,
                words: why,
            }),
            Uncommitted::Ask | Uncommitted::Commit => Assessment::Asks(why),
        })
    }
}
