//! What imports last said of a task's fields.
//!
//! Owns the fingerprints by which a later import tells what its source changed from what people
//! and agents changed here. Each kind of source has a memory of its own, so that none unlearns what
//! another said. Invariant: equal values have equal fingerprints on every machine.

use std::collections::BTreeMap;

use serde::Serialize;

/// The fingerprint of each field that an import named, by the kind of its source and the field's
/// name. What was remembered before kinds were told apart is under the empty kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportBaseline(BTreeMap<String, Fingerprints>);

type Fingerprints = BTreeMap<String, String>;

/// The memory of one kind of source, with the others beside it.
#[derive(Debug)]
pub struct SourceBaseline<'s> {
    kind: &'s str,
    said: &'s mut ImportBaseline,
}

impl ImportBaseline {
    /// Listens to a kind of source.
    pub fn source<'s>(&'s mut self, kind: &'s str) -> SourceBaseline<'s> {
        SourceBaseline { kind, said: self }
    }

    /// Whether no import ever said anything.
    pub fn is_empty(&self) -> bool {
        self.0.values().all(BTreeMap::is_empty)
    }

    /// Whether a source of this kind ever said anything.
    pub fn knows(&self, kind: &str) -> bool {
        self.0.get(kind).is_some_and(|marks| !marks.is_empty())
    }

    /// Whether this is what a source of this kind last said of the field.
    pub fn recalls(&self, kind: &str, field: &str, value: &impl Serialize) -> bool {
        let mark = self.0.get(kind).and_then(|marks| marks.get(field));
        mark.is_some_and(|mark| *mark == fingerprint(value))
    }

    /// Each kind and field with its fingerprint, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let kinds = self.0.iter();
        kinds.flat_map(|(kind, marks)| {
            let marks = marks.iter();
            marks.map(move |(field, mark)| (&**kind, &**field, &**mark))
        })
    }
}

impl SourceBaseline<'_> {
    /// Remembers what is said of a field; whether that is news. To a kind that never spoke of the
    /// field, what another kind said is none.
    pub fn record(&mut self, field: &str, value: &impl Serialize) -> bool {
        let mark = fingerprint(value);
        let is_known = match self.own(field) {
            Some(own) => *own == mark,
            None => self.others().any(|it| it.get(field) == Some(&mark)),
        };
        self.remember(field.to_owned(), mark);
        !is_known
    }

    /// Whether this kind ever said something of the field.
    pub fn has_named(&self, field: &str) -> bool {
        self.own(field).is_some()
    }

    /// Whether the field says something else by now than any source said of it.
    pub fn differs(&self, field: &str, value: &impl Serialize) -> bool {
        let mark = fingerprint(value);
        let mut told = self.said.0.values().filter_map(|marks| marks.get(field));
        told.clone().next().is_some() && told.all(|other| *other != mark)
    }

    /// Remembers which names a source now lists, and forgets those that it lists no more.
    pub fn list(&mut self, field: &str, names: &[&str]) {
        let under = format!("{field}.");
        if let Some(marks) = self.said.0.get_mut(self.kind) {
            marks.retain(|key, _| !key.starts_with(&under));
        }
        for name in names {
            self.remember(format!("{under}{name}"), fingerprint(&true));
        }
    }

    /// Whether a source last listed the name: one of this kind, or any where none of this kind ever
    /// listed names.
    pub fn lists(&self, field: &str, name: &str) -> bool {
        let under = format!("{field}.");
        let key = format!("{under}{name}");
        let own = self.said.0.get(self.kind);
        let own = own.filter(|marks| marks.keys().any(|key| key.starts_with(&under)));
        match own {
            Some(own) => own.contains_key(&key),
            None => self.others().any(|it| it.contains_key(&key)),
        }
    }

    fn own(&self, field: &str) -> Option<&String> {
        self.said.0.get(self.kind)?.get(field)
    }

    fn others(&self) -> impl Iterator<Item = &Fingerprints> {
        let kinds = self.said.0.iter();
        kinds
            .filter(|(kind, _)| *kind != self.kind)
            .map(|(_, marks)| marks)
    }

    fn remember(&mut self, field: String, mark: String) {
        let marks = self.said.0.entry(self.kind.to_owned()).or_default();
        marks.insert(field, mark);
    }
}

impl FromIterator<(String, String, String)> for ImportBaseline {
    fn from_iter<I: IntoIterator<Item = (String, String, String)>>(said: I) -> Self {
        let mut kinds: BTreeMap<String, Fingerprints> = BTreeMap::new();
        for (kind, field, mark) in said {
            kinds.entry(kind).or_default().insert(field, mark);
        }
        Self(kinds)
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
        let mut said = ImportBaseline::default();
        assert!(said.is_empty());
        let mut plan = said.source("markdown");
        assert!(plan.record("priority", &"high"));
        assert!(!plan.record("priority", &"high"));
        assert!(plan.record("priority", &"low"));
        assert!(plan.record("group", &"low"));
        // Written down: files hold it.
        let held: Vec<_> = said.iter().collect();
        assert_eq!(
            held,
            [
                ("markdown", "group", "98f5bcdebbbd6319"),
                ("markdown", "priority", "98f5bcdebbbd6319")
            ]
        );
    }

    #[test]
    fn no_kind_unlearns_what_another_said() {
        let mut said = ImportBaseline::default();
        said.source("markdown").record("priority", &"high");
        assert!(!said.source("csv").record("priority", &"high"), "heard");
        assert!(said.source("csv").record("priority", &"low"), "csv says so");
        assert!(!said.source("markdown").record("priority", &"high"));
        assert!(!said.source("csv").record("priority", &"low"));
        assert!(said.source("csv").record("priority", &"high"), "it changed");
        assert!(said.knows("csv") && !said.knows("json"));
    }

    #[test]
    fn what_was_remembered_without_a_kind_is_news_to_none() {
        let mark = fingerprint(&"high");
        let old = (String::new(), "priority".to_owned(), mark);
        let mut said: ImportBaseline = [old].into_iter().collect();
        assert!(!said.source("markdown").record("priority", &"high"));
        assert!(said.source("csv").record("priority", &"low"));
    }

    #[test]
    fn names_are_listed_for_each_kind() {
        let mut said = ImportBaseline::default();
        said.source("markdown").list("after", &["a", "b"]);
        assert!(said.source("csv").lists("after", "a"), "heard");
        said.source("csv").list("after", &["b"]);
        assert!(!said.source("csv").lists("after", "a"));
        assert!(said.source("markdown").lists("after", "a"));
    }
}
