//! Settings that are words: one of a closed set, several, or any text.

use std::marker::PhantomData;

use flagpost_model::names::Named;

use super::{Kind, Value};

/// One word of a closed set.
#[derive(Debug)]
pub struct OneOf<T>(pub PhantomData<T>);

/// Words of a command line.
#[derive(Debug)]
pub struct Words;

/// Any text, an empty one too.
#[derive(Debug)]
pub struct AnyText;

impl<T: Named + Sync> Kind for OneOf<T> {
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

    fn read(&self, stored: &Value) -> Option<T> {
        match stored {
            Value::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

impl Kind for Words {
    type Value = Vec<String>;

    fn allowed(&self) -> String {
        "words, each a text of its own, such as [\"--model\", \"opus\"]".to_owned()
    }

    fn read(&self, stored: &Value) -> Option<Vec<String>> {
        match stored {
            // No program can be given a NUL.
            Value::Texts(words) if !words.iter().any(|word| word.contains('\0')) => {
                Some(words.clone())
            }
            _ => None,
        }
    }

    fn store(&self, typed: &[String]) -> Value {
        Value::Texts(typed.to_vec())
    }

    fn is_many(&self) -> bool {
        true
    }
}

impl Kind for AnyText {
    type Value = String;

    fn allowed(&self) -> String {
        "a text".to_owned()
    }

    fn read(&self, stored: &Value) -> Option<String> {
        match stored {
            Value::Text(text) if !text.contains('\0') => Some(text.clone()),
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
        let stored = |text: &str| Value::Text(text.to_owned());
        assert_eq!(schedule.read(&stored("eager")), Some(Schedule::Eager));
        assert_eq!(schedule.read(&stored("Eager")), None);
        assert_eq!(schedule.read(&Value::Switch(true)), None);
        let clients = OneOf::<Client>(PhantomData).allowed();
        assert!(clients.ends_with("cursor or aider"), "{clients}");
    }

    #[test]
    fn words_and_values_reach_a_program_as_they_are_or_not_at_all() {
        let words = Words.store(&["--model".to_owned(), String::new()]);
        assert_eq!(Words.read(&words).unwrap(), ["--model", ""]);
        assert_eq!(Words.read(&Value::Text("--model opus".to_owned())), None);
        assert_eq!(Words.read(&Value::Texts(vec!["a\0".to_owned()])), None);
        assert_eq!(AnyText.read(&Value::Text(String::new())).unwrap(), "");
        assert_eq!(AnyText.read(&Value::Text("a\0".to_owned())), None);
        assert_eq!(AnyText.read(&Value::Number(3)), None);
    }
}
