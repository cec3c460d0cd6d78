//! What in a repository's git decides which programs a landing runs: its configuration, its hooks, its
//! attributes.
//!
//! Owns the look at them when a run begins, and which of them are others since. An agent can write them all,
//! and git runs what they say in the operator's name. A branch's own settings (`branch.*`) run nothing. Hooks
//! among the repository's files come by commits, as all that is checked does, and are not looked at here.
//! Values are kept by their hashes, since some hold credentials.

use std::{collections::BTreeMap, path::PathBuf};

use flagpost_disk::fsx;
use flagpost_model::envelope::Hash;
use serde::{Deserialize, Serialize};

use crate::{
    error::Result,
    git::{Git, text},
    home::Home,
    repository::Repository,
};

/// The file beside the repository's history.
const SEEN: &str = "git.seen.json";

/// Hashes of what decides, by words for it.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GitSettings(BTreeMap<String, String>);

impl GitSettings {
    /// As they are now; none where there is no git.
    pub fn of(repository: &Repository) -> Result<Self> {
        let top = &repository.top;
        let mut places = Git::at(top).args(&["rev-parse", "--path-format=absolute"]);
        places = places.args(&["--git-path", "hooks", "--git-path", "info/attributes"]);
        let answer = places.ask()?;
        if answer.code() != Some(0) {
            return Ok(Self::default());
        }
        let mut settings = BTreeMap::new();
        let listed = Git::at(top)
            .args(&["config", "--local", "--list", "-z"])
            .run()?;
        for entry in listed.split(|byte| *byte == 0).filter(|it| !it.is_empty()) {
            let key = entry.split(|byte| *byte == b'\n').next().unwrap_or(entry);
            let key = String::from_utf8_lossy(key).into_owned();
            if !key.starts_with("branch.") {
                let value: &mut Vec<u8> = settings.entry(key).or_default();
                value.extend(entry);
                value.push(0);
            }
        }
        let places = text(&answer.out);
        let mut places = places.lines().map(PathBuf::from);
        let (hooks, attributes) = (places.next(), places.next());
        let hooks = hooks.filter(|it| !it.starts_with(top) || it.starts_with(top.join(".git")));
        let fs = &fsx::RealFs;
        if let Some(hooks) = hooks.filter(|it| it.is_dir()) {
            let names = fsx::names(fs, &hooks)?.into_iter();
            // Git runs none of those that it puts there as samples.
            for name in names.filter(|it| !it.as_encoded_bytes().ends_with(b".sample")) {
                let content = fsx::read(fs, &hooks.join(&name)).ok().flatten();
                let name = format!("hook {}", name.to_string_lossy());
                settings.extend(content.map(|it| (name, it)));
            }
        }
        if let Some(path) = attributes {
            let content = fsx::read(fs, &path)?;
            settings.extend(content.map(|it| ("info/attributes".to_owned(), it)));
        }
        let hashed = settings
            .into_iter()
            .map(|(name, value)| (name, Hash::of(&value).into()));
        Ok(Self(hashed.collect()))
    }

    /// As they were when the last run began, or somebody looked at what had changed; none where nobody did.
    fn seen(home: &Home, repository: &Repository) -> Result<Option<Self>> {
        let bytes = fsx::read(home.fs(), &path(home, repository))?;
        // One that cannot be read is as good as none: the next run writes it anew.
        Ok(bytes.and_then(|it| serde_json::from_slice(&it).ok()))
    }

    /// From now on these are known.
    pub fn keep(&self, home: &Home, repository: &Repository) -> Result<()> {
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        home.make_dirs(&home.repository_dir(&repository.id))?;
        Ok(fsx::replace(home.fs(), &path(home, repository), &bytes)?)
    }

    /// Which of them were changed, added or removed since the last run began.
    pub fn changed(&self, home: &Home, repository: &Repository) -> Result<Vec<String>> {
        let Some(seen) = Self::seen(home, repository)? else {
            return Ok(Vec::new());
        };
        let names = self.0.keys().chain(seen.0.keys());
        let is_other = |name: &&String| self.0.get(*name) != seen.0.get(*name);
        let mut changed: Vec<String> = names.filter(is_other).cloned().collect();
        changed.sort();
        changed.dedup();
        Ok(changed)
    }
}

fn path(home: &Home, repository: &Repository) -> PathBuf {
    home.repository_dir(&repository.id).join(SEEN)
}
