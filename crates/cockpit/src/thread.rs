//! Conversations: messages that belong together.
//!
//! Owns their order, that with the newest message first.

use std::{borrow::Cow, collections::BTreeMap};

use flagpost_core::messages::MessageView;

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// Its name; of a message without one, its place.
    pub name: String,
    /// The places of its messages, oldest first.
    pub messages: Vec<usize>,
}

/// The messages by conversation, the one with the newest message first.
pub fn threads(mail: &[MessageView]) -> Vec<Thread> {
    let mut by_name: BTreeMap<Cow<'_, str>, Vec<usize>> = BTreeMap::new();
    for (place, it) in mail.iter().enumerate() {
        let name = match &it.message.thread {
            Some(thread) => Cow::Borrowed(thread.as_str()),
            None => Cow::Owned(it.message.place.to_string()),
        };
        by_name.entry(name).or_default().push(place);
    }
    let mut threads: Vec<Thread> = by_name
        .into_iter()
        .map(|(name, messages)| Thread {
            name: name.into_owned(),
            messages,
        })
        .collect();
    let newest = |it: &Thread| it.messages.last().copied();
    threads.sort_by_key(|it| std::cmp::Reverse(newest(it)));
    threads
}
