//! What is recorded and told of work that landed.
//!
//! Owns the order: what a branch touched without its worker holding it is looked up before its
//! reservations are given back; then the outcome is recorded; then its worktree goes.

use flagpost_core::{
    git::Git,
    landing::{LandedTask, LandingQueue, QueuedBranch, Target, recall, record_landed},
    reservations::Reservations,
};
use flagpost_model::{
    WorkerId,
    reservation::{Holding, Reservation, holding},
    task::Landed,
};

use super::Landing;
use crate::{error::Result, events::RunEvent};

/// So many of the files that nobody held are named.
const NAMED: usize = 20;

impl Landing<'_> {
    /// Records that these landed.
    pub(super) fn record(
        &mut self,
        queue: &LandingQueue,
        merged: &[(QueuedBranch, String)],
    ) -> Result<()> {
        let (home, repository) = (self.stage.home, self.stage.repository);
        // Who stands in the way of the directory is told of where it matters.
        let held = Reservations::of(home, &repository.id).scan();
        let held = held.map(|it| it.live).unwrap_or_default();
        let mut before = queue
            .staged
            .clone()
            .unwrap_or_else(|| queue.target.tip.clone());
        let (mut landed, mut told) = (Vec::new(), Vec::new());
        for (branch, commit) in merged {
            let unreserved = match held.is_empty() {
                true => Vec::new(),
                false => self.strays(branch, (&before, commit), &held)?,
            };
            before.clone_from(commit);
            let outcome = Landed {
                commit: commit.clone(),
                onto: queue.target.branch.clone(),
                tip: branch.tip.clone(),
                at: home.now(),
            };
            told.push(self.told(branch, &outcome, unreserved));
            landed.push(LandedTask {
                task: branch.task.clone(),
                branch: branch.branch.clone(),
                landed: outcome,
            });
        }
        record_landed(self.stage.list, self.actor, &landed)?;
        for ((branch, _), event) in merged.iter().zip(told) {
            self.landed(&queue.target, branch, event)?;
        }
        Ok(())
    }

    /// Records what landed without a record.
    pub(super) fn recall(&mut self, target: &Target) -> Result<()> {
        let (list, repository) = (self.stage.list, self.stage.repository);
        let who = (self.actor, target);
        for (branch, landed) in recall(&self.sessions, repository, list, who)? {
            let told = self.told(&branch, &landed, Vec::new());
            self.landed(target, &branch, told)?;
        }
        Ok(())
    }

    /// What is told of work that landed.
    pub(super) fn told(
        &self,
        branch: &QueuedBranch,
        landed: &Landed,
        unreserved: Vec<String>,
    ) -> RunEvent {
        RunEvent::LandLanded {
            task: branch.task.clone(),
            subject: branch.subject.clone(),
            commit: landed.commit.clone(),
            onto: landed.onto.clone(),
            checked: self.terms.check.is_some(),
            unreserved,
        }
    }

    /// Tells of work that is recorded as landed; its worktree goes.
    pub(super) fn landed(
        &mut self,
        target: &Target,
        branch: &QueuedBranch,
        told: RunEvent,
    ) -> Result<()> {
        self.report.landed.push(branch.task.clone());
        // It came back earlier, and a run did it again meanwhile.
        self.report.refused.retain(|it| *it != branch.task);
        (self.tell)(told)?;
        self.close(target, branch)
    }

    /// The files that a branch touched without its worker holding them.
    fn strays(
        &self,
        branch: &QueuedBranch,
        (before, after): (&str, &str),
        held: &[Reservation],
    ) -> Result<Vec<String>> {
        let owner = self.stage.list.task(&branch.task)?.task.owner;
        let worker = owner.and_then(|it| it.parse::<WorkerId>().ok());
        let out = Git::at(&self.stage.repository.top)
            .args(&[
                "diff-tree",
                "-r",
                "-z",
                "--name-only",
                "--no-renames",
                before,
                after,
            ])
            .run()
            .map_err(flagpost_core::Error::from)?;
        let now = self.stage.home.now();
        let names = out.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let names = names.map(|name| String::from_utf8_lossy(name).into_owned());
        let is_stray =
            |path: &String| !matches!(holding(path, worker.as_ref(), held, now), Holding::Held);
        Ok(names.filter(is_stray).take(NAMED).collect())
    }
}
