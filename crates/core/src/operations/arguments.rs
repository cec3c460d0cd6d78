//! What was said with an operation.
//!
//! Owns the check of values against an operation's parameters: what is missing, unknown, said twice or
//! of the wrong kind is refused before anything is done. Behind it a value is what it is said to be. It
//! knows no face: values come as texts by name, or in a JSON object.

use std::{collections::BTreeMap, fmt::Display, str::FromStr};

use serde_json::{Map, Value};

use super::parameter::{ArgumentForm, Parameter, Presence, forms};
pub use crate::error::ArgumentRefusal;
use crate::error::{Error, Result};

/// What was said, by name.
#[derive(Debug, Default)]
pub struct Arguments(BTreeMap<&'static str, Value>);

impl Arguments {
    /// Checks what was said against what may be said: texts by name, and the keys of an object.
    pub fn read(
        parameters: &[&'static Parameter],
        texts: Vec<(String, String)>,
        object: Map<String, Value>,
    ) -> Result<Self> {
        let mut said = BTreeMap::new();
        for (name, text) in texts {
            let it = find(parameters, &name)?;
            let value = it.kind.spelled(text.clone());
            let value = checked(it, value.ok_or_else(|| wrong(it, &text))?)?;
            if said.insert(it.name, value).is_some() {
                return Err(ArgumentRefusal::Twice(it.name).into());
            }
        }
        for (name, value) in object {
            let it = find(parameters, &name)?;
            if value.is_null() && it.presence == Presence::Optional {
                continue;
            }
            if said.insert(it.name, checked(it, value)?).is_some() {
                return Err(ArgumentRefusal::Twice(it.name).into());
            }
        }
        if let Some(forms) = forms(parameters)
            && !forms.iter().any(|form| fits(form, parameters, &said))
        {
            return Err(ArgumentRefusal::NoForm(spelled(forms)).into());
        }
        let missing = parameters
            .iter()
            .find(|it| it.presence == Presence::Required && !said.contains_key(it.name));
        match missing {
            Some(missing) => Err(ArgumentRefusal::Missing(missing.name).into()),
            None => Ok(Self(said)),
        }
    }

    /// All of it, as it was said.
    pub(crate) fn to_object(&self) -> Map<String, Value> {
        let said = self.0.iter();
        said.map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect()
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// A text of its own.
    pub fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    /// A text that is there because the operation needs it.
    pub fn needed(&self, name: &str) -> &str {
        self.text(name).unwrap_or_default()
    }

    /// Several texts; none where nothing is said of them.
    pub fn texts(&self, name: &str) -> Option<Vec<String>> {
        let all = self.0.get(name)?.as_array()?;
        let text = |it: &Value| it.as_str().map(str::to_owned);
        Some(all.iter().filter_map(text).collect())
    }

    /// A number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.as_u64()
    }

    /// A number as what it counts.
    pub fn counted<T>(&self, name: &str) -> Result<Option<T>>
    where
        T: TryFrom<u64>,
        T::Error: Display,
    {
        let counted = self.number(name).map(T::try_from).transpose();
        counted.map_err(|error| invalid(name, &error))
    }

    /// At most so many are asked for: none, or 0, is all.
    pub fn limit(&self) -> usize {
        usize::try_from(self.number("limit").unwrap_or_default()).unwrap_or(usize::MAX)
    }

    /// Whether a flag was said.
    pub fn flag(&self, name: &str) -> bool {
        let value = self.0.get(name).and_then(Value::as_bool);
        value.unwrap_or_default()
    }

    /// A text as what it means.
    pub fn parsed<T>(&self, name: &str) -> Result<Option<T>>
    where
        T: FromStr,
        T::Err: Display,
    {
        let parsed = self.text(name).map(str::parse).transpose();
        parsed.map_err(|error: T::Err| invalid(name, &error))
    }

    /// The same of what the operation needs.
    pub fn id<T>(&self, name: &str) -> Result<T>
    where
        T: FromStr,
        T::Err: Display,
    {
        let parsed = self.needed(name).parse();
        parsed.map_err(|error| invalid(name, &error))
    }
}

fn invalid(name: &str, error: &dyn Display) -> Error {
    Error::Invalid {
        what: name.to_owned(),
        reason: error.to_string(),
    }
}

fn find(
    parameters: &[&'static Parameter],
    name: &str,
) -> Result<&'static Parameter, ArgumentRefusal> {
    let found = parameters.iter().find(|it| it.name == name);
    found.copied().ok_or_else(|| ArgumentRefusal::Unknown {
        name: name.to_owned(),
        there: parameters.iter().map(|it| it.name).collect(),
    })
}

/// Whether what is said of forms is this one.
fn fits(form: &ArgumentForm, parameters: &[&Parameter], said: &BTreeMap<&str, Value>) -> bool {
    let mut told = parameters
        .iter()
        .filter(|it| matches!(it.presence, Presence::In(_)) && said.contains_key(it.name));
    let has_word = |(name, words): (&str, &[&str])| {
        let word = said.get(name).and_then(Value::as_str);
        word.is_none_or(|it| words.contains(&it))
    };
    form.must.iter().all(|it| said.contains_key(it))
        && told.all(|it| form.must.contains(&it.name) || form.may.contains(&it.name))
        && form.word.is_none_or(has_word)
}

/// The forms in words.
fn spelled(forms: &[ArgumentForm]) -> String {
    let each = forms.iter().map(|form| {
        let mut words = form.must.join(", ");
        if !form.may.is_empty() {
            words += &format!(" (with it {})", form.may.join(", "));
        }
        if let Some((name, of)) = form.word {
            words += &format!(", {name} being {}", of.join(" or "));
        }
        words
    });
    format!("either {}", each.collect::<Vec<_>>().join("; or "))
}

fn checked(of: &Parameter, value: Value) -> Result<Value, ArgumentRefusal> {
    let value = whole(value);
    match of.kind.takes(&value) {
        true => Ok(value),
        false => Err(wrong(of, &value.to_string())),
    }
}

/// A number that is whole, however it is written: JSON does not tell 1.0 from 1.
fn whole(value: Value) -> Value {
    let number = value
        .as_f64()
        .filter(|it| value.is_f64() && it.fract() == 0.0);
    let digits = number.map(|it| format!("{it:.0}"));
    let whole = digits.and_then(|it| it.parse::<u64>().ok());
    whole.map_or(value, Value::from)
}

fn wrong(of: &Parameter, given: &str) -> ArgumentRefusal {
    ArgumentRefusal::Wrong {
        name: of.name,
        kind: of.kind.to_string(),
        given: given.chars().take(64).collect(),
    }
}

#[cfg(test)]
mod tests;
