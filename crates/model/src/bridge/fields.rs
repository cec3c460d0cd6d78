//! An object of a command, read field by field.
//!
//! Owns the words for what is wrong with a field: which one, what it may be, and what it is. They
//! are for whoever wrote the command, so they quote nothing but the command.

use serde_json::{Map, Value};

use crate::names::Named;

/// What is left of an object, and what was wrong with what was taken.
#[derive(Debug)]
pub(super) struct CommandFields {
    rest: Map<String, Value>,
    place: String,
    asked: Vec<&'static str>,
    faults: Vec<String>,
}

impl CommandFields {
    /// Everything is yet to be read; `place` stands before each name, as in `payload.`
    pub fn new(object: Map<String, Value>, place: impl Into<String>) -> Self {
        Self {
            rest: object,
            place: place.into(),
            asked: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// Whatever there is, null included.
    pub fn take(&mut self, key: &'static str) -> Option<Value> {
        self.asked.push(key);
        self.rest.shift_remove(key)
    }

    /// A text, where there is one.
    pub fn text(&mut self, key: &'static str) -> Option<String> {
        match self.take(key)? {
            Value::Null => None,
            Value::String(text) => Some(text),
            other => self.wrong(key, "a text", &other),
        }
    }

    /// A text that must be there and say something.
    pub fn needed(&mut self, key: &'static str) -> Option<String> {
        match self.take(key) {
            Some(Value::String(text)) if !text.trim().is_empty() => Some(text),
            other => self.wrong(
                key,
                "a text that is not empty",
                &other.unwrap_or(Value::Null),
            ),
        }
    }

    /// A task's id or the beginning of one, which may be written as a number.
    pub fn id(&mut self, key: &'static str) -> Option<String> {
        match self.take(key) {
            Some(Value::String(text)) if !text.is_empty() => Some(text),
            Some(Value::Number(number)) => Some(number.to_string()),
            other => {
                let wanted = "the id of a task, or the beginning of one";
                self.wrong(key, wanted, &other.unwrap_or(Value::Null))
            }
        }
    }

    /// The same, where there is one.
    pub fn id_if_any(&mut self, key: &'static str) -> Option<String> {
        match self.rest.get(key) {
            None | Some(Value::Null) => {
                self.take(key);
                None
            }
            Some(_) => self.id(key),
        }
    }

    /// A text that may be taken away: null is an empty one.
    pub fn removable(&mut self, key: &'static str) -> Option<String> {
        match self.take(key)? {
            Value::Null => Some(String::new()),
            Value::String(text) => Some(text),
            other => self.wrong(key, "a text, or null for none", &other),
        }
    }

    /// What is to be found; an empty text is no filter.
    pub fn filter(&mut self, key: &'static str) -> Option<String> {
        self.text(key).filter(|text| !text.is_empty())
    }

    /// A list of texts.
    pub fn texts(&mut self, key: &'static str) -> Option<Vec<String>> {
        let value = self.take(key)?;
        let texts = match &value {
            Value::Null => Some(Vec::new()),
            Value::Array(items) => {
                let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
                texts.collect()
            }
            _ => None,
        };
        texts.or_else(|| self.wrong(key, "a list of texts", &value))
    }

    /// One of a closed set of words.
    pub fn word<T: Named>(&mut self, key: &'static str) -> Option<T> {
        match self.take(key)? {
            Value::Null => None,
            value => {
                let word = value.as_str().and_then(|text| text.parse().ok());
                word.or_else(|| self.wrong(key, &one_of::<T>(), &value))
            }
        }
    }

    /// One of a closed set of words, or several of them; an empty list is none of them.
    pub fn words<T: Named>(&mut self, key: &'static str) -> Option<Vec<T>> {
        let value = self.take(key)?;
        let parsed = |value: &Value| value.as_str().and_then(|text| text.parse().ok());
        let words = match &value {
            Value::Null => return None,
            Value::Array(items) => items.iter().map(parsed).collect(),
            single => parsed(single).map(|word| vec![word]),
        };
        words.or_else(|| {
            let wanted = format!("{}, or a list of these", one_of::<T>());
            self.wrong(key, &wanted, &value)
        })
    }

    /// Yes or no; no where it is not there.
    pub fn flag(&mut self, key: &'static str) -> bool {
        match self.take(key) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(flag)) => flag,
            Some(value) => self.wrong(key, "true or false", &value).unwrap_or(false),
        }
    }

    /// A whole number from 1; 0 and -1 are no limit.
    pub fn count(&mut self, key: &'static str) -> Option<usize> {
        let value = self.take(key)?;
        match value.as_i64() {
            _ if value.is_null() => None,
            Some(-1 | 0) => None,
            number => {
                let number = number.and_then(|n| usize::try_from(n).ok());
                number
                    .or_else(|| self.wrong(key, "a whole number from 1, or 0 for no limit", &value))
            }
        }
    }

    /// Says that the field is not what it must be.
    pub fn wrong<T>(&mut self, key: &str, wanted: &str, value: &Value) -> Option<T> {
        let place = &self.place;
        let is = shown(value);
        self.fault(format!("{place}{key} must be {wanted}; {is}"));
        None
    }

    /// Remembers what is wrong.
    pub fn fault(&mut self, fault: String) {
        self.faults.push(fault);
    }

    /// Whether nothing was found to be wrong so far.
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }

    /// What is wrong with the fields that were asked for.
    pub fn own_faults(self) -> Vec<String> {
        self.faults
    }

    /// What is wrong, a name that nobody asked for included.
    pub fn faults(mut self) -> Vec<String> {
        let asked = match self.asked.as_slice() {
            [] => "nothing".to_owned(),
            asked => asked.join(", "),
        };
        for key in self.rest.keys() {
            let (place, key) = (&self.place, short(key));
            let fault = format!("{place}{key} is unknown; there may be {asked}");
            self.faults.push(fault);
        }
        self.faults
    }
}

/// The words there are, to stand behind "must be".
pub(super) fn one_of<T: Named>() -> String {
    let words: Vec<&str> = T::ALL.iter().map(|word| word.as_str()).collect();
    format!("one of {}", words.join(", "))
}

/// What a value is, in so many words.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "it is missing".to_owned(),
        Value::Array(_) => "it is a list".to_owned(),
        Value::Object(_) => "it is an object".to_owned(),
        other => format!("it is {}", short(&other.to_string())),
    }
}

fn short(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
