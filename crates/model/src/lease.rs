//! How long something is somebody's.
//!
//! Owns when a lease is over, and when a sign of life of its holder makes it last as long again:
//! for messages and for reservations alike. A claim on a task has a rule of its own.

use jiff::{SignedDuration, Timestamp};

/// When one ends that begins now.
pub(crate) fn end(now: Timestamp, length: SignedDuration) -> Timestamp {
    now.saturating_add(length).unwrap_or(Timestamp::MAX)
}

/// Whether it is still its holder's.
pub(crate) fn is_live(until: Timestamp, now: Timestamp) -> bool {
    now < until
}

/// The length that it is to have again after a sign of life; none where it is over, or where most of
/// it is left, so that not every word costs a write.
pub(crate) fn renewed(at: Timestamp, until: Timestamp, now: Timestamp) -> Option<SignedDuration> {
    let length = until.duration_since(at);
    let left = until.duration_since(now);
    (is_live(until, now) && left < length / 4 * 3).then_some(length)
}
