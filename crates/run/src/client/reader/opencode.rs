//! opencode's stream: `opencode run --format json`.
//!
//! Owns what its events mean. Each step tells its own tokens, the cached and the reasoned apart; there
//! is no last event: a step that ends with `stop` ends the turn. A cost of 0 is one that it does not
//! know.

use flagpost_model::session::Usage;
use serde::Deserialize;
use serde_json::Value;

use super::{
    action,
    json::{self, number},
    text::JsonText,
    totals::{OutputReading, sum},
};

/// What it says of a call that was refused rather than failed.
const REFUSED: &[&str] = &[
    "The user rejected permission to use this specific tool call",
    "The user has specified a rule which prevents you",
];

#[derive(Deserialize)]
struct OpencodeEvent<'a> {
    #[serde(borrow, default, rename = "sessionID")]
    session: JsonText<'a>,
    #[serde(borrow)]
    part: Option<OpencodePart<'a>>,
}

#[derive(Deserialize)]
struct OpencodePart<'a> {
    #[serde(borrow, default)]
    text: JsonText<'a>,
    #[serde(borrow, default)]
    tool: JsonText<'a>,
    #[serde(borrow)]
    state: Option<OpencodeState<'a>>,
}

#[derive(Deserialize)]
struct OpencodeState<'a> {
    #[serde(borrow, default)]
    status: JsonText<'a>,
    #[serde(borrow, default)]
    error: JsonText<'a>,
}

pub(super) fn line(line: &[u8], hearing: &mut OutputReading) {
    let kind = json::kind(line);
    let Some(kind @ ("step_start" | "text" | "tool_use" | "step_finish" | "error")) =
        kind.as_deref()
    else {
        return;
    };
    let Ok(event) = serde_json::from_slice::<OpencodeEvent<'_>>(line) else {
        return;
    };
    hearing.begun(event.session.get());
    match (kind, event.part) {
        ("text", Some(part)) => hearing.record_words(part.text.as_str(), false),
        ("tool_use", Some(part)) => {
            let failed = part.state.filter(|state| state.status.as_str() == "error");
            let error = failed.map(|state| state.error);
            if error.is_some_and(|error| REFUSED.iter().any(|it| error.as_str().starts_with(it))) {
                let event = json::value(line).unwrap_or_default();
                let what = action::what(&event["part"]["state"]["input"]);
                hearing.denied(part.tool.as_str(), &what);
            }
        }
        ("step_finish", Some(_)) => {
            if let Some(event) = json::value(line) {
                step(&event["part"], hearing);
            }
        }
        ("error", _) => {
            if let Some(event) = json::value(line) {
                hearing.ended(Some(error(&event["error"])));
            }
        }
        _ => {}
    }
}

fn step(part: &Value, hearing: &mut OutputReading) {
    let heard = &mut hearing.heard;
    heard.usage = heard.usage.plus(usage(&part["tokens"]));
    let cost = part["cost"].as_f64().filter(|cost| *cost > 0.0);
    heard.cost_usd = sum(heard.cost_usd, cost, |a, b| a + b);
    heard.turns = sum(heard.turns, Some(1), u64::saturating_add);
    match json::text(part, "reason") {
        Some("stop") => hearing.ended(None),
        Some(reason @ ("error" | "length" | "content-filter")) => {
            hearing.ended(Some(&format!("its model's answer ended with: {reason}")));
        }
        _ => {}
    }
}

fn usage(tokens: &Value) -> Usage {
    let add = |numbers: [Option<u64>; 3]| {
        let numbers = numbers.into_iter();
        numbers.fold(None, |a, b| sum(a, b, u64::saturating_add))
    };
    let cached = number(&tokens["cache"], "read");
    let reasoning = number(tokens, "reasoning");
    let (read, written) = (number(tokens, "input"), number(tokens, "output"));
    Usage {
        input: add([read, cached, number(&tokens["cache"], "write")]),
        cached,
        output: add([written, reasoning, None]),
        reasoning,
    }
}

fn error(error: &Value) -> &str {
    let message = json::text(&error["data"], "message").or_else(|| json::text(error, "message"));
    let named = message.or_else(|| json::text(error, "name"));
    named.unwrap_or("it ended with an error that it does not name")
}
