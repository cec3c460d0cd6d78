//! Landing: the branches of passed tasks onto the target branch, one tested commit after the other.
//!
//! Owns the order of the steps: merge in a tree of its own, check there, move the target, record. What is
//! to land is derived anew before each step, so that a landing which was killed is resumed by the next
//! one. Invariants: the target only ever moves to a commit that passed the check; nothing is forced; the
//! operator's working tree is left alone while it has changes. It must never print.

mod check;
mod close;
mod github;
mod merge;
mod rehearsal;
mod remote;
mod report;
mod requests;
mod target;
mod tree;
mod waiting;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use flagpost_core::{
    landing::{
        self, BranchState, GitSettings, LandingActivity, LandingFailure, LandingLock, LandingQueue,
        LandingRefusal, LandingStep, QueuedBranch, ReviewRule, Target,
    },
    sessions::Sessions,
};
use flagpost_model::{
    TaskId, WorkerId,
    task::{LandingMethod, LandingVerdict, State},
};
use jiff::SignedDuration;

use crate::{
    error::{Error, Result},
    events::{LandingAgain, RunEvent},
    run_context::RunContext,
    worktree::submodules::{self, Pointed},
};

pub use rehearsal::{Rehearsed, rehearse};

use check::Verdict;
use merge::{Merged, brought, take_in};
use target::Moved;
use tree::LandingTree;
use waiting::GitCalls;

/// What the operator asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct LandingTerms {
    /// The target; none where it is the branch that the repository stands on.
    pub onto: Option<String>,
    /// How branches are brought in.
    pub method: LandingMethod,
    /// The command that must succeed before the target moves.
    pub check: Option<String>,
    /// How long it may take.
    pub timeout: SignedDuration,
    /// How long a call of git may take that may wait for somebody.
    pub git_timeout: SignedDuration,
    /// How many branches are merged, checked and moved to together.
    pub batch: usize,
    /// How often refused work is done again before a person is asked.
    pub retries: u32,
    /// The remote that each new commit is pushed to.
    pub push: Option<String>,
    /// Whether worktrees and branches stay once their work has landed.
    pub keep: bool,
    /// The only tasks to land; all where there is none.
    pub only: Vec<TaskId>,
    /// Whether each branch gets a pull request, and the target stays where it is.
    pub requests: bool,
    /// Whether work lands that nobody approved.
    pub review: ReviewRule,
}

/// What came of a landing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LandingReport {
    /// The target branch.
    pub onto: String,
    /// The commit that it stands on.
    pub commit: String,
    /// The tasks whose work landed, in order.
    pub landed: Vec<TaskId>,
    /// The tasks whose work was refused, and is done again or asked about.
    pub refused: Vec<TaskId>,
    /// The tasks whose branches git did not bring in, with its words.
    pub left: BTreeMap<TaskId, String>,
    /// Those that build on work which did not land.
    pub waits: Vec<TaskId>,
    /// Those that wait for a person's approval.
    pub to_review: Vec<TaskId>,
    /// The pull requests that are open for tasks' branches, in order, by their addresses.
    pub requests: Vec<(TaskId, String)>,
    /// How to take what passed its check into a working tree with changes.
    pub take: Option<String>,
    /// Why the last landing of a run ended before its time.
    pub failed: Option<String>,
}

impl LandingReport {
    /// Whether all that was to land did.
    pub fn is_whole(&self) -> bool {
        self.refused.is_empty()
            && self.left.is_empty()
            && self.waits.is_empty()
            && self.take.is_none()
            && self.failed.is_none()
    }
}

/// How often the target may be moved by others before a landing gives up.
const PATIENCE: u32 = 10;

/// A landing under way.
pub struct Landing<'a> {
    stage: RunContext<'a>,
    sessions: Sessions<'a>,
    actor: &'a WorkerId,
    terms: &'a LandingTerms,
    stop: &'a Arc<AtomicBool>,
    tell: &'a mut dyn FnMut(RunEvent) -> Result<()>,
    tree: LandingTree,
    /// Groups that a failed check left to be tried in halves, the next one last.
    halves: Vec<Vec<TaskId>>,
    overtaken: u32,
    /// Where the target stands as far as this landing, and the run that it belongs to, moved it or saw it first.
    known: &'a mut Option<String>,
    /// A commit that is known to pass.
    sound: Option<String>,
    /// Whether what an earlier landing left, or others did, is to be looked at first.
    must_settle: bool,
    report: LandingReport,
    /// What waits for a working tree, told at the end.
    waiting: Option<RunEvent>,
    said: BTreeSet<String>,
    _lock: LandingLock,
}

impl<'a> Landing<'a> {
    /// A landing that nobody else of the repository is in.
    pub fn begin(
        stage: RunContext<'a>,
        actor: &'a WorkerId,
        terms: &'a LandingTerms,
        stop: &'a Arc<AtomicBool>,
        (known, tell): (
            &'a mut Option<String>,
            &'a mut dyn FnMut(RunEvent) -> Result<()>,
        ),
    ) -> Result<Self> {
        let Target { branch: onto, tip } = Target::of(stage.repository, terms.onto.as_deref())?;
        known.get_or_insert(tip);
        let what = GitSettings::of(stage.repository)?.changed(stage.home, stage.repository)?;
        if !what.is_empty() {
            return Err(LandingRefusal::GitChanged { what }.into());
        }
        let lock = LandingLock::take(stage.home, stage.repository)?;
        LandingFailure::clear(stage.home, stage.repository)?;
        check::end_leftover(stage.repository);
        Ok(Self {
            sessions: Sessions::of(stage.home, stage.repository),
            tree: LandingTree::of(stage, terms.git_timeout)?,
            stage,
            actor,
            terms,
            stop,
            tell,
            halves: Vec::new(),
            overtaken: 0,
            known,
            sound: None,
            must_settle: true,
            report: LandingReport {
                onto,
                ..LandingReport::default()
            },
            waiting: None,
            said: BTreeSet::new(),
            _lock: lock,
        })
    }

    /// Lands what can land; what came of it.
    pub fn land(mut self) -> Result<LandingReport> {
        let done = match self.terms.requests {
            true => self.request(),
            false => self.go(),
        };
        if let Err(error) = &done {
            let failure = LandingFailure {
                why: flagpost_core::describe(error),
                at: self.stage.home.now(),
            };
            // It is told by what is answered, whether it can be kept for others or not.
            let _: flagpost_core::Result<()> = failure.keep(self.stage.home, self.stage.repository);
        }
        // Neither is needed by anybody: what is left is taken up by the next landing.
        let cleared = LandingActivity::clear(self.stage.home, self.stage.repository);
        let tidied = self.tree.remove();
        done?;
        cleared?;
        if let Err(error) = tidied {
            self.notice(format!("the tree of the checks is kept: {error}"))?;
        }
        (self.tell)(RunEvent::LandFinished {
            onto: self.report.onto.clone(),
            commit: self.report.commit.clone(),
            landed: self.report.landed.clone(),
            refused: self.report.refused.clone(),
            left: self.report.left.keys().cloned().collect(),
            waits: self.report.waits.clone(),
            to_review: self.report.to_review.clone(),
        })?;
        Ok(self.report)
    }

    fn go(&mut self) -> Result<()> {
        let mut is_begun = false;
        loop {
            let queue = self.look()?;
            if !std::mem::replace(&mut is_begun, true) {
                (self.tell)(RunEvent::LandStarted {
                    onto: queue.target.branch.clone(),
                    tasks: queue
                        .ready_of(&self.terms.only)
                        .map(|it| it.task.clone())
                        .collect(),
                    check: self.terms.check.clone(),
                })?;
            }
            let group = self.next_group(&queue);
            if group.is_empty() {
                return self.account_for(&queue);
            }
            self.must_go_on(&queue.target)?;
            self.land_group(&queue, &group)?;
        }
    }

    /// What is to land now. What an earlier landing left half done is finished first.
    fn look(&mut self) -> Result<LandingQueue> {
        let (list, repository) = (self.stage.list, self.stage.repository);
        let mut target = self.target()?;
        if std::mem::replace(&mut self.must_settle, false) {
            self.must_be_known(&target)?;
            let fetched = self.fetched(target)?;
            self.take_staged(&fetched)?;
            target = self.target()?;
            self.recall(&target)?;
        }
        self.must_be_known(&target)?;
        let wanted = (target, self.terms.review);
        Ok(landing::queue(&self.sessions, repository, list, wanted)?)
    }

    /// The target as it is now. It stays the same branch, wherever the operator goes meanwhile.
    fn target(&self) -> Result<Target> {
        let onto = Some(&*self.report.onto);
        Ok(Target::of(self.stage.repository, onto)?)
    }

    /// The branches that are tried together: the next half of a group that failed, else the first that
    /// can land. None of them builds on what did not land in this landing.
    fn next_group(&mut self, queue: &LandingQueue) -> Vec<QueuedBranch> {
        let only = &self.terms.only;
        let out: BTreeSet<&TaskId> = self.report.left.keys().collect();
        let can = |it: &&QueuedBranch| {
            let builds_on_others = it
                .builds_on
                .iter()
                .any(|on| out.contains(on) || !only.is_empty() && !only.contains(on));
            !out.contains(&it.task) && !builds_on_others
        };
        let ready: Vec<&QueuedBranch> = queue.ready_of(only).filter(can).collect();
        while let Some(half) = self.halves.pop() {
            let those = ready.iter().filter(|it| half.contains(&it.task));
            let group: Vec<QueuedBranch> = those.map(|it| (*it).clone()).collect();
            if !group.is_empty() {
                return group;
            }
        }
        let most = self.terms.batch.max(1);
        ready.into_iter().take(most).cloned().collect()
    }

    /// Merges a group, checks it and moves the target; or finds out who of it cannot land.
    fn land_group(&mut self, queue: &LandingQueue, group: &[QueuedBranch]) -> Result<()> {
        let base = queue.staged.as_ref().unwrap_or(&queue.target.tip);
        self.show(LandingStep::Merging, &queue.target, group)?;
        self.tree.stand_on(base)?;
        let mut merged: Vec<(QueuedBranch, String)> = Vec::new();
        for branch in group {
            let before = merged.last().map_or(base, |(_, commit)| commit);
            let what = (branch, self.terms.method);
            let brought = brought(
                &self.stage.repository.top,
                what,
                (base, &queue.target),
                &merged,
            )?;
            self.tree.went_to(None);
            let onto = (before.as_str(), &brought[..]);
            let mut calls = GitCalls::of(self.stop, self.terms, self.tell);
            match take_in((&self.tree, &mut calls), onto, branch, self.terms.method)? {
                Merged::Commit(commit) => {
                    self.tree.went_to(Some(&commit));
                    let top = &self.stage.repository.top;
                    match submodules::bring_pointed(top, before, &commit)? {
                        Pointed::There => merged.push((branch.clone(), commit)),
                        // It goes back to its agent once it comes alone.
                        Pointed::NoSubmodule(_) if !merged.is_empty() => break,
                        Pointed::NoSubmodule(path) => {
                            let why = format!(
                                "It committed {path}, a repository of its own that .gitmodules does not name: \
                                 nothing but a pointer to it would land."
                            );
                            return self.refuse(queue, branch, why);
                        }
                        Pointed::Missing(why) => {
                            self.leave(branch, why)?;
                            break;
                        }
                    }
                }
                // Against what landed, or only against its neighbours: alone it will show.
                Merged::Conflict(_) if !merged.is_empty() => break,
                Merged::Conflict(files) => {
                    let onto = &queue.target.branch;
                    let why = format!("Bringing it onto {onto} met conflicts in {files}.");
                    return self.refuse(queue, branch, why);
                }
                Merged::Not(reason) => {
                    self.must_go_on(&queue.target)?;
                    self.leave(branch, format!("git did not bring it in: {reason}"))?;
                    break;
                }
            }
        }
        let Some((_, commit)) = merged.last() else {
            return Ok(());
        };
        let commit = commit.clone();
        let branches: Vec<QueuedBranch> = merged.iter().map(|(it, _)| it.clone()).collect();
        match self.check(queue, &branches, &commit)? {
            Verdict::Passed => self.bring(queue, (base, &commit), &merged),
            Verdict::Stopped => self.must_go_on(&queue.target),
            Verdict::Failed(_) if branches.len() > 1 => {
                let ids: Vec<TaskId> = branches.iter().map(|it| it.task.clone()).collect();
                let (first, second) = ids.split_at(ids.len() / 2);
                self.halves.push(second.to_vec());
                self.halves.push(first.to_vec());
                Ok(())
            }
            Verdict::Failed(why) => {
                self.must_be_sound(queue, base)?;
                self.refuse(queue, &branches[0], why)
            }
        }
    }

    /// Refuses nobody's work for a check that fails without it, too.
    fn must_be_sound(&mut self, queue: &LandingQueue, base: &str) -> Result<()> {
        if self.sound.as_deref() == Some(base) {
            return Ok(());
        }
        self.tree.stand_on(base)?;
        match self.check(queue, &[], base)? {
            Verdict::Passed => Ok(()),
            Verdict::Stopped => self.must_go_on(&queue.target),
            Verdict::Failed(why) => Err(LandingRefusal::Unsound {
                branch: queue.target.branch.clone(),
                why,
            }
            .into()),
        }
    }

    /// Moves the target to a commit that passed, and records what it brought.
    fn bring(
        &mut self,
        queue: &LandingQueue,
        (base, commit): (&str, &str),
        merged: &[(QueuedBranch, String)],
    ) -> Result<()> {
        if !self.are_all_wanted(merged)? {
            return Ok(());
        }
        let branches: Vec<QueuedBranch> = merged.iter().map(|(it, _)| it.clone()).collect();
        if self.terms.push.is_some() {
            self.show(LandingStep::Pushing, &queue.target, &branches)?;
        }
        match self.move_target(queue, (base, commit), merged)? {
            Moved::Yes => self.overtaken = 0,
            // What waits for a person is recorded when it is on the target.
            Moved::Staged => {
                self.overtaken = 0;
                return Ok(());
            }
            Moved::Meanwhile => {
                let now = self.target()?;
                self.must_be_known(&now)?;
                self.must_settle = true;
                self.overtaken += 1;
                if self.overtaken == PATIENCE {
                    return Err(LandingRefusal::Overtaken {
                        branch: queue.target.branch.clone(),
                        times: PATIENCE,
                    }
                    .into());
                }
                return self.notice(format!(
                    "{} was moved by others meanwhile: the branches are tried again on top",
                    queue.target.branch
                ));
            }
        }
        self.record(queue, merged)
    }

    /// Whether nobody cancelled, opened again or removed one of the tasks meanwhile; else the others are
    /// tried without it.
    fn are_all_wanted(&mut self, merged: &[(QueuedBranch, String)]) -> Result<bool> {
        let mut unwanted = Vec::new();
        for (branch, _) in merged {
            match self.stage.list.task(&branch.task) {
                Ok(file) if file.task.state == State::Completed => {}
                Ok(_) | Err(flagpost_core::Error::NotFound { .. }) => {
                    unwanted.push(branch.task.to_string());
                }
                Err(error) => return Err(error.into()),
            }
        }
        if unwanted.is_empty() {
            return Ok(true);
        }
        let unwanted = unwanted.join(", ");
        self.notice(format!(
            "{unwanted} is no longer done: the others are tried without it"
        ))?;
        Ok(false)
    }

    /// Sends a task's work back.
    fn refuse(&mut self, queue: &LandingQueue, branch: &QueuedBranch, why: String) -> Result<()> {
        let verdict = LandingVerdict {
            why: why.clone(),
            onto: queue.target.branch.clone(),
            retries: self.terms.retries,
        };
        let task = match landing::refuse(self.stage.list, self.actor, &branch.task, verdict) {
            Ok(task) => task,
            // Somebody opened it meanwhile, and it is done again in any case; or removed it.
            Err(flagpost_core::Error::Refused(_) | flagpost_core::Error::NotFound { .. }) => {
                return self.leave(branch, why);
            }
            Err(error) => return Err(error.into()),
        };
        self.report.refused.push(branch.task.clone());
        (self.tell)(RunEvent::LandRefused {
            task: branch.task.clone(),
            subject: branch.subject.clone(),
            why,
            next: match task.state {
                State::Stuck => LandingAgain::Asks,
                _ => LandingAgain::Again,
            },
        })
    }

    /// Leaves a branch that git does not bring in, for a reason that is not the task's.
    fn leave(&mut self, branch: &QueuedBranch, why: String) -> Result<()> {
        self.report.left.insert(branch.task.clone(), why.clone());
        (self.tell)(RunEvent::LandRefused {
            task: branch.task.clone(),
            subject: branch.subject.clone(),
            why,
            next: LandingAgain::Left,
        })
    }

    /// What is said at the end: where the target stands, and what waits.
    fn account_for(&mut self, queue: &LandingQueue) -> Result<()> {
        if self.terms.only.is_empty() {
            for branch in &queue.branches {
                if let BranchState::Changed { passed } = &branch.state {
                    let (task, tip) = (&branch.task, &branch.tip);
                    let why = format!(
                        "its branch stands on {tip} and stood on {passed} when it passed: look at it, and \
                         'flagpost land {task}' lands it as it is"
                    );
                    self.leave(branch, why)?;
                }
            }
        }
        let waits = |it: &&QueuedBranch| {
            let is_behind = it
                .builds_on
                .iter()
                .any(|on| self.report.left.contains_key(on));
            matches!(it.state, BranchState::Waits { .. })
                || it.state == BranchState::Queued
                    && is_behind
                    && !self.report.left.contains_key(&it.task)
        };
        let waits = queue.branches.iter().filter(waits);
        self.report.waits = waits.map(|it| it.task.clone()).collect();
        self.report.to_review = queue.to_review().map(|it| it.task.clone()).collect();
        self.report.commit.clone_from(&queue.target.tip);
        match self.waiting.take() {
            Some(event) => (self.tell)(event),
            None => Ok(()),
        }
    }

    /// The calls of git that may wait for somebody.
    fn calls(&mut self) -> GitCalls<'_> {
        GitCalls::of(self.stop, self.terms, self.tell)
    }

    fn show(&self, step: LandingStep, target: &Target, group: &[QueuedBranch]) -> Result<()> {
        let activity = LandingActivity {
            step,
            tasks: group.iter().map(|it| it.task.clone()).collect(),
            onto: target.branch.clone(),
            check: self.terms.check.clone(),
            since: self.stage.home.now(),
        };
        Ok(activity.show(self.stage.home, self.stage.repository)?)
    }

    /// Says something once.
    fn notice(&mut self, words: String) -> Result<()> {
        match self.said.insert(words.clone()) {
            true => (self.tell)(RunEvent::Notice { words }),
            false => Ok(()),
        }
    }

    fn must_go_on(&self, target: &Target) -> Result<()> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(Error::from(LandingRefusal::Interrupted {
                branch: target.branch.clone(),
            })),
            false => Ok(()),
        }
    }
}
