//! Gemini CLI's stream: `-o stream-json`, and the words for a person beside it.
//!
//! Owns what its events mean. Its agent's text comes in pieces; a refused call's arguments are in
//! the event before its result; tries and quotas are words on stderr.

use std::collections::VecDeque;

use flagpost_model::session::Usage;
use serde::Deserialize;
use serde_json::Value;

use super::{
    action,
    again::again,
    json::{self, number},
    text::JsonText,
    totals::OutputReading,
};
use crate::client::Limit;

/// So many calls may be under way at once.
const CALLS: usize = 64;

/// What it has told that the next event may belong to.
#[derive(Debug, Default)]
pub(in crate::client) struct Gemini {
    /// Whether the next piece of text goes on with the last.
    speaking: bool,
    /// Calls without a result: id, tool, what they act on.
    calls: VecDeque<(String, String, String)>,
    /// The last error that it told by itself.
    error: Option<String>,
    /// Whether a quota that lasts was told of.
    terminal: bool,
}

#[derive(Deserialize)]
struct GeminiMessage<'a> {
    #[serde(borrow, default)]
    role: JsonText<'a>,
    #[serde(borrow, default)]
    content: JsonText<'a>,
}

#[derive(Deserialize)]
struct GeminiToolResult<'a> {
    #[serde(borrow, default)]
    tool_id: JsonText<'a>,
    #[serde(borrow)]
    error: Option<Failure<'a>>,
}

#[derive(Deserialize)]
struct Failure<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: JsonText<'a>,
    #[serde(borrow, default)]
    message: JsonText<'a>,
}

impl Gemini {
    pub fn line(&mut self, line: &[u8], hearing: &mut OutputReading) {
        let kind = json::kind(line);
        let kind = kind.as_deref();
        if kind == Some("message") {
            return self.message(line, hearing);
        }
        // Whatever comes between two pieces ends the text.
        self.speaking = false;
        if kind == Some("tool_result") {
            return self.outcome(line, hearing);
        }
        if !matches!(kind, Some("init" | "tool_use" | "error" | "result")) {
            return;
        }
        let Some(event) = json::value(line) else {
            return;
        };
        match kind {
            Some("init") => {
                hearing.model(json::text(&event, "model"));
                hearing.begun(json::text(&event, "session_id"));
            }
            Some("tool_use") => {
                if self.calls.len() == CALLS {
                    self.calls.pop_front();
                }
                let part = |key| json::text(&event, key).unwrap_or_default().to_owned();
                let what = action::what(&event["parameters"]);
                self.calls
                    .push_back((part("tool_id"), part("tool_name"), what));
            }
            Some("error") => {
                if json::text(&event, "severity") != Some("warning") {
                    self.error = json::text(&event, "message").map(str::to_owned);
                }
            }
            _ => self.result(&event, hearing),
        }
    }

    fn message(&mut self, line: &[u8], hearing: &mut OutputReading) {
        let Ok(message) = serde_json::from_slice::<GeminiMessage<'_>>(line) else {
            return;
        };
        if message.role.as_str() == "assistant" {
            hearing.record_words(message.content.as_str(), self.speaking);
            self.speaking = true;
        } else {
            self.speaking = false;
        }
    }

    fn outcome(&mut self, line: &[u8], hearing: &mut OutputReading) {
        let Ok(outcome) = serde_json::from_slice::<GeminiToolResult<'_>>(line) else {
            return;
        };
        let id = outcome.tool_id.as_str();
        let at = self.calls.iter().position(|(call, ..)| call == id);
        let call = at.and_then(|at| self.calls.remove(at));
        let refused = outcome.error.as_ref().is_some_and(|error| {
            matches!(
                error.kind.as_str(),
                "policy_violation" | "path_not_in_workspace"
            ) || error.message.as_str().starts_with("Path not in workspace")
        });
        if refused {
            let (_, tool, what) = call.unwrap_or_default();
            hearing.denied(&tool, &what);
        }
    }

    fn result(&mut self, event: &Value, hearing: &mut OutputReading) {
        if let Some(stats) = event.get("stats") {
            hearing.heard.usage = usage(stats);
        }
        if json::text(event, "status") != Some("error") {
            return hearing.ended(None);
        }
        let told = event.get("error").and_then(|it| json::text(it, "message"));
        let words = told.map(str::to_owned).or_else(|| self.error.take());
        let words = words.unwrap_or_else(|| "it ended with an error that it does not name".into());
        if self.terminal || words.contains("exhausted your daily quota") {
            self.quota(&words, hearing);
        } else if words.contains("Please wait and try again later") {
            hearing.limit(Limit::Burst);
        }
        hearing.ended(Some(&words));
    }

    /// A line for a person: its log on stderr.
    pub fn words(&mut self, line: &str, hearing: &mut OutputReading) {
        if let Some(rest) = line.strip_prefix("Attempt ") {
            let Some((attempt, why)) = rest.split_once(" failed") else {
                return;
            };
            let why = why.split(". Retrying").next().unwrap_or(why);
            let why = why
                .trim_start_matches([':', ' '])
                .trim_start_matches("with ");
            if let Ok(attempt) = attempt.parse() {
                hearing.retrying(
                    attempt,
                    None,
                    if why.is_empty() { "no answer" } else { why },
                );
            }
        } else if line.contains("TerminalQuotaError: ") {
            self.terminal = true;
            self.quota(line, hearing);
        }
    }

    fn quota(&self, words: &str, hearing: &mut OutputReading) {
        let until = again(words, hearing.now, &hearing.zone);
        let daily = words.contains("daily quota");
        let window = if daily { "daily" } else { "" }.to_owned();
        hearing.limit(Limit::Reached { until, window });
    }
}

/// What its model thought is in the total alone.
fn usage(stats: &Value) -> Usage {
    let [input, output, total] =
        ["input_tokens", "output_tokens", "total_tokens"].map(|key| number(stats, key));
    let written = total.and_then(|total| total.checked_sub(input?));
    Usage {
        input,
        cached: number(stats, "cached"),
        output: written.max(output),
        reasoning: None,
    }
}
