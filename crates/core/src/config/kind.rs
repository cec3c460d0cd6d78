//! What a setting may hold.
//!
//! Owns each kind's meaning: which stored values it takes, how words that somebody typed are
//! stored, and the sentence that says what is allowed. Knows no file and no key.

mod number;
mod tree;
mod word;

use std::fmt;

use flagpost_model::ListId;
use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::Serialize;

pub use self::{
    number::{Count, Money, Share, Whole},
    tree::{Patterns, PortBlocks, PortRange, TreePaths},
    word::{AnyText, CommandLine, OneOf, Quiet, SomeOf},
};

/// A setting's value as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "SettingValue")]
pub enum SettingValue {
    /// A text.
    Text(String),
    /// A whole number.
    Number(i64),
    /// A number that need not be whole.
    Decimal(f64),
    /// A list of texts.
    Texts(Vec<String>),
    /// Yes or no.
    Switch(bool),
}

/// As a shell script wants it: a list has an item per line.
impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(n) => write!(f, "{n}"),
            Self::Decimal(n) => write!(f, "{n}"),
            Self::Texts(texts) => f.write_str(&texts.join("\n")),
            Self::Switch(on) => write!(f, "{on}"),
        }
    }
}

/// A kind of setting.
pub trait SettingKind: Sync {
    /// What a verb gets.
    type Value;

    /// What may be stored, to stand behind "must be".
    fn allowed(&self) -> String;

    /// The meaning of what is stored; `None` where it may not be.
    fn read(&self, stored: &SettingValue) -> Option<Self::Value>;

    /// How what was typed is stored; whether it may be, [`SettingKind::read`] says.
    fn store(&self, typed: &[String]) -> SettingValue {
        match self.is_many() {
            true => SettingValue::Texts(typed.to_vec()),
            false => SettingValue::Text(typed.join(" ")),
        }
    }

    /// What is typed for it in one variable of the environment.
    fn typed(&self, variable: &str) -> Vec<String> {
        vec![variable.to_owned()]
    }

    /// Whether it takes several words.
    fn is_many(&self) -> bool {
        false
    }
}

/// Any text but an empty one.
#[derive(Debug)]
pub struct NonEmptyText;

/// The name of a list.
#[derive(Debug)]
pub struct ListName;

/// A time between two others.
#[derive(Debug)]
pub struct Time {
    /// The shortest.
    pub least: SignedDuration,
    /// The longest.
    pub most: SignedDuration,
}

/// Directories, absolute or below `~`.
#[derive(Debug)]
pub struct Dirs;

/// A directory, absolute or below `~`.
#[derive(Debug)]
pub struct Dir;

/// Yes or no.
#[derive(Debug)]
pub struct Switch;

/// A program whose files the bridge finds where that program has them.
#[derive(Debug)]
pub struct Compat;

/// A program of the bridge's protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// `tsk`, a task manager in the terminal.
    Tsk,
}

impl Program {
    /// Where it has the inbox and the outbox.
    pub fn dir(self) -> &'static str {
        match self {
            Self::Tsk => "~/.tsk",
        }
    }
}

impl SettingKind for NonEmptyText {
    type Value = String;

    fn allowed(&self) -> String {
        "a text that is not empty".to_owned()
    }

    fn read(&self, stored: &SettingValue) -> Option<String> {
        match stored {
            SettingValue::Text(text) if !text.trim().is_empty() => Some(text.clone()),
            _ => None,
        }
    }
}

impl SettingKind for ListName {
    type Value = ListId;

    fn allowed(&self) -> String {
        "a list's name: up to 64 letters, digits, '.', '_' and '-'".to_owned()
    }

    fn read(&self, stored: &SettingValue) -> Option<ListId> {
        match stored {
            SettingValue::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

impl Time {
    /// Whether a time is one of these.
    pub fn contains(&self, time: SignedDuration) -> bool {
        (self.least..=self.most).contains(&time)
    }
}

impl SettingKind for Time {
    type Value = SignedDuration;

    fn allowed(&self) -> String {
        let Self { least, most } = self;
        format!("a time from {least:#} to {most:#}, such as \"15m\" or \"1h 30m\"")
    }

    fn read(&self, stored: &SettingValue) -> Option<SignedDuration> {
        match stored {
            SettingValue::Text(text) => text.parse().ok().filter(|time| self.contains(*time)),
            _ => None,
        }
    }
}

/// Whether a directory can be found without knowing where we stand.
fn is_placed(dir: &str) -> bool {
    (dir.starts_with('/') || dir == "~" || dir.starts_with("~/")) && !dir.contains('\0')
}

impl SettingKind for Dir {
    type Value = String;

    fn allowed(&self) -> String {
        "a directory, absolute or below ~".to_owned()
    }

    fn read(&self, stored: &SettingValue) -> Option<String> {
        match stored {
            SettingValue::Text(dir) if is_placed(dir) => Some(dir.clone()),
            _ => None,
        }
    }
}

impl SettingKind for Switch {
    type Value = bool;

    fn allowed(&self) -> String {
        "true or false".to_owned()
    }

    fn read(&self, stored: &SettingValue) -> Option<bool> {
        match stored {
            SettingValue::Switch(on) => Some(*on),
            _ => None,
        }
    }

    fn store(&self, typed: &[String]) -> SettingValue {
        let text = typed.join(" ");
        text.parse()
            .map_or(SettingValue::Text(text), SettingValue::Switch)
    }
}

impl SettingKind for Compat {
    type Value = Program;

    fn allowed(&self) -> String {
        "tsk, the one program that is known".to_owned()
    }

    fn read(&self, stored: &SettingValue) -> Option<Program> {
        match stored {
            SettingValue::Text(name) if name == "tsk" => Some(Program::Tsk),
            _ => None,
        }
    }
}

impl SettingKind for Dirs {
    type Value = Vec<String>;

    fn allowed(&self) -> String {
        "directories, each absolute or below ~".to_owned()
    }

    fn read(&self, stored: &SettingValue) -> Option<Vec<String>> {
        match stored {
            SettingValue::Texts(dirs) if dirs.iter().all(|dir| is_placed(dir)) => {
                Some(dirs.clone())
            }
            _ => None,
        }
    }

    /// As in `PATH`.
    fn typed(&self, variable: &str) -> Vec<String> {
        items(variable)
    }

    fn is_many(&self) -> bool {
        true
    }
}

/// The items of a variable, separated as in `$PATH`.
fn items(variable: &str) -> Vec<String> {
    let items = variable.split(':').filter(|item| !item.is_empty());
    items.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes<K: SettingKind>(kind: &K, typed: &str) -> bool {
        kind.read(&kind.store(&[typed.to_owned()])).is_some()
    }

    #[test]
    fn each_kind_takes_what_it_allows_and_nothing_else() {
        let lease = Time {
            least: SignedDuration::from_secs(1),
            most: SignedDuration::from_hours(24),
        };
        for (typed, text, list, count, time, dirs) in [
            ("", false, false, false, false, false),
            ("15m", true, true, false, true, false),
            ("1h 30m", true, false, false, true, false),
            ("0s", true, true, false, false, false),
            ("25h", true, true, false, false, false),
            ("-5m", true, false, false, false, false),
            ("3", true, true, true, false, false),
            ("0", true, true, false, false, false),
            ("-1", true, false, false, false, false),
            ("4294967296", true, true, false, false, false),
            ("3.0", true, true, false, false, false),
            ("/srv/tasks", true, false, false, false, true),
            ("~/tasks", true, false, false, false, true),
            ("~ann/tasks", true, false, false, false, false),
            ("tasks", true, true, false, false, false),
            ("../x", true, false, false, false, false),
        ] {
            assert_eq!(takes(&NonEmptyText, typed), text, "text {typed:?}");
            assert_eq!(takes(&ListName, typed), list, "list {typed:?}");
            assert_eq!(takes(&Count, typed), count, "count {typed:?}");
            assert_eq!(takes(&lease, typed), time, "time {typed:?}");
            assert_eq!(takes(&Dirs, typed), dirs, "dirs {typed:?}");
        }
    }

    #[test]
    fn a_value_of_another_type_is_not_taken() {
        assert!(NonEmptyText.read(&SettingValue::Number(3)).is_none());
        assert!(Count.read(&SettingValue::Text("3".to_owned())).is_none());
        assert!(Dirs.read(&SettingValue::Text("/srv".to_owned())).is_none());
        assert!(
            Switch
                .read(&SettingValue::Text("true".to_owned()))
                .is_none()
        );
    }

    #[test]
    fn a_switch_is_on_or_off_and_a_place_is_one_directory() {
        for (typed, switch, dir, compat) in [
            ("true", true, false, false),
            ("false", true, false, false),
            ("yes", false, false, false),
            ("~/x", false, true, false),
            ("x", false, false, false),
            ("tsk", false, false, true),
        ] {
            assert_eq!(takes(&Switch, typed), switch, "switch {typed:?}");
            assert_eq!(takes(&Dir, typed), dir, "dir {typed:?}");
            assert_eq!(takes(&Compat, typed), compat, "compat {typed:?}");
        }
    }
}
