//! The configuration: what a person settled once for all runs.
//!
//! Owns `config.toml` in the home, and which of option, environment, file and default wins. A verb
//! reads a setting when it needs it, so that a fault in the file costs only who asks. Invariant: a
//! file that cannot be read is never written, and writing keeps everything that was not meant.

mod agents;
mod document;
pub mod keys;
mod kind;
mod naming;

use std::path::PathBuf;

use flagpost_disk::{self as disk, fsx};
use flagpost_model::{
    ListId,
    query::{InvalidQuery, Query},
};

pub use self::{
    agents::{AgentSettings, is_secret},
    kind::{PortBlocks, SettingKind, SettingValue},
};
use self::{
    document::{Document, RawSetting},
    keys::{AnySetting, KEY, KEYS, PATTERNS, QUERY, SettingKey, SettingSpec},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    error::{Error, Result},
    home::Home,
};

/// The file's name in the home.
const FILE: &str = "config.toml";

/// The table of what holds in one repository only: `repositories.NAME.run.worktree.setup`.
const REPOSITORIES: &str = "repositories";

/// How alike a known name must be to be what was meant, from 0 to 1.
const ALIKE: f64 = 0.75;

/// The configuration as it was when it was read.
#[derive(Debug)]
pub struct Config<'h> {
    home: &'h Home,
    path: PathBuf,
    document: Document,
    /// The repository whose own settings come before those of all.
    repository: Option<String>,
}

/// One setting, and where its value is from.
#[derive(Debug)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// What is said about it.
    pub about: &'static SettingSpec,
    /// Its value; `None` where nobody set one and there is no default.
    pub value: Option<SettingValue>,
    /// Where the value is from.
    pub origin: Origin,
    /// What holds without anybody's setting it.
    pub default: Option<SettingValue>,
}

impl Setting {
    /// Whether its value is kept off screens; see [`is_secret`].
    pub fn is_secret(&self) -> bool {
        is_secret(&self.name)
    }
}

/// Where a value is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Origin {
    /// From nowhere: there is none.
    Unset,
    /// It is built in.
    Default,
    /// `config.toml`.
    #[serde(rename = "config.toml")]
    File,
    /// A variable of the environment.
    Environment,
}

/// A name in the file that is no setting.
#[derive(Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The name.
    pub name: String,
    /// On which line.
    pub line: usize,
    /// What may be meant.
    pub suggestion: Option<String>,
}

/// A setting that a name was found to mean.
struct Meant {
    known: &'static dyn AnySetting,
    path: Vec<String>,
}

impl Meant {
    /// Whether it is meant as it holds in one repository only.
    fn is_of_a_repository(&self) -> bool {
        self.path.first().is_some_and(|it| it == REPOSITORIES)
    }
}

impl Origin {
    /// As printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unset => "unset",
            Self::Default => "default",
            Self::File => FILE,
            Self::Environment => "environment",
        }
    }
}

impl<'h> Config<'h> {
    /// Reads the file; none is an empty one.
    pub fn read(home: &'h Home) -> Result<Self> {
        let path = path(home)?;
        let bytes = fsx::read(home.fs(), &path)?.unwrap_or_default();
        let document = Document::parse(&path, bytes)?;
        Ok(Self {
            home,
            path,
            document,
            repository: None,
        })
    }

    /// The same, as it holds in the repository of this name.
    pub fn of(home: &'h Home, repository: &ListId) -> Result<Self> {
        Ok(Self {
            repository: Some(repository.to_string()),
            ..Self::read(home)?
        })
    }

    /// Where the file is, or would be.
    pub fn path(&self) -> &PathBuf {
        &self.path
    }

    /// What a verb goes by where no option says otherwise.
    pub fn get<K: SettingKind>(&self, key: &'static SettingKey<K>) -> Result<Option<K::Value>> {
        self.chosen(key, &[])
    }

    /// The same, of a setting in whose name these words stand for what the user chose.
    fn chosen<K: SettingKind>(
        &self,
        key: &'static SettingKey<K>,
        words: &[&str],
    ) -> Result<Option<K::Value>> {
        let setting = self.setting(&naming::name_of(key.about.name, words))?;
        Ok(setting.value.and_then(|value| key.kind.read(&value)))
    }

    /// The same, of a setting without which nothing goes on.
    pub fn need<K: SettingKind>(&self, key: &'static SettingKey<K>) -> Result<K::Value> {
        let unset = || Error::Unset {
            name: key.about.name.to_owned(),
        };
        self.get(key)?.ok_or_else(unset)
    }

    /// A saved query.
    pub fn query(&self, name: &ListId) -> Result<Option<String>> {
        self.chosen(&QUERY, &[name.as_str()])
    }

    /// The setting of this name.
    pub fn setting(&self, name: &str) -> Result<Setting> {
        let meant = self.meant(name)?;
        let about = meant.known.about();
        let is_general = !meant.is_of_a_repository();
        let typed = |text: &str| meant.known.store(&meant.known.typed(text));
        let default = about.default.filter(|_| is_general).map(typed);
        let variable = about.variable.filter(|_| is_general);
        let from_environment = variable.and_then(|name| {
            let text = self.home.environment().settings.get(name)?;
            Some((name, typed(text)))
        });
        let here = self.repository.as_deref().filter(|_| is_general);
        let here = here.and_then(|repository| {
            let path = [vec![REPOSITORIES, repository], borrowed(&meant.path)].concat();
            Some((self.document.get(&path)?, path.join(".")))
        });
        let (in_file, name_there) = match here {
            Some((held, name)) => (Some(held), name),
            None => (self.document.get(&borrowed(&meant.path)), name.to_owned()),
        };
        let (value, origin) = match (from_environment, in_file) {
            (Some((variable, value)), _) => {
                if !meant.known.takes(&value) {
                    return Err(must_be(&format!("${variable}"), meant.known));
                }
                (Some(value), Origin::Environment)
            }
            (None, Some(held)) => match held.value {
                Some(value) if meant.known.takes(&value) => (Some(value), Origin::File),
                _ => {
                    let allowed = meant.known.allowed();
                    return Err(self.wrong(&name_there, &held, &allowed));
                }
            },
            (None, None) if default.is_some() => (default.clone(), Origin::Default),
            (None, None) => (None, Origin::Unset),
        };
        Ok(Setting {
            name: name.to_owned(),
            about,
            value,
            origin,
            default,
        })
    }

    /// Whether the setting of this name can be used.
    pub(crate) fn check(&self, name: &str) -> Result<()> {
        match self.setting(name)?.value {
            Some(SettingValue::Text(text)) if is_query(self.meant(name)?.known) => {
                query_of(name, &text).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Every setting there is: those with a name of their own, then those in the file whose name the
    /// user chose.
    pub fn settings(&self) -> Result<Vec<Setting>> {
        self.names().map(|name| self.setting(&name)).collect()
    }

    /// The names of all settings: those of their own, then those in the file that the user chose, then those
    /// there of one repository.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let general = KEYS.iter().map(|key| key.about().name.to_owned());
        let of = |pattern: &&'static dyn AnySetting| self.named_by(pattern.about());
        let general = general.chain(PATTERNS.iter().flat_map(of));
        let of_one = self.document.names().into_iter().filter_map(|path| {
            let name = path.join(".");
            let meant = known(&name).filter(|meant| meant.path == path)?;
            meant.is_of_a_repository().then_some(name)
        });
        general.chain(of_one)
    }

    /// The names in the file that one entry of the table is about.
    fn named_by(&self, about: &'static SettingSpec) -> impl Iterator<Item = String> {
        let paths = self.document.names().into_iter();
        paths.filter_map(|path| {
            let name = path.join(".");
            let meant = known(&name).filter(|meant| meant.path == path)?;
            (meant.known.about().name == about.name).then_some(name)
        })
    }

    /// The names in the file that are no settings. They do no harm.
    pub fn unknown(&self) -> Vec<Unknown> {
        let paths = self.document.names().into_iter();
        // By their paths: "run.retries" in quotes is another name than retries of [run].
        let unknown = paths.filter(|path| known(&path.join(".")).is_none_or(|it| it.path != *path));
        unknown
            .map(|path| {
                let name = path.join(".");
                let held = self.document.get(&borrowed(&path));
                Unknown {
                    line: held.map_or(0, |held| held.line),
                    suggestion: self.suggestion(&name),
                    name,
                }
            })
            .collect()
    }

    /// The names of the saved queries, as settings: `queries.NAME`.
    pub fn queries(&self) -> impl Iterator<Item = String> {
        self.named_by(&QUERY.about)
    }

    /// The keys that a person gave to commands of the cockpit: a command's name and its keys.
    pub fn own_keys(&self) -> Result<Vec<(String, String)>> {
        let names = self.named_by(&KEY.about);
        let own = names.map(|name| {
            let command = name.strip_prefix("keys.").unwrap_or(&name).to_owned();
            let keys = self.setting(&name)?.value;
            Ok((command, keys.map(|it| it.to_string()).unwrap_or_default()))
        });
        own.collect()
    }

    fn meant(&self, name: &str) -> Result<Meant> {
        known(name).ok_or_else(|| Error::UnknownKey {
            name: name.to_owned(),
            suggestion: self.suggestion(name),
        })
    }

    /// The error where a table or a value stands in the way.
    fn by_hand(&self, name: &str) -> Error {
        Error::Invalid {
            what: name.to_owned(),
            reason: format!("{} has something else there", self.path.display()),
        }
    }

    /// The error that says which line of the file holds what it must not.
    fn wrong(&self, name: &str, held: &RawSetting, allowed: &str) -> Error {
        let written: String = match is_secret(name) {
            true => "something else, not shown".to_owned(),
            false => held.written.chars().take(60).collect(),
        };
        let reason = format!(
            "line {}: {name} must be {allowed}; it is {written}",
            held.line
        );
        let path = self.path.clone();
        disk::Error::Malformed { path, reason }.into()
    }

    /// The setting whose name is most like this one.
    fn suggestion(&self, name: &str) -> Option<String> {
        let like = |key: &&'static dyn AnySetting| naming::like(key.about().name, name);
        // What a user chose says nothing about the table that was meant.
        let table = |it: &str| it.split('.').next().unwrap_or_default().to_owned();
        let is_near = |it: &String| naming::likeness(&table(name), &table(it)) > ALIKE;
        let chosen = PATTERNS.iter().filter_map(like).filter(is_near);
        let could_be = self.names().chain(chosen);
        let rated = could_be.map(|known| (naming::likeness(name, &known), known));
        let best = rated.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
        (best.0 > ALIKE).then_some(best.1)
    }
}

/// Where the file is, or would be. People keep such files elsewhere and link to them.
pub fn path(home: &Home) -> Result<PathBuf> {
    let path = home.root().join(FILE);
    match home.fs().canonical(&path) {
        Ok(real) => Ok(real),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(path),
        Err(error) => Err(disk::Error::io("read", &path)(error).into()),
    }
}

/// What was stored.
#[derive(Debug)]
pub struct Stored {
    /// The value.
    pub value: SettingValue,
    /// The variable of the environment that comes before it now.
    pub overridden: Option<&'static str>,
}

/// Stores what was typed for a setting, durable on return.
pub fn set(home: &Home, name: &str, typed: &[String]) -> Result<Stored> {
    change(home, |config| {
        let Meant { known, path } = config.meant(name)?;
        if typed.len() != 1 && !known.is_many() {
            return Err(Error::Invalid {
                what: name.to_owned(),
                reason: "it takes one value; quote one of several words".to_owned(),
            });
        }
        let value = known.store(typed);
        if !known.takes(&value) {
            return Err(must_be(name, known));
        }
        if let SettingValue::Text(text) = &value
            && is_query(known)
        {
            query_of(name, text)?;
        }
        let text = config.document.with(&borrowed(&path), &value);
        let text = text.ok_or_else(|| config.by_hand(name))?;
        let variables = &home.environment().settings;
        let variable = known.about().variable;
        let overridden = variable.filter(|name| variables.contains_key(*name));
        Ok((Some(text), Stored { value, overridden }))
    })
}

/// What a text that is saved as a query asks; `place` is where it stands.
pub fn query_of(place: &str, text: &str) -> Result<Query> {
    text.parse()
        .map_err(|refused: InvalidQuery| Error::Invalid {
            what: format!("{place}, {text:?}"),
            reason: match text.trim_start().starts_with('@') {
                true => "a saved query cannot begin with another".to_owned(),
                false => refused.to_string(),
            },
        })
}

fn is_query(known: &dyn AnySetting) -> bool {
    known.about().name == QUERY.about.name
}

/// Takes a setting out of the file, durable on return; whether it was there. What is no setting
/// can be taken out as well.
pub fn unset(home: &Home, name: &str) -> Result<bool> {
    change(home, |config| {
        let mut paths = config.document.names();
        paths.retain(|path| path.join(".") == name);
        let meant = known(name).map(|meant| meant.path);
        let Some(path) = meant.filter(|path| paths.contains(path)).or(paths.pop()) else {
            config.meant(name)?;
            return Ok((None, false));
        };
        let text = config.document.without(&borrowed(&path));
        Ok((Some(text.ok_or_else(|| config.by_hand(name))?), true))
    })
}

/// One change of the file, locked from its reading on: `rule` gives the new text, if any.
fn change<T>(home: &Home, rule: impl Fn(&Config<'_>) -> Result<(Option<String>, T)>) -> Result<T> {
    // Who types nonsense makes no home.
    if let (None, answer) = rule(&Config::read(home)?)? {
        return Ok(answer);
    }
    home.make_dirs(home.root())?;
    let _lock = home.lock()?;
    let config = Config::read(home)?;
    let (text, answer) = rule(&config)?;
    if let Some(text) = text {
        // Acknowledged means that it can be read again.
        if text.len() as u64 > fsx::READ_LIMIT {
            return Err(Error::Invalid {
                what: config.path.display().to_string(),
                reason: format!("it would be larger than {} bytes", fsx::READ_LIMIT),
            });
        }
        Document::parse(&config.path, text.clone().into_bytes())?;
        fsx::replace(home.fs(), &config.path, text.as_bytes())?;
    }
    Ok(answer)
}

fn must_be(what: &str, known: &dyn AnySetting) -> Error {
    Error::Invalid {
        what: what.to_owned(),
        reason: format!("it must be {}", known.allowed()),
    }
}

fn borrowed(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

/// The setting that a name means.
fn known(name: &str) -> Option<Meant> {
    if let Some((repository, key)) = naming::of_repository(name) {
        let path = [REPOSITORIES, repository].into_iter();
        let path = path.chain(key.about().name.split('.'));
        let path = path.map(str::to_owned).collect();
        return Some(Meant { known: key, path });
    }
    KEYS.into_iter().chain(PATTERNS).find_map(|known| {
        let path = naming::path_of(known.about().name, name)?;
        Some(Meant { known, path })
    })
}
