//! Looking up the keys of a row.
//!
//! Owns which values of other types are taken for what they mean. Null is nothing.

use serde_json::{Map, Value};

/// The keys of an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct CoordFields<'r>(pub &'r Map<String, Value>);

impl<'r> CoordFields<'r> {
    pub fn value(self, key: &str) -> Option<&'r Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    /// A text that says something.
    pub fn text(self, key: &str) -> Option<String> {
        let text = self.value(key)?.as_str()?;
        (!text.trim().is_empty()).then(|| text.to_owned())
    }

    /// A text, or a number as its digits.
    pub fn name(self, key: &str) -> Option<String> {
        name(self.value(key)?)
    }

    /// A whole number, or its digits as a text.
    pub fn number(self, key: &str) -> Option<i64> {
        self.name(key)?.trim().parse().ok()
    }

    /// A list of names; `a,b` is one too.
    pub fn names(self, key: &str) -> Result<Vec<String>, String> {
        let names = match self.value(key) {
            None => return Ok(Vec::new()),
            Some(Value::Array(items)) => items.iter().map(name).collect(),
            Some(Value::String(text)) => {
                let words = text.split(',').map(str::trim);
                Some(
                    words
                        .filter(|it| !it.is_empty())
                        .map(str::to_owned)
                        .collect(),
                )
            }
            Some(_) => None,
        };
        names.ok_or_else(|| format!("its {key} is no list of words"))
    }

    /// An object's keys; none where there is no object.
    pub fn object(self, key: &str) -> Option<CoordFields<'r>> {
        self.value(key)?.as_object().map(CoordFields)
    }
}

fn name(value: &Value) -> Option<String> {
    let name = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!name.trim().is_empty()).then_some(name)
}
