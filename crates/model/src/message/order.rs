//! The order of messages.
//!
//! Owns which message comes before which: the numbers of one direction ascend, and an answer comes
//! after what it answers, whatever the clock said; between messages that nothing ties, the time
//! decides, and then the id.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
};

use jiff::Timestamp;

use super::{Message, MessageAddress};

type MessageRank = (Timestamp, Option<String>, MessageAddress);

fn rank(message: &Message) -> MessageRank {
    (message.at, message.id.clone(), message.place.clone())
}

/// The messages in their order.
pub fn in_order(messages: Vec<Message>) -> Vec<Message> {
    let mut left: BTreeMap<MessageAddress, Message> = BTreeMap::new();
    for message in messages {
        left.insert(message.place.clone(), message);
    }
    // Who waits for whom; places sort by worker, direction and number.
    let mut waiting: BTreeMap<MessageAddress, Vec<MessageAddress>> = BTreeMap::new();
    let mut open: BTreeMap<MessageAddress, usize> = BTreeMap::new();
    let mut before: Option<&MessageAddress> = None;
    for (place, message) in &left {
        let same = |other: &&MessageAddress| {
            other.worker == place.worker && other.direction == place.direction
        };
        let answered = message.answers.as_ref().filter(|it| left.contains_key(it));
        for first in before.filter(same).into_iter().chain(answered) {
            waiting
                .entry(first.clone())
                .or_default()
                .push(place.clone());
            *open.entry(place.clone()).or_default() += 1;
        }
        before = Some(place);
    }
    let free = left.values().filter(|it| !open.contains_key(&it.place));
    let mut heap: BinaryHeap<Reverse<MessageRank>> = free.map(|it| Reverse(rank(it))).collect();
    let mut sorted = Vec::with_capacity(left.len());
    while let Some(Reverse((.., place))) = heap.pop() {
        let Some(message) = left.remove(&place) else {
            continue;
        };
        sorted.push(message);
        for next in waiting.remove(&place).unwrap_or_default() {
            let count = open.entry(next.clone()).or_default();
            *count = count.saturating_sub(1);
            if let (0, Some(message)) = (*count, left.get(&next)) {
                heap.push(Reverse(rank(message)));
            }
        }
    }
    // Messages by hand may answer each other in a circle.
    let mut rest: Vec<Message> = left.into_values().collect();
    rest.sort_by_cached_key(rank);
    sorted.extend(rest);
    sorted
}
