//! Answers as OpenAI's chat completions write them.
//!
//! Owns the least that satisfies their clients.

use serde_json::{Value, json};

use super::{CACHED, Call, INPUT, OUTPUT, step::id};

/// The answer as a stream of unnamed events.
pub(super) fn stream(text: &str, calls: &[Call]) -> String {
    let chunk = |choice: Value, usage: Value| {
        json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [choice], "usage": usage,
        })
    };
    let said = json!({"index": 0, "delta": message(text, calls), "finish_reason": null});
    let ended = json!({"index": 0, "delta": {}, "finish_reason": reason(calls)});
    format!(
        "data: {}\n\ndata: {}\n\ndata: [DONE]\n\n",
        chunk(said, Value::Null),
        chunk(ended, usage())
    )
}

/// The whole answer at once.
pub(super) fn completion(text: &str, calls: &[Call]) -> Value {
    let choice = json!({
        "index": 0, "message": message(text, calls), "finish_reason": reason(calls),
    });
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [choice], "usage": usage(),
    })
}

fn message(text: &str, calls: &[Call]) -> Value {
    let mut message = json!({"role": "assistant", "content": text});
    let calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(index, call)| {
            let function = json!({"name": call.tool, "arguments": call.input.to_string()});
            json!({"index": index, "id": id("call"), "type": "function", "function": function})
        })
        .collect();
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

fn usage() -> Value {
    json!({
        "prompt_tokens": INPUT,
        "prompt_tokens_details": {"cached_tokens": CACHED},
        "completion_tokens": OUTPUT,
        "total_tokens": INPUT + OUTPUT,
    })
}

fn reason(calls: &[Call]) -> &'static str {
    if calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    }
}
