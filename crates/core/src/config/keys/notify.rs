//! The settings of notifications.

use std::marker::PhantomData;

use flagpost_model::notification::{Channel, NoticeBody, NoticeKind, Signal};
use jiff::SignedDuration;

use super::{SettingKey, SettingSpec};
use crate::config::kind::{CommandLine, OneOf, Quiet, SomeOf, Time};

const DAY: SignedDuration = SignedDuration::from_hours(24);

/// `notify.channels`
pub static NOTIFY_CHANNELS: SettingKey<SomeOf<Channel>> = SettingKey {
    about: SettingSpec {
        name: "notify.channels",
        text: "How you are told of items that wait for you. The terminal is the cockpit's; the daemon tells the desktop and runs notify.command.",
        default: Some("terminal"),
        variable: None,
        option: None,
    },
    kind: SomeOf(PhantomData),
};

/// `notify.command`
pub static NOTIFY_COMMAND: SettingKey<CommandLine> = SettingKey {
    about: SettingSpec {
        name: "notify.command",
        text: "The program of the channel command, with its arguments; no shell reads them. It gets the notice as JSON on stdin.",
        default: None,
        variable: None,
        option: None,
    },
    kind: CommandLine,
};

/// `notify.kinds`
pub static NOTIFY_KINDS: SettingKey<SomeOf<NoticeKind>> = SettingKey {
    about: SettingSpec {
        name: "notify.kinds",
        text: "Of which items you are told; without it, of all.",
        default: None,
        variable: None,
        option: None,
    },
    kind: SomeOf(PhantomData),
};

/// `notify.grace`
pub static NOTIFY_GRACE: SettingKey<Time> = SettingKey {
    about: SettingSpec {
        name: "notify.grace",
        text: "An item that is settled within this time is never told.",
        default: Some("5s"),
        variable: None,
        option: None,
    },
    kind: Time {
        least: SignedDuration::ZERO,
        most: DAY,
    },
};

/// `notify.batch`
pub static NOTIFY_BATCH: SettingKey<Time> = SettingKey {
    about: SettingSpec {
        name: "notify.batch",
        text: "Items that come within this time of the first are one notice, at its end.",
        default: Some("20s"),
        variable: None,
        option: None,
    },
    kind: Time {
        least: SignedDuration::ZERO,
        most: DAY,
    },
};

/// `notify.remind`
pub static NOTIFY_REMIND: SettingKey<Time> = SettingKey {
    about: SettingSpec {
        name: "notify.remind",
        text: "After how long an item that still waits is told again; 0s is never.",
        default: Some("0s"),
        variable: None,
        option: None,
    },
    kind: Time {
        least: SignedDuration::ZERO,
        most: SignedDuration::from_hours(30 * 24),
    },
};

/// `notify.quiet`
pub static NOTIFY_QUIET: SettingKey<Quiet> = SettingKey {
    about: SettingSpec {
        name: "notify.quiet",
        text: "The hours, in local time, in which nothing is told; items that still wait at their end are told then.",
        default: None,
        variable: None,
        option: None,
    },
    kind: Quiet,
};

/// `notify.body`
pub static NOTIFY_BODY: SettingKey<OneOf<NoticeBody>> = SettingKey {
    about: SettingSpec {
        name: "notify.body",
        text: "How much of an item's own text a notice contains: none of it, or the summary of the oldest item. A lock screen may show it.",
        default: Some("none"),
        variable: None,
        option: None,
    },
    kind: OneOf(PhantomData),
};

/// `notify.osc`
pub static NOTIFY_OSC: SettingKey<OneOf<Signal>> = SettingKey {
    about: SettingSpec {
        name: "notify.osc",
        text: "How the terminal is told: by its bell, by OSC 9, 777 or 99, or as its name suggests.",
        default: Some("auto"),
        variable: None,
        option: None,
    },
    kind: OneOf(PhantomData),
};
