//! Aiming a client at a model server.
//!
//! Owns the variables and the few files in a scratch home that do it. None of it is on the command
//! line, which belongs to Flagpost.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use serde_json::json;

use super::Client;
use crate::model_server::ModelServer;

/// Keeps Gemini CLI from starting itself once more for a larger heap, which costs as much as the first
/// start. Its first process ignores signals: a test in which a client is ended leaves this empty, so that
/// both processes are there as on a user's machine.
pub const NO_RELAUNCH: &str = "GEMINI_CLI_NO_RELAUNCH";

/// Where programs of Node keep what they compiled. Gemini CLI starts in three quarters of the time where that is
/// kept from one test to the next.
pub const COMPILE_CACHE: &str = "NODE_COMPILE_CACHE";

/// How the client says whose account it uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Login {
    /// With a key, for which its owner pays by use.
    Key,
    /// With the token of a subscription; only Claude Code has one that needs no login.
    Subscription,
}

/// The variables that aim a client at the server with a key, after what else it needs was written into
/// this home.
///
/// # Panics
/// Where the home cannot be written.
pub fn aim(client: Client, server: &ModelServer, home: &Path) -> Vec<(&'static str, OsString)> {
    aim_as(client, Login::Key, server, home)
}

/// The same with another login.
///
/// # Panics
/// Where the home cannot be written.
pub fn aim_as(
    client: Client,
    login: Login,
    server: &ModelServer,
    home: &Path,
) -> Vec<(&'static str, OsString)> {
    let url = server.url();
    let mut set: Vec<(&'static str, OsString)> = match client {
        Client::Claude => {
            let mut set = claude(&url);
            set.push(match login {
                Login::Key => ("ANTHROPIC_API_KEY", "sk-ant-fake".into()),
                Login::Subscription => ("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-fake".into()),
            });
            set
        }
        Client::Codex => codex(&url, home),
        Client::Gemini => gemini(&url, home),
        Client::Opencode => opencode(&url, home),
        Client::Cursor | Client::Acp | Client::Aider => panic!("{client} is not tested"),
    };
    set.push(("TERM", "dumb".into()));
    set
}

fn claude(url: &str) -> Vec<(&'static str, OsString)> {
    vec![
        ("ANTHROPIC_BASE_URL", url.into()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
        ("DISABLE_AUTOUPDATER", "1".into()),
        ("CLAUDE_CODE_MAX_RETRIES", "2".into()),
    ]
}

fn codex(url: &str, home: &Path) -> Vec<(&'static str, OsString)> {
    let dir = home.join(".codex");
    let config = format!(
        "model = \"gpt-5.5\"\nmodel_provider = \"fake\"\n\n\
         [model_providers.fake]\nname = \"fake\"\nbase_url = \"{url}/v1\"\n\
         wire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"\n\
         request_max_retries = 1\nstream_max_retries = 1\n\
         [sandbox_workspace_write]\nexclude_slash_tmp = true\n"
    );
    // Its sandbox puts an empty `.git` into each writable root, and one that is killed leaves it: in /tmp
    // that would be in the way of every other test.
    put(&dir.join("config.toml"), &config);
    vec![
        ("OPENAI_API_KEY", "x".into()),
        ("CODEX_HOME", dir.into_os_string()),
    ]
}

fn gemini(url: &str, home: &Path) -> Vec<(&'static str, OsString)> {
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "model": {"name": "gemini-2.5-pro"},
        // One that starts deletes what it takes for broken: the conversation of another that has just begun.
        "general": {
            "enableAutoUpdate": false,
            "enableAutoUpdateNotification": false,
            "sessionRetention": {"enabled": false},
        },
        "privacy": {"usageStatisticsEnabled": false},
    });
    put(&home.join(".gemini/settings.json"), &settings.to_string());
    vec![
        ("GEMINI_API_KEY", "x".into()),
        ("GOOGLE_GEMINI_BASE_URL", url.into()),
        (NO_RELAUNCH, "true".into()),
    ]
}

fn opencode(url: &str, home: &Path) -> Vec<(&'static str, OsString)> {
    // It adds its schema to a configuration that has none.
    let config = json!({
        "$schema": "https://opencode.ai/config.json",
        "model": "fake/m",
        "small_model": "fake/m",
        "autoupdate": false,
        "share": "disabled",
        "provider": {"fake": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": format!("{url}/v1"), "apiKey": "x"},
            "models": {"m": {"tool_call": true}},
        }},
    });
    let path = home.join(".config/opencode/opencode.json");
    put(&path, &config.to_string());
    vec![("OPENCODE_DISABLE_MODELS_FETCH", "1".into())]
}

fn put(path: &PathBuf, text: &str) {
    let dir = path.parent().expect("a file lies in a directory");
    fs::create_dir_all(dir).expect("a scratch home is writable");
    fs::write(path, text).expect("a scratch home is writable");
}
