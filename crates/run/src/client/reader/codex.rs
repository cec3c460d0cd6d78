//! Codex's stream: `codex exec --json`, and the words for a person beside it.
//!
//! Owns what its events mean. Usage counts the whole thread, also what a process before this one
//! used. An item of type error is a warning; an `error` of its own ends the turn, or tells of a try to
//! connect anew. A limit, and most refusals, are words alone.

use flagpost_model::{permission::SHELL, session::Usage};
use serde::Deserialize;
use serde_json::Value;

use super::{
    action,
    again::again,
    json::{self, number},
    text::JsonText,
    totals::OutputReading,
};
use crate::client::{Limit, codex::script};

/// Words for a limit of the account, whichever apostrophe comes before them.
const REACHED: &[&str] = &[
    "ve hit your usage limit",
    "ve reached your usage limit",
    "Quota exceeded. Check your plan",
    "out of credits",
];

/// Words for a call that was refused rather than failed.
const REFUSED: &[&str] = &["reject", "requires approval", "cancelled"];

/// What its thread had used when this process began.
#[derive(Debug, Default)]
pub(in crate::client) struct Codex {
    pub before: Usage,
}

#[derive(Deserialize)]
struct CodexEvent<'a> {
    #[serde(borrow)]
    item: Item<'a>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: JsonText<'a>,
    #[serde(borrow, default)]
    text: JsonText<'a>,
    #[serde(borrow, default)]
    status: JsonText<'a>,
}

impl Codex {
    pub fn line(&mut self, line: &[u8], hearing: &mut OutputReading) {
        match json::kind(line).as_deref() {
            Some("item.completed") => item(line, hearing),
            Some("thread.started") => {
                if let Some(event) = json::value(line) {
                    hearing.begun(json::text(&event, "thread_id"));
                }
            }
            Some("turn.completed") => {
                if let Some(event) = json::value(line) {
                    hearing.heard.usage = less(usage(&event["usage"]), self.before);
                    hearing.ended(None);
                }
            }
            Some("turn.failed") => {
                if let Some(event) = json::value(line) {
                    let words = words(&event["error"]);
                    trouble(&words, hearing);
                    hearing.ended(Some(&words));
                }
            }
            Some("error") => {
                if let Some(event) = json::value(line) {
                    trouble(&words(&event), hearing);
                }
            }
            _ => {}
        }
    }

    /// A line for a person: its log on stderr.
    pub fn words(line: &str, hearing: &mut OutputReading) {
        let Some((_, error)) = line.split_once(" ERROR codex_core::") else {
            return;
        };
        let Some((_, why)) = error.split_once("error=") else {
            return;
        };
        if is_refusal(why) {
            let patch = why.starts_with("patch") || why.starts_with("writing");
            let tool = if patch { "apply_patch" } else { "exec_command" };
            hearing.denied(tool, why);
        }
    }
}

/// An item that is done: words of its agent, or a call of a tool.
fn item(line: &[u8], hearing: &mut OutputReading) {
    let Ok(CodexEvent { item }) = serde_json::from_slice::<CodexEvent<'_>>(line) else {
        return;
    };
    match (item.kind.as_str(), item.status.as_str()) {
        ("agent_message", _) => hearing.record_words(item.text.as_str(), false),
        ("mcp_tool_call", "failed") => {
            let Some(event) = json::value(line) else {
                return;
            };
            let call = &event["item"];
            if is_refusal(&words(&call["error"])) {
                let part = |key| json::text(call, key).unwrap_or_default();
                let tool = format!("{}/{}", part("server"), part("tool"));
                hearing.denied(&tool, &action::what(&call["arguments"]));
            }
        }
        // Under the names by which they were asked.
        ("command_execution", "declined") => {
            if let Some(event) = json::value(line) {
                let line = json::text(&event["item"], "command").unwrap_or_default();
                let script = script(line).unwrap_or_else(|| line.to_owned());
                hearing.denied(SHELL, &action::what(&script.into()));
            }
        }
        ("file_change", "declined") => {
            if let Some(event) = json::value(line) {
                let path = &event["item"]["changes"][0]["path"];
                hearing.denied("apply_patch", &action::what(path));
            }
        }
        _ => {}
    }
}

fn is_refusal(why: &str) -> bool {
    REFUSED.iter().any(|word| why.contains(word))
}

/// What an error means beyond its words.
fn trouble(words: &str, hearing: &mut OutputReading) {
    if let Some((attempt, of, why)) = reconnecting(words) {
        hearing.retrying(attempt, of, why);
    } else if REACHED.iter().any(|reached| words.contains(reached)) {
        let until = again(words, hearing.now, &hearing.zone);
        hearing.limit(Limit::Reached {
            until,
            window: String::new(),
        });
    } else if words.contains("429 Too Many Requests") {
        hearing.limit(Limit::Burst);
    }
}

/// "Reconnecting... 1/5 (why)".
fn reconnecting(words: &str) -> Option<(u32, Option<u32>, &str)> {
    let rest = words.strip_prefix("Reconnecting...")?.trim_start();
    let (tries, why) = match rest.split_once(' ') {
        Some((tries, why)) => (tries, why.trim_start_matches('(').trim_end_matches(')')),
        None => (rest, "the connection broke"),
    };
    let (attempt, of) = tries.split_once('/').unwrap_or((tries, ""));
    Some(match attempt.parse() {
        Ok(attempt) => (attempt, of.parse().ok(), why),
        Err(_) => (1, None, rest),
    })
}

/// The words of an error; those within, where it is the text of a server's answer.
fn words(error: &Value) -> String {
    let message = json::text(error, "message").unwrap_or_default();
    let inner: Option<Value> = serde_json::from_str(message).ok();
    let inner = inner
        .as_ref()
        .and_then(|it| json::text(it.get("error")?, "message"));
    inner.unwrap_or(message).to_owned()
}

/// The usage in an event of the stream, or in a rollout.
pub(super) fn usage(usage: &Value) -> Usage {
    Usage {
        input: number(usage, "input_tokens"),
        cached: number(usage, "cached_input_tokens"),
        output: number(usage, "output_tokens"),
        reasoning: number(usage, "reasoning_output_tokens"),
    }
}

/// What is left of all without what was used before.
pub(super) fn less(all: Usage, before: Usage) -> Usage {
    let less = |all: Option<u64>, before: Option<u64>| {
        Some(all?.saturating_sub(before.unwrap_or_default()))
    };
    Usage {
        input: less(all.input, before.input),
        cached: less(all.cached, before.cached),
        output: less(all.output, before.output),
        reasoning: less(all.reasoning, before.reasoning),
    }
}
