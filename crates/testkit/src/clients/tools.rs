//! What a model asks of a client, in the words of that client's tools.
//!
//! Owns the names of their tools and of what these are given.

use serde_json::{Value, json};

use super::Client;
use crate::model_server::{Api, Call};

/// What a client speaks to its model.
///
/// # Panics
/// For a client that is not tested.
pub fn api(client: Client) -> Api {
    match client {
        Client::Claude => Api::Anthropic,
        Client::Codex => Api::Responses,
        Client::Gemini => Api::Gemini,
        Client::Opencode => Api::Chat,
        Client::Cursor | Client::Acp | Client::Aider => panic!("{client} is not tested"),
    }
}

/// Runs this in a shell.
pub fn shell(client: Client, command: &str) -> Call {
    let described = json!({"command": command, "description": "Does what the test wants"});
    match client {
        Client::Claude => Call::new("Bash", described),
        Client::Codex => Call::new("exec_command", json!({"cmd": command})),
        Client::Gemini => Call::new("run_shell_command", described),
        _ => Call::new("bash", described),
    }
}

/// Writes a new file with the client's own tool for that, which knows no variables: the path must be
/// absolute.
pub fn write(client: Client, path: &str, text: &str) -> Call {
    match client {
        Client::Claude => Call::new("Write", json!({"file_path": path, "content": text})),
        Client::Codex => Call::new("apply_patch", Value::String(patch(path, text))),
        Client::Gemini => Call::new("write_file", json!({"file_path": path, "content": text})),
        _ => Call::new("write", json!({"filePath": path, "content": text})),
    }
}

/// Calls a tool of the server `flagpost` of the Model Context Protocol, under the client's own name for it.
pub fn served(client: Client, tool: &str, input: Value) -> Call {
    match client {
        Client::Opencode => Call::new(&format!("flagpost_{tool}"), input),
        Client::Gemini => Call::new(&format!("mcp_flagpost_{tool}"), input),
        _ => Call::new(&format!("mcp__flagpost__{tool}"), input),
    }
}

fn patch(path: &str, text: &str) -> String {
    let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
    format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n")
}
