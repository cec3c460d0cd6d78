//! Looking up the keys of an object that others write too.
//!
//! Owns which values of other types are taken for what they mean, and the words for what is wrong with
//! one. Null is nothing. A number may be written as text, and text as a number: foreign writers do both.

use std::{fmt::Display, str::FromStr};

use serde_json::{Map, Value};

/// The keys of an object, looked up by type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'r>(pub(crate) &'r Map<String, Value>);

impl<'r> Fields<'r> {
    /// The value of a key.
    pub(crate) fn value(self, key: &str) -> Option<&'r Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    /// A text.
    pub(crate) fn text(self, key: &str) -> Option<String> {
        Some(self.value(key)?.as_str()?.to_owned())
    }

    /// A text that is not blank.
    pub(crate) fn words(self, key: &str) -> Option<String> {
        self.text(key).filter(|text| !text.trim().is_empty())
    }

    /// A text that is not blank, or a number as its digits.
    pub(crate) fn name(self, key: &str) -> Option<String> {
        name(self.value(key)?).filter(|name| !name.trim().is_empty())
    }

    /// A text or a number that means something of this type.
    pub(crate) fn parsed<T: FromStr>(self, key: &str) -> Option<T> {
        name(self.value(key)?)?.parse().ok()
    }

    /// A whole number from 0; 0 where there is none.
    pub(crate) fn number(self, key: &str) -> u64 {
        self.value(key).and_then(Value::as_u64).unwrap_or_default()
    }

    /// A list of texts; one alone counts as a list of one, and what is no text is passed over.
    pub(crate) fn texts(self, key: &str) -> Vec<String> {
        texts(self.value(key))
    }

    /// A list of names; `a,b` is one too.
    pub(crate) fn names(self, key: &str) -> Result<Vec<String>, String> {
        let is_name = |name: &String| !name.trim().is_empty();
        let names = match self.value(key) {
            None => return Ok(Vec::new()),
            Some(Value::Array(items)) => {
                let names = items.iter().map(|it| name(it).filter(is_name));
                names.collect()
            }
            Some(Value::String(text)) => {
                let words = text.split(',').map(|word| word.trim().to_owned());
                Some(words.filter(is_name).collect())
            }
            Some(_) => None,
        };
        names.ok_or_else(|| format!("its {key} is no list of words"))
    }

    /// An object's keys.
    pub(crate) fn object(self, key: &str) -> Option<Self> {
        self.value(key)?.as_object().map(Fields)
    }

    /// The value of a key, which has to mean something of this type where it is there.
    pub(crate) fn optional<T: FromStr<Err: Display>>(self, key: &str) -> Result<Option<T>, String> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        let text =
            name(value).ok_or_else(|| format!("its {key} is neither a text nor a number"))?;
        let parsed = text.parse();
        parsed
            .map(Some)
            .map_err(|error| format!("its {key}: {error}"))
    }

    /// The value of a key, which must be there.
    pub(crate) fn required<T: FromStr<Err: Display>>(self, key: &str) -> Result<T, String> {
        self.optional(key)?
            .ok_or_else(|| format!("it has no {key}"))
    }

    /// The value of a key, which must be there and may be null or empty.
    pub(crate) fn nullable(self, key: &str) -> Result<Option<String>, String> {
        if !self.0.contains_key(key) {
            return Err(format!("it has no {key}"));
        }
        let text: Option<String> = self.optional(key)?;
        Ok(text.filter(|text| !text.is_empty()))
    }
}

/// A text, or a number as its digits.
pub(crate) fn name(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The texts of a list; one alone counts as a list of one.
pub(crate) fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(name).collect(),
        Some(single) => name(single).into_iter().collect(),
        None => Vec::new(),
    }
}
