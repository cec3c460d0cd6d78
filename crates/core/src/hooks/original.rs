//! A client's settings as they were before our entries.
//!
//! Owns `client-settings/` in the home: a file for each settings file that holds our entries. It is in the
//! home, since settings may hold a key: beside them, in a repository, a copy of it would be committed. Only
//! what nobody else changed since is given back.

use std::{os::unix::ffi::OsStrExt as _, path::Path};

use flagpost_disk::fsx;
use flagpost_model::envelope::Hash;
use serde::{Deserialize, Serialize};

use crate::{error::Result, files, home::Home};

/// The directory's name.
const DIR: &str = "client-settings";

/// What is known of one file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OriginalSettings {
    /// Where it is, for a person who looks.
    path: String,
    /// What was in it; nothing where it was not there.
    text: Option<String>,
    /// What we made of it.
    installed: Hash,
}

impl OriginalSettings {
    /// Keeps what was in a file that is to hold our entries; `has_ours` says that it holds some already.
    pub(super) fn keep(
        home: &Home,
        path: &Path,
        (before, has_ours): (Option<&str>, bool),
        after: &str,
    ) -> Result<()> {
        let text = match (has_ours, Self::of(home, path, before.unwrap_or_default())?) {
            (false, _) => before.map(str::to_owned),
            (true, Some(kept)) => kept.text,
            // What was there before them, nobody knows any more.
            (true, None) => return Self::forget(home, path),
        };
        let kept = Self {
            path: path.display().to_string(),
            text,
            installed: Hash::of(after.as_bytes()),
        };
        let file = file(home, path);
        home.make_dirs(&home.root().join(DIR))?;
        let bytes = serde_json::to_vec(&kept).unwrap_or_default();
        Ok(fsx::replace(home.fs(), &file, &bytes)?)
    }

    /// What was in a file, where `now` is what we made of it.
    pub(super) fn of(home: &Home, path: &Path, now: &str) -> Result<Option<Self>> {
        let bytes = fsx::read(home.fs(), &file(home, path))?;
        let kept = bytes.and_then(|it| serde_json::from_slice::<Self>(&it).ok());
        Ok(kept.filter(|it| it.installed == Hash::of(now.as_bytes())))
    }

    /// What was in it; nothing where it was not there.
    pub(super) fn text(self) -> Option<String> {
        self.text
    }

    /// The file holds none of our entries any more.
    pub(super) fn forget(home: &Home, path: &Path) -> Result<()> {
        let file = file(home, path);
        match fsx::stat(home.fs(), &file)? {
            Some(_) => Ok(fsx::remove(home.fs(), &file)?),
            None => Ok(()),
        }
    }
}

fn file(home: &Home, path: &Path) -> std::path::PathBuf {
    let place = files::real(path);
    let name = Hash::of(place.as_os_str().as_bytes());
    let name = format!("{}.json", name.as_str());
    home.root().join(DIR).join(name)
}
