//! What a call of a tool acts on, in a line: a command, a path, an address.
//!
//! Owns which of a call's arguments tell that. The arguments are those of the clients' own tools; of
//! a tool that nobody knows, all of them are shown, shortened.

use serde_json::{Map, Value};

use super::text;

/// The longest such line, in bytes.
pub(crate) const LONGEST: usize = 200;

/// The arguments that tell most, the best first.
const TELLING: &[&str] = &[
    "command",
    "cmd",
    "file_path",
    "filePath",
    "notebook_path",
    "path",
    "dir_path",
    "url",
    "pattern",
    "query",
    "description",
    "prompt",
];

/// What a call with these arguments acts on; empty where it has none.
pub(crate) fn what(arguments: &Value) -> String {
    match arguments {
        Value::Object(map) => of_map(map),
        Value::String(text) => text::line(text, LONGEST),
        Value::Null => String::new(),
        other => text::line(&other.to_string(), LONGEST),
    }
}

fn of_map(map: &Map<String, Value>) -> String {
    let telling = TELLING.iter().find_map(|name| match map.get(*name)? {
        Value::String(text) if !text.trim().is_empty() => Some(text::line(text, LONGEST)),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            words.map(|words| text::line(&words.join(" "), LONGEST))
        }
        _ => None,
    });
    telling.unwrap_or_else(|| match map.is_empty() {
        true => String::new(),
        false => text::line(&Value::Object(map.clone()).to_string(), LONGEST),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_argument_that_tells_most_stands_for_the_call() {
        for (arguments, told) in [
            (json!({"description": "List", "command": "ls\n-l"}), "ls -l"),
            (json!({"content": "x", "file_path": "/a/b.rs"}), "/a/b.rs"),
            (json!({"command": ["git", "add", "."]}), "git add ."),
            (json!({"a": 1}), r#"{"a":1}"#),
            (json!({"command": 7, "a": "b"}), r#"{"command":7,"a":"b"}"#),
            (json!({}), ""),
            (json!(null), ""),
            (json!("free text"), "free text"),
        ] {
            assert_eq!(what(&arguments), told);
        }
        assert!(what(&json!({"command": "é".repeat(1000)})).len() <= LONGEST);
    }
}
