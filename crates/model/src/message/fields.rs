//! Looking up what a body has to say.
//!
//! Owns the sentences for what is wrong with a field: its name, and what is allowed.

use serde_json::{Map, Value};

/// The fields of a body.
#[derive(Debug, Clone, Copy)]
pub(super) struct BodyFields<'b>(pub &'b Map<String, Value>);

impl<'b> BodyFields<'b> {
    /// What the key holds; an absent one and null are the same.
    fn get(self, key: &str) -> Option<&'b Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    /// A text, if there is one that says something.
    pub fn text(self, key: &str) -> Result<Option<String>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("{key} must be a text")),
        }
    }

    /// A text that has to be there.
    pub fn required(self, key: &str, what: &str) -> Result<String, String> {
        let text = self.text(key)?;
        text.ok_or_else(|| format!("{key} is missing: {what}"))
    }

    /// The task's id, under either of its names.
    pub fn task(self) -> Result<String, String> {
        let names = [self.text("bead_id")?, self.text("task_id")?];
        match names {
            [Some(a), Some(b)] if a != b => Err("bead_id and task_id differ: use one".to_owned()),
            [Some(id), _] | [None, Some(id)] => Ok(id),
            [None, None] => Err("bead_id is missing: the id of the task".to_owned()),
        }
    }

    /// A whole number within these bounds.
    pub fn number(self, key: &str, least: u64, most: u64) -> Result<Option<u64>, String> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let number = value.as_u64().filter(|it| (least..=most).contains(it));
        let allowed = || match most {
            u64::MAX => format!("{key} must be a whole number from {least} on"),
            most => format!("{key} must be a whole number from {least} to {most}"),
        };
        number.map(Some).ok_or_else(allowed)
    }

    /// A list of texts.
    pub fn texts(self, key: &str) -> Result<Vec<String>, String> {
        let Some(value) = self.get(key) else {
            return Ok(Vec::new());
        };
        let items = value
            .as_array()
            .map(|items| items.iter().map(Value::as_str));
        let texts: Option<Vec<&str>> = items.and_then(Iterator::collect);
        let texts = texts.ok_or_else(|| format!("{key} must be a list of texts"))?;
        Ok(texts.into_iter().map(str::to_owned).collect())
    }
}
