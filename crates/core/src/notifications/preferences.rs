//! What a person settled about notifications: `notify.*`.
//!
//! Owns how the settings become the rule's terms. Whoever sends reads them for each look, so that a
//! change holds at once.

use flagpost_model::notification::{Channel, NoticeBody, NoticeKind, NoticeTerms, Signal};

use crate::{
    config::{Config, keys},
    error::Result,
    home::Home,
};

/// What is settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeSettings {
    /// How a person is told.
    pub channels: Vec<Channel>,
    /// The program of the channel `command`, with its arguments; empty where there is none.
    pub command: Vec<String>,
    /// What is told, and when.
    pub terms: NoticeTerms,
    /// How much of an item's own text.
    pub body: NoticeBody,
    /// The terminal's language.
    pub signal: Signal,
}

impl NoticeSettings {
    /// As they are now.
    pub fn read(home: &Home) -> Result<Self> {
        let config = Config::read(home)?;
        let kinds = config.get(&keys::NOTIFY_KINDS)?;
        Ok(Self {
            channels: config.need(&keys::NOTIFY_CHANNELS)?,
            command: config.get(&keys::NOTIFY_COMMAND)?.unwrap_or_default(),
            terms: NoticeTerms {
                kinds: kinds.unwrap_or_else(|| NoticeKind::ALL.to_vec()),
                grace: config.need(&keys::NOTIFY_GRACE)?,
                batch: config.need(&keys::NOTIFY_BATCH)?,
                remind: config.need(&keys::NOTIFY_REMIND)?,
                quiet: config.get(&keys::NOTIFY_QUIET)?,
            },
            body: config.need(&keys::NOTIFY_BODY)?,
            signal: config.need(&keys::NOTIFY_OSC)?,
        })
    }

    /// The channels of the daemon. Where it has none, a cockpit tells its own terminal as if no daemon
    /// ran.
    pub fn of_daemon(&self) -> Vec<Channel> {
        let channels = self.channels.iter().copied();
        channels.filter(|it| *it != Channel::Terminal).collect()
    }
}
