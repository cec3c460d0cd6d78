//! The settings of a landing.

use std::marker::PhantomData;

use flagpost_model::task::LandingMethod;
use jiff::SignedDuration;

use super::{SettingKey, SettingSpec};
use crate::config::kind::{Count, NonEmptyText, OneOf, Switch, Time};

/// `land.check`
pub static LAND_CHECK: SettingKey<NonEmptyText> = SettingKey {
    about: SettingSpec {
        name: "land.check",
        text: "The command that must succeed on the merged tree before the target branch moves; a shell runs it.",
        default: None,
        variable: Some("FLAGPOST_LAND_CHECK"),
        option: Some("--check"),
    },
    kind: NonEmptyText,
};

/// `land.timeout`
pub static LAND_TIMEOUT: SettingKey<Time> = SettingKey {
    about: SettingSpec {
        name: "land.timeout",
        text: "How long the check may take.",
        default: Some("30m"),
        variable: Some("FLAGPOST_LAND_TIMEOUT"),
        option: Some("--timeout"),
    },
    kind: Time {
        least: SignedDuration::from_secs(1),
        most: SignedDuration::from_hours(24),
    },
};

/// `land.git_timeout`
pub static LAND_GIT_TIMEOUT: SettingKey<Time> = SettingKey {
    about: SettingSpec {
        name: "land.git_timeout",
        text: "How long a call of git may take that may wait for a signature, for credentials or for a hook.",
        default: Some("10m"),
        variable: Some("FLAGPOST_LAND_GIT_TIMEOUT"),
        option: None,
    },
    kind: Time {
        least: SignedDuration::from_secs(1),
        most: SignedDuration::from_hours(24),
    },
};

/// `land.how`
pub static LAND_HOW: SettingKey<OneOf<LandingMethod>> = SettingKey {
    about: SettingSpec {
        name: "land.how",
        text: "merge: a merge commit for each branch; rebase: its commits on top of the target; squash: one commit.",
        default: Some("merge"),
        variable: Some("FLAGPOST_LAND_HOW"),
        option: Some("--how"),
    },
    kind: OneOf(PhantomData),
};

/// `land.batch`
pub static LAND_BATCH: SettingKey<Count> = SettingKey {
    about: SettingSpec {
        name: "land.batch",
        text: "How many branches are checked together; where the check fails, they are tried in halves.",
        default: Some("4"),
        variable: Some("FLAGPOST_LAND_BATCH"),
        option: Some("--batch"),
    },
    kind: Count,
};

/// `land.retries`
pub static LAND_RETRIES: SettingKey<Count> = SettingKey {
    about: SettingSpec {
        name: "land.retries",
        text: "How often work that does not land is done again before you are asked.",
        default: Some("2"),
        variable: Some("FLAGPOST_LAND_RETRIES"),
        option: Some("--retries"),
    },
    kind: Count,
};

/// `land.review`
pub static LAND_REVIEW: SettingKey<Switch> = SettingKey {
    about: SettingSpec {
        name: "land.review",
        text: "Whether only work that you approved lands.",
        default: Some("false"),
        // An agent that lands has its own environment.
        variable: None,
        option: Some("--review"),
    },
    kind: Switch,
};
