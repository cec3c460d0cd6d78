//! What an import last said of a task's fields.
//!
//! Owns the fingerprints by which a later import tells what its source changed from what people
//! and agents changed here. Invariant: equal values have equal fingerprints on every machine.

use std::collections::BTreeMap;

use serde::Serialize;

/// The fingerprint of each field that an import named, by the field's name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said(BTreeMap<String, String>);

impl Said {
    /// Remembers what is said of a field; whether that is news.
    pub fn hear(&mut self, field: &str, value: &impl Serialize) -> bool {
        let mark = fingerprint(value);
        let known = self.0.get(field) == Some(&mark);
        if !known {
            self.0.insert(field.to_owned(), mark);
        }
        !known
    }

    /// Remembers which names a source now lists, and forgets those that it lists no more.
    pub fn list(&mut self, field: &str, names: &[&str]) {
        let listed: Vec<String> = names.iter().map(|name| format!("{field}.{name}")).collect();
        let under = format!("{field}.");
        self.0
            .retain(|key, _| !key.starts_with(&under) || listed.contains(key));
        for key in listed {
            self.hear(&key, &true);
        }
    }

    /// Whether a source last listed the name.
    pub fn lists(&self, field: &str, name: &str) -> bool {
        self.0.contains_key(&format!("{field}.{name}"))
    }

    /// Whether no import ever said anything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each field with its fingerprint, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(field, mark)| (&**field, &**mark))
    }
}

impl FromIterator<(String, String)> for Said {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(said: I) -> Self {
        Self(said.into_iter().collect())
    }
}

/// FNV-1a over the value as JSON: short, and only ever compared with what the same task had.
fn fingerprint(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_news() {
        let mut said = Said::default();
        assert!(said.is_empty());
        assert!(said.hear("priority", &"high"));
        assert!(!said.hear("priority", &"high"));
        assert!(said.hear("priority", &"low"));
        assert!(said.hear("group", &"low"));
        // Written down: files hold it.
        let held: Vec<_> = said.iter().collect();
        assert_eq!(
            held,
            [
                ("group", "98f5bcdebbbd6319"),
                ("priority", "98f5bcdebbbd6319")
            ]
        );
    }
}
