//! What was asked.
//!
//! Owns the check of a request against its route's description: what is missing, unknown, said twice
//! or of the wrong kind is refused before anything is done. Behind it a value is what it is said to
//! be.

use std::{collections::BTreeMap, str::FromStr};

use jiff::SignedDuration;
use serde_json::{Map, Value};

use super::{
    answer::Fault,
    route::{Kind, MOST, Need, Param, Place},
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
    pub(crate) fn read(params: &'static [Param], parts: Parts) -> Result<Self, Fault> {
        let mut said = BTreeMap::new();
        for (place, all) in [
            (Place::Path, parts.path),
            (Place::Query, parts.query),
            (Place::Header, parts.headers),
        ] {
            for (name, text) in all {
                let param = known(params, place, &name)?;
                let value = from_text(param, text)?;
                if said.insert(param.name, value).is_some() {
                    return Err(Fault::usage(format!("{name} is said twice")));
                }
            }
        }
        for (name, value) in parts.body {
            let param = known(params, Place::Body, &name)?;
            if value.is_null() && param.need == Need::Optional {
                continue;
            }
            said.insert(param.name, from_json(param, value)?);
        }
        let needed = params.iter().filter(|it| it.need == Need::Required);
        for param in needed {
            if !said.contains_key(param.name) {
                return Err(Fault::usage(format!("{} is missing", param.name)));
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
    pub(crate) fn parsed<T>(&self, name: &str) -> Result<Option<T>, Fault>
    where
        T: FromStr,
        T::Err: std::fmt::Display,
    {
        let parsed = self.text(name).map(str::parse).transpose();
        parsed.map_err(|error: T::Err| Fault::invalid(format!("{name}: {error}")))
    }

    /// The same of what the route needs.
    pub(crate) fn id<T>(&self, name: &str) -> Result<T, Fault>
    where
        T: FromStr,
        T::Err: std::fmt::Display,
    {
        let parsed = self.needed(name).parse();
        parsed.map_err(|error| Fault::invalid(format!("{name}: {error}")))
    }
}

fn known(params: &'static [Param], place: Place, name: &str) -> Result<&'static Param, Fault> {
    let found = params
        .iter()
        .find(|it| it.place == place && it.name == name);
    found.ok_or_else(|| {
        let known = params.iter().filter(|it| it.place == place);
        let known: Vec<&str> = known.map(|it| it.name).collect();
        let is_asked = |it: &&Param| it.place == Place::Query && it.name == name;
        let hint = match known.as_slice() {
            _ if params.iter().any(|it| is_asked(&it)) => {
                "it goes behind the question mark of the path".to_owned()
            }
            [] => "nothing goes there".to_owned(),
            known => format!("there are {}", known.join(", ")),
        };
        Fault::usage(format!("there is no {name:?} here; {hint}"))
    })
}

fn from_text(param: &Param, text: String) -> Result<Value, Fault> {
    let value = match param.kind {
        Kind::Text | Kind::Id | Kind::Time | Kind::Word(_) => Some(text.clone().into()),
        Kind::Number(_) => text.parse::<u64>().ok().map(Value::from),
        Kind::Flag => text.parse::<bool>().ok().map(Value::from),
        Kind::Texts => None,
    };
    match value {
        Some(value) => from_json(param, value),
        None => Err(wrong(param, &text)),
    }
}

fn from_json(param: &Param, value: Value) -> Result<Value, Fault> {
    let fits = match param.kind {
        // Ids say themselves what is wrong with them.
        Kind::Text | Kind::Id => value.is_string(),
        Kind::Number(least) => value
            .as_u64()
            .is_some_and(|it| (least..=MOST).contains(&it)),
        Kind::Flag => value.is_boolean(),
        Kind::Time => value
            .as_str()
            .is_some_and(|it| it.parse::<SignedDuration>().is_ok()),
        Kind::Texts => value
            .as_array()
            .is_some_and(|all| all.iter().all(Value::is_string)),
        Kind::Word(words) => value.as_str().is_some_and(|it| words.contains(&it)),
    };
    match fits {
        true => Ok(value),
        false => Err(wrong(param, &value.to_string())),
    }
}

fn wrong(param: &Param, given: &str) -> Fault {
    let must = match param.kind {
        Kind::Text | Kind::Id => "a text".to_owned(),
        Kind::Number(least) => format!("a whole number from {least}"),
        Kind::Flag => "true or false".to_owned(),
        Kind::Time => "a time, as in 30s".to_owned(),
        Kind::Texts => "a list of texts".to_owned(),
        Kind::Word(words) => format!("one of {}", words.join(", ")),
    };
    let given: String = given.chars().take(64).collect();
    Fault::invalid(format!("{} must be {must}, not {given}", param.name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PARAMS: &[Param] = &[
        Param::path("worker", Kind::Id, ""),
        Param::query("limit", Kind::Number(1), ""),
        Param::query("all", Kind::Flag, ""),
        Param::body("body", Kind::Text, ""),
        Param::body("decision", Kind::Word(&["ratified", "rejected"]), "").required(),
    ];

    fn read(query: &[(&str, &str)], body: Value) -> Result<Asked, Fault> {
        let pairs = |all: &[(&str, &str)]| {
            let owned = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
            all.iter().map(owned).collect()
        };
        let Value::Object(body) = body else {
            panic!("an object")
        };
        let path = pairs(&[("worker", "W1")]);
        let query = pairs(query);
        let headers = Vec::new();
        Asked::read(
            PARAMS,
            Parts {
                path,
                query,
                headers,
                body,
            },
        )
    }

    #[test]
    fn what_fits_is_understood() {
        let sent = json!({"decision": "ratified", "body": null});
        let asked = read(&[("limit", "5"), ("all", "true")], sent).unwrap();
        assert_eq!(asked.needed("worker"), "W1");
        assert_eq!(asked.number("limit"), Some(5));
        assert!(asked.flag("all"));
        assert_eq!(asked.text("body"), None);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let good = || json!({"decision": "ratified"});
        for query in [
            [("limit", "0")],
            [("limit", "-1")],
            [("limit", "1e3")],
            [("limit", "99999999999999999999")],
            [("all", "yes")],
            [("decision", "ratified")],
            [("worker", "W2")],
            [("x", "")],
        ] {
            read(&query, good()).unwrap_err();
        }
        read(&[("limit", "1"), ("limit", "2")], good()).unwrap_err();
        for body in [
            json!({}),
            json!({"decision": null}),
            json!({"decision": "maybe"}),
            json!({"decision": "ratified", "body": 7}),
            json!({"decision": "ratified", "more": 1}),
        ] {
            read(&[], body).unwrap_err();
        }
    }
}
