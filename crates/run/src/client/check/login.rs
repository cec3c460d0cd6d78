//! Whether a client is signed in, as far as that can be told without asking anybody.
//!
//! Owns which variables and which files each client takes its account from. It tells that there is
//! one and where, and never what it is: of a variable only its name is known here, and of a file
//! only that it is there.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use flagpost_core::{Home, Settings, accounts::Account};

use super::codex;
use crate::client::Client;

/// How a client is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Login {
    /// This variable is set.
    Variable(String),
    /// This file is there.
    File(PathBuf),
    /// Nothing was found. A client may still be signed in, by a keychain for one.
    NotFound,
}

/// What of the environment tells of accounts.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The user's own directory.
    pub user_home: Option<PathBuf>,
    /// The names of the variables that are set.
    pub set: BTreeSet<String>,
    /// The directories that variables name.
    pub dirs: BTreeMap<String, PathBuf>,
}

impl Surroundings {
    /// Those in which an agent works for which these variables are settled.
    pub fn of(home: &Home, settings: &Settings, env: &[(String, String)]) -> Self {
        let mut all = Self {
            user_home: home.environment().user_home.clone(),
            set: settings.variables.clone(),
            dirs: settings.client_dirs.clone(),
        };
        for (name, value) in env {
            if value.is_empty() {
                all.set.remove(name);
                all.dirs.remove(name);
                continue;
            }
            all.set.insert(name.clone());
            all.dirs.insert(name.clone(), PathBuf::from(value));
        }
        all
    }

    /// A client's directory: where a variable says, or else below the user's.
    fn dir(&self, variable: &str, below: &str) -> Option<PathBuf> {
        let named = self.dirs.get(variable).cloned();
        named.or_else(|| Some(self.user_home.as_ref()?.join(below)))
    }
}

/// The variables that a client takes its account from, those it prefers first.
fn variables(client: Client) -> &'static [&'static str] {
    match client {
        Client::Claude => &[
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
            "CLAUDE_CODE_USE_FOUNDRY",
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_API_KEY",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ],
        // OPENAI_API_KEY alone is not sent: tried with 0.169.0.
        Client::Codex => &["CODEX_API_KEY"],
        Client::Gemini => &[
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
            "GOOGLE_GENAI_USE_VERTEXAI",
        ],
        Client::Cursor => &["CURSOR_API_KEY"],
        Client::Opencode | Client::Acp | Client::Aider => &[
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "GEMINI_API_KEY",
            "OPENROUTER_API_KEY",
            "DEEPSEEK_API_KEY",
            "GROQ_API_KEY",
            "MISTRAL_API_KEY",
            "XAI_API_KEY",
            "AZURE_API_KEY",
        ],
    }
}

/// The file that a client keeps its account in.
fn file(client: Client, around: &Surroundings) -> Option<PathBuf> {
    let (dir, name) = match client {
        Client::Claude => (
            around.dir("CLAUDE_CONFIG_DIR", ".claude"),
            ".credentials.json",
        ),
        Client::Codex => (around.dir("CODEX_HOME", ".codex"), "auth.json"),
        Client::Gemini => {
            // The variable names what the user's own directory is to it.
            let home = around.dir("GEMINI_CLI_HOME", "");
            (home.map(|home| home.join(".gemini")), "oauth_creds.json")
        }
        Client::Opencode => {
            let data = around.dir("XDG_DATA_HOME", ".local/share");
            (data.map(|data| data.join("opencode")), "auth.json")
        }
        Client::Cursor | Client::Acp | Client::Aider => (None, ""),
    };
    Some(dir?.join(name))
}

/// How a client is signed in, as far as can be told.
pub fn login(client: Client, around: &Surroundings) -> Login {
    let is_set = |name: &&&str| around.set.contains(**name);
    if let Some(name) = variables(client).iter().find(is_set) {
        return Login::Variable((*name).to_owned());
    }
    if client == Client::Codex
        && let Some(login) = of_provider(around)
    {
        return login;
    }
    match file(client, around) {
        Some(file) if is_written(&file) => Login::File(file),
        _ => Login::NotFound,
    }
}

/// The account that a client takes here. One of another value in the same variable is another only where
/// the operator settled that value for the agent: what the environment holds is not looked at.
pub fn account(client: Client, around: &Surroundings, env: &[(String, String)]) -> Account {
    let place = match login(client, around) {
        Login::Variable(name) => {
            let settled = env.iter().find(|(set, _)| *set == name);
            let value = settled.map(|(_, value)| value.as_str()).unwrap_or_default();
            format!("{name}={value}")
        }
        Login::File(file) => file.display().to_string(),
        Login::NotFound => String::new(),
    };
    Account::of(&format!("{client} {place}"))
}

/// How Codex is signed in to a provider that is not its maker's.
fn of_provider(around: &Surroundings) -> Option<Login> {
    let dir = around.dir("CODEX_HOME", ".codex")?;
    Some(match codex::configured(&dir, Path::new("")).provider? {
        Some(key) if around.set.contains(&key) => Login::Variable(key),
        Some(_) => Login::NotFound,
        None => Login::File(dir.join("config.toml")),
    })
}

/// What else there is to say about a client's account, and about how it takes this folder.
pub fn advice(client: Client, around: &Surroundings, folder: &Path) -> Vec<String> {
    let mut advice = Vec::new();
    match (client, login(client, around)) {
        (Client::Codex, Login::NotFound) if around.set.contains("OPENAI_API_KEY") => advice.push(
            "OPENAI_API_KEY is set, which codex reads for a provider of your own only: set \
             CODEX_API_KEY, or run 'codex login'"
                .to_owned(),
        ),
        (Client::Gemini, Login::File(_)) => advice.push(
            "signing in with a personal account ended on 2026-06-18: unless yours is an \
             enterprise's, set GEMINI_API_KEY"
                .to_owned(),
        ),
        _ => {}
    }
    let dir = match client {
        Client::Codex => around.dir("CODEX_HOME", ".codex"),
        _ => None,
    };
    if dir.is_some_and(|dir| codex::configured(&dir, folder).is_untrusted) {
        advice.push(format!(
            "it does not trust {}, so it reads no settings of this project",
            folder.display()
        ));
    }
    advice
}

/// Whether a file is there with something in it.
fn is_written(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|file| file.is_file() && file.len() > 2)
}

#[cfg(test)]
mod tests {
    use flagpost_disk::fsx::{self, RealFs};

    use super::*;

    fn put(path: &Path, text: &str) {
        fsx::make_dirs(&RealFs, path.parent().unwrap()).unwrap();
        fsx::replace(&RealFs, path, text.as_bytes()).unwrap();
    }

    fn around(home: &Path, set: &[&str]) -> Surroundings {
        Surroundings {
            user_home: Some(home.to_owned()),
            set: set.iter().map(|name| (*name).to_owned()).collect(),
            dirs: BTreeMap::new(),
        }
    }

    #[test]
    fn a_variable_or_a_file_tells_of_an_account_and_nothing_of_what_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        for (client, variable, file) in [
            (
                Client::Claude,
                "ANTHROPIC_API_KEY",
                ".claude/.credentials.json",
            ),
            (Client::Codex, "CODEX_API_KEY", ".codex/auth.json"),
            (Client::Gemini, "GEMINI_API_KEY", ".gemini/oauth_creds.json"),
            (
                Client::Opencode,
                "OPENAI_API_KEY",
                ".local/share/opencode/auth.json",
            ),
        ] {
            let of = |set: &[&str]| login(client, &around(home, set));
            assert_eq!(of(&["PATH"]), Login::NotFound, "{client}");
            put(&home.join(file), "{}");
            assert_eq!(of(&[]), Login::NotFound, "{client}: an empty one");
            put(&home.join(file), "{\"token\":\"sk-hush\"}");
            assert_eq!(of(&[]), Login::File(home.join(file)));
            assert_eq!(of(&[variable]), Login::Variable(variable.to_owned()));
        }
    }

    #[test]
    fn a_directory_of_its_own_is_looked_into_instead() {
        let dir = tempfile::tempdir().unwrap();
        let other = dir.path().join("other");
        put(&other.join("auth.json"), "{\"a\":1}");
        put(&other.join(".gemini/oauth_creds.json"), "{\"a\":1}");
        let settled = |name: &str| vec![(name.to_owned(), other.display().to_string())];
        let home = Home::at(dir.path().join("home"));
        let of = |client, name| {
            let around = Surroundings::of(&home, &Settings::default(), &settled(name));
            login(client, &around)
        };
        let auth = Login::File(other.join("auth.json"));
        assert_eq!(of(Client::Codex, "CODEX_HOME"), auth);
        assert_eq!(of(Client::Codex, "CLAUDE_CONFIG_DIR"), Login::NotFound);
        let creds = Login::File(other.join(".gemini/oauth_creds.json"));
        assert_eq!(of(Client::Gemini, "GEMINI_CLI_HOME"), creds);
    }

    #[test]
    fn agents_that_log_in_alike_have_one_account() {
        let dir = tempfile::tempdir().unwrap();
        let key = around(dir.path(), &["ANTHROPIC_API_KEY"]);
        let settled = |value: &str| vec![("ANTHROPIC_API_KEY".to_owned(), value.to_owned())];
        let of = |env: &[(String, String)]| account(Client::Claude, &key, env);
        assert_eq!(of(&[]), of(&[("RUST_LOG".to_owned(), "debug".to_owned())]));
        assert_ne!(of(&[]), of(&settled("a")));
        assert_ne!(of(&settled("a")), of(&settled("b")));
        assert_ne!(of(&[]), account(Client::Opencode, &key, &[]));
    }

    #[test]
    fn a_key_that_codex_does_not_read_is_no_account() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        let key = around(home, &["OPENAI_API_KEY"]);
        assert_eq!(login(Client::Codex, &key), Login::NotFound);
        let advice = super::advice(Client::Codex, &key, home);
        assert!(advice[0].contains("CODEX_API_KEY"), "{advice:?}");
        let provider = "model_provider = 'x'\n[model_providers.x]\nenv_key = 'OPENAI_API_KEY'\n";
        let untrusted = "[projects.'/srv/web']\ntrust_level = 'untrusted'\n";
        put(
            &home.join(".codex/config.toml"),
            &format!("{provider}{untrusted}"),
        );
        let found = Login::Variable("OPENAI_API_KEY".to_owned());
        assert_eq!(login(Client::Codex, &key), found);
        assert_eq!(login(Client::Codex, &around(home, &[])), Login::NotFound);
        assert!(super::advice(Client::Codex, &key, home).is_empty());
        let advice = super::advice(Client::Codex, &key, Path::new("/srv/web"));
        assert!(advice[0].contains("does not trust /srv/web"), "{advice:?}");
    }
}
