//! Hooks: what an agent's client tells of its steps, and what it takes for an answer.
//!
//! Owns one set of events for all clients, which part of a client's JSON says what, and how an answer is
//! spelled for each. What is answered is decided elsewhere. Pure. The shapes were read off the real clients
//! at the versions that `run` was tried with; that of Cursor was only read.

pub mod settings;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{client::Client, names::names};

names! {
    /// A step of a client at which it asks.
    HookEvent {
        /// A conversation begins or goes on.
        SessionStart = "session-start",
        /// The agent is given a prompt.
        Prompt = "prompt",
        /// A tool is about to be called.
        PreTool = "pre-tool",
        /// The agent may not call a tool by the client's own rules: somebody is to be asked.
        Permission = "permission-request",
        /// Tools were called.
        Batch = "batch",
        /// The agent ends its turn.
        Stop = "stop",
        /// The turn ended with an error.
        StopFailure = "stop-failure",
        /// The conversation ends.
        SessionEnd = "session-end",
    }
}

/// What a hook answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookAnswer {
    /// Nothing: the client goes on as if it had not asked.
    Nothing,
    /// The agent is told this.
    Context(String),
    /// The turn does not end yet, for this reason.
    Hold(String),
    /// The tool is not called, for this reason.
    Deny(String),
    /// The tool is called, since the operator allowed it.
    Allow,
}

/// Why a conversation begins or ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Turnover {
    /// It is emptied: another one follows in its place.
    Clear,
    /// It is shortened, and goes on.
    Compact,
    /// For any other reason, or none is told.
    #[default]
    Other,
}

/// What a client tells with an event. What is not told, or not understood, is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookInput {
    /// The id of the conversation.
    pub session: Option<String>,
    /// Where the agent works.
    pub dir: Option<PathBuf>,
    /// The files that the tool would change, as the client names them.
    pub paths: Vec<PathBuf>,
    /// Whether the turn goes on because a hook held it.
    pub was_held: bool,
    /// Why the conversation begins or ends.
    pub turnover: Turnover,
    /// The tools that are to be called, or were, each with its input.
    pub calls: Vec<ToolCall>,
    /// Whether agents of the client's own go on in the background.
    pub goes_on: bool,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The client's name of the tool.
    pub tool: String,
    /// What it is called with.
    pub input: Value,
}

/// The tools that change the files that they name.
const EDITS: [&str; 8] = [
    "Edit",
    "MultiEdit",
    "Write",
    "NotebookEdit",
    "edit",
    "write",
    "replace",
    "write_file",
];

/// Where the tools name the file.
const PATHS: [&str; 5] = [
    "file_path",
    "notebook_path",
    "filePath",
    "path",
    "absolute_path",
];

/// What stands before a path in a patch of Codex.
const PATCHED: [&str; 4] = [
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
];

impl HookInput {
    /// Reads what a client sent. Anything else than a JSON object tells nothing.
    pub fn read(sent: &[u8]) -> Self {
        let Ok(sent) = serde_json::from_slice::<Value>(sent) else {
            return Self::default();
        };
        let text = |key: &str| sent.get(key).and_then(Value::as_str);
        Self {
            session: text("session_id").map(str::to_owned),
            dir: text("cwd").map(PathBuf::from),
            paths: changed(text("tool_name").unwrap_or_default(), &sent["tool_input"]),
            was_held: sent["stop_hook_active"].as_bool().unwrap_or_default(),
            turnover: match text("source").or(text("reason")) {
                Some("clear") => Turnover::Clear,
                Some("compact") => Turnover::Compact,
                _ => Turnover::Other,
            },
            calls: calls(&sent),
            goes_on: sent["background_tasks"]
                .as_array()
                .is_some_and(|it| !it.is_empty()),
        }
    }
}

/// The calls that an event is about: one of its own, or those of a whole step.
fn calls(sent: &Value) -> Vec<ToolCall> {
    let call = |it: &Value| {
        Some(ToolCall {
            tool: it.get("tool_name")?.as_str()?.to_owned(),
            input: it.get("tool_input")?.clone(),
        })
    };
    let step = sent.get("tool_calls").and_then(Value::as_array);
    let of_step = step.into_iter().flatten().filter_map(call);
    call(sent).into_iter().chain(of_step).collect()
}

/// The files that a tool would change.
fn changed(tool: &str, input: &Value) -> Vec<PathBuf> {
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    match tool {
        "apply_patch" => {
            let patch = ["command", "input", "patch", "patchText"];
            let patch = patch.into_iter().find_map(text).unwrap_or_default();
            let named = patch.lines().filter_map(|line| {
                let path = PATCHED.iter().find_map(|it| line.strip_prefix(it))?;
                Some(PathBuf::from(path.trim_end()))
            });
            named.collect()
        }
        tool if EDITS.contains(&tool) => {
            let path = PATHS.into_iter().find_map(text);
            path.map(PathBuf::from).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

impl HookEvent {
    /// What a client calls it; none where it has no such event.
    pub fn name_in(self, client: Client) -> Option<&'static str> {
        Some(match (client, self) {
            (Client::Claude, Self::SessionStart) => "SessionStart",
            (Client::Claude, Self::Prompt) => "UserPromptSubmit",
            (Client::Claude, Self::PreTool) => "PreToolUse",
            (Client::Claude, Self::Permission) => "PermissionRequest",
            (Client::Claude, Self::Batch) => "PostToolBatch",
            (Client::Claude, Self::Stop) => "Stop",
            (Client::Claude, Self::StopFailure) => "StopFailure",
            (Client::Claude, Self::SessionEnd) => "SessionEnd",
            (Client::Codex, Self::SessionStart) => "SessionStart",
            (Client::Codex, Self::Prompt) => "UserPromptSubmit",
            (Client::Codex, Self::PreTool) => "PreToolUse",
            (Client::Codex, Self::Batch) => "PostToolUse",
            (Client::Codex, Self::Stop) => "Stop",
            (Client::Codex, Self::SessionEnd) => "SessionEnd",
            (Client::Gemini, Self::SessionStart) => "SessionStart",
            (Client::Gemini, Self::Prompt) => "BeforeAgent",
            (Client::Gemini, Self::PreTool) => "BeforeTool",
            (Client::Gemini, Self::Batch) => "AfterTool",
            (Client::Gemini, Self::Stop) => "AfterAgent",
            (Client::Gemini, Self::SessionEnd) => "SessionEnd",
            (Client::Cursor, Self::SessionStart) => "sessionStart",
            (Client::Cursor, Self::Prompt) => "beforeSubmitPrompt",
            (Client::Cursor, Self::PreTool) => "preToolUse",
            (Client::Cursor, Self::Batch) => "postToolUse",
            (Client::Cursor, Self::Stop) => "stop",
            (Client::Cursor, Self::SessionEnd) => "sessionEnd",
            // Its plugin calls us by our own names, where opencode lets it.
            (Client::Opencode, Self::SessionStart | Self::PreTool | Self::Batch) => self.as_str(),
            (
                Client::Codex | Client::Gemini | Client::Cursor,
                Self::Permission | Self::StopFailure,
            )
            | (
                Client::Opencode,
                Self::Prompt | Self::Permission | Self::Stop | Self::StopFailure | Self::SessionEnd,
            )
            // What an agent asks over its protocol is answered there.
            | (Client::Acp | Client::Aider, _) => return None,
        })
    }

    /// The tools that a client asks about before it calls them, as its settings name them; none for all.
    pub fn tools_in(self, client: Client) -> Option<&'static str> {
        match (self, client) {
            (Self::PreTool, Client::Claude) => Some("Edit|Write|NotebookEdit"),
            (Self::PreTool, Client::Codex) => Some("apply_patch|Edit|Write"),
            (Self::PreTool, Client::Gemini) => Some("replace|write_file"),
            (Self::Batch, Client::Gemini) => Some("*"),
            _ => None,
        }
    }
}

impl HookAnswer {
    /// As the client takes it; none where nothing is said, or the client has no way to be told.
    pub fn spelled(&self, client: Client, event: HookEvent) -> Option<Value> {
        let name = event.name_in(client)?;
        let specific = |mut said: Value| {
            said["hookEventName"] = name.into();
            json!({"hookSpecificOutput": said})
        };
        match (self, client) {
            (Self::Nothing, _) | (_, Client::Acp | Client::Aider) => None,
            (Self::Context(text), Client::Cursor) => Some(json!({"additional_context": text})),
            (Self::Context(text), _) => Some(specific(json!({"additionalContext": text}))),
            (Self::Hold(why), Client::Claude | Client::Codex) => {
                Some(json!({"decision": "block", "reason": why}))
            }
            (Self::Hold(why), Client::Gemini) => Some(json!({"decision": "deny", "reason": why})),
            (Self::Hold(why), Client::Cursor) => Some(json!({"followup_message": why})),
            // A turn of opencode that ends cannot be held.
            (Self::Hold(_), Client::Opencode) => None,
            (Self::Allow, Client::Claude) => {
                Some(specific(json!({"decision": {"behavior": "allow"}})))
            }
            // Nobody is asked there.
            (Self::Allow, _) => None,
            (Self::Deny(why), Client::Claude) if event == HookEvent::Permission => Some(specific(
                json!({"decision": {"behavior": "deny", "message": why}}),
            )),
            (Self::Deny(why), Client::Claude | Client::Codex) => Some(specific(json!({
                "permissionDecision": "deny",
                "permissionDecisionReason": why,
            }))),
            (Self::Deny(why), Client::Gemini | Client::Opencode) => {
                Some(json!({"decision": "deny", "reason": why}))
            }
            (Self::Deny(why), Client::Cursor) => Some(json!({
                "permission": "deny",
                "user_message": why,
                "agent_message": why,
            })),
        }
    }
}

#[cfg(test)]
mod tests;
