//! What in a repository's git decides which programs a landing runs: its configuration, its hooks, its
//! attributes.
//!
//! Owns the look at them when a run begins, and which of them are others since, the user's own settings included. An
//! agent can write them all, and git runs what they say in the operator's name. A branch's own settings (`branch.*`)
//! run nothing. Hooks among the repository's files come by commits, as all that is checked does: there, only what is
//! in no commit is looked at. Values are kept by their hashes, since some hold credentials.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
};

use flagpost_disk::fsx;
use flagpost_model::envelope::Hash;
use serde::{Deserialize, Serialize};

use crate::{
    error::Result,
    git::{self, Git, text},
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
        // Of the user, too, and of what the others include; not of this very call.
        let listed = Git::at(top)
            .args(&["config", "--list", "--show-scope", "-z"])
            .run()?;
        let mut parts = listed.split(|byte| *byte == 0);
        while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
            let key = entry.split(|byte| *byte == b'\n').next().unwrap_or(entry);
            let key = String::from_utf8_lossy(key).into_owned();
            if scope != b"command" && !key.starts_with("branch.") {
                let value: &mut Vec<u8> = settings.entry(key).or_default();
                value.extend(entry);
                value.push(0);
            }
        }
        let places = text(&answer.out);
        let mut places = places.lines().map(PathBuf::from);
        let (hooks, attributes) = (places.next(), places.next());
        let fs = &fsx::RealFs;
        if let Some(hooks) = hooks.filter(|it| it.is_dir()) {
            for path in hook_files(top, &hooks)? {
                // A link is what it leads to; who may run it counts as much as what it does.
                let at = path.canonicalize().unwrap_or_else(|_| path.clone());
                let Some(stat) = fsx::stat(fs, &at)? else {
                    continue;
                };
                let Some(mut content) = fsx::read(fs, &at).ok().flatten() else {
                    continue;
                };
                content.push(u8::from(stat.mode & 0o111 != 0));
                let name = path.strip_prefix(&hooks).unwrap_or(&path);
                settings.insert(format!("hook {}", name.display()), content);
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

/// The files that may be hooks; among the repository's files, those that its commit does not have as they are.
fn hook_files(top: &Path, hooks: &Path) -> Result<Vec<PathBuf>> {
    // Husky's own run those beside them.
    let beside = hooks.parent().filter(|_| hooks.ends_with(".husky/_"));
    let mut files = Vec::new();
    for dir in [Some(hooks), beside].into_iter().flatten() {
        let names = fsx::names(&fsx::RealFs, dir)?.into_iter();
        // Git runs none of those that it puts there as samples.
        let names = names.filter(|it| !it.as_encoded_bytes().ends_with(b".sample"));
        files.extend(names.map(|it| dir.join(it)).filter(|it| it.is_file()));
    }
    let mut inside = Git::at(hooks).args(&["rev-parse", "--is-inside-work-tree"]);
    // Not so in git's own directory.
    if hooks.starts_with(top) && text(&inside.ask()?.out) == "true" {
        let committed = committed(top, &files)?;
        files.retain(|it| !committed.contains(it));
    }
    Ok(files)
}

/// Those of these files that are as the commit has them, whatever git was told to overlook. A link may lead to
/// one that is not.
fn committed(top: &Path, files: &[PathBuf]) -> Result<BTreeSet<PathBuf>> {
    let plain: Vec<&PathBuf> = files.iter().filter(|it| !it.is_symlink()).collect();
    if plain.is_empty() || git::commit(top, "HEAD")?.is_none() {
        return Ok(BTreeSet::new());
    }
    let listed = Git::at(top)
        .args(&["ls-tree", "-r", "-z", "HEAD", "--"])
        .args(&plain)
        .run()?;
    let hashed = Git::at(top)
        .args(&["hash-object", "--no-filters", "--"])
        .args(&plain)
        .run()?;
    let hashed = text(&hashed);
    let now: BTreeMap<&PathBuf, &str> = plain.into_iter().zip(hashed.lines()).collect();
    let mut same = BTreeSet::new();
    for entry in listed.split(|byte| *byte == 0) {
        // `MODE blob NAME`, a tab, the path.
        let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else {
            continue;
        };
        let path = top.join(OsStr::from_bytes(&entry[tab + 1..]));
        let head = String::from_utf8_lossy(&entry[..tab]);
        let words: Vec<&str> = head.split(' ').collect();
        let is_run = path.metadata().is_ok_and(|it| it.mode() & 0o111 != 0);
        if let [mode, _, blob] = words.as_slice()
            && now.get(&path) == Some(blob)
            && (*mode == "100755") == is_run
        {
            same.insert(path);
        }
    }
    Ok(same)
}

fn path(home: &Home, repository: &Repository) -> PathBuf {
    home.repository_dir(&repository.id).join(SEEN)
}
