//! Settings that are words: one of a closed set, several, or any text.

use std::marker::PhantomData;

use flagpost_model::names::Named;

use super::{SettingKind, SettingValue};

/// One word of a closed set.
#[derive(Debug)]
pub struct OneOf<T>(pub PhantomData<T>);

/// Words of a command line.
#[derive(Debug)]
pub struct CommandLine;

/// Any text, an empty one too.
#[derive(Debug)]
pub struct AnyText;

impl<T: Named + Sync> SettingKind for OneOf<T> {
    type Value = T;

    fn allowed(&self) -> String {
        let all: Vec<&str> = T::ALL.iter().map(|it| it.as_str()).collect();
        match all.split_last() {
            Some((last, others)) if !others.is_empty() => {
                format!("{} or {last}", others.join(", "))
            }
            _ => all.concat(),
        }
    }

    fn read(&self, stored: &SettingValue) -> Option<T> {
        match stored {
            SettingValue::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

impl SettingKind for CommandLine {
    type Value = Vec<String>;

    fn allowed(&self) -> String {
        "words, each a text of its own, such as [\"--model\", \"opus\"]".to_owned()
    }

    fn read(&self, stored: &SettingValue) -> Option<Vec<String>> {
        match stored {
            // No program can be given a NUL.
            SettingValue::Texts(words) if !words.iter().any(|word| word.contains('\0')) => {
                Some(words.clone())
            }
            _ => None,
        }
    }

    fn store(&self, typed: &[String]) -> SettingValue {
        SettingValue::Texts(typed.to_vec())
    }

    fn is_many(&self) -> bool {
        true
    }
}

impl SettingKind for AnyText {
    type Value = String;

    fn allowed(&self) -> String {
        "a text".to_owned()
    }

    fn read(&self, stored: &SettingValue) -> Option<String> {
        match stored {
            SettingValue::Text(text) if !text.contains('\0') => Some(text.clone()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use flagpost_model::{client::Client, plan::Schedule};

    use super::*;

    #[test]
    fn a_word_of_a_closed_set_is_one_of_them() {
        let schedule = OneOf::<Schedule>(PhantomData);
        assert_eq!(schedule.allowed(), "waves or eager");
        let stored = |text: &str| SettingValue::Text(text.to_owned());
        assert_eq!(schedule.read(&stored("eager")), Some(Schedule::Eager));
        assert_eq!(schedule.read(&stored("Eager")), None);
        assert_eq!(schedule.read(&SettingValue::Switch(true)), None);
        let clients = OneOf::<Client>(PhantomData).allowed();
        assert!(clients.ends_with("cursor or aider"), "{clients}");
    }

    #[test]
    fn words_and_values_reach_a_program_as_they_are_or_not_at_all() {
        let words = CommandLine.store(&["--model".to_owned(), String::new()]);
        assert_eq!(CommandLine.read(&words).unwrap(), ["--model", ""]);
        assert_eq!(
            CommandLine.read(&SettingValue::Text("--model opus".to_owned())),
            None
        );
        assert_eq!(
            CommandLine.read(&SettingValue::Texts(vec!["a\0".to_owned()])),
            None
        );
        assert_eq!(
            AnyText.read(&SettingValue::Text(String::new())).unwrap(),
            ""
        );
        assert_eq!(AnyText.read(&SettingValue::Text("a\0".to_owned())), None);
        assert_eq!(AnyText.read(&SettingValue::Number(3)), None);
    }
}
