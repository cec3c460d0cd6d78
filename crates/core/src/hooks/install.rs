//! Hooks in the settings of a client: put in, looked at, taken out.
//!
//! Owns where each client has its settings, and that they are left as they were found. What a change of the
//! text is belongs to `edit`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use flagpost_disk::fsx::{self, RealFs};
use flagpost_model::{
    client::Client,
    hook::{
        HookEvent,
        settings::{HookGuard, event_of},
    },
    names::names,
};

use super::{
    edit::{self, HookEntry},
    original::OriginalSettings,
};
use crate::{
    error::{Error, Result},
    home::Home,
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

/// opencode has a plugin in place of settings.
const PLUGIN: &str = include_str!("../../../../contrib/opencode/flagpost.js");

/// How the plugin says whether it refuses edits of reserved files.
const TELLS_ONLY: &str = "const denyReserved = false;";
const DENIES: &str = "const denyReserved = true;";

/// The settings of a client.
#[derive(Debug)]
pub struct HookSettings<'h> {
    home: &'h Home,
    /// Whose.
    pub client: Client,
    /// Their file.
    pub path: PathBuf,
    /// Where that is really, where it or a directory on the way to it is a link.
    pub leads_to: Option<PathBuf>,
}

/// What came of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookChange {
    /// The file is another than before.
    Written,
    /// It was as it should be.
    Unchanged,
}

impl<'h> HookSettings<'h> {
    /// Those of a client, in the repository with this top or of the user; `dirs` are where clients keep the
    /// user's own files, where a variable says so.
    pub fn of(
        home: &'h Home,
        client: Client,
        scope: HookScope,
        (top, dirs): (&Path, &BTreeMap<String, PathBuf>),
    ) -> Result<Self> {
        let path = match (client, scope) {
            (Client::Aider | Client::Acp, _) => {
                return Err(Error::Invalid {
                    what: "agent".to_owned(),
                    reason: format!("{client} has no hooks"),
                });
            }
            (_, HookScope::User) => users_own(client, home, dirs)?,
            (Client::Claude, HookScope::Project) => top.join(".claude/settings.local.json"),
            (Client::Claude, HookScope::Shared) => top.join(".claude/settings.json"),
            (Client::Codex, _) => top.join(".codex/hooks.json"),
            (Client::Gemini, _) => top.join(".gemini/settings.json"),
            (Client::Cursor, _) => top.join(".cursor/hooks.json"),
            (Client::Opencode, _) => top.join(".opencode/plugin/flagpost.js"),
        };
        let users = home.environment().user_home.as_deref();
        let from = match scope {
            HookScope::User => users.filter(|it| path.starts_with(it)).or(path.parent()),
            HookScope::Project | HookScope::Shared => Some(top),
        };
        Ok(Self {
            home,
            client,
            leads_to: leads_to(from.unwrap_or(top), &path)?,
            path: followed(path)?,
        })
    }

    /// The file with our entries, as it would be written.
    pub fn with(&self, program: &str, guard: HookGuard) -> Result<String> {
        let text = self.text()?.unwrap_or_default();
        let command = format!("{program} hook stop --agent {}", self.client);
        if event_of(&command).is_none() {
            return Err(Error::Invalid {
                what: program.to_owned(),
                reason: "its hooks are known again by its name, so call the program flagpost"
                    .to_owned(),
            });
        }
        match (self.client, guard) {
            (Client::Opencode, HookGuard::DenyReserved) => Ok(PLUGIN.replace(TELLS_ONLY, DENIES)),
            (Client::Opencode, HookGuard::TellOnly) => Ok(PLUGIN.to_owned()),
            (client, _) => {
                edit::with(&text, client, program, guard).map_err(|why| self.refused(&why))
            }
        }
    }

    /// Puts our entries in. What was there is kept in the home until they are taken out.
    pub fn install(&self, program: &str, guard: HookGuard) -> Result<HookChange> {
        let before = self.text()?;
        let after = self.with(program, guard)?;
        if before.as_deref() == Some(after.as_str()) {
            return Ok(HookChange::Unchanged);
        }
        match (self.client, &before) {
            (Client::Opencode, Some(it)) if !is_plugin(it) => {
                return Err(self.refused("it is none of Flagpost's"));
            }
            (Client::Opencode, _) => {}
            _ => {
                self.must_be_writable()?;
                let before = (before.as_deref(), !self.entries()?.is_empty());
                OriginalSettings::keep(self.home, &self.path, before, &after)?;
            }
        }
        self.write(before.as_deref(), &after)
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
        self.must_be_writable()?;
        let before = OriginalSettings::of(self.home, &self.path, &text)?;
        match before.map(OriginalSettings::text) {
            Some(Some(before)) => self.write(Some(&text), &before)?,
            Some(None) => self.remove()?,
            None => {
                let left = edit::without(&text).map_err(|why| self.refused(&why))?;
                self.write(Some(&text), &left)?
            }
        };
        OriginalSettings::forget(self.home, &self.path)?;
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

    /// Why the client itself does not read the file, where it is so.
    pub fn unread(&self) -> Result<Option<String>> {
        let text = self.text()?;
        Ok(text.and_then(|text| edit::unread(&text, self.client)))
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

    /// Refuses a file that its owner closed to changes: its directory would let us replace it.
    fn must_be_writable(&self) -> Result<()> {
        match fsx::stat(&RealFs, &self.path)? {
            Some(stat) if stat.mode & 0o222 == 0 => Err(self.refused("it is read-only")),
            _ => Ok(()),
        }
    }

    /// Writes the file; one that somebody else changed since it was read is refused.
    fn write(&self, before: Option<&str>, text: &str) -> Result<HookChange> {
        if let Some(dir) = self.path.parent() {
            fsx::make_dirs(&RealFs, dir)?;
        }
        let before = before.map(str::as_bytes);
        fsx::rewrite(&RealFs, &self.path, before, text.as_bytes())?;
        Ok(HookChange::Written)
    }

    fn remove(&self) -> Result<HookChange> {
        fsx::remove(&RealFs, &self.path)?;
        Ok(HookChange::Written)
    }

    fn refused(&self, why: &str) -> Error {
        Error::Invalid {
            what: self.path.display().to_string(),
            reason: format!("{why}; it was left as it is"),
        }
    }
}

/// The user's own settings of a client: where its variable says, else below the user's home.
fn users_own(client: Client, home: &Home, dirs: &BTreeMap<String, PathBuf>) -> Result<PathBuf> {
    let (variable, below, file) = match client {
        Client::Claude => ("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
        Client::Codex => ("CODEX_HOME", ".codex", "hooks.json"),
        // The variable names what the user's home is to it.
        Client::Gemini => ("GEMINI_CLI_HOME", "", ".gemini/settings.json"),
        Client::Opencode => ("XDG_CONFIG_HOME", ".config", "opencode/plugin/flagpost.js"),
        Client::Cursor | Client::Acp | Client::Aider => ("", ".cursor", "hooks.json"),
    };
    let users = home.environment().user_home.as_deref();
    let dir = dirs.get(variable).cloned();
    let dir = dir.or_else(|| Some(users?.join(below)));
    let dir = dir.ok_or_else(|| Error::Invalid {
        what: "HOME".to_owned(),
        reason: "it is not set, so nobody knows where your own settings are".to_owned(),
    })?;
    Ok(dir.join(file))
}

/// The file that is changed: where a link leads to.
fn followed(path: PathBuf) -> Result<PathBuf> {
    let Ok(target) = std::fs::read_link(&path) else {
        return Ok(path);
    };
    path.canonicalize().map_err(|error| Error::Invalid {
        what: path.display().to_string(),
        reason: format!(
            "it is a link to {}, which cannot be followed ({error}); it was left as it is",
            target.display()
        ),
    })
}

/// Where a path leads, by the links in it that lie below the directory `from`; none where there are none.
fn leads_to(from: &Path, path: &Path) -> Result<Option<PathBuf>> {
    let (mut real, mut is_linked) = (from.to_owned(), false);
    for part in path.strip_prefix(from).unwrap_or(path) {
        real.push(part);
        if real.is_symlink() {
            (real, is_linked) = (followed(real)?, true);
        }
    }
    Ok(is_linked.then_some(real))
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
