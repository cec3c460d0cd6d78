//! A claim: who holds a task, until when, and by which token.
//!
//! Owns the lease arithmetic. Expiry changes nothing by itself: an expired claim stays written
//! until somebody claims the task anew (`tree.md` §2).

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    id::{SessionId, Token, WorkerId},
    view,
};

/// How long a claim lasts unless renewed: 15 minutes.
pub const DEFAULT_LEASE: SignedDuration = SignedDuration::from_mins(15);

/// Exclusive, temporary possession of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The holder.
    pub by: WorkerId,
    /// Fences off earlier holders.
    pub token: Token,
    /// When it was claimed.
    pub at: Timestamp,
    /// When the lease ends unless renewed.
    pub expires_at: Timestamp,
    /// How long it lasts from each renewal.
    pub lease: SignedDuration,
    /// The session that handed the task out, if one did.
    pub session: Option<SessionId>,
}

view! {
    /// Exclusive possession of a task, for a time.
    pub struct ShownClaim<'a> from claim: &'a Claim {
        /// The holder.
        by: &'a WorkerId = &claim.by,
        /// Fences off earlier holders: give it to done, fail and stuck.
        token: Token = claim.token,
        /// When it was claimed.
        at: Timestamp = claim.at,
        /// When the lease ends unless it is renewed.
        expires_at: Timestamp = claim.expires_at,
        /// The session that handed the task out; null where a worker claimed it.
        session: Option<&'a SessionId> = claim.session.as_ref(),
    }
}

impl Claim {
    /// Whether the lease still runs.
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }

    /// The claim with its lease started over. A clock that jumped back never shortens a lease.
    pub fn renewed(&self, now: Timestamp) -> Self {
        let full = now.saturating_add(self.lease).unwrap_or(Timestamp::MAX);
        Self {
            expires_at: full.max(self.expires_at),
            ..self.clone()
        }
    }
}
