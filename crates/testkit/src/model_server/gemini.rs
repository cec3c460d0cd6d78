//! Answers as Gemini's API writes them.
//!
//! Owns the least that satisfies its client.

use serde_json::{Value, json};

use super::{CACHED, Call, INPUT, OUTPUT, Request, SIDE};

/// The answer; a stream has it as its one event.
pub(super) fn content(text: &str, calls: &[Call]) -> Value {
    let words = (!text.is_empty()).then(|| json!({"text": text}));
    let calls = calls
        .iter()
        .map(|call| json!({"functionCall": {"name": call.tool, "args": call.input}}));
    let parts: Vec<Value> = words.into_iter().chain(calls).collect();
    json!({
        "candidates": [{
            "content": {"role": "model", "parts": parts},
            "finishReason": "STOP",
            "index": 0,
        }],
        "usageMetadata": {
            "promptTokenCount": INPUT,
            "cachedContentTokenCount": CACHED,
            "candidatesTokenCount": OUTPUT,
            "totalTokenCount": INPUT + OUTPUT,
        },
        "modelVersion": "gemini-2.5-pro",
    })
}

/// What is said aside: JSON where that was asked for. The client asks so who speaks next, and which
/// model should.
pub(super) fn side(request: &Request) -> String {
    let wanted = &request.body["generationConfig"]["responseMimeType"];
    if wanted == "application/json" {
        let all = json!({"reasoning": SIDE, "next_speaker": "user", "model_choice": "pro"});
        all.to_string()
    } else {
        SIDE.to_owned()
    }
}
