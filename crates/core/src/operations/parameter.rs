//! What may be said with an operation.
//!
//! Owns what a value may be, as a check, in words and as a JSON Schema.

use flagpost_model::{envelope::Hash, query::plain_date};
use serde_json::{Map, Value, json};

/// Something that may be said with an operation.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it may be.
    pub kind: ParamKind,
    /// Whether it must be said.
    pub presence: Presence,
    /// What it means.
    pub about: &'static str,
}

/// Whether something must be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It must.
    Required,
    /// It may.
    Optional,
    /// As the form says that is meant: what is said is one of these.
    In(&'static [ArgumentForm]),
}

/// One way to say what is said, where there are several.
#[derive(Debug, PartialEq, Eq)]
pub struct ArgumentForm {
    /// What must be said.
    pub must: &'static [&'static str],
    /// What may be said as well.
    pub may: &'static [&'static str],
    /// One of them, and the only words that it may be here.
    pub word: Option<(&'static str, &'static [&'static str])>,
}

/// What a value may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// A text.
    Text,
    /// A text that is not blank.
    Line,
    /// The name of a worker, a list, a task: letters, digits, `.`, `_`, `-`.
    Id,
    /// The name of a directory that anybody may see, in any script.
    Directory,
    /// A whole number, at least this.
    Number(u64),
    /// Yes or no.
    Flag,
    /// Several texts; in an object, and nowhere else.
    Texts,
    /// A length of time: a number and its unit.
    Time,
    /// The same of a lease, which lasts a second at least.
    Lease,
    /// A day.
    Day,
    /// A process.
    Process,
    /// A SHA-256.
    Hash,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// A name as ids have it.
const ID: &str = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";
/// A name as directories have it: no separator, and no two dots beside each other, which might climb.
const DIRECTORY: &str = "^\\.?[^./\\u0000]+(\\.[^./\\u0000]+)*\\.?$";
/// Something that is seen: no white space, as Unicode has it.
const SEEN: &str = "[^\\u0009-\\u000d\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
/// What [`is_lease`] takes.
const LEASES: &str =
    "^([1-9][0-9]{0,4}s|[1-9][0-9]{0,3}m|([1-9][0-9]?|[1-6][0-9]{2}|7[01][0-9]|720)h)$";
/// What [`is_time`] takes.
const TIMES: &str = "^([1-9][0-9]{0,5}ms|[1-9][0-9]{0,4}s|[1-9][0-9]{0,3}m|([1-9][0-9]?|[1-6][0-9]{2}|7[01][0-9]|720)h)$";
/// The greatest number that JSON holds everywhere.
const MOST: u64 = (1 << 53) - 1;

/// Whether this is a length of time, up to thirty days.
fn is_time(text: &str) -> bool {
    match text.strip_suffix("ms") {
        Some(number) => is_number(number, 999_999),
        None => is_lease(text),
    }
}

/// Whether this is one that a lease may last.
fn is_lease(text: &str) -> bool {
    let units = [('s', 99_999), ('m', 9_999), ('h', 720)];
    let of = |(unit, most): (char, u32)| text.strip_suffix(unit).map(|it| is_number(it, most));
    units.into_iter().find_map(of).unwrap_or_default()
}

fn is_number(text: &str, most: u32) -> bool {
    let is_plain = text.bytes().all(|it| it.is_ascii_digit()) && !text.starts_with('0');
    is_plain && text.parse().is_ok_and(|it: u32| it <= most)
}

impl ParamKind {
    /// The same as a JSON Schema.
    pub fn schema(self) -> Value {
        match self {
            Self::Text => json!({"type": "string"}),
            Self::Line => json!({"type": "string", "pattern": SEEN}),
            Self::Time => json!({"type": "string", "pattern": TIMES}),
            Self::Lease => json!({"type": "string", "pattern": LEASES}),
            Self::Day => json!({"type": "string", "format": "date"}),
            Self::Hash => json!({"type": "string", "pattern": "^[0-9A-Fa-f]{64}$"}),
            Self::Id => json!({"type": "string", "pattern": ID}),
            Self::Directory => json!({"type": "string", "pattern": DIRECTORY}),
            Self::Number(least) => {
                json!({"type": "integer", "minimum": least, "maximum": MOST})
            }
            Self::Process => json!({"type": "integer", "minimum": 1, "maximum": u32::MAX}),
            Self::Flag => json!({"type": "boolean"}),
            Self::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Self::Word(words) => json!({"type": "string", "enum": words}),
        }
    }

    /// A text as the value that it spells; none where it spells none.
    pub(super) fn spelled(self, text: String) -> Option<Value> {
        match self {
            Self::Number(_) | Self::Process => text.parse::<u64>().ok().map(Value::from),
            Self::Flag => text.parse::<bool>().ok().map(Value::from),
            Self::Texts => None,
            _ => Some(text.into()),
        }
    }

    /// Whether a value is one of this kind.
    pub(super) fn takes(self, value: &Value) -> bool {
        let is_text = |rule: fn(&str) -> bool| value.as_str().is_some_and(rule);
        let number = value.as_u64();
        match self {
            // Names say themselves what is wrong with them.
            Self::Text | Self::Id | Self::Directory => value.is_string(),
            Self::Line => is_text(|it| !it.trim().is_empty()),
            Self::Time => is_text(is_time),
            Self::Lease => is_text(is_lease),
            Self::Day => is_text(|it| plain_date(it).is_some()),
            Self::Hash => is_text(|it| it.parse::<Hash>().is_ok()),
            Self::Number(least) => number.is_some_and(|it| (least..=MOST).contains(&it)),
            Self::Process => number.is_some_and(|it| (1..=u32::MAX.into()).contains(&it)),
            Self::Flag => value.is_boolean(),
            Self::Texts => value
                .as_array()
                .is_some_and(|all| all.iter().all(Value::is_string)),
            Self::Word(words) => value.as_str().is_some_and(|it| words.contains(&it)),
        }
    }
}

/// In words.
impl std::fmt::Display for ParamKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Text | Self::Id | Self::Directory => "a text",
            Self::Line => "a text that is not blank",
            Self::Lease => "a time from one second to 30 days, as in 90s, 15m or 2h",
            Self::Day => "a day, as in 2026-12-01",
            Self::Process => "the number of a process",
            Self::Hash => "a SHA-256 in hexadecimal",
            Self::Flag => "true or false",
            Self::Time => "a time, as in 30s, 5m or 2h",
            Self::Texts => "a list of texts",
            Self::Number(least) => return write!(f, "a whole number from {least}"),
            Self::Word(words) => return write!(f, "one of {}", words.join(", ")),
        })
    }
}

impl Parameter {
    /// Something that may be said.
    pub const fn new(name: &'static str, kind: ParamKind, about: &'static str) -> Self {
        Self {
            name,
            kind,
            presence: Presence::Optional,
            about,
        }
    }

    /// A text that may be said.
    pub const fn text(name: &'static str, about: &'static str) -> Self {
        Self::new(name, ParamKind::Text, about)
    }

    /// A flag that may be said.
    pub(super) const fn flag(name: &'static str, about: &'static str) -> Self {
        Self::new(name, ParamKind::Flag, about)
    }

    /// The same, which belongs to forms.
    pub const fn within(self, forms: &'static [ArgumentForm]) -> Self {
        Self {
            presence: Presence::In(forms),
            ..self
        }
    }

    /// The same, which must be said.
    pub const fn required(self) -> Self {
        Self {
            presence: Presence::Required,
            ..self
        }
    }
}

/// The forms that what is said has, where it has several.
pub(super) fn forms(parameters: &[&Parameter]) -> Option<&'static [ArgumentForm]> {
    parameters.iter().find_map(|it| match it.presence {
        Presence::In(forms) => Some(forms),
        Presence::Required | Presence::Optional => None,
    })
}

/// The JSON Schema of an object that says these, in one of its forms where it has several.
pub fn object_schema(parameters: &[&Parameter]) -> Value {
    let Some(forms) = forms(parameters) else {
        return object(parameters);
    };
    let each = forms.iter().map(|form| {
        let is_in = |it: &&&Parameter| {
            let is_named = form.must.contains(&it.name) || form.may.contains(&it.name);
            is_named || !matches!(it.presence, Presence::In(_))
        };
        let own: Vec<&Parameter> = parameters.iter().filter(is_in).copied().collect();
        let mut object = object(&own);
        let must = form.must.iter().map(|it| Value::from(*it));
        if let Some(required) = object["required"].as_array_mut() {
            required.extend(must);
        }
        if let Some((name, words)) = form.word {
            object["properties"][name]["enum"] = json!(words);
        }
        object
    });
    json!({"oneOf": each.collect::<Vec<_>>()})
}

fn object(parameters: &[&Parameter]) -> Value {
    let described = |it: &&Parameter| {
        let mut schema = it.kind.schema();
        if it.presence == Presence::Optional {
            // Null says as much as nothing.
            schema["type"] = json!([schema["type"], "null"]);
            if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut) {
                words.push(Value::Null);
            }
        }
        schema["description"] = it.about.into();
        (it.name.to_owned(), schema)
    };
    let needed = parameters
        .iter()
        .filter(|it| it.presence == Presence::Required);
    json!({
        "type": "object",
        "properties": parameters.iter().map(described).collect::<Map<_, _>>(),
        "required": needed.map(|it| it.name).collect::<Vec<_>>(),
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;
    use crate::config::keys::CLAIM_LEASE;

    #[test]
    fn a_lease_that_is_taken_is_one_that_a_claim_may_have() {
        for good in ["1s", "99999s", "1m", "9999m", "1h", "720h"] {
            assert!(is_lease(good) && is_time(good), "{good}");
            let lease: SignedDuration = good.parse().unwrap();
            assert!(CLAIM_LEASE.kind.contains(lease), "{good}");
        }
        for bad in [
            "",
            "s",
            "0s",
            "01s",
            "1",
            "721h",
            "100000s",
            "10000m",
            "-1s",
            "+1s",
            "1.5s",
            "1 s",
            "1h30m",
            "1d",
            "\u{0661}s",
            "soon",
        ] {
            assert!(!is_lease(bad) && !is_time(bad), "{bad}");
        }
        assert!(is_time("1ms") && is_time("999999ms") && !is_lease("1ms"));
        assert!(!is_time("0ms") && !is_time("1000000ms"));
    }
}
