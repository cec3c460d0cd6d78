//! The settings of the cockpit.

use std::marker::PhantomData;

use flagpost_model::names::names;

use super::{SettingKey, SettingSpec};
use crate::config::kind::{NonEmptyText, OneOf, Switch};

names! {
    /// Which signs a screen shows.
    GlyphChoice {
        /// Those that the terminal's language can show.
        Auto = "auto",
        /// ◐ ○ ▲ ✓
        Unicode = "unicode",
        /// Letters and punctuation.
        Ascii = "ascii",
    }
}

/// `ui.glyphs`
pub static UI_GLYPHS: SettingKey<OneOf<GlyphChoice>> = SettingKey {
    about: SettingSpec {
        name: "ui.glyphs",
        text: "The signs of the cockpit; auto: unicode where the locale is UTF-8.",
        default: Some("auto"),
        variable: None,
        option: None,
    },
    kind: OneOf(PhantomData),
};

/// `ui.mouse`
pub static UI_MOUSE: SettingKey<Switch> = SettingKey {
    about: SettingSpec {
        name: "ui.mouse",
        text: "Whether the cockpit takes the mouse; without it, the terminal selects text.",
        default: Some("true"),
        variable: None,
        option: None,
    },
    kind: Switch,
};

/// `keys.NAME`, for each command of the cockpit
pub static KEY: SettingKey<NonEmptyText> = SettingKey {
    about: SettingSpec {
        name: "keys.NAME",
        text: "The keys of the cockpit's command NAME, as in \"y f5\".",
        default: None,
        variable: None,
        option: None,
    },
    kind: NonEmptyText,
};
