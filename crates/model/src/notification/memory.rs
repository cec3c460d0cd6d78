//! What a sender of notices remembers between two looks.
//!
//! Owns since when each item waits as the sender saw it, and which items are gone. An item that is
//! absent for a moment, as while its file is replaced, is still the same item. A clock that is wrong in
//! somebody's file delays no notice: an item waits at the latest since it was first seen.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::{ItemKey, WaitingItem};

/// An item that is absent for so long is settled.
const ABSENT: SignedDuration = SignedDuration::from_secs(60);

/// The items that were seen.
#[derive(Debug, Default)]
pub struct NoticeMemory {
    seen: BTreeMap<ItemKey, Presence>,
    begun: Option<Timestamp>,
}

/// When an item was seen.
#[derive(Debug, Clone, Copy)]
struct Presence {
    first: Timestamp,
    last: Timestamp,
}

impl NoticeMemory {
    /// Takes note of the items that wait now.
    pub fn see(&mut self, waiting: &[WaitingItem], now: Timestamp) {
        self.begun.get_or_insert(now);
        for item in waiting {
            let new = Presence {
                first: now,
                last: now,
            };
            self.seen.entry(item.key.clone()).or_insert(new).last = now;
        }
        self.seen.retain(|_, it| !is_long_ago(it.last, now));
    }

    /// Since when an item waits.
    pub fn since(&self, key: &ItemKey, now: Timestamp) -> Timestamp {
        let first = self.seen.get(key).map_or(now, |it| it.first);
        key.at.map_or(first, |at| at.min(first))
    }

    /// Whether an item is settled, as far as was seen by now.
    pub fn is_gone(&self, key: &ItemKey, now: Timestamp) -> bool {
        let begun = self.begun.is_some_and(|begun| is_long_ago(begun, now));
        begun && !self.seen.contains_key(key)
    }
}

fn is_long_ago(at: Timestamp, now: Timestamp) -> bool {
    now.duration_since(at) > ABSENT
}
