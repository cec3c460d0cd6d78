//! Looking up the keys of an object.
//!
//! Owns the words for what is wrong with one. A number may be written as text, and text as a
//! number: foreign writers do both.

use std::{fmt::Display, str::FromStr};

use serde_json::{Map, Value};

/// The keys of an object, looked up by type.
#[derive(Debug, Clone, Copy)]
pub(super) struct EnvelopeFields<'r>(pub &'r Map<String, Value>);

impl EnvelopeFields<'_> {
    /// What the key holds, if it is there.
    pub fn optional<T: FromStr<Err: Display>>(self, key: &str) -> Result<Option<T>, String> {
        let text = match self.0.get(key) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            Some(_) => return Err(format!("its {key} is neither a text nor a number")),
        };
        let parsed = text
            .parse()
            .map_err(|error| format!("its {key}: {error}"))?;
        Ok(Some(parsed))
    }

    /// What the key holds, which must be there.
    pub fn required<T: FromStr<Err: Display>>(self, key: &str) -> Result<T, String> {
        self.optional(key)?
            .ok_or_else(|| format!("it has no {key}"))
    }

    /// What the key holds, which must be there and may be null or empty.
    pub fn nullable(self, key: &str) -> Result<Option<String>, String> {
        if !self.0.contains_key(key) {
            return Err(format!("it has no {key}"));
        }
        let text: Option<String> = self.optional(key)?;
        Ok(text.filter(|text| !text.is_empty()))
    }

    /// A text where there is one of the right type; what else is there is not ours to judge.
    pub fn text(self, key: &str) -> Option<String> {
        Some(self.0.get(key)?.as_str()?.to_owned())
    }
}
