//! How far landing is, for whoever looks.
//!
//! Owns what is looked at together: the queue, what a landing does at the moment, and what landed last.
//! A look changes nothing.

use super::{LandingActivity, LandingQueue, QueuedBranch, Target, queue};
use crate::{
    error::Result,
    history::{History, HistoryFilter, Kind, Line},
    list::List,
    repository::Repository,
    sessions::Sessions,
};

/// How many of those that landed are shown.
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
    /// The lines of the history on what landed, the newest first.
    pub landed: Vec<Line>,
}

impl LandingView {
    /// Looks at a list, and at the target of this name or the one that the repository stands on.
    pub fn of(repository: &Repository, list: &List<'_>, onto: Option<&str>) -> Result<Self> {
        let home = list.home;
        let target = Target::of(repository, onto)?;
        let queue = queue(&Sessions::of(home, repository), repository, list, target)?;
        let top = &repository.top;
        let ahead = queue.branches.iter().map(|it| queue.ahead(top, it));
        let ahead = ahead.collect::<Result<Vec<u64>>>()?;
        let wanted = HistoryFilter {
            about: Some((list, None)),
            kinds: vec![Kind::TaskLanded.as_str().to_owned()],
            ..HistoryFilter::default()
        };
        let mut landed = History::of(home, &repository.id)
            .latest(&wanted, SHOWN)?
            .lines;
        landed.reverse();
        Ok(Self {
            queue,
            ahead,
            activity: LandingActivity::read(home, repository)?,
            landed,
        })
    }

    /// The branches, each with how many commits the target lacks.
    pub fn branches(&self) -> impl Iterator<Item = (&QueuedBranch, u64)> {
        self.queue.branches.iter().zip(self.ahead.iter().copied())
    }
}
