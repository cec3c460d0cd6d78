//! Gemini CLI's events as a person reads them.
//!
//! Owns the end of a text that comes in pieces: its lines are shown as they become whole.

use serde_json::Value;

use super::Page;
use crate::client::reader::json;

/// A line that is longer is shown in parts.
const LONGEST: usize = 16 << 10;

/// The line of a text that is not whole yet.
#[derive(Debug, Default)]
pub(super) struct Speech(String);

impl Speech {
    /// More of it.
    pub fn more(&mut self, words: &str, page: &mut Page) {
        self.0.push_str(words);
        if let Some(end) = self.0.rfind('\n') {
            let rest = self.0.split_off(end + 1);
            page.agent_text(&std::mem::replace(&mut self.0, rest));
        } else if self.0.len() > LONGEST {
            self.end(page);
        }
    }

    /// Nothing more of it comes.
    pub fn end(&mut self, page: &mut Page) {
        page.agent_text(&std::mem::take(&mut self.0));
    }
}

pub(super) fn event(event: &Value, speech: &mut Speech, page: &mut Page) {
    let part = |key| json::text(event, key).unwrap_or_default();
    if part("type") == "message" && part("role") == "assistant" {
        return speech.more(part("content"), page);
    }
    speech.end(page);
    match part("type") {
        "tool_use" => page.did(part("tool_name"), &event["parameters"]),
        "tool_result" => {
            let error = json::text(&event["error"], "message");
            let output = error.unwrap_or_else(|| part("output"));
            page.got(output, part("status") == "error");
        }
        "error" => page.got(part("message"), true),
        _ => {}
    }
}
