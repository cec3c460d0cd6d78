//! When a waiting item is told.
//!
//! Owns the rule: an item is told once, and again only after `remind`; never within `grace`, so that
//! an item which is settled by then is never told; items that come within `batch` of the first are one
//! notice; nothing is told in quiet hours, and what still waits at their end is told then. A pure
//! function of the items, the record of what was told, the settings and the time.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp, Zoned};

use super::{ItemKey, NoticeKind, NoticeMemory, QuietHours, WaitingItem};

/// The items that were told, and when.
pub type Told = BTreeMap<ItemKey, Timestamp>;

/// What a person wants to be told, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeTerms {
    /// Of which kinds.
    pub kinds: Vec<NoticeKind>,
    /// An item that is settled within this time is never told.
    pub grace: SignedDuration,
    /// Items that come within this time of the first are one notice.
    pub batch: SignedDuration,
    /// After this time an item that still waits is told again; zero is never.
    pub remind: SignedDuration,
    /// When nothing is told.
    pub quiet: Option<QuietHours>,
}

/// What is to be told now.
#[derive(Debug)]
pub struct DueItems<'w> {
    /// The items and since when they wait, oldest first.
    pub items: Vec<(&'w WaitingItem, Timestamp)>,
    /// When to ask again, should nothing change before.
    pub next: Option<Timestamp>,
    /// The time at which this holds.
    pub now: Timestamp,
}

/// What is to be told at this time of the items that wait.
pub fn due<'w>(
    waiting: &'w [WaitingItem],
    memory: &NoticeMemory,
    told: &Told,
    terms: &NoticeTerms,
    now: &Zoned,
) -> DueItems<'w> {
    let at = now.timestamp();
    let mut open: Vec<(Timestamp, &WaitingItem)> = waiting
        .iter()
        .filter(|item| terms.kinds.contains(&item.key.kind))
        .filter_map(|item| Some((wanted_from(item, memory, told, terms, at)?, item)))
        .collect();
    open.sort_by_key(|(from, _)| *from);
    let mut due = DueItems {
        items: Vec::new(),
        next: None,
        now: at,
    };
    let Some(moment) = moment(&open, terms) else {
        return due;
    };
    // Quiet hours end, and their end lies in no others.
    let moment = match terms.quiet.and_then(|quiet| quiet.end(now)) {
        Some(end) => moment.max(end),
        None => moment,
    };
    if at < moment {
        due.next = Some(moment);
        return due;
    }
    let (ripe, later): (Vec<_>, Vec<_>) = open
        .iter()
        .partition(|(from, _)| plus(*from, terms.grace) <= at);
    due.next = self::moment(&later, terms);
    due.items = ripe
        .iter()
        .map(|(_, item)| (*item, memory.since(&item.key, at)))
        .collect();
    due.items.sort_by_key(|(_, since)| *since);
    due
}

/// From when on an item is to be told; none where it was told and is not told again.
fn wanted_from(
    item: &WaitingItem,
    memory: &NoticeMemory,
    told: &Told,
    terms: &NoticeTerms,
    now: Timestamp,
) -> Option<Timestamp> {
    match told.get(&item.key) {
        None => Some(memory.since(&item.key, now)),
        Some(_) if terms.remind.is_zero() => None,
        Some(told) => Some(plus(*told, terms.remind)),
    }
}

/// When the first notice of these items is due, which are in order: the time of a batch after the first,
/// and not before the grace of the last in that batch is over.
fn moment(open: &[(Timestamp, &WaitingItem)], terms: &NoticeTerms) -> Option<Timestamp> {
    let (first, _) = open.first()?;
    let end = plus(*first, terms.batch);
    let within = open.iter().take_while(|(from, _)| *from <= end);
    let last = within.last().map_or(*first, |(from, _)| *from);
    Some(end.max(plus(last, terms.grace)))
}

/// Later by so much, as far as times go.
fn plus(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.checked_add(by).unwrap_or(Timestamp::MAX)
}
