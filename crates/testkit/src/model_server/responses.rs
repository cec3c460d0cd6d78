//! Answers as OpenAI's Responses API writes them.
//!
//! Owns the least that satisfies its clients.

use serde_json::{Value, json};

use super::{CACHED, Call, INPUT, OUTPUT, server::named_events, step::id};

/// The answer as a stream.
pub(super) fn stream(text: &str, calls: &[Call]) -> String {
    let response = id("resp");
    let mut events = vec![(
        "response.created",
        json!({"type": "response.created", "response": {"id": response}}),
    )];
    let words = (!text.is_empty()).then(|| {
        json!({
            "type": "message",
            "role": "assistant",
            "id": id("msg"),
            "content": [{"type": "output_text", "text": text}],
        })
    });
    for item in words.into_iter().chain(calls.iter().map(call_item)) {
        let kind = "response.output_item.done";
        events.push((kind, json!({"type": kind, "item": item})));
    }
    let usage = json!({
        "input_tokens": INPUT,
        "input_tokens_details": {"cached_tokens": CACHED},
        "output_tokens": OUTPUT,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": INPUT + OUTPUT,
    });
    let kind = "response.completed";
    let ended = json!({"type": kind, "response": {"id": response, "usage": usage}});
    events.push((kind, ended));
    named_events(&events)
}

/// A tool that takes a text as it is, such as a patch, is called in another way.
fn call_item(call: &Call) -> Value {
    let (call_id, name) = (id("call"), &call.tool);
    // A tool of a server is called by its own name in that server's namespace.
    if let Some((namespace, name)) = name.rsplit_once("__") {
        return json!({
            "type": "function_call", "call_id": call_id, "namespace": namespace, "name": name,
            "arguments": call.input.to_string(),
        });
    }
    match &call.input {
        Value::String(input) => json!({
            "type": "custom_tool_call", "call_id": call_id, "name": name, "input": input,
        }),
        input => json!({
            "type": "function_call", "call_id": call_id, "name": name,
            "arguments": input.to_string(),
        }),
    }
}
