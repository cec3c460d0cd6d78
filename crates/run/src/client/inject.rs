//! What a run adds to its agents' clients: hooks, the tools of `flagpost mcp`, and turns of the user.
//!
//! Owns the files, options and variables that do it, for the processes of one run only. Invariant: no file
//! of the user's is changed, and a client that takes an addition in no such way starts without it. Pure.

use std::{ffi::OsString, path::Path};

use flagpost_model::hook::settings::{self, HookGuard, Injection};
use serde_json::{Value, json};
use toml_edit::{Array, InlineTable, Value as TomlValue};

use super::Client;

/// How a shell calls the program that this run is of.
const OWN: &str = "\"${FLAGPOST_BIN:-flagpost}\"";
/// The file of the settings that Claude Code is given beside its user's.
const SETTINGS: &str = "settings.json";
/// The file of the servers of tools that Claude Code is given beside its user's.
const SERVERS: &str = "mcp.json";
/// What the tools must know of the run. Codex gives a server no other variable of ours.
const VARIABLES: [&str; 5] = [
    "FLAGPOST_HOME",
    "FLAGPOST_LIST",
    "FLAGPOST_TASK",
    "FLAGPOST_TOKEN",
    "FLAGPOST_WORKER",
];

/// What is added to an agent's client.
#[derive(Debug, Clone, Copy)]
pub struct Injected<'a> {
    /// Which of it is wanted.
    pub wanted: &'a [Injection],
    /// The program that serves the tools.
    pub program: &'a str,
    /// The hooks that the client asks its user about, as it names them.
    pub trusted: &'a [TrustedHook],
}

/// A hook of ours that Codex is told to trust: it runs no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedHook {
    /// Where it stands.
    pub key: String,
    /// The hash that Codex gives it.
    pub hash: String,
}

impl Injected<'_> {
    /// Nothing.
    pub const NONE: Injected<'static> = Injected {
        wanted: &[],
        program: "",
        trusted: &[],
    };

    /// The files that the client is given: their names and what is in them.
    pub fn files(&self, client: Client) -> Vec<(&'static str, String)> {
        if client != Client::Claude {
            return Vec::new();
        }
        let each = self.wanted.iter().filter_map(|it| match it {
            Injection::Hooks => {
                let settings = settings::alone(client, OWN, HookGuard::DenyReserved);
                Some((SETTINGS, settings.to_string()))
            }
            Injection::Mcp => {
                let server = json!({
                    "type": "stdio",
                    "command": self.program,
                    "args": ["mcp"],
                    "alwaysLoad": true,
                });
                Some((
                    SERVERS,
                    json!({"mcpServers": {"flagpost": server}}).to_string(),
                ))
            }
            Injection::Turns => None,
        });
        each.collect()
    }

    /// The options that the client is given; `dir` is where its files are.
    pub fn arguments(&self, client: Client, dir: &Path) -> Vec<OsString> {
        let mut args = Vec::new();
        for it in self.wanted {
            match (client, it) {
                (Client::Claude, Injection::Hooks) => {
                    args.extend(["--settings".into(), dir.join(SETTINGS).into()]);
                }
                (Client::Claude, Injection::Mcp) => {
                    args.extend(["--mcp-config".into(), dir.join(SERVERS).into()]);
                }
                // Its log shows the turns that it was given.
                (Client::Claude, Injection::Turns) => {
                    let words = ["--input-format", "stream-json", "--replay-user-messages"];
                    args.extend(words.map(OsString::from));
                }
                (Client::Codex, Injection::Hooks) if !self.trusted.is_empty() => {
                    args.extend(codex_hooks());
                    args.extend(codex_option("hooks.state", &trust(self.trusted)));
                }
                (Client::Codex, Injection::Mcp) => {
                    let server = json!({
                        "command": self.program,
                        "args": ["mcp"],
                        "env_vars": VARIABLES,
                        "default_tools_approval_mode": "approve",
                    });
                    args.extend(codex_option("mcp_servers.flagpost", &server));
                }
                _ => {}
            }
        }
        args
    }

    /// Whether the client takes turns of the user while it works.
    pub fn takes_turns(&self, client: Client) -> bool {
        client == Client::Claude && self.wanted.contains(&Injection::Turns)
    }

    /// The tools that the agent may call without asking, as its client names them.
    pub fn allowed(&self) -> Option<&'static str> {
        self.wanted
            .contains(&Injection::Mcp)
            .then_some("mcp__flagpost")
    }

    /// The server of the tools as opencode is told of it.
    pub fn opencode_server(&self) -> Option<Value> {
        let server = json!({"type": "local", "command": [self.program, "mcp"]});
        self.wanted.contains(&Injection::Mcp).then_some(server)
    }
}

/// The hooks as options of Codex.
pub fn codex_hooks() -> Vec<OsString> {
    let groups = settings::groups(Client::Codex, OWN, HookGuard::DenyReserved).into_iter();
    groups
        .flat_map(|(event, group)| codex_option(&format!("hooks.{event}"), &json!([group])))
        .collect()
}

fn trust(hooks: &[TrustedHook]) -> Value {
    let each = hooks
        .iter()
        .map(|it| (it.key.clone(), json!({"trusted_hash": it.hash})));
    Value::Object(each.collect())
}

fn codex_option(name: &str, value: &Value) -> [OsString; 2] {
    ["-c".into(), format!("{name}={}", toml(value)).into()]
}

/// A value as TOML spells it; there is no null.
fn toml(value: &Value) -> TomlValue {
    match value {
        Value::Null => TomlValue::from(""),
        Value::Bool(it) => TomlValue::from(*it),
        Value::Number(it) => match it.as_i64() {
            Some(it) => TomlValue::from(it),
            None => TomlValue::from(it.as_f64().unwrap_or_default()),
        },
        Value::String(it) => TomlValue::from(it.as_str()),
        Value::Array(all) => all.iter().map(toml).collect::<Array>().into(),
        Value::Object(all) => {
            let all = all.iter().map(|(name, it)| (name.as_str(), toml(it)));
            all.collect::<InlineTable>().into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(client: Client, trusted: &[TrustedHook]) -> String {
        let injected = Injected {
            wanted: Injection::ALL,
            program: "/opt/my x/flagpost",
            trusted,
        };
        let args = injected.arguments(client, Path::new("/live/7-2"));
        let args: Vec<_> = args.iter().map(|it| it.to_string_lossy()).collect();
        args.join(" ")
    }

    #[test]
    fn claude_is_given_files() {
        assert_eq!(
            arguments(Client::Claude, &[]),
            "--settings /live/7-2/settings.json --mcp-config /live/7-2/mcp.json \
             --input-format stream-json --replay-user-messages"
        );
    }

    #[test]
    fn codex_is_given_hooks_only_with_its_trust() {
        let without = arguments(Client::Codex, &[]);
        assert_eq!(
            without,
            "-c mcp_servers.flagpost={ command = \"/opt/my x/flagpost\", args = [\"mcp\"], \
             env_vars = [\"FLAGPOST_HOME\", \"FLAGPOST_LIST\", \"FLAGPOST_TASK\", \
             \"FLAGPOST_TOKEN\", \"FLAGPOST_WORKER\"], default_tools_approval_mode = \"approve\" }"
        );
        let hook = TrustedHook {
            key: "/<session-flags>/config.toml:stop:0:0".to_owned(),
            hash: "sha256:00".to_owned(),
        };
        let with = arguments(Client::Codex, &[hook]);
        for part in [
            "-c hooks.PreToolUse=[{ matcher = \"apply_patch|Edit|Write\", hooks = [{ type = \"command\", ",
            "-c hooks.Stop=[{ hooks = [{ type = \"command\", command = ",
            "-c hooks.state={ \"/<session-flags>/config.toml:stop:0:0\" = { trusted_hash = \"sha256:00\" } }",
        ] {
            assert!(with.contains(part), "{part} is not in {with}");
        }
    }

    #[test]
    fn others_start_without_it() {
        for client in [Client::Gemini, Client::Cursor, Client::Aider] {
            assert_eq!(arguments(client, &[]), "", "{client}");
        }
    }
}
