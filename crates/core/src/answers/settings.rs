//! SettingsAnswer.

use std::borrow::Cow;

use flagpost_model::view;
use schemars::JsonSchema;
use serde::Serialize;

use crate::config::{self, Origin, SettingValue, Unknown};

view! {
    /// Every setting.
    ///
    /// After 'flagpost config list'.
    pub struct SettingsAnswer<'a> {
        /// Where the file is, or would be.
        path: Cow<'a, str>,
        settings: Vec<SettingAnswer<'a>>,
        /// Names in the file that are no settings.
        unknown: Vec<UnknownSetting<'a>>,
    }

    /// A name in the file that is no setting.
    pub struct UnknownSetting<'a> from it: &'a Unknown {
        key: &'a str = &it.name,
        /// On which line of the file.
        line: usize = it.line,
        /// What is probably meant.
        suggestion: Option<&'a str> = it.suggestion.as_deref(),
    }
}

/// A setting, and where its value is from.
///
/// After 'flagpost config get'.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SettingAnswer<'a> {
    /// Its name, such as run.agent.
    key: &'a str,
    /// Null where nobody set it and there is no default, or where it is not shown.
    value: Option<&'a SettingValue>,
    /// Whether the value is not shown, in a list, since it is called like a secret.
    hidden: bool,
    /// Where the value is from.
    origin: Origin,
    /// What holds without anybody's setting it.
    default: Option<&'a SettingValue>,
    /// The variable of the environment that sets it.
    variable: Option<&'a str>,
    /// The option that comes before it.
    option: Option<&'a str>,
    /// What it does.
    about: &'a str,
}

/// As it stands in a list: what is called like a secret is not shown.
impl<'a> From<&'a config::Setting> for SettingAnswer<'a> {
    fn from(setting: &'a config::Setting) -> Self {
        match setting.is_secret() {
            true => Self {
                value: None,
                hidden: true,
                ..Self::in_full(setting)
            },
            false => Self::in_full(setting),
        }
    }
}

impl<'a> SettingAnswer<'a> {
    /// With its value, whatever it is called.
    pub fn in_full(setting: &'a config::Setting) -> Self {
        Self {
            key: &setting.name,
            value: setting.value.as_ref(),
            hidden: false,
            origin: setting.origin,
            default: setting.default.as_ref(),
            variable: setting.about.variable,
            option: setting.about.option,
            about: setting.about.text,
        }
    }
}
