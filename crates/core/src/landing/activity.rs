//! What a landing does at the moment, for whoever looks from elsewhere.
//!
//! Owns `land.json` beside the lock. It is believed only while somebody holds the lock, and never needed:
//! a landing that finds one left by a dead landing writes its own.

use flagpost_disk::fsx;
use flagpost_model::{TaskId, names};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lock_path;
use crate::{error::Result, home::Home, repository::Repository};

/// The file's name.
const FILE: &str = "land.json";

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

impl LandingActivity {
    /// Lets others know.
    pub fn show(&self, home: &Home, repository: &Repository) -> Result<()> {
        let path = home.repository_dir(&repository.id).join(FILE);
        let text = serde_json::to_vec(self).unwrap_or_default();
        Ok(fsx::replace(home.fs(), &path, &text)?)
    }

    /// Nothing is under way any more.
    pub fn clear(home: &Home, repository: &Repository) -> Result<()> {
        let path = home.repository_dir(&repository.id).join(FILE);
        Ok(fsx::remove(home.fs(), &path)?)
    }

    /// What is under way, where something is.
    pub fn read(home: &Home, repository: &Repository) -> Result<Option<Self>> {
        let fs = home.fs();
        let lock = lock_path(home, repository);
        let is_held = fsx::stat(fs, &lock)?.is_some() && fsx::try_hold(fs, &lock)?.is_none();
        if !is_held {
            return Ok(None);
        }
        let path = home.repository_dir(&repository.id).join(FILE);
        let bytes = fsx::read(fs, &path)?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }
}
