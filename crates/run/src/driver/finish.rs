//! The end of a run: worktrees that hold nothing go, the session is archived.
//!
//! Owns the order of it: nothing of the session is put away before all that it is made from is durable.

use std::collections::BTreeSet;

use flagpost_core::{
    self as core,
    history::Kind,
    landing::{Target, record_move},
    sessions,
};
use flagpost_model::{TaskId, plan::Graph, task::State};

use super::{Driver, RunReport};
use crate::{
    error::Result,
    events::RunEvent,
    scheduler::TaskOutcome,
    worktree::{Because, Closed},
};

impl Driver<'_> {
    /// Everything is over: worktrees that hold nothing go, the session is archived.
    pub(super) fn finish(
        &mut self,
        fates: Vec<(TaskId, TaskOutcome)>,
        interrupted: bool,
    ) -> Result<RunReport> {
        let landing = self.end_landing(interrupted)?;
        self.tell_moved()?;
        self.close_worktrees(&fates)?;
        self.dismiss_processes()?;
        let session = self.live.id().clone();
        let passed = fates.iter().filter(|(_, fate)| fate.is_passed()).count();
        let failed = fates
            .iter()
            .filter(|(_, fate)| {
                matches!(
                    fate,
                    TaskOutcome::Failed { .. } | TaskOutcome::Partial { .. }
                )
            })
            .count();
        let stuck = fates
            .iter()
            .filter(|(_, fate)| matches!(fate, TaskOutcome::Stuck { .. }))
            .count();
        let skipped = fates.len() - passed - failed - stuck;
        let dir = self
            .live
            .dir()
            .with_file_name(session.as_str())
            .display()
            .to_string();
        self.tell(RunEvent::Finished {
            dir,
            passed,
            failed,
            skipped,
            stuck,
            interrupted,
        })?;
        let now = self.stage.home.now();
        let progress = self.account.progress(&[], now).at_the_end(interrupted);
        let summary = self
            .account
            .summary(session.clone(), self.stage.list.id().clone(), now);
        let (stage, options) = (self.stage, self.options);
        let dir = self.patiently(|it| {
            sessions::archive(
                &mut it.live,
                stage.list,
                &options.actor,
                &progress,
                &summary,
            )
        })?;
        // Nobody reads them any more; what they held is in the session.
        let _: core::Result<()> = self.live.clear_attempts();
        Ok(RunReport {
            session,
            dir,
            fates,
            interrupted,
            landing,
        })
    }

    /// Tells if something else than a landing moved the branch that work lands on while the run was under way, or
    /// if work lands on another one now.
    fn tell_moved(&mut self) -> Result<()> {
        let (repository, actor) = (self.stage.repository, &self.options.actor);
        let Some(before) = self.target.take() else {
            return Ok(());
        };
        let onto = &before.branch;
        let mut told = Vec::new();
        match before.moved_by_others(self.stage.home, repository) {
            Ok(None) => {}
            Ok(Some(now)) => {
                let (from, to) = (&before.tip, &now.tip);
                record_move(
                    Kind::TargetMoved,
                    (self.stage.home, repository, actor),
                    (onto, from, to),
                )?;
                told.push(format!(
                    "something else than a landing moved {onto} while the run went on: 'git log --left-right {from:.10}...{to:.10}' shows what went and what came"
                ));
            }
            Err(error) => told.push(format!(
                "{onto} was there when the run began, and is not now: {}",
                core::describe(&error)
            )),
        }
        let stands = Target::of(repository, None).map(|it| it.branch);
        // What this run landed is where it began.
        let stands = stands.ok().filter(|_| self.options.land.is_none());
        if let Some(stands) = stands.filter(|it| it != onto) {
            let words = format!(
                "the repository stood on {onto} when the run began, and stands on {stands} now"
            );
            told.push(match told.is_empty() {
                true => format!("{words}: 'flagpost land --onto {onto}' lands where it would have"),
                false => words,
            });
        }
        for words in told {
            self.tell(RunEvent::Notice { words })?;
        }
        Ok(())
    }

    /// Closes the worktrees of the run; those whose tasks go on, or are built on, stay.
    fn close_worktrees(&mut self, fates: &[(TaskId, TaskOutcome)]) -> Result<()> {
        if let Some(worktrees) = self.worktrees.take() {
            let outlines = self.stage.list.load()?.outlines;
            let graph = Graph::new(&outlines);
            let waits = |fate: &TaskOutcome| {
                matches!(fate, TaskOutcome::Stuck { .. } | TaskOutcome::Parked { .. })
            };
            let waiting: BTreeSet<&TaskId> = fates
                .iter()
                .filter(|(_, it)| waits(it))
                .map(|(id, _)| id)
                .collect();
            for (task, worktree) in std::mem::take(&mut self.open_worktrees) {
                // It went when its work had landed.
                if !worktree.path.exists() {
                    continue;
                }
                if waiting.contains(&task) {
                    // Its conversation goes on there.
                    let (path, branch) = (worktree.path.display(), &worktree.branch);
                    let said = format!("kept at {path} (branch {branch}): the task goes on there");
                    let kept = true;
                    self.tell(RunEvent::Worktree { task, said, kept })?;
                    continue;
                }
                // Its branch may be held by that of another task, but a later run starts from here.
                let waiting = graph
                    .dependants(&task)
                    .find(|outline| !matches!(outline.state, State::Completed | State::Cancelled));
                if let Some(waiting) = waiting {
                    let (path, branch) = (worktree.path.display(), &worktree.branch);
                    let id = &waiting.id;
                    let said = format!("kept at {path} (branch {branch}): task {id} builds on it");
                    let kept = true;
                    self.tell(RunEvent::Worktree { task, said, kept })?;
                    continue;
                }
                let closed = worktrees.end(&worktree, self.options.keep_worktrees);
                let (said, kept) = (closed.to_string(), closed.is_kept());
                if let Closed::Kept {
                    because: Because::Teardown(how),
                    ..
                } = &closed
                {
                    let words = format!(
                        "task {task}: its worktree stays, since its teardown failed: {how}"
                    );
                    self.tell(RunEvent::Notice { words })?;
                }
                self.tell(RunEvent::Worktree { task, said, kept })?;
            }
        }
        Ok(())
    }
}
