//! A turn of the user, as a running client reads it on its stdin.
//!
//! Owns its spelling for Claude Code's `--input-format stream-json`: a line of JSON. The client tells by the
//! line's id when it has it and when it begins. Pure.

use serde_json::json;

/// The line; each has an id of its own.
pub fn turn(text: &str) -> Vec<u8> {
    let line = json!({
        "type": "user",
        "uuid": uuid::Uuid::new_v4().to_string(),
        "message": {"role": "user", "content": text},
    });
    format!("{line}\n").into_bytes()
}
