//! Settings that are words: one of a closed set, several, or any text.

use std::marker::PhantomData;

use flagpost_model::{names::Named, notification::QuietHours};

use super::{SettingKind, SettingValue};

/// One word of a closed set.
#[derive(Debug)]
pub struct OneOf<T>(pub PhantomData<T>);

/// Words of a closed set, each at most once; none of them too.
#[derive(Debug)]
pub struct SomeOf<T>(pub PhantomData<T>);

/// Words of a command line.
#[derive(Debug)]
pub struct CommandLine;

/// The hours in which nobody is told anything.
#[derive(Debug)]
pub struct Quiet;

/// Any text, an empty one too.
#[derive(Debug)]
pub struct AnyText;

/// The words of a set, in a sentence.
fn choice<T: Named>(joined: &str) -> String {
    let all: Vec<&str> = T::ALL.iter().map(|it| it.as_str()).collect();
    match all.split_last() {
        Some((last, others)) if !others.is_empty() => {
            format!("{} {joined} {last}", others.join(", "))
        }
        _ => all.concat(),
    }
}

impl<T: Named + Sync> SettingKind for OneOf<T> {
    type Value = T;

    fn allowed(&self) -> String {
        choice::<T>("or")
    }

    fn read(&self, stored: &SettingValue) -> Option<T> {
        match stored {
            SettingValue::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

impl<T: Named + Sync + PartialEq> SettingKind for SomeOf<T> {
    type Value = Vec<T>;

    fn allowed(&self) -> String {
        format!("any of {}, each once", choice::<T>("and"))
    }

    fn read(&self, stored: &SettingValue) -> Option<Vec<T>> {
        let SettingValue::Texts(words) = stored else {
            return None;
        };
        let mut some = Vec::new();
        for word in words {
            let word: T = word.parse().ok()?;
            if some.contains(&word) {
                return None;
            }
            some.push(word);
        }
        Some(some)
    }

    fn typed(&self, variable: &str) -> Vec<String> {
        variable.split_whitespace().map(str::to_owned).collect()
    }

    fn is_many(&self) -> bool {
        true
    }
}

impl SettingKind for Quiet {
    type Value = QuietHours;

    fn allowed(&self) -> String {
        "hours of the day, such as \"22:00-07:00\"".to_owned()
    }

    fn read(&self, stored: &SettingValue) -> Option<QuietHours> {
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
        assert!(clients.ends_with("aider or acp"), "{clients}");
    }

    #[test]
    fn words_of_a_closed_set_are_some_of_them_and_none_stands_twice() {
        let channels = SomeOf::<flagpost_model::notification::Channel>(PhantomData);
        let stored = |text: &str| channels.store(&channels.typed(text));
        for (text, count) in [
            ("", Some(0)),
            ("desktop", Some(1)),
            ("desktop command", Some(2)),
            ("desktop desktop", None),
            ("desktop,command", None),
        ] {
            let read = channels.read(&stored(text)).map(|some| some.len());
            assert_eq!(read, count, "{text:?}");
        }
        assert_eq!(
            channels.allowed(),
            "any of terminal, desktop and command, each once"
        );
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
