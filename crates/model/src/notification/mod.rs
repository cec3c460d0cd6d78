//! Notifications: telling a person of the items that wait for a decision or an answer.
//!
//! Owns what such an item is, the notice that a program reads, and its words for a person. [`due`] says
//! when an item is told, [`signal`] how a terminal is told. Text of agents is in a notice only where
//! the settings want it. Nothing here sends anything.

mod memory;
mod quiet;
mod rule;
mod signal;

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{drawing::steers, names::names};

pub use self::{
    memory::NoticeMemory,
    quiet::{InvalidQuiet, QuietHours},
    rule::{DueItems, NoticeTerms, Told, due},
    signal::{Signal, TerminalNames, signal},
};

names! {
    /// Why an item waits for a person.
    NoticeKind {
        /// An agent asks to be allowed something.
        Permission = "permission",
        /// A brief waits for a decision.
        Brief = "brief",
        /// A worker asks a question about its task.
        Question = "question",
        /// A task is stuck.
        Stuck = "stuck",
        /// A task failed for good.
        Failed = "failed",
        /// Work waits for an approval before it lands.
        Review = "review",
        /// A run ended, or a task in it shows no sign of work.
        Run = "run",
        /// An account is parked at its usage limit.
        Parked = "parked",
        /// A worker is silent while it holds a claim.
        Silent = "silent",
    }
}

names! {
    /// A way to tell a person.
    Channel {
        /// The terminal of the cockpit: a bell, or the terminal's own notification.
        Terminal = "terminal",
        /// The desktop's notifications.
        Desktop = "desktop",
        /// A program of the user's.
        Command = "command",
    }
}

names! {
    /// How much of an item's own text a notice contains.
    NoticeBody {
        /// None: a title may be secret on a lock screen.
        None = "none",
        /// The summary of the oldest item.
        Summary = "summary",
    }
}

/// What one wait is recognised by: the same item that waits again later has another time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ItemKey {
    /// The repository that it belongs to, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// Why it waits.
    pub kind: NoticeKind,
    /// Its name, as in `W1/inbox/0003`.
    pub item: String,
    /// The time that its files give for it, where they give one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// An item that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingItem {
    /// What it is recognised by.
    pub key: ItemKey,
    /// Its short name for a person, as in `W1 #1192`: made of ids only.
    pub label: String,
    /// How it waits, in words that follow the label.
    pub state: &'static str,
    /// Its own line, which an agent may have written.
    pub summary: String,
    /// Its page, below the daemon's address.
    pub page: Option<String>,
}

/// A notification: some items wait for you.
///
/// On the stdin of notify.command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Notice {
    /// Why the oldest of them waits.
    pub kind: NoticeKind,
    /// The oldest of them.
    pub item: String,
    /// The repository that it belongs to; null where it belongs to none.
    pub repo: Option<String>,
    /// How many items this notice tells of.
    pub count: usize,
    /// For how many seconds the oldest has waited.
    pub age_s: u64,
    /// The page of the oldest, where a daemon runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The summary of the oldest, where notify.body is summary; else null.
    pub summary: Option<String>,
    /// It only tries a channel: nothing waits.
    pub test: bool,
    /// The same in a line, made of ids and fixed words.
    #[serde(skip)]
    pub line: String,
}

/// So much of an item's own line is told.
const SUMMARY: usize = 200;

impl Notice {
    /// The notice of these items, oldest first; none of none. `base` is the daemon's address.
    pub fn of(due: &DueItems<'_>, body: NoticeBody, base: Option<&str>) -> Option<Self> {
        let (oldest, since) = due.items.first()?;
        let count = due.items.len();
        let line = match count {
            1 => format!("{} {}", oldest.label, oldest.state),
            _ => format!("{count} wait for you; oldest {}", oldest.label),
        };
        let link = base.zip(oldest.page.as_ref());
        let summary = body == NoticeBody::Summary && !oldest.summary.is_empty();
        let age = due.now.duration_since(*since).as_secs();
        Some(Self {
            kind: oldest.key.kind,
            item: oldest.key.item.clone(),
            repo: oldest.key.repo.clone(),
            count,
            age_s: age.try_into().unwrap_or_default(),
            link: link.map(|(base, page)| format!("{base}{page}")),
            summary: summary.then(|| one_line(&oldest.summary, SUMMARY)),
            test: false,
            line: one_line(&line, SUMMARY),
        })
    }

    /// One that tries a channel.
    pub fn test() -> Self {
        Self {
            kind: NoticeKind::Brief,
            item: "test".to_owned(),
            repo: None,
            count: 1,
            age_s: 0,
            link: None,
            summary: None,
            test: true,
            line: "a test: nothing waits for you".to_owned(),
        }
    }

    /// What a person is shown, in a line that steers no terminal.
    pub fn text(&self) -> String {
        match &self.summary {
            Some(summary) => format!("{}: {summary}", self.line),
            None => self.line.clone(),
        }
    }
}

/// The text on one line of at most so many characters; what steers a terminal is U+FFFD.
fn one_line(text: &str, most: usize) -> String {
    let shown = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        c if steers(c) => '\u{fffd}',
        c => c,
    };
    let mut line: String = text.trim().chars().take(most).map(shown).collect();
    if text.trim().chars().nth(most).is_some() {
        line.push('…');
    }
    line
}
