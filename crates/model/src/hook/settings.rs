//! What stands in a client's settings so that it asks.
//!
//! Owns the entries, and how one of ours is known among others: its command is `flagpost hook`. Cursor
//! refuses keys that it does not know, so nothing else marks them. Pure.

use serde_json::{Map, Value, json};

use super::HookEvent;
use crate::{client::Client, names::names};

names! {
    /// What is added to an agent's client for one run.
    Injection {
        /// Hooks.
        Hooks = "hooks",
        /// The tools of the server that speaks the Model Context Protocol.
        Mcp = "mcp",
        /// Turns of the user while it works.
        Turns = "turns",
    }
}

/// Whether edits of reserved files are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookGuard {
    /// They are.
    DenyReserved,
    /// Hooks only tell.
    TellOnly,
}

/// So many seconds a client waits for a hook.
const PATIENCE: u64 = 5;

/// So many it waits for one that asks a person: longer than such a hook waits at most, which ends by itself.
const UNTIL_DECIDED: u64 = 25 * 60 * 60;

/// The entries of a client's settings: its name of each event, and the group that stands in the list there.
/// `program` is how a shell calls Flagpost. None where the client has no such settings.
pub fn groups(client: Client, program: &str, guard: HookGuard) -> Vec<(&'static str, Value)> {
    if matches!(client, Client::Opencode | Client::Acp | Client::Aider) {
        return Vec::new();
    }
    let wanted = HookEvent::ALL.iter().copied();
    let wanted = wanted.filter(|it| guard == HookGuard::DenyReserved || *it != HookEvent::PreTool);
    let each = wanted.filter_map(|event| {
        let name = event.name_in(client)?;
        Some((name, group(client, event, program)))
    });
    each.collect()
}

/// The whole of a settings file that has nothing else.
pub fn alone(client: Client, program: &str, guard: HookGuard) -> Value {
    let groups = groups(client, program, guard).into_iter();
    let lists: Map<String, Value> = groups
        .map(|(name, group)| (name.to_owned(), json!([group])))
        .collect();
    json!({"hooks": lists})
}

fn group(client: Client, event: HookEvent, program: &str) -> Value {
    let command = format!("{program} hook {event} --agent {client}");
    let patience = match event {
        HookEvent::Permission => UNTIL_DECIDED,
        _ => PATIENCE,
    };
    let hook = match client {
        Client::Cursor => return json!({"command": command}),
        // Gemini counts in milliseconds.
        Client::Gemini => json!({
            "type": "command",
            "name": "flagpost",
            "command": command,
            "timeout": patience * 1000,
        }),
        _ => json!({"type": "command", "command": command, "timeout": patience}),
    };
    match event.tools_in(client) {
        Some(tools) => json!({"matcher": tools, "hooks": [hook]}),
        None => json!({"hooks": [hook]}),
    }
}

/// Whether this is the whole command of one of our entries, however the program is called: the event where it
/// is. A command that goes on is somebody's own.
pub fn event_of(command: &str) -> Option<HookEvent> {
    let (program, rest) = command.rsplit_once(" hook ")?;
    let (event, client) = rest.split_once(" --agent ")?;
    let is_whole = client.parse::<Client>().is_ok();
    let program = program.trim_matches(['"', '\'']);
    let name = program.rsplit('/').next().unwrap_or(program);
    let is_ours = name == "flagpost"
        || name.starts_with("flagpost-")
        || name.ends_with("FLAGPOST_BIN:-flagpost}");
    let event = event.parse().ok()?;
    (is_whole && is_ours).then_some(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_an_entry_for_each_of_its_events() {
        let claude = alone(Client::Claude, "flagpost", HookGuard::DenyReserved);
        let names: Vec<&String> = claude["hooks"].as_object().unwrap().keys().collect();
        assert_eq!(names.len(), 8, "{names:?}");
        assert_eq!(
            claude["hooks"]["PreToolUse"][0],
            json!({
                "matcher": "Edit|Write|NotebookEdit",
                "hooks": [{
                    "type": "command",
                    "command": "flagpost hook pre-tool --agent claude",
                    "timeout": 5,
                }],
            })
        );
        let plugin = include_str!("../../../../contrib/claude/hooks/hooks.json");
        let plugin: Value = serde_json::from_str(plugin).unwrap();
        assert_eq!(plugin, claude, "Claude Code's plugin has the same");
        let gemini = alone(Client::Gemini, "flagpost", HookGuard::TellOnly);
        assert_eq!(
            gemini["hooks"]["AfterAgent"][0]["hooks"][0]["timeout"],
            5000
        );
        assert!(gemini["hooks"].get("BeforeTool").is_none());
        assert!(groups(Client::Opencode, "flagpost", HookGuard::TellOnly).is_empty());
    }

    #[test]
    fn an_entry_of_ours_is_known_by_its_command() {
        for (command, event) in [
            ("flagpost hook stop --agent claude", Some(HookEvent::Stop)),
            (
                "/opt/x/flagpost hook batch --agent codex",
                Some(HookEvent::Batch),
            ),
            (
                "\"/opt/my x/flagpost\" hook prompt --agent gemini",
                Some(HookEvent::Prompt),
            ),
            (
                "\"${FLAGPOST_BIN:-flagpost}\" hook stop --agent claude",
                Some(HookEvent::Stop),
            ),
            (
                "'/opt/a hook b/flagpost-0.2' hook stop --agent claude",
                Some(HookEvent::Stop),
            ),
            ("flagpost hook stop --agent claude; /home/me/bell.sh", None),
            ("flagpost hook stop --agent claude && notify-send", None),
            ("flagpost hook stop --agent nobody", None),
            ("flagpost hook stop", None),
            ("flagpost hook nothing --agent claude", None),
            ("flagpost hooks install", None),
            ("my-flagpost hook stop", None),
            ("echo flagpost hook stop", None),
            ("", None),
        ] {
            assert_eq!(event_of(command), event, "{command}");
        }
    }
}
