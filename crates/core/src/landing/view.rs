//! How far landing is, for whoever looks.
//!
//! Owns what is looked at together: the queue, what a landing does at the moment, and what landed last or
//! passed with nothing to land.
//! A look changes nothing.

use flagpost_model::{TaskId, task::State};
use jiff::Timestamp;

use super::{
    LandingActivity, LandingFailure, LandingQueue, QueuedBranch, ReviewRule, Target, queue,
};
use crate::{
    error::Result,
    history::{History, HistoryFilter, Kind, Line},
    list::List,
    repository::Repository,
    sessions::Sessions,
};

/// How many of the last outcomes are shown.
const SHOWN: usize = 20;

/// How far landing is.
#[derive(Debug)]
pub struct LandingView {
    /// What is to land.
    pub queue: LandingQueue,
    /// How many commits of each branch of it the target lacks.
    ahead: Vec<u64>,
    /// What a landing does at the moment.
    pub activity: Option<LandingActivity>,
    /// Why the last landing ended before its time; none where it did not.
    pub failure: Option<LandingFailure>,
    /// The lines of the history on what landed, the newest first.
    pub landed: Vec<Line>,
    /// The tasks that passed without a commit, and when, the newest first.
    pub no_commit: Vec<(TaskId, Timestamp)>,
}

impl LandingView {
    /// Looks at a list, and at the target of this name or the one that the repository stands on.
    pub fn of(repository: &Repository, list: &List<'_>, onto: Option<&str>) -> Result<Self> {
        let rule = ReviewRule::of(list.home, repository)?;
        Self::by_rule(repository, list, (onto, rule))
    }

    /// The same, by this rule instead of the setting's.
    pub fn by_rule(
        repository: &Repository,
        list: &List<'_>,
        (onto, rule): (Option<&str>, ReviewRule),
    ) -> Result<Self> {
        let home = list.home;
        let target = Target::of(repository, onto)?;
        let queue = queue(
            &Sessions::of(home, repository),
            repository,
            list,
            (target, rule),
        )?;
        let top = &repository.top;
        let ahead = queue.branches.iter().map(|it| queue.ahead(top, it));
        let ahead = ahead.collect::<Result<Vec<u64>>>()?;
        let kinds = [Kind::TaskLanded, Kind::TaskNoCommit];
        let wanted = HistoryFilter {
            about: Some(list.lines(None)),
            kinds: kinds.map(|it| it.as_str().to_owned()).to_vec(),
            ..HistoryFilter::default()
        };
        let mut lines = History::of(home, &repository.id)
            .latest(&wanted, SHOWN)?
            .lines;
        lines.reverse();
        let (landed, without): (Vec<_>, Vec<_>) = lines
            .into_iter()
            .partition(|it| it.entry.kind == Kind::TaskLanded);
        let mut no_commit: Vec<(TaskId, Timestamp)> = Vec::new();
        for task in without.into_iter().filter_map(|it| it.entry.task) {
            // One that is done again has what the newest attempt says.
            let says = list.task(&task).ok().and_then(|it| it.task.landing);
            let at = says.and_then(|it| it.no_commit());
            if let Some(at) = at.filter(|_| no_commit.iter().all(|(known, _)| *known != task)) {
                no_commit.push((task, at));
            }
        }
        Ok(Self {
            queue,
            ahead,
            activity: LandingActivity::read(home, repository)?,
            failure: LandingFailure::read(home, repository)?,
            landed,
            no_commit,
        })
    }

    /// The branches, each with how many commits the target lacks.
    pub fn branches(&self) -> impl Iterator<Item = (&QueuedBranch, u64)> {
        self.queue.branches.iter().zip(self.ahead.iter().copied())
    }

    /// The tasks that passed and of which neither a branch waits nor a landing is known: they were done in a working
    /// tree that others share, or landed by hand.
    pub fn without_branch(&self, list: &List<'_>) -> Result<Vec<TaskId>> {
        let outlines = list.load()?.outlines.into_iter();
        let passed = outlines.filter(|it| it.state == State::Completed);
        let has_none = |id: &TaskId| {
            let waits = self.queue.branches.iter().any(|it| it.task == *id);
            let known = list.task(id).is_ok_and(|it| it.task.landing.is_some());
            !waits && !known
        };
        Ok(passed.map(|it| it.id).filter(has_none).collect())
    }
}
