//! Leases: who was given a message, and until when it is theirs.
//!
//! Owns when a message may be given out again. A lease is no acknowledgement: whoever was given a
//! message and died has not read it, and it is offered again once the lease is over.

use jiff::{SignedDuration, Timestamp};

use crate::{id::WorkerId, lease};

/// How long a message is its receiver's, unless it says otherwise.
pub const LEASE: SignedDuration = SignedDuration::from_mins(5);

/// A message in somebody's hands.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Lease {
    /// Its holder.
    pub by: WorkerId,
    /// Since when, or when it was renewed.
    pub at: Timestamp,
    /// Until when.
    pub until: Timestamp,
    /// How often it was given out.
    pub count: u64,
}

impl Lease {
    /// A message that is given out, after `count` times before.
    pub fn new(by: &WorkerId, count: u64, now: Timestamp, length: SignedDuration) -> Self {
        Self {
            by: by.clone(),
            at: now,
            until: lease::end(now, length),
            count: count.saturating_add(1),
        }
    }

    /// Whether the message is still its holder's.
    pub fn is_live(&self, now: Timestamp) -> bool {
        lease::is_live(self.until, now)
    }

    /// The lease after a sign of life of its holder; none where it is over, or where most of it is
    /// left, so that not every word costs a write.
    pub fn renewed(&self, now: Timestamp) -> Option<Self> {
        let length = lease::renewed(self.at, self.until, now)?;
        Some(Self {
            at: now,
            until: lease::end(now, length),
            ..self.clone()
        })
    }
}
