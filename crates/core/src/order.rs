//! One order of changes for a repository that several machines share (`docs/machines.md`).
//!
//! Owns the seam: a change of a shared repository is put after the one before it by a [`Sequencer`], before
//! any file here tells of it, and each machine carries out what the order has ([`SharedChange::follow`]).
//! Invariants: a number of the history is one change on every machine; what the order has taken has
//! happened, and is never voided. A repository that is not shared knows nothing of all this.

mod apply;
mod base;
mod bootstrap;
mod list_names;
mod message;
mod offline_queue;
mod shared_change;
mod shared_dir;
mod standing;

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use flagpost_disk::fsx::{self, StagedBatch};
use flagpost_model::RepoId;

pub use base::{BasePart, share};
pub use bootstrap::{TakenOver, take_over};
pub use list_names::{lists, must_be_free};
pub use message::Message;
pub use offline_queue::kept;
pub(crate) use offline_queue::{FORM, KeptFile, OfflineQueue};
pub use shared_change::SharedChange;
pub use standing::{fleet_dir, membership_file, note, seen, sight, time};

pub use crate::{
    error::OrderRefusal,
    sequencer::{ChangeOrigin, NumberedChange, Sequencer},
};
use crate::{
    error::{Error, Result},
    history::History,
    home::Home,
    sequencer::{AfterWait, ChangeOrder, FinishChange, Transaction},
};

/// So often an operation is begun again because another machine was first.
pub(crate) const TRIES: usize = 8;

/// So often because it waited.
const WAITS: usize = 2;

/// After that it is not begun again: somebody waits.
const LONGEST: Duration = Duration::from_secs(10);

/// The number of the first line that a machine wants from the order: of its last change, which a crash may
/// have cut short, or else of the first of all.
pub fn first_wanted(home: &Home, repo: &RepoId) -> Result<u64> {
    History::of(home, repo).first_of_last()
}

/// Whether a repository is shared.
pub fn is_shared(home: &Home, repo: &RepoId) -> Result<bool> {
    History::of(home, repo).is_shared()
}

/// The repositories of a home that are shared.
pub fn shared(home: &Home) -> Result<Vec<RepoId>> {
    let mut all = home.ids_in::<RepoId>(&home.repositories_root())?;
    all.retain(|repo| is_shared(home, repo).unwrap_or_default());
    all.sort();
    Ok(all)
}

/// Which order of a repository this machine goes by: each one that is begun anew has a higher number.
pub fn epoch(home: &Home, repo: &RepoId) -> Result<u64> {
    History::of(home, repo).epoch()
}

/// The number of the last line that a repository's history has here.
pub fn last(home: &Home, repo: &RepoId) -> Result<u64> {
    History::of(home, repo).last()
}

/// Says that all up to line `n` has been carried out here: the order has nothing else to say of it.
pub fn caught_up(home: &Home, repo: &RepoId, n: u64) -> Result<()> {
    History::of(home, repo).follower(home.now())?.caught_up(n)
}

impl Home {
    /// Carries out an operation, and does so again where another machine was first, what was said here before is
    /// to be told first, or others were waited for so long that its times are over. A part of an operation that
    /// holds a lock is not begun again by itself.
    pub(crate) fn transact<T>(&self, mut operation: impl FnMut() -> Result<T>) -> Result<T> {
        let is_part = fsx::holds_a_lock();
        debug_assert!(
            !is_part || Transaction::after_wait().is_some(),
            "locks are taken in Home::transact"
        );
        let open = Transaction::begin();
        if is_part {
            // Who called it may do without it, and would if it failed.
            open.set_after_wait(AfterWait::GoOn);
            return operation();
        }
        let began = Instant::now();
        let mut tries = 0;
        loop {
            let may_try = tries < TRIES && began.elapsed() < LONGEST;
            open.set_after_wait(match tries < WAITS {
                true => AfterWait::BeginAgain,
                false => AfterWait::GoOn,
            });
            tries += 1;
            let repo = match operation() {
                Err(Error::Order(OrderRefusal::Overtaken { repo })) if may_try => repo,
                done => return done,
            };
            // Nobody else is behind the wait for a repository that is not shared.
            if let Some(order) = self.sequencer_of(&repo)? {
                order.catch_up(&repo)?;
                self.tell_kept(&repo)?;
            }
        }
    }

    /// What puts the changes of this repository in order; none where it is not shared.
    pub(crate) fn order_of(&self, repo: &RepoId) -> Result<Option<Box<dyn ChangeOrder + '_>>> {
        let Some(sequencer) = self.sequencer_of(repo)? else {
            return Ok(None);
        };
        let (home, repo) = (self, repo.clone());
        Ok(Some(Box::new(SharedOrder {
            home,
            repo,
            sequencer,
        })))
    }

    /// Who puts them in order; none where it is not shared.
    pub(crate) fn sequencer_of(&self, repo: &RepoId) -> Result<Option<&dyn Sequencer>> {
        if !is_shared(self, repo)? {
            return Ok(None);
        }
        let order = self.order().ok_or_else(|| OrderRefusal::Unreachable {
            repo: repo.clone(),
            reason: "this process has no connection to the fleet's server".to_owned(),
        })?;
        Ok(Some(order))
    }
}

/// The order of a shared repository, as its history knows it.
#[derive(Debug)]
struct SharedOrder<'h> {
    home: &'h Home,
    repo: RepoId,
    sequencer: &'h dyn Sequencer,
}

impl ChangeOrder for SharedOrder<'_> {
    fn publish(
        &self,
        lines: &[u8],
        batch: Option<&StagedBatch<'_>>,
        found: &[PathBuf],
    ) -> Result<FinishChange> {
        let Self { home, repo, .. } = self;
        let is_overtaken = match home.tells() {
            // What was said before goes first.
            None => !OfflineQueue::of(home, repo).numbers()?.is_empty(),
            // It has happened after all.
            Some(report) => report.is_told(&History::of(home, repo))?,
        };
        if is_overtaken {
            let repo = repo.clone();
            return Err(OrderRefusal::Overtaken { repo }.into());
        }
        let mut change = SharedChange::of(home, repo, lines, batch)?;
        change.find(home, found)?;
        self.sequencer.publish(&change.numbered())?;
        let home = (*home).clone();
        Ok(Box::new(move || change.finish(&home)))
    }
}
