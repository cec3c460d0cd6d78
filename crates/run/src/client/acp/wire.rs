//! What the frames of the Agent Client Protocol, version 1, say.
//!
//! Owns how what we say is spelled, and what is read of what an agent says. An agent may send any JSON: keys that
//! nobody knows are passed over, and a part that is of another kind costs no more than itself. Pure.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::client::talk::frame::request;

/// The version of the protocol that is spoken.
pub(super) const VERSION: u64 = 1;

/// Who answers, and what it can do.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Introduction {
    pub protocol_version: u64,
    pub agent_info: Option<AgentInfo>,
    pub agent_capabilities: AgentCapabilities,
}

/// An agent's program.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct AgentInfo {
    pub name: String,
    pub version: Option<String>,
}

/// What an agent can do beyond what each can.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct AgentCapabilities {
    pub load_session: bool,
}

/// A conversation that begins, or goes on.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct OpenedSession {
    pub session_id: Option<String>,
    pub modes: Option<OfferedModes>,
    config_options: Option<Vec<Value>>,
}

/// The modes that an agent offers, by their ids.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct OfferedModes {
    pub current_mode_id: String,
    pub available_modes: Vec<ModeId>,
}

/// One of them.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct ModeId {
    pub id: String,
}

/// Something that can be set in a conversation, where it is a choice of one.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConfigOption {
    id: String,
    category: String,
    current_value: String,
    options: Vec<ConfigValue>,
}

#[derive(Debug, Deserialize)]
struct ConfigValue {
    value: String,
}

impl OpenedSession {
    /// The setting by which an agent offers its modes that has no other way, and what it offers.
    pub fn mode_setting(&self) -> Option<(String, OfferedModes)> {
        let options = self.config_options.iter().flatten();
        let mut options = options.filter_map(|it| ConfigOption::deserialize(it).ok());
        let mode = options.find(|it| it.category == "mode")?;
        let ids = mode.options.into_iter().map(|it| ModeId { id: it.value });
        let offered = OfferedModes {
            current_mode_id: mode.current_value,
            available_modes: ids.collect(),
        };
        Some((mode.id, offered))
    }
}

/// How a turn ended.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct TurnEnd {
    pub stop_reason: String,
    usage: Value,
    #[serde(rename = "_meta")]
    meta: Value,
}

impl TurnEnd {
    /// The tokens of the turn, where the agent tells: read and written. What was cached or thought is part of them.
    pub fn tokens(&self) -> (Option<u64>, Option<u64>) {
        let number = |key: &str| self.usage.get(key).and_then(Value::as_u64);
        let sum = |keys: &[&str]| {
            let told = keys.iter().filter_map(|key| number(key));
            told.reduce(u64::saturating_add)
        };
        let read = sum(&["inputTokens", "cachedReadTokens", "cachedWriteTokens"]);
        let written = sum(&["outputTokens", "thoughtTokens"]);
        // Gemini CLI tells it apart from what the protocol has for it.
        let apart = |key: &str| self.meta.pointer("/quota/token_count")?.get(key)?.as_u64();
        (
            read.or_else(|| apart("input_tokens")),
            written.or_else(|| apart("output_tokens")),
        )
    }
}

/// What an agent tells while it works.
#[derive(Debug, Deserialize)]
#[serde(tag = "sessionUpdate", rename_all = "snake_case")]
pub(crate) enum SessionUpdate {
    /// A piece of what it says.
    AgentMessageChunk {
        /// The piece.
        #[serde(default)]
        content: Content,
    },
    /// A tool is called.
    ToolCall(AcpCall),
    /// Something is new about a call.
    ToolCallUpdate(AcpCall),
    /// What it means to do.
    Plan {
        /// In order.
        #[serde(default)]
        entries: Vec<PlanStep>,
    },
    /// Anything else.
    #[serde(other)]
    Other,
}

/// A piece of text; without one where it is a picture, say.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Content {
    pub text: String,
}

/// A step of a plan.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PlanStep {
    pub content: String,
    pub status: String,
}

/// What is told of a call of a tool: an update tells what has changed.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AcpCall {
    pub tool_call_id: String,
    pub title: Option<String>,
    pub kind: Option<CallKind>,
    pub status: Option<String>,
    pub raw_input: Option<Value>,
    pub locations: Option<Vec<CallLocation>>,
    pub content: Option<Vec<Value>>,
}

/// A file that a call works on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct CallLocation {
    pub path: String,
}

/// What sort of tool is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CallKind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    Fetch,
    SwitchMode,
    #[serde(other)]
    Other,
}

impl CallKind {
    /// In a word, as rules name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Delete => "delete",
            Self::Move => "move",
            Self::Search => "search",
            Self::Execute => "execute",
            Self::Think => "think",
            Self::Fetch => "fetch",
            Self::SwitchMode => "switch_mode",
            Self::Other => "other",
        }
    }
}

impl AcpCall {
    /// Takes in what an update tells.
    pub fn update(&mut self, new: Self) {
        fn newer<T>(old: &mut Option<T>, new: Option<T>) {
            if new.is_some() {
                *old = new;
            }
        }
        newer(&mut self.title, new.title);
        newer(&mut self.kind, new.kind);
        newer(&mut self.status, new.status);
        newer(&mut self.raw_input, new.raw_input);
        newer(&mut self.locations, new.locations);
        newer(&mut self.content, new.content);
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        matches!(self.status.as_deref(), Some("completed" | "failed"))
    }

    /// The texts of what it brought.
    pub fn texts(&self) -> String {
        let parts = self.content.iter().flatten();
        let texts = parts.filter_map(|part| part.pointer("/content/text")?.as_str());
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// What an agent wants to be allowed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PermissionAsk {
    pub tool_call: AcpCall,
    pub options: Vec<PermissionOption>,
}

/// One of the answers that it takes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PermissionOption {
    pub option_id: String,
    pub kind: OptionKind,
}

/// What an answer means: its id says nothing to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OptionKind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
    #[serde(other)]
    Unknown,
}

/// The first request: who we are. We offer neither files nor terminals: an agent has its own.
pub(super) fn initialize(id: u64) -> Value {
    let params = json!({
        "protocolVersion": VERSION,
        "clientCapabilities": {
            "fs": {"readTextFile": false, "writeTextFile": false},
            "terminal": false,
        },
        "clientInfo": {
            "name": "flagpost",
            "title": "Flagpost",
            "version": env!("CARGO_PKG_VERSION"),
        },
    });
    request(id, "initialize", params)
}

/// The request that opens a conversation: a new one, or the one of this id.
pub(super) fn open(id: u64, dir: &Path, servers: &[Value], resumes: Option<&str>) -> Value {
    let mut params = json!({"cwd": dir.to_string_lossy(), "mcpServers": servers});
    match resumes {
        None => request(id, "session/new", params),
        Some(session) => {
            params["sessionId"] = session.into();
            request(id, "session/load", params)
        }
    }
}

/// The request for a turn.
pub(super) fn prompt(id: u64, session: &str, text: &str) -> Value {
    let prompt = [json!({"type": "text", "text": text})];
    let params = json!({"sessionId": session, "prompt": prompt});
    request(id, "session/prompt", params)
}

/// The word that the turn is not to go on.
pub(super) fn cancel(session: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})
}

/// The answer to who wants to be allowed something: this option of theirs, or none.
pub(super) fn permission(id: &Value, option: Option<&str>) -> Value {
    let outcome = match option {
        Some(id) => json!({"outcome": "selected", "optionId": id}),
        None => json!({"outcome": "cancelled"}),
    };
    json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": outcome}})
}

#[cfg(test)]
mod tests;
