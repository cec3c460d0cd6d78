//! What a landing does at the moment, and why the last one ended early, for whoever looks from elsewhere.
//!
//! Owns `land.json` and `land-failed.json` beside the lock. The first is believed only while somebody holds the lock.
//! Neither is ever needed: a landing that finds one left by another one writes its own.

use flagpost_disk::fsx;
use flagpost_model::{TaskId, names};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::lock_path;
use crate::{error::Result, home::Home, repository::Repository};

/// The file's name.
const FILE: &str = "land.json";

/// The name of the file that a landing leaves where it did not come to its end.
const FAILED: &str = "land-failed.json";

names! {
    /// What is done with branches on their way.
    LandingStep {
        /// They are merged.
        Merging = "merging",
        /// The check runs on them.
        Checking = "checking",
        /// They are pushed.
        Pushing = "pushing",
    }
}

/// What a landing does at the moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LandingActivity {
    /// What it does.
    pub step: LandingStep,
    /// With the branches of these tasks.
    pub tasks: Vec<TaskId>,
    /// The target branch.
    pub onto: String,
    /// The check, where it runs.
    pub check: Option<String>,
    /// Since when.
    pub since: Timestamp,
}

/// Why the last landing ended before its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LandingFailure {
    /// In words.
    pub why: String,
    /// When.
    pub at: Timestamp,
}

impl LandingFailure {
    /// Keeps it until the next landing begins.
    pub fn keep(&self, home: &Home, repository: &Repository) -> Result<()> {
        write(home, repository, FAILED, self)
    }

    /// A landing begins anew.
    pub fn clear(home: &Home, repository: &Repository) -> Result<()> {
        remove(home, repository, FAILED)
    }

    /// That of the last landing; none where it came to its end.
    pub fn read(home: &Home, repository: &Repository) -> Result<Option<Self>> {
        read(home, repository, FAILED)
    }
}

impl LandingActivity {
    /// Lets others know.
    pub fn show(&self, home: &Home, repository: &Repository) -> Result<()> {
        write(home, repository, FILE, self)
    }

    /// Nothing is under way any more.
    pub fn clear(home: &Home, repository: &Repository) -> Result<()> {
        remove(home, repository, FILE)
    }

    /// What is under way, where something is.
    pub fn read(home: &Home, repository: &Repository) -> Result<Option<Self>> {
        let fs = home.fs();
        let lock = lock_path(home, repository);
        let is_held = fsx::stat(fs, &lock)?.is_some() && fsx::try_hold(fs, &lock)?.is_none();
        if !is_held {
            return Ok(None);
        }
        read(home, repository, FILE)
    }
}

fn write(home: &Home, repository: &Repository, name: &str, what: &impl Serialize) -> Result<()> {
    let path = home.repository_dir(&repository.id).join(name);
    let text = serde_json::to_vec(what).unwrap_or_default();
    Ok(fsx::replace(home.fs(), &path, &text)?)
}

fn remove(home: &Home, repository: &Repository, name: &str) -> Result<()> {
    let path = home.repository_dir(&repository.id).join(name);
    Ok(fsx::remove(home.fs(), &path)?)
}

fn read<T: DeserializeOwned>(
    home: &Home,
    repository: &Repository,
    name: &str,
) -> Result<Option<T>> {
    let path = home.repository_dir(&repository.id).join(name);
    let bytes = fsx::read(home.fs(), &path)?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}
