//! What Codex' app-server tells, as `codex exec --json` prints it.
//!
//! Owns the lines of the log: whoever reads one need not know which of the two wrote it. Pure.

use serde_json::{Map, Value, json};

/// The conversation is there.
pub(super) fn thread(id: &str) -> Value {
    json!({"type": "thread.started", "thread_id": id})
}

/// A turn begins.
pub(super) fn turn() -> Value {
    json!({"type": "turn.started"})
}

/// Something went wrong, or is tried again.
pub(super) fn error(words: &str) -> Value {
    json!({"type": "error", "message": words})
}

/// The turn is over; the counts are those of the whole conversation.
pub(super) fn ended(used: &Value) -> Value {
    let count = |key: &str| used.get(key).and_then(Value::as_u64).unwrap_or_default();
    json!({"type": "turn.completed", "usage": {
        "input_tokens": count("inputTokens"),
        "cached_input_tokens": count("cachedInputTokens"),
        "output_tokens": count("outputTokens"),
        "reasoning_output_tokens": count("reasoningOutputTokens"),
    }})
}

/// The turn is over, and not well.
pub(super) fn failed(words: &str) -> Value {
    json!({"type": "turn.failed", "error": {"message": words}})
}

/// An item that began, or is done; none where a log of exec has no such item.
pub(super) fn item(kind: &str, item: &Value) -> Option<Value> {
    let name = item.get("type")?.as_str()?;
    let told: &[(&str, &str)] = match name {
        "agentMessage" => &[("text", "text")],
        "reasoning" => &[("summary", "text")],
        "commandExecution" => &[
            ("command", "command"),
            ("aggregatedOutput", "aggregated_output"),
            ("exitCode", "exit_code"),
            ("status", "status"),
        ],
        "fileChange" => &[("changes", "changes"), ("status", "status")],
        "mcpToolCall" => &[
            ("server", "server"),
            ("tool", "tool"),
            ("arguments", "arguments"),
            ("result", "result"),
            ("error", "error"),
            ("status", "status"),
        ],
        "webSearch" => &[("query", "query")],
        // Its own words come back as the first item, and others are for screens.
        _ => return None,
    };
    let mut line = Map::new();
    line.insert("id".to_owned(), item["id"].clone());
    line.insert("type".to_owned(), snake(name).into());
    for (key, as_key) in told {
        let value = item.get(key).cloned().unwrap_or_default();
        line.insert((*as_key).to_owned(), plain(key, value));
    }
    Some(json!({"type": kind, "item": line}))
}

/// A value as exec spells it.
fn plain(key: &str, value: Value) -> Value {
    match (key, value) {
        ("status", Value::String(status)) => snake(&status).into(),
        ("summary", Value::Array(parts)) => {
            let parts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
            parts.join("\n").into()
        }
        ("changes", Value::Array(changes)) => {
            let change = |it: &Value| json!({"path": it["path"], "kind": it["kind"]["type"]});
            changes.iter().map(change).collect()
        }
        (_, value) => value,
    }
}

/// `inProgress` as `in_progress`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}
