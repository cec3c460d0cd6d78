//! Claude Code's stream: `--output-format stream-json`.
//!
//! Owns what its events mean. One process may print several results, each with what was used since
//! the one before; `modelUsage` and `total_cost_usd` count the whole conversation, also what a
//! process before this one used. A result's `subtype` is "success" also where `is_error` is true.
//! Cursor's agent prints the same kinds of events, as far as is known.

use std::collections::VecDeque;

use flagpost_model::session::Usage;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::{
    action,
    json::{self, number},
    text::{self, JsonText},
    totals::{OutputReading, sum},
};
use crate::client::Limit;

/// So many messages are remembered as counted; the lines of one follow each other closely.
const COUNTED: usize = 16;

/// What it has told that is not settled.
#[derive(Debug, Default)]
pub(in crate::client) struct Claude {
    /// What the results so far have told.
    settled: Usage,
    /// What the messages since the last result have told.
    open: Usage,
    counted: VecDeque<String>,
    /// The calls behind the refused actions, in their order.
    refused: Vec<String>,
}

#[derive(Deserialize)]
struct ClaudeTurn<'a> {
    #[serde(borrow)]
    message: ClaudeMessage<'a>,
    #[serde(borrow, default)]
    parent_tool_use_id: JsonText<'a>,
}

#[derive(Deserialize)]
struct ClaudeMessage<'a> {
    #[serde(borrow, default)]
    id: JsonText<'a>,
    #[serde(borrow, default)]
    model: JsonText<'a>,
    #[serde(borrow, default)]
    content: Vec<Block<'a>>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: JsonText<'a>,
    #[serde(borrow, default)]
    text: JsonText<'a>,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

impl Claude {
    pub fn line(&mut self, line: &[u8], hearing: &mut OutputReading) {
        match json::kind(line).as_deref() {
            Some("assistant") => self.assistant_line(line, hearing),
            Some("system") => {
                if let Some(event) = json::value(line) {
                    self.system(&event, hearing);
                }
            }
            Some("command_lifecycle") => {
                if let Some(event) = json::value(line) {
                    lifecycle(&event, hearing);
                }
            }
            Some("rate_limit_event") => {
                let limit = json::value(line).and_then(|event| limit(&event["rate_limit_info"]));
                limit.into_iter().for_each(|it| hearing.limit(it));
            }
            Some("result") => {
                if let Some(event) = json::value(line) {
                    self.result(&event, hearing);
                }
            }
            _ => {}
        }
    }

    fn assistant_line(&mut self, line: &[u8], hearing: &mut OutputReading) {
        let Ok(said) = serde_json::from_slice::<ClaudeTurn<'_>>(line) else {
            return;
        };
        let message = said.message;
        if message.model.as_str() == "<synthetic>" {
            // The client's own words for an error; the result has them too.
            return;
        }
        self.count(&message, hearing);
        // An agent's own agents speak to it, not to us.
        if said.parent_tool_use_id.get().is_none() {
            let texts = message.content.iter();
            for block in texts.filter(|block| block.kind.as_str() == "text") {
                hearing.record_words(block.text.as_str(), false);
            }
        }
    }

    /// Counts what a message had to read, until the result tells all. What was written is known to
    /// the result alone.
    fn count(&mut self, message: &ClaudeMessage<'_>, hearing: &mut OutputReading) {
        let (Some(id), Some(tokens)) = (message.id.get(), &message.usage) else {
            return;
        };
        if self.counted.iter().any(|known| known == id) {
            return;
        }
        if self.counted.len() == COUNTED {
            self.counted.pop_front();
        }
        self.counted.push_back(id.to_owned());
        let all = [
            tokens.input_tokens,
            tokens.cache_creation_input_tokens,
            tokens.cache_read_input_tokens,
        ];
        self.open = self.open.plus(Usage {
            input: total(all),
            cached: tokens.cache_read_input_tokens,
            ..Usage::default()
        });
        hearing.heard.usage = self.settled.plus(self.open);
    }

    fn system(&mut self, event: &Value, hearing: &mut OutputReading) {
        match json::text(event, "subtype") {
            Some("init") => {
                // Each turn has one.
                hearing.goes_on();
                hearing.model(json::text(event, "model"));
                hearing.version(json::text(event, "claude_code_version"));
                hearing.begun(json::text(event, "session_id"));
                let servers = event["mcp_servers"].as_array().into_iter().flatten();
                for server in servers {
                    let name = json::text(server, "name");
                    let status = json::text(server, "status");
                    if let (Some(name), Some(status)) = (name, status)
                        && !matches!(status, "connected" | "pending")
                    {
                        hearing.server_missing(name, status);
                    }
                }
            }
            Some("api_retry") => {
                let small = |key| number(event, key).and_then(|it| u32::try_from(it).ok());
                let why = json::text(event, "error").unwrap_or("no answer");
                let why = match number(event, "error_status") {
                    Some(status) => format!("{why}, status {status}"),
                    None => why.to_owned(),
                };
                let attempt = small("attempt").unwrap_or(1);
                hearing.retrying(attempt, small("max_retries"), &why);
            }
            Some("permission_denied") => {
                let call = json::text(event, "tool_use_id").unwrap_or_default();
                let tool = json::text(event, "tool_name").unwrap_or_default();
                let reason = json::text(event, "message").unwrap_or_default();
                self.refuse(call, tool, reason, hearing);
            }
            _ => {}
        }
    }

    /// Notes a refused call; what it was to do is better than why it was refused.
    fn refuse(&mut self, call: &str, tool: &str, what: &str, hearing: &mut OutputReading) {
        let known = self.refused.iter().position(|known| known == call);
        match known.and_then(|at| hearing.heard.denied.get_mut(at)) {
            Some(denied) if !what.is_empty() => denied.what = text::line(what, action::LONGEST),
            Some(_) => {}
            None => {
                if hearing.denied(tool, what) {
                    self.refused.push(call.to_owned());
                }
            }
        }
    }

    fn result(&mut self, event: &Value, hearing: &mut OutputReading) {
        self.update_usage(event, hearing);
        let turns = number(event, "num_turns");
        hearing.heard.turns = sum(hearing.heard.turns, turns, u64::saturating_add);
        for denied in event["permission_denials"].as_array().into_iter().flatten() {
            let call = json::text(denied, "tool_use_id").unwrap_or_default();
            let tool = json::text(denied, "tool_name").unwrap_or_default();
            let what = action::what(&denied["tool_input"]);
            self.refuse(call, tool, &what, hearing);
        }
        if event["is_error"].as_bool() != Some(true) {
            return hearing.ended(None);
        }
        if json::text(event, "api_error") == Some("usage_limit_reached") {
            hearing.limit(Limit::Reached {
                until: None,
                window: String::new(),
            });
        } else if number(event, "api_error_status") == Some(429) {
            hearing.limit(Limit::Burst);
        }
        hearing.ended(Some(&error(event)));
    }

    /// The tokens and the cost up to this result.
    fn update_usage(&mut self, event: &Value, hearing: &mut OutputReading) {
        let heard = &mut hearing.heard;
        let since = event["model_usage_since_last_result"].as_object();
        let (used, cost) = match since {
            Some(models) => {
                let none = Usage {
                    input: Some(0),
                    cached: Some(0),
                    output: Some(0),
                    reasoning: None,
                };
                let used = models.values().map(of_model).fold(none, Usage::plus);
                let mut costs = models.values().map(|model| model["costUSD"].as_f64());
                let cost = costs.try_fold(0.0, |sum, cost| Some(sum + cost?));
                (used, sum(heard.cost_usd, cost, |a, b| a + b))
            }
            // A version that counts for its process alone.
            None => (of_turn(&event["usage"]), event["total_cost_usd"].as_f64()),
        };
        self.settled = self.settled.plus(used);
        self.open = Usage::default();
        heard.usage = self.settled;
        heard.cost_usd = cost.or(heard.cost_usd);
    }
}

/// A turn of the user waits behind the one that goes on, begins or is over.
fn lifecycle(event: &Value, hearing: &mut OutputReading) {
    let Some(id) = json::text(event, "command_uuid") else {
        return;
    };
    let state = json::text(event, "state");
    hearing.turn(id, state == Some("queued"));
    if state == Some("started") {
        hearing.goes_on();
    }
}

fn total(all: [Option<u64>; 3]) -> Option<u64> {
    all.into_iter()
        .fold(None, |a, b| sum(a, b, u64::saturating_add))
}

fn of_model(model: &Value) -> Usage {
    let all = [
        "inputTokens",
        "cacheReadInputTokens",
        "cacheCreationInputTokens",
    ];
    Usage {
        input: total(all.map(|key| number(model, key))),
        cached: number(model, "cacheReadInputTokens"),
        output: number(model, "outputTokens"),
        reasoning: number(model, "thinkingTokens"),
    }
}

fn of_turn(usage: &Value) -> Usage {
    let all = [
        "input_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
    ];
    Usage {
        input: total(all.map(|key| number(usage, key))),
        cached: number(usage, "cache_read_input_tokens"),
        output: number(usage, "output_tokens"),
        reasoning: number(&usage["output_tokens_details"], "thinking_tokens"),
    }
}

/// What went wrong, in the client's words.
fn error(event: &Value) -> String {
    let errors = event["errors"].as_array().into_iter().flatten();
    let errors: Vec<&str> = errors.filter_map(Value::as_str).collect();
    let told = json::text(event, "result").map(str::to_owned);
    told.or_else(|| (!errors.is_empty()).then(|| errors.join("; ")))
        .or_else(|| json::text(event, "terminal_reason").map(str::to_owned))
        .or_else(|| json::text(event, "subtype").map(str::to_owned))
        .unwrap_or_else(|| "it ended with an error that it does not name".to_owned())
}

/// How the account stands. The client also warns by pace, long before a window is full; such a
/// warning is told as what is used, and it is for the operator's reserve to say whether that is much.
fn limit(info: &Value) -> Option<Limit> {
    let until = |of: &Value| {
        let at = of["resetsAt"].as_f64()?;
        Timestamp::from_second(at as i64).ok()
    };
    let window = json::text(info, "rateLimitType").unwrap_or_default();
    let overage = info["isUsingOverage"].as_bool() == Some(true);
    match json::text(info, "status")? {
        // A server that limits bursts rejects too, and names no window that opens again.
        "rejected" if window.is_empty() && until(info).is_none() => None,
        "rejected" if !overage => Some(Limit::Reached {
            until: until(info),
            window: window.to_owned(),
        }),
        "rejected" => Some(Limit::Warning {
            until: until(info),
            window: window.to_owned(),
        }),
        "allowed_warning" if !info["surpassedThreshold"].is_null() => Some(Limit::Warning {
            until: until(info),
            window: window.to_owned(),
        }),
        _ => {
            let windows = info["unifiedWindows"].as_object().into_iter().flatten();
            let windows = windows.map(|(name, it)| (name.as_str(), it));
            let all = windows.chain([(window, info)]);
            let used = all.filter_map(|(name, it)| Some((it["utilization"].as_f64()?, name, it)));
            let (used, window, of) = used.max_by(|a, b| a.0.total_cmp(&b.0))?;
            Some(Limit::Open {
                used,
                until: until(of),
                window: window.to_owned(),
            })
        }
    }
}
