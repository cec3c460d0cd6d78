//! Who says which change of a shared repository comes next, as a home knows it (`docs/machines.md`).
//!
//! Owns the seam and what crosses it: a change with its numbers, as bytes that only [`crate::order`] reads. For a
//! history there is one above it: the lines of a change and its files, which become such bytes on the way.

use std::{cell::Cell, fmt, path::PathBuf};

use flagpost_disk::fsx::StagedBatch;
use flagpost_model::{ListId, RepoId, WorkerId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{OrderRefusal, Result};

/// Who says which change of a repository comes next.
pub trait Sequencer: fmt::Debug + Send + Sync {
    /// Makes this the change that follows the one before its first number. On success it has happened,
    /// whatever becomes of this machine.
    fn publish(&self, change: &NumberedChange) -> Result<(), OrderRefusal>;

    /// What time it is by the clock that all machines share, where this machine's own says this.
    fn time(&self, own: Timestamp) -> Timestamp;

    /// Makes a list's name this repository's in the whole fleet, unless another one has it.
    fn name_list(&self, repo: &RepoId, list: &ListId) -> Result<(), OrderRefusal>;

    /// Carries out on this machine what the order has of this repository, and what a crash left undone.
    /// The caller holds no lock.
    fn catch_up(&self, repo: &RepoId) -> Result<()>;
}

/// A change on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedChange {
    /// Which repository it changes.
    pub repo: RepoId,
    /// The number of its first line.
    pub first: u64,
    /// The number of its last line.
    pub last: u64,
    /// Who may publish it.
    pub needs: ChangeOrigin,
    /// All of it.
    pub bytes: Vec<u8>,
}

/// Puts the changes of one repository in order, for its history.
pub(crate) trait ChangeOrder: fmt::Debug {
    /// Puts the change that these lines tell of, and that this batch makes or other hands made of these files,
    /// after the last one of all machines. From then on it has happened.
    fn publish(
        &self,
        lines: &[u8],
        batch: Option<&StagedBatch<'_>>,
        found: &[PathBuf],
    ) -> Result<FinishChange>;
}

/// Does what is still to be done with the files of a change that has happened, under the locks of whoever made it.
pub(crate) type FinishChange = Box<dyn FnOnce() -> Result<()>>;

/// Who published a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeOrigin {
    /// A machine on which people decide.
    Gate,
    /// Any other machine.
    Plain,
}

/// This thread carries out an operation that is begun again where another machine was first. What records a
/// change outside of one would fail where others try again.
#[derive(Debug)]
pub(crate) struct Transaction {
    outer: Option<AfterWait>,
}

/// What becomes of a change that waited for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterWait {
    /// It is begun again: its times are of before.
    BeginAgain,
    /// It goes on.
    GoOn,
}

thread_local! {
    static OPEN: Cell<Option<AfterWait>> = const { Cell::new(None) };
}

impl Transaction {
    pub(crate) fn begin() -> Self {
        let outer = OPEN.get();
        OPEN.set(outer.or(Some(AfterWait::GoOn)));
        Self { outer }
    }

    /// What the open one does after a wait; none where none is open.
    pub(crate) fn after_wait() -> Option<AfterWait> {
        OPEN.get()
    }

    pub(crate) fn set_after_wait(&self, after: AfterWait) {
        OPEN.set(Some(after));
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        OPEN.set(self.outer);
    }
}

/// A report that the fleet has not heard yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptReport {
    /// The version of its form.
    pub(crate) form: u32,
    /// Its own: the lines of the history that tell of it name it.
    pub(crate) id: String,
    pub(crate) said_at: Timestamp,
    /// The last line of the history when it was said: those that tell of it come later.
    pub(crate) after: u64,
    pub(crate) operation: String,
    pub(crate) actor: WorkerId,
    /// Who spoke in that name, where it was somebody else.
    pub(crate) by: Option<WorkerId>,
    pub(crate) arguments: Map<String, Value>,
}
