//! What was asked.
//!
//! Owns the check of a request against its route's description: what is missing, unknown, said twice
//! or of the wrong kind is refused before anything is done. Behind it a value is what it is said to
//! be.

use std::{collections::BTreeMap, str::FromStr};

use flagpost_model::envelope::Hash;
use jiff::civil::Date;
use serde_json::{Map, Value};

use super::{
    answer::HttpError,
    route::{Form, MOST, Param, ParamKind, ParamLocation, Presence, is_lease, is_time},
};

/// What was said, by name.
#[derive(Debug, Default)]
pub(crate) struct Asked(BTreeMap<&'static str, Value>);

/// Where the parts of a request come from.
pub(crate) struct Parts {
    /// The varying parts of the path.
    pub(crate) path: Vec<(String, String)>,
    /// What stands behind the question mark.
    pub(crate) query: Vec<(String, String)>,
    /// What the headers say, as far as the route asks.
    pub(crate) headers: Vec<(String, String)>,
    /// What was sent.
    pub(crate) body: Map<String, Value>,
}

impl Asked {
    /// Checks a request.
    pub(crate) fn read(params: &'static [Param], parts: Parts) -> Result<Self, HttpError> {
        let mut said = BTreeMap::new();
        for (place, all) in [
            (ParamLocation::Path, parts.path),
            (ParamLocation::Query, parts.query),
            (ParamLocation::Header, parts.headers),
        ] {
            for (name, text) in all {
                let param = known(params, place, &name)?;
                let value = from_text(param, text)?;
                if said.insert(param.name, value).is_some() {
                    return Err(HttpError::usage(format!("{name} is said twice")));
                }
            }
        }
        for (name, value) in parts.body {
            let param = known(params, ParamLocation::Body, &name)?;
            if value.is_null() && param.need == Presence::Optional {
                continue;
            }
            said.insert(param.name, from_json(param, value)?);
        }
        let forms = params.iter().find_map(|it| match it.need {
            Presence::In(forms) => Some(forms),
            Presence::Required | Presence::Optional => None,
        });
        if let Some(forms) = forms
            && !forms.iter().any(|form| fits(form, params, &said))
        {
            return Err(HttpError::usage(format!("say {}", spelled(forms))));
        }
        let needed = params.iter().filter(|it| it.need == Presence::Required);
        for param in needed {
            if !said.contains_key(param.name) {
                return Err(HttpError::usage(format!("{} is missing", param.name)));
            }
        }
        Ok(Self(said))
    }

    /// A text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// A text that is there because the route needs it.
    pub(crate) fn needed(&self, name: &str) -> &str {
        self.text(name).unwrap_or_default()
    }

    /// Several texts; none where nothing is said of them.
    pub(crate) fn texts(&self, name: &str) -> Option<Vec<String>> {
        let all = self.0.get(name)?.as_array()?;
        let text = |it: &Value| it.as_str().map(str::to_owned);
        Some(all.iter().filter_map(text).collect())
    }

    /// A number.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.as_u64()
    }

    /// Whether a flag was said.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.0
            .get(name)
            .and_then(Value::as_bool)
            .unwrap_or_default()
    }

    /// A text as what it means.
    pub(crate) fn parsed<T>(&self, name: &str) -> Result<Option<T>, HttpError>
    where
        T: FromStr,
        T::Err: std::fmt::Display,
    {
        let parsed = self.text(name).map(str::parse).transpose();
        parsed.map_err(|error: T::Err| HttpError::invalid(format!("{name}: {error}")))
    }

    /// The same of what the route needs.
    pub(crate) fn id<T>(&self, name: &str) -> Result<T, HttpError>
    where
        T: FromStr,
        T::Err: std::fmt::Display,
    {
        let parsed = self.needed(name).parse();
        parsed.map_err(|error| HttpError::invalid(format!("{name}: {error}")))
    }
}

/// Whether what is said of forms is this one.
fn fits(form: &Form, params: &[Param], said: &BTreeMap<&str, Value>) -> bool {
    let of_forms = params
        .iter()
        .filter(|it| matches!(it.need, Presence::In(_)));
    let mut told = of_forms.filter(|it| said.contains_key(it.name));
    let has_word = |(name, words): (&str, &[&str])| {
        let word = said.get(name).and_then(Value::as_str);
        word.is_none_or(|it| words.contains(&it))
    };
    form.must.iter().all(|it| said.contains_key(it))
        && told.all(|it| form.must.contains(&it.name) || form.may.contains(&it.name))
        && form.word.is_none_or(has_word)
}

/// The forms in words.
fn spelled(forms: &[Form]) -> String {
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

fn known(
    params: &'static [Param],
    place: ParamLocation,
    name: &str,
) -> Result<&'static Param, HttpError> {
    let found = params
        .iter()
        .find(|it| it.place == place && it.name == name);
    found.ok_or_else(|| {
        let known = params.iter().filter(|it| it.place == place);
        let known: Vec<&str> = known.map(|it| it.name).collect();
        let is_asked = |it: &&Param| it.place == ParamLocation::Query && it.name == name;
        let hint = match known.as_slice() {
            _ if params.iter().any(|it| is_asked(&it)) => {
                "it goes behind the question mark of the path".to_owned()
            }
            [] => "nothing goes there".to_owned(),
            known => format!("there are {}", known.join(", ")),
        };
        HttpError::usage(format!("there is no {name:?} here; {hint}"))
    })
}

fn from_text(param: &Param, text: String) -> Result<Value, HttpError> {
    let value = match param.kind {
        ParamKind::Text
        | ParamKind::Line
        | ParamKind::Id
        | ParamKind::Directory
        | ParamKind::Time
        | ParamKind::Lease
        | ParamKind::Day
        | ParamKind::Hash
        | ParamKind::Word(_) => Some(text.clone().into()),
        ParamKind::Number(_) | ParamKind::Process => text.parse::<u64>().ok().map(Value::from),
        ParamKind::Flag => text.parse::<bool>().ok().map(Value::from),
        ParamKind::Texts => None,
    };
    match value {
        Some(value) => from_json(param, value),
        None => Err(wrong(param, &text)),
    }
}

fn from_json(param: &Param, value: Value) -> Result<Value, HttpError> {
    let value = whole(value);
    let is_text = |rule: fn(&str) -> bool| value.as_str().is_some_and(rule);
    let fits = match param.kind {
        // Names say themselves what is wrong with them.
        ParamKind::Text | ParamKind::Id | ParamKind::Directory => value.is_string(),
        ParamKind::Line => is_text(|it| !it.trim().is_empty()),
        ParamKind::Time => is_text(is_time),
        ParamKind::Lease => is_text(is_lease),
        ParamKind::Day => is_text(|it| it.len() == 10 && it.parse::<Date>().is_ok()),
        ParamKind::Hash => is_text(|it| it.parse::<Hash>().is_ok()),
        ParamKind::Number(least) => value
            .as_u64()
            .is_some_and(|it| (least..=MOST).contains(&it)),
        ParamKind::Process => value
            .as_u64()
            .is_some_and(|it| (1..=u32::MAX.into()).contains(&it)),
        ParamKind::Flag => value.is_boolean(),
        ParamKind::Texts => value
            .as_array()
            .is_some_and(|all| all.iter().all(Value::is_string)),
        ParamKind::Word(words) => value.as_str().is_some_and(|it| words.contains(&it)),
    };
    match fits {
        true => Ok(value),
        false => Err(wrong(param, &value.to_string())),
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

fn wrong(param: &Param, given: &str) -> HttpError {
    let must = match param.kind {
        ParamKind::Text | ParamKind::Id | ParamKind::Directory => "a text".to_owned(),
        ParamKind::Line => "a text that is not blank".to_owned(),
        ParamKind::Lease => "a time from one second to 30 days, as in 90s, 15m or 2h".to_owned(),
        ParamKind::Day => "a day, as in 2026-12-01".to_owned(),
        ParamKind::Process => "the number of a process".to_owned(),
        ParamKind::Hash => "a SHA-256 in hexadecimal".to_owned(),
        ParamKind::Number(least) => format!("a whole number from {least}"),
        ParamKind::Flag => "true or false".to_owned(),
        ParamKind::Time => "a time, as in 30s, 5m or 2h".to_owned(),
        ParamKind::Texts => "a list of texts".to_owned(),
        ParamKind::Word(words) => format!("one of {}", words.join(", ")),
    };
    let given: String = given.chars().take(64).collect();
    HttpError::invalid(format!("{} must be {must}, not {given}", param.name))
}

#[cfg(test)]
mod tests;
