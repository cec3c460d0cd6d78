//! Owns the names in a repository's `requests` and the translation between its files and the model. Invariant:
//! keys that are not ours survive every rewrite. It must never touch the file system, and decides nothing.
//!
#![doc = include_str!("../../../../docs/formats/requests.md")]

use flagpost_model::{envelope::Hash, permission::PermissionRequest};
use serde_json::{Map, Value};

pub use crate::file_number::file_number as parse;
use crate::json;

/// The directory, in that of the repository.
pub const DIR: &str = "requests";

/// Its lock.
pub const LOCK: &str = ".lock";

/// The keys of a request's file that are ours.
const KEYS: [&str; 13] = [
    "worker", "list", "task", "client", "session", "process", "tool", "input", "dir", "sha256",
    "at", "until", "decision",
];

/// A request beside the keys of its file that are not ours.
#[derive(Debug, Clone)]
pub struct RequestFile {
    /// What we understand.
    pub content: PermissionRequest,
    /// The rest.
    others: Map<String, Value>,
}

impl RequestFile {
    /// One that no file had yet.
    pub fn new(content: PermissionRequest) -> Self {
        Self {
            content,
            others: Map::new(),
        }
    }

    /// As bytes.
    pub fn write(&self) -> Vec<u8> {
        let mut raw = match serde_json::to_value(&self.content) {
            Ok(Value::Object(raw)) => raw,
            // A request is an object of texts, numbers and what was read as JSON.
            _ => Map::new(),
        };
        raw.extend(self.others.clone());
        format!("{:#}\n", Value::Object(raw)).into_bytes()
    }
}

/// The name of a request's file.
pub fn name(n: u64) -> String {
    format!("{n}.json")
}

/// Reads a request. An error says in a sentence why it is none.
pub fn read(bytes: &[u8]) -> Result<RequestFile, String> {
    let raw = json::object(bytes)?;
    let content = serde_json::from_value(Value::Object(raw.clone()));
    let mut others = raw;
    others.retain(|key, _| !KEYS.contains(&key.as_str()));
    Ok(RequestFile {
        content: content.map_err(|error| error.to_string())?,
        others,
    })
}

/// What identical requests have in common: the hash of the tool and what it is called with.
pub fn hash(tool: &str, input: &Value) -> Hash {
    Hash::of(json::canonical(&serde_json::json!({"tool": tool, "input": input})).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"{
  "worker": "W1",
  "list": "web",
  "task": "7",
  "client": "claude",
  "session": "5f0e",
  "process": 4711,
  "tool": "Bash",
  "input": {
    "command": "npm test",
    "timeout": 1e+3
  },
  "dir": "/home/ann/web",
  "sha256": "41b2f1ae28f11ec3e2bd94b4c5a9ec4fdb0a7a9c35d6b3b6f6f2d1a4b9e6b0a1",
  "at": "2026-05-13T14:25:00Z",
  "until": "2026-05-13T14:55:00Z",
  "decision": {
    "verdict": "allowed",
    "by": "ann",
    "at": "2026-05-13T14:26:00Z",
    "via": "cli",
    "reason": null,
    "rule": null,
    "policy": null,
    "hand": null,
    "line": 413
  },
  "tool_of_theirs": [
    1
  ]
}
"#;

    #[test]
    fn what_was_read_is_written_again() {
        let file = read(WHOLE.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(file.write()).unwrap(), WHOLE);
    }

    #[test]
    fn every_key_that_is_written_is_known_as_ours() {
        let file = read(WHOLE.as_bytes()).unwrap();
        let written = serde_json::to_value(&file.content).unwrap();
        let keys: Vec<&String> = written.as_object().unwrap().keys().collect();
        assert_eq!(keys, KEYS);
    }

    #[test]
    fn what_is_none_says_why() {
        for (text, why) in [
            ("[]", "it is not a JSON object"),
            ("{}", "missing field `worker`"),
            (r#"{"worker": "a b"}"#, "\"a b\" is not a worker id"),
        ] {
            let error = read(text.as_bytes()).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn identical_requests_have_one_hash_however_their_keys_stand() {
        let of = |text: &str| hash("Bash", &serde_json::from_str(text).unwrap());
        let one = of(r#"{"command": "npm test", "timeout": 5}"#);
        assert_eq!(one, of(r#"{"timeout":5,"command":"npm test"}"#));
        assert_ne!(one, of(r#"{"timeout":6,"command":"npm test"}"#));
    }
}
