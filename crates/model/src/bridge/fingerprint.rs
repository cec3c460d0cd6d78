//! When two commands are the same.
//!
//! Owns what makes no difference: the order of keys, and when a command was sent, since whoever tries
//! again says so anew.

use serde_json::{Map, Value};

use crate::envelope::Hash;

/// What an item asks for, in short: another command has another fingerprint.
pub fn fingerprint(item: &Value) -> Hash {
    let mut sorted = sorted(item);
    if let Value::Object(keys) = &mut sorted {
        keys.shift_remove("timestamp");
    }
    Hash::of(sorted.to_string().as_bytes())
}

/// What is said of another command under an id that was used.
pub fn taken(id: &str) -> String {
    format!("the id {id:?} was used before, by another command; a new command needs a new id")
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(keys) => {
            let mut keys: Vec<(&String, &Value)> = keys.iter().collect();
            keys.sort_unstable_by_key(|(key, _)| *key);
            let keys = keys.into_iter().map(|(key, it)| (key.clone(), sorted(it)));
            Value::Object(keys.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        plain => plain.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_that_is_sent_again_is_the_same() {
        let first = json!({"id": "a", "timestamp": "2026-05-13T14:25:00Z", "payload": {"x": 1, "y": [1, 2]}});
        let again = json!({"payload": {"y": [1, 2], "x": 1}, "id": "a", "timestamp": "2026-05-13T14:26:00Z"});
        assert_eq!(fingerprint(&first), fingerprint(&again));
    }

    #[test]
    fn anything_else_that_differs_makes_another() {
        let of = |payload: Value| {
            fingerprint(&json!({"id": "a", "command": "create", "payload": payload}))
        };
        let first = of(json!({"title": "a"}));
        for other in [
            json!({"title": "b"}),
            json!({"title": "a", "tags": []}),
            json!({"title": "a", "timestamp": 1}),
            json!({"title": ["a"]}),
            json!(null),
        ] {
            assert_ne!(of(other.clone()), first, "{other}");
        }
    }
}
