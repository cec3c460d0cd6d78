//! Answers as Anthropic's Messages API writes them.
//!
//! Owns the least that satisfies its clients.

use serde_json::{Value, json};

use super::{CACHED, Call, INPUT, OUTPUT, server::named_events};

/// The whole answer at once.
pub(super) fn message(text: &str, calls: &[Call]) -> Value {
    let mut message = opened();
    message["content"] = blocks(text, calls).into();
    message["stop_reason"] = reason(calls).into();
    message["usage"]["output_tokens"] = OUTPUT.into();
    message
}

/// The answer as a stream.
pub(super) fn stream(text: &str, calls: &[Call]) -> String {
    let mut events = vec![(
        "message_start",
        json!({"type": "message_start", "message": opened()}),
    )];
    for (index, block) in blocks(text, calls).into_iter().enumerate() {
        let (start, delta) = halves(block);
        let of = |kind: &str| json!({"type": kind, "index": index});
        let mut started = of("content_block_start");
        started["content_block"] = start;
        let mut grown = of("content_block_delta");
        grown["delta"] = delta;
        events.push(("content_block_start", started));
        events.push(("content_block_delta", grown));
        events.push(("content_block_stop", of("content_block_stop")));
    }
    let end = json!({
        "type": "message_delta",
        "delta": {"stop_reason": reason(calls), "stop_sequence": null},
        "usage": {"output_tokens": OUTPUT},
    });
    events.push(("message_delta", end));
    events.push(("message_stop", json!({"type": "message_stop"})));
    named_events(&events)
}

fn opened() -> Value {
    json!({
        "id": super::step::id("msg"),
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-8",
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": {
            "input_tokens": INPUT - CACHED,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": CACHED,
            "output_tokens": 1,
        },
    })
}

fn blocks(text: &str, calls: &[Call]) -> Vec<Value> {
    let words = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
    let calls = calls.iter().map(|call| {
        let id = super::step::id("toolu");
        json!({"type": "tool_use", "id": id, "name": call.tool, "input": call.input})
    });
    words.into_iter().chain(calls).collect()
}

/// A block as a stream begins it, and what is then added.
fn halves(mut block: Value) -> (Value, Value) {
    if block["type"] == "text" {
        let text = std::mem::replace(&mut block["text"], "".into());
        return (block, json!({"type": "text_delta", "text": text}));
    }
    let input = std::mem::replace(&mut block["input"], json!({}));
    let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
    (block, delta)
}

fn reason(calls: &[Call]) -> &'static str {
    if calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    }
}
