//! Hooks in the settings of a client: put in, looked at, taken out.
//!
//! Owns where each client has its settings, and that they are left as they were found. What a change of the
//! text is belongs to `edit`.

use std::path::{Path, PathBuf};

use flagpost_disk::fsx::{self, RealFs};
use flagpost_model::{
    client::Client,
    hook::{HookEvent, settings::HookGuard},
    names::names,
};

use super::edit::{self, HookEntry};
use crate::{
    error::{Error, Result},
    files,
};

names! {
    /// Whose sessions ask.
    HookScope {
        /// One's own in this repository.
        Project = "project",
        /// Everybody's in this repository: the file is one that people commit.
        Shared = "shared",
        /// One's own, everywhere.
        User = "user",
    }
}

/// What is written beside a client's settings before they are changed.
const BACKUP: &str = ".flagpost-backup";

/// opencode has a plugin in place of settings.
const PLUGIN: &str = include_str!("../../../../contrib/opencode/flagpost.js");

/// The settings of a client.
#[derive(Debug)]
pub struct HookSettings {
    /// Whose.
    pub client: Client,
    /// Their file.
    pub path: PathBuf,
}

/// What came of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookChange {
    /// The file is another than before.
    Written,
    /// It was as it should be.
    Unchanged,
}

impl HookSettings {
    /// Those of a client, in the repository with this top or in the user's home; `codex_home` is where
    /// Codex keeps its own, where the environment says.
    pub fn of(
        client: Client,
        scope: HookScope,
        (top, home, codex_home): (&Path, &Path, Option<&Path>),
    ) -> Result<Self> {
        let dir = match scope {
            HookScope::User => home,
            HookScope::Project | HookScope::Shared => top,
        };
        let path = match (client, scope) {
            (Client::Claude, HookScope::Project) => dir.join(".claude/settings.local.json"),
            (Client::Claude, HookScope::Shared | HookScope::User) => {
                dir.join(".claude/settings.json")
            }
            (Client::Codex, HookScope::User) => match codex_home {
                Some(home) => home.join("hooks.json"),
                None => dir.join(".codex/hooks.json"),
            },
            (Client::Codex, _) => dir.join(".codex/hooks.json"),
            (Client::Gemini, _) => dir.join(".gemini/settings.json"),
            (Client::Cursor, _) => dir.join(".cursor/hooks.json"),
            (Client::Opencode, HookScope::User) => dir.join(".config/opencode/plugin/flagpost.js"),
            (Client::Opencode, _) => dir.join(".opencode/plugin/flagpost.js"),
            (Client::Aider, _) => {
                return Err(Error::Invalid {
                    what: "agent".to_owned(),
                    reason: "aider has no hooks".to_owned(),
                });
            }
        };
        // A link leads to the file that is changed.
        let is_link = std::fs::symlink_metadata(&path).is_ok_and(|it| it.is_symlink());
        let real = is_link.then(|| path.canonicalize().ok()).flatten();
        let path = real.unwrap_or(path);
        Ok(Self { client, path })
    }

    /// The file with our entries, as it would be written.
    pub fn with(&self, program: &str, guard: HookGuard) -> Result<String> {
        let text = self.text()?.unwrap_or_default();
        match self.client {
            Client::Opencode => Ok(PLUGIN.to_owned()),
            client => edit::with(&text, client, program, guard).map_err(|why| self.refused(&why)),
        }
    }

    /// Puts our entries in. What was there is kept beside it until they are taken out.
    pub fn install(&self, program: &str, guard: HookGuard) -> Result<HookChange> {
        let before = self.text()?;
        let after = self.with(program, guard)?;
        if before.as_deref() == Some(after.as_str()) {
            return Ok(HookChange::Unchanged);
        }
        if self.client == Client::Opencode && before.is_some_and(|it| !is_plugin(&it)) {
            return Err(self.refused("it is none of Flagpost's"));
        }
        if let Some(before) = self.text()?
            && self.entries()?.is_empty()
            && self.client != Client::Opencode
        {
            // Settings may hold a key, so their copy is the user's alone.
            fsx::replace(&RealFs, &self.backup(), before.as_bytes())?;
        }
        self.write(&after)?;
        Ok(HookChange::Written)
    }

    /// Takes our entries out. Where nobody else changed the file it is as it was before, to the byte.
    pub fn uninstall(&self) -> Result<HookChange> {
        let Some(text) = self.text()? else {
            return Ok(HookChange::Unchanged);
        };
        if self.client == Client::Opencode {
            return match is_plugin(&text) {
                true => self.remove(),
                false => Ok(HookChange::Unchanged),
            };
        }
        if self.entries()?.is_empty() {
            return Ok(HookChange::Unchanged);
        }
        let mut left = edit::without(&text).map_err(|why| self.refused(&why))?;
        let backup = fsx::read(&RealFs, &self.backup())?;
        let backup = backup.and_then(|it| String::from_utf8(it).ok());
        let was_ours = backup.is_none();
        if let Some(backup) = backup
            && let Ok(again) = edit::without(&installed_again(self, &backup, &text))
            && again == left
        {
            left = backup;
        }
        let is_empty = matches!(
            left.split_whitespace().collect::<String>().as_str(),
            "" | "{}"
        ) || self.client == Client::Cursor
            && left.split_whitespace().collect::<String>() == "{\"version\":1}";
        if was_ours && is_empty {
            return self.remove();
        }
        self.write(&left)?;
        if !was_ours {
            fsx::remove(&RealFs, &self.backup())?;
        }
        Ok(HookChange::Written)
    }

    /// The entries of ours that are there.
    pub fn entries(&self) -> Result<Vec<HookEntry>> {
        match self.text()? {
            Some(text) if self.client != Client::Opencode => {
                edit::entries(&text).map_err(|why| self.refused(&why))
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Whether the client was told in this file to call no hooks at all.
    pub fn is_disabled(&self) -> Result<bool> {
        match self.text()? {
            Some(text) if self.client == Client::Claude => {
                edit::is_disabled(&text).map_err(|why| self.refused(&why))
            }
            _ => Ok(false),
        }
    }

    /// The entries of ours that Codex was never told to trust: it skips them in silence. `home` is where it
    /// keeps its configuration. Whether an entry that it trusts was changed since, only Codex can say.
    pub fn untrusted(&self, home: &Path) -> Result<Vec<HookEntry>> {
        if self.client != Client::Codex {
            return Ok(Vec::new());
        }
        let path = home.join("config.toml");
        let text = fsx::read_lossy(&RealFs, &path)?.unwrap_or_default();
        let config: toml_edit::DocumentMut = text.parse().unwrap_or_default();
        let trusted = |entry: &HookEntry| {
            let (group, index) = entry.place;
            let event = codex_event(entry.event);
            let key = format!("{}:{event}:{group}:{index}", self.path.display());
            let state = config.get("hooks")?.get("state")?.get(&key)?;
            state.get("trusted_hash").map(drop)
        };
        let mut entries = self.entries()?;
        entries.retain(|it| trusted(it).is_none());
        Ok(entries)
    }

    /// Whether our plugin is there, where the client has plugins in place of settings.
    pub fn has_plugin(&self) -> Result<bool> {
        let is_ours = |it: String| is_plugin(&it);
        Ok(self.client == Client::Opencode && self.text()?.is_some_and(is_ours))
    }

    fn text(&self) -> Result<Option<String>> {
        let Some(bytes) = fsx::read(&RealFs, &self.path)? else {
            return Ok(None);
        };
        let text = String::from_utf8(bytes);
        text.map(Some).map_err(|_| self.refused("it is no UTF-8"))
    }

    fn write(&self, text: &str) -> Result<()> {
        if let Some(dir) = self.path.parent() {
            fsx::make_dirs(&RealFs, dir)?;
        }
        files::write(&self.path, text.as_bytes(), true)
    }

    fn remove(&self) -> Result<HookChange> {
        fsx::remove(&RealFs, &self.path)?;
        Ok(HookChange::Written)
    }

    fn backup(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(BACKUP);
        name.into()
    }

    fn refused(&self, why: &str) -> Error {
        Error::Invalid {
            what: self.path.display().to_string(),
            reason: format!("{why}; it was left as it is"),
        }
    }
}

/// What an earlier file would be now, had nobody else changed it: with the entries that stand in `now`.
fn installed_again(settings: &HookSettings, before: &str, now: &str) -> String {
    let entries = edit::entries(now).unwrap_or_default();
    let program = entries
        .first()
        .and_then(|it| it.command.split(" hook ").next());
    let has_guard = entries.iter().any(|it| it.event == HookEvent::PreTool);
    let guard = match has_guard {
        true => HookGuard::DenyReserved,
        false => HookGuard::TellOnly,
    };
    edit::with(before, settings.client, program.unwrap_or_default(), guard).unwrap_or_default()
}

/// An event as Codex writes it in the name of a hook: `pre_tool_use`.
fn codex_event(event: HookEvent) -> String {
    let mut name = String::new();
    for letter in event.name_in(Client::Codex).unwrap_or_default().chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

fn is_plugin(text: &str) -> bool {
    text.starts_with("// Flagpost's hooks in opencode")
}
