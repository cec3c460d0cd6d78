//! Notifications: a person is told of the items that wait, once each.
//!
//! Owns the one way to them for every sender: the daemon, and the cockpit for its own terminal where no
//! daemon runs. A sender asks [`Notices::due`], records what it is about to tell, and sends it. Recorded
//! before it is sent: a sender that is killed in between tells an item never rather than twice. The rule
//! itself is the model's.

mod channel;
mod command;
mod items;
mod preferences;
mod record;

use flagpost_model::notification::{self as model, ItemKey, Notice, NoticeMemory};
use jiff::Timestamp;

pub use channel::{ChannelFault, tell};
pub use items::{WaitingItems, waiting};
pub use preferences::NoticeSettings;
pub use record::{ChannelFailure, failures, note_outcome, path};

use crate::{error::Result, home::Home, list::ListReader};

/// A sender's view of what waits.
#[derive(Debug)]
pub struct Notices {
    home: Home,
    lists: ListReader,
    memory: NoticeMemory,
}

/// What a look found.
#[derive(Debug)]
pub struct DueNotice {
    /// What is to be told now.
    pub notice: Option<Notice>,
    /// When to look again, should nothing change before.
    pub next: Option<Timestamp>,
    /// How many items wait, told or not.
    pub total: usize,
    /// What could not be read, in words.
    pub faults: Vec<String>,
    keys: Vec<ItemKey>,
}

impl Notices {
    /// Begins to look at a home's lists, and the rest of it. What was told before is on record there.
    pub fn begin(home: &Home, lists: ListReader) -> Self {
        Self {
            home: home.clone(),
            lists,
            memory: NoticeMemory::default(),
        }
    }

    /// What is to be told now; `base` is the daemon's address, where one runs. Forgets the items that are
    /// settled, so that each is told again should it wait again.
    pub fn due(&mut self, settings: &NoticeSettings, base: Option<&str>) -> Result<DueNotice> {
        let now = self.home.now();
        let WaitingItems { items, faults } = waiting(&self.home, &self.lists)?;
        self.memory.see(&items, now);
        let mut told = record::told(&self.home)?;
        // What cannot be read now is not settled.
        if faults.is_empty() && told.keys().any(|key| self.memory.is_gone(key, now)) {
            told = record::forget(&self.home, |key| self.memory.is_gone(key, now))?;
        }
        let local = now.to_zoned(self.home.zone());
        let due = model::due(&items, &self.memory, &told, &settings.terms, &local);
        Ok(DueNotice {
            notice: Notice::of(&due, settings.body, base),
            next: due.next,
            total: items.len(),
            faults,
            keys: due.items.iter().map(|(it, _)| it.key.clone()).collect(),
        })
    }

    /// Puts on record, durable on return, that the items of this notice are told. To be asked before it
    /// is sent.
    pub fn record(&self, due: &DueNotice) -> Result<()> {
        record::tell(&self.home, &due.keys, self.home.now())
    }
}
