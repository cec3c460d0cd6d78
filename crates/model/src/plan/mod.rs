//! The plan: which task waits for which, and what can begin.
//!
//! Owns the order of work over a list's outlines. Everything is derived from the outlines and kept
//! nowhere. A plan with holes (unknown ids, circles, given-up blockers) is described, never
//! refused: refusing is for whoever writes one.

mod circle;
mod critical;
mod excerpt;
mod family;
mod faults;
mod graph;
mod index;
mod readiness;
mod wave;

#[cfg(test)]
mod tests;

pub(crate) use circle::closing;
pub use critical::{critical, expected};
pub use excerpt::{Excerpt, PlanGroup, groups};
pub use family::{Family, PartsProgress};
pub use faults::{Cycle, OneSided, dangling, one_sided, parent_circles};
pub use graph::{Graph, Node};
pub use index::Index;
pub use readiness::{Readiness, readiness};
pub(crate) use wave::is_ready;
pub use wave::{Stranded, StrandedBecause, claim_order, first_ready, ready, stranded, waves};

use crate::{names::names, task::State};

names!(
    /// When a task of a run may begin.
    Schedule {
        /// Wave by wave: the next one begins when the whole one before has ended.
        Waves = "waves",
        /// The moment its blockers are done.
        Eager = "eager",
    }
);

/// Whether work on the task is still to come or going on.
pub fn is_open(state: &State) -> bool {
    match state {
        State::Pending | State::Claimed(_) | State::InProgress(_) => true,
        State::Completed | State::Failed | State::Stuck | State::Cancelled => false,
    }
}

/// Whether somebody may still wait for the task: it is neither done nor dropped.
pub fn is_unfinished(state: &State) -> bool {
    match state {
        State::Pending
        | State::Claimed(_)
        | State::InProgress(_)
        | State::Failed
        | State::Stuck => true,
        State::Completed | State::Cancelled => false,
    }
}
