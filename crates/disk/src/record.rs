//! An object of somebody else's, read and written key by key.
//!
//! Owns that a value of the wrong type is named and never guessed at, and that what nobody asked
//! for is left over instead of lost. What the keys mean is for the dialects.

use std::{fmt::Display, str::FromStr};

use flagpost_model::query::plain_date;
use jiff::{Timestamp, civil::Date};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use crate::{fields::name, json};

/// What is left of an object, and what was wrong with what was taken.
#[derive(Debug, Clone, Default)]
pub struct Record {
    rest: Map<String, Value>,
    faults: Vec<String>,
}

impl Record {
    /// Everything is yet to be read.
    pub fn new(object: Map<String, Value>) -> Self {
        Self {
            rest: object,
            faults: Vec::new(),
        }
    }

    /// An object of a source, which must be one.
    pub fn of(value: Value) -> Result<Self, String> {
        match value {
            Value::Object(object) => Ok(Self::new(object)),
            other => Err(format!("a task is an object, not {}", kind(&other))),
        }
    }

    /// An object that is one line of a file.
    pub(crate) fn of_line(line: &str) -> Result<Self, String> {
        let value = json::value(line.as_bytes()).map_err(|error| {
            let text = error.to_string();
            // The line is known better by whoever counts the lines.
            let what = text
                .rsplit_once(" at line ")
                .map_or(&*text, |(what, _)| what);
            format!("column {}: {what}", error.column())
        })?;
        Self::of(value)
    }

    /// Whether the key is there and not read yet, whatever it holds.
    pub fn has(&self, key: &str) -> bool {
        self.rest.contains_key(key)
    }

    /// Whether the key is there, and says that there is nothing.
    pub fn is_empty(&self, key: &str) -> bool {
        match self.rest.get(key) {
            Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty(),
            Some(Value::Array(items)) => items.is_empty(),
            _ => false,
        }
    }

    /// Whatever the key holds; null is nothing.
    pub fn value(&mut self, key: &str) -> Option<Value> {
        self.rest.shift_remove(key).filter(|value| !value.is_null())
    }

    /// A text; an empty one is nothing.
    pub fn text(&mut self, key: &str) -> Option<String> {
        match self.value(key)? {
            Value::String(text) => Some(text).filter(|text| !text.is_empty()),
            other => self.wrong(key, "a text", &other),
        }
    }

    /// A text as one line: its breaks are blanks.
    pub fn line(&mut self, key: &str) -> Option<String> {
        let text = self.text(key)?;
        let words = text.split(['\n', '\r']).map(str::trim);
        let words: Vec<&str> = words.filter(|it| !it.is_empty()).collect();
        Some(words.join(" ")).filter(|line| !line.is_empty())
    }

    /// The texts of several keys as one, each that has a heading under it.
    pub fn prose(&mut self, parts: &[(&str, &str)]) -> String {
        let mut prose = String::new();
        for (key, heading) in parts {
            let Some(text) = self.text(key) else {
                continue;
            };
            if !prose.is_empty() {
                prose += "\n\n";
            }
            if !heading.is_empty() {
                prose += &format!("## {heading}\n\n");
            }
            prose += text.trim_end();
        }
        prose
    }

    /// A text that may be written as a number: ids are.
    pub fn name(&mut self, key: &str) -> Option<String> {
        let value = self.value(key)?;
        match name(&value) {
            Some(name) => Some(name).filter(|name| !name.is_empty()),
            None => self.wrong(key, "a text or a number", &value),
        }
    }

    /// A list of names; a single one counts as a list of one.
    pub fn names(&mut self, key: &str) -> Vec<String> {
        let Some(value) = self.value(key) else {
            return Vec::new();
        };
        let names = match &value {
            Value::Array(items) => items.iter().map(name).collect(),
            single => name(single).map(|name| vec![name]),
        };
        names.unwrap_or_else(|| {
            self.wrong::<()>(key, "a list of texts", &value);
            Vec::new()
        })
    }

    /// A word or number that means something; `wanted` says what, as in `a whole number`.
    pub fn parsed<T: FromStr>(&mut self, key: &str, wanted: &str) -> Option<T> {
        let value = self.value(key)?;
        let name = name(&value).filter(|name| !name.is_empty());
        if name.is_none() && value.as_str() == Some("") {
            return None;
        }
        match name.and_then(|name| name.trim().parse().ok()) {
            Some(parsed) => Some(parsed),
            None => self.wrong(key, wanted, &value),
        }
    }

    /// A word of a closed set.
    pub fn word<T: FromStr<Err: Display>>(&mut self, key: &str) -> Option<T> {
        let text = self.text(key)?;
        match text.trim().to_lowercase().parse() {
            Ok(word) => Some(word),
            Err(error) => {
                self.fault(format!("{key}: {error}"));
                None
            }
        }
    }

    /// A date that exists.
    pub fn date(&mut self, key: &str) -> Option<Date> {
        let wanted = "a date that exists, as in 2026-12-01";
        let text = self.name(key)?;
        match plain_date(text.trim()) {
            Some(date) => Some(date),
            None => self.wrong(key, wanted, &text.into()),
        }
    }

    /// A point in time.
    pub fn time(&mut self, key: &str) -> Option<Timestamp> {
        self.parsed(key, "a time, as in 2026-12-01T09:00:00Z")
    }

    /// A value with a form of its own; `wanted` says which.
    pub fn form<T: DeserializeOwned>(&mut self, key: &str, wanted: &str) -> Option<T> {
        let value = self.value(key)?;
        match T::deserialize(&value) {
            Ok(read) => Some(read),
            Err(_) => self.wrong(key, wanted, &value),
        }
    }

    /// A list of objects.
    pub fn records(&mut self, key: &str) -> Vec<Self> {
        let Some(value) = self.value(key) else {
            return Vec::new();
        };
        let Value::Array(items) = value else {
            self.wrong::<()>(key, "a list of objects", &value);
            return Vec::new();
        };
        let mut records = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Value::Object(object) => records.push(Self::new(object)),
                other => {
                    self.wrong::<()>(key, "a list of objects", &other);
                }
            }
        }
        records
    }

    /// Remembers what is wrong.
    pub fn fault(&mut self, fault: impl Into<String>) {
        self.faults.push(fault.into());
    }

    /// What is wrong with a part of this.
    pub(crate) fn faults_of(&mut self, part: &str, other: &mut Self) {
        let faults = other.faults.drain(..);
        self.faults
            .extend(faults.map(|fault| format!("{part}: {fault}")));
    }

    /// What nobody asked for, or what is wrong with what was.
    pub fn rest(mut self) -> Result<Map<String, Value>, String> {
        if !self.faults.is_empty() {
            return Err(self.faults.join("; "));
        }
        self.rest.retain(|_, value| !value.is_null());
        Ok(self.rest)
    }

    fn wrong<T>(&mut self, key: &str, wanted: &str, value: &Value) -> Option<T> {
        let shown = match value {
            Value::Array(_) | Value::Object(_) => kind(value).to_owned(),
            other => short(&other.to_string()),
        };
        self.fault(format!("{key}: {shown} is not {wanted}"));
        None
    }
}

/// As much of a value as an error wants to quote.
fn short(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// What a value is, in words.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The keys of an object with their values; `None` where nothing is to be written.
pub type Keys = Vec<(&'static str, Option<Value>)>;

/// The value of a key that may say nothing.
pub(crate) fn some<T: Serialize>(value: &Option<T>) -> Option<Value> {
    value.as_ref().map(|it| json!(it))
}

/// An object of these keys.
pub(crate) fn object(keys: Keys) -> Value {
    let mut raw = Map::new();
    put(&mut raw, keys);
    Value::Object(raw)
}

/// Puts these keys into an object, whatever it holds.
pub(crate) fn put(raw: &mut Map<String, Value>, keys: Keys) {
    rewrite(raw, Keys::new(), keys);
}

/// Puts into an object what has changed of what we say in it, and touches nothing else.
pub fn rewrite(raw: &mut Map<String, Value>, was: Keys, now: Keys) {
    for (key, value) in now {
        let same = was.iter().any(|(name, old)| *name == key && *old == value);
        match value {
            _ if same => {}
            Some(value) => {
                raw.insert(key.to_owned(), value);
            }
            None => {
                raw.shift_remove(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(value: Value) -> Record {
        Record::of(value).unwrap()
    }

    #[test]
    fn what_nobody_asked_for_is_left_over() {
        let mut it = record(json!({"id": 7, "title": "a", "none": null, "x": [1]}));
        assert_eq!(it.name("id").as_deref(), Some("7"));
        assert_eq!(it.text("title").as_deref(), Some("a"));
        let rest = it.rest().unwrap();
        assert_eq!(Value::Object(rest), json!({"x": [1]}));
    }

    #[test]
    fn every_wrong_value_is_named() {
        let mut it = record(json!({
            "a": 1, "b": [], "c": [[]], "d": "2026-02-30", "e": "soon", "f": {}, "g": [1], "h": "20261201"
        }));
        it.text("a");
        it.name("b");
        it.names("c");
        it.date("d");
        it.time("e");
        it.parsed::<u64>("f", "a whole number");
        it.records("g");
        it.date("h");
        let told = it.rest().unwrap_err();
        assert_eq!(
            told,
            "a: 1 is not a text; b: a list is not a text or a number; \
             c: a list is not a list of texts; \
             d: \"2026-02-30\" is not a date that exists, as in 2026-12-01; \
             e: \"soon\" is not a time, as in 2026-12-01T09:00:00Z; \
             f: an object is not a whole number; g: 1 is not a list of objects; \
             h: \"20261201\" is not a date that exists, as in 2026-12-01"
        );
    }

    #[test]
    fn a_long_value_is_not_quoted_whole() {
        let mut it = record(json!({"due": "x".repeat(1 << 20)}));
        it.date("due");
        assert!(it.rest().unwrap_err().len() < 200);
    }
}
