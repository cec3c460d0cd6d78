//! A task beside the JSON object that it was read from, and what a rewrite of that changed.
//!
//! Owns the form in which the history keeps a change, key by key: `{"subject": [old, new]}`, in which
//! what is ours within the object is nested and a value that was not there is null. Invariant: taking
//! back what nobody has touched since gives the old object, and touches no other key. Of an object
//! that a change created the history keeps a fingerprint, which tells whether anybody wrote into it.

use std::fmt::Write;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use flagpost_model::task::Task;

/// A task with the object it came from: the typed view beside the original.
#[derive(Debug, Clone)]
pub struct TaskFile {
    /// What we understand.
    pub task: Task,
    /// The whole object as parsed, unknown keys included.
    pub(crate) raw: Map<String, Value>,
    /// How deep keys are told apart: below each of these within the one before, and nowhere else.
    nested: &'static [&'static str],
}

/// Why a change cannot be taken back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} was changed since")]
pub struct ChangedSince {
    /// The key, with those above it.
    pub key: String,
}

fn differences(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    nested: &[&str],
) -> Map<String, Value> {
    let gone = before.keys().filter(|key| !after.contains_key(*key));
    let empty = Map::new();
    let mut changes = Map::new();
    for key in after.keys().chain(gone) {
        let values = [before.get(key), after.get(key)];
        if values[0] == values[1] || nested.is_empty() && key == "rev" {
            continue;
        }
        let change = match (values, nested) {
            (
                [
                    old @ (None | Some(Value::Object(_))),
                    Some(Value::Object(new)),
                ],
                [first, rest @ ..],
            ) if key == first => {
                let old = old.and_then(Value::as_object).unwrap_or(&empty);
                let inner = differences(old, new, rest);
                if inner.is_empty() {
                    continue;
                }
                Value::Object(inner)
            }
            _ => values
                .into_iter()
                .map(|value| value.cloned().unwrap_or_default())
                .collect(),
        };
        changes.insert(key.clone(), change);
    }
    changes
}

/// A short name for what a file says, whatever its revision and the order of its keys. What says
/// nothing, as a key or as the place of ours, counts as not there: changes that are taken back leave
/// some.
pub fn fingerprint(raw: &Map<String, Value>, nested: &[&str]) -> String {
    let mut text = String::new();
    tell(raw, nested, &mut text);
    let digest = Sha256::digest(text);
    digest.iter().take(16).fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn tell(raw: &Map<String, Value>, nested: &[&str], text: &mut String) {
    let mut keys: Vec<_> = raw.iter().filter(|(_, value)| !value.is_null()).collect();
    keys.sort_by_key(|(key, _)| *key);
    for (key, value) in keys {
        match (value, nested) {
            (Value::Object(inner), [first, rest @ ..]) if key == first => {
                let mut within = String::new();
                tell(inner, rest, &mut within);
                if !within.is_empty() {
                    let _ = write!(text, "{key:?}{{{within}}}");
                }
            }
            _ if nested.is_empty() && key == "rev" => {}
            _ => {
                let _ = write!(text, "{key:?}:{value},");
            }
        }
    }
}

impl TaskFile {
    /// A task that says what `raw` says.
    pub fn new(task: Task, raw: Map<String, Value>, nested: &'static [&'static str]) -> Self {
        Self { task, raw, nested }
    }

    /// The whole object as parsed.
    pub fn raw(&self) -> &Map<String, Value> {
        &self.raw
    }

    /// The values in which `after` differs. A task's revision is none of them: it tells changes apart.
    pub fn changes(&self, after: &Map<String, Value>) -> Map<String, Value> {
        differences(&self.raw, after, self.nested)
    }

    /// A short name for what it says; see [`fingerprint`].
    pub fn fingerprint(&self) -> String {
        fingerprint(&self.raw, self.nested)
    }

    /// The object as it was before `changes`.
    pub fn before(&self, changes: &Map<String, Value>) -> Result<Map<String, Value>, ChangedSince> {
        let mut raw = self.raw.clone();
        take_back(&mut raw, changes)?;
        Ok(raw)
    }
}

/// Makes an object what it was before `changes`.
pub fn take_back(
    raw: &mut Map<String, Value>,
    changes: &Map<String, Value>,
) -> Result<(), ChangedSince> {
    take_back_below(raw, changes, "")
}

fn take_back_below(
    raw: &mut Map<String, Value>,
    changes: &Map<String, Value>,
    above: &str,
) -> Result<(), ChangedSince> {
    for (key, change) in changes {
        let path = format!("{above}{key}");
        let changed_since = || ChangedSince { key: path.clone() };
        match (change, raw.get_mut(key)) {
            (Value::Object(inner), Some(Value::Object(raw))) => {
                take_back_below(raw, inner, &format!("{path}."))?;
            }
            (Value::Array(pair), now) if pair.len() == 2 => {
                if now.map_or(&Value::Null, |now| &*now) != &pair[1] {
                    return Err(changed_since());
                }
                if pair[0].is_null() {
                    raw.shift_remove(key);
                } else {
                    raw.insert(key.clone(), pair[0].clone());
                }
            }
            _ => return Err(changed_since()),
        }
    }
    Ok(())
}

/// Makes an object what it was after `changes`, in the values that they name.
pub fn apply(raw: &mut Map<String, Value>, changes: &Map<String, Value>) {
    for (key, change) in changes {
        match change {
            Value::Object(inner) => {
                let below = raw.entry(key.clone()).or_insert_with(|| Map::new().into());
                if let Value::Object(below) = below {
                    apply(below, inner);
                }
            }
            Value::Array(pair) => match pair.get(1) {
                Some(Value::Null) | None => drop(raw.shift_remove(key)),
                Some(value) => drop(raw.insert(key.clone(), value.clone())),
            },
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::dialects::claude_tasks::restore;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn file(raw: Map<String, Value>) -> TaskFile {
        let task = Task::new("1".parse().unwrap(), "x");
        TaskFile::new(task, raw, &["metadata", "flagpost"])
    }

    #[test]
    fn each_key_that_differs_is_told_with_both_values() {
        let before = json!({"subject": "a", "owner": "W1", "x": {"y": 1},
            "metadata": {"tags": ["a"], "flagpost": {"state": "pending", "rev": 1}}});
        let after = json!({"subject": "b", "x": {"y": 2},
            "metadata": {"tags": ["a"], "due_date": "2026-12-01", "flagpost": {"state": "claimed", "rev": 2}}});
        let expected = json!({"subject": ["a", "b"], "x": [{"y": 1}, {"y": 2}],
            "metadata": {"due_date": [null, "2026-12-01"], "flagpost": {"state": ["pending", "claimed"]}},
            "owner": ["W1", null]});
        assert_eq!(
            Value::Object(file(map(before)).changes(&map(after))),
            expected
        );
    }

    #[test]
    fn what_was_changed_since_is_not_taken_back() {
        let now = file(map(json!({"subject": "c", "metadata": {"tags": ["x"]}})));
        let refused = now
            .before(&map(json!({"subject": ["a", "b"]})))
            .unwrap_err();
        assert_eq!(refused.key, "subject");
        let refused = now
            .before(&map(json!({"metadata": {"tags": [null, ["y"]]}})))
            .unwrap_err();
        assert_eq!(refused.key, "metadata.tags");
        for nonsense in [
            json!({"subject": "c"}),
            json!({"subject": ["c"]}),
            json!({"owner": {"a": []}}),
        ] {
            assert!(now.before(&map(nonsense)).is_err());
        }
    }

    fn key() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-c]",
            Just("metadata".to_owned()),
            Just("flagpost".to_owned())
        ]
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<i8>().prop_map(|n| json!(n)),
            ".{0,3}".prop_map(|t| json!(t))
        ];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
                prop::collection::btree_map(key(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn raw() -> impl Strategy<Value = Map<String, Value>> {
        prop::collection::btree_map(key(), value(), 0..4).prop_map(|keys| {
            let mut raw = map(json!({"id": "1", "subject": "x"}));
            raw.extend(keys);
            raw
        })
    }

    /// Without the objects that only hold a revision, which no change takes away again.
    fn bare(raw: Map<String, Value>) -> Value {
        Value::Object(restore(raw, 0))
    }

    proptest! {
        #[test]
        fn taking_back_gives_the_old_file(before in raw(), after in raw()) {
            let changes = file(before.clone()).changes(&after);
            let back = file(after).before(&changes).unwrap();
            prop_assert_eq!(
                file(back.clone()).fingerprint(),
                file(before.clone()).fingerprint()
            );
            prop_assert_eq!(bare(back), bare(before));
        }
    }
}
