//! Where a client that only prints something keeps its files meanwhile.
//!
//! Owns a directory for each look, and the variables that lead a client there: some write into their
//! user's directory even to print their help. Invariant: it is gone afterwards.

use std::{ffi::OsString, path::PathBuf};

use flagpost_disk::fsx::{self, RealFs};

use super::CheckTarget;
use crate::client::Client;

/// A directory for the files that a client writes even when it only prints its help.
pub(super) struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new() -> Result<Self, flagpost_disk::Error> {
        let name = format!("flagpost-{}", uuid::Uuid::new_v4());
        let dir = std::env::temp_dir().join(name);
        fsx::make_dirs(&RealFs, &dir)?;
        Ok(Self(dir))
    }

    /// What makes the client keep its files there. `HOME` stays: the programs that versions of Node
    /// are switched with look there.
    pub fn variables(&self, subject: &CheckTarget) -> Vec<(String, OsString)> {
        let own: &[&str] = match subject.client {
            Client::Claude => &["CLAUDE_CONFIG_DIR"],
            Client::Codex => &["CODEX_HOME"],
            Client::Gemini => &["GEMINI_CLI_HOME"],
            Client::Opencode => &[
                "XDG_CONFIG_HOME",
                "XDG_DATA_HOME",
                "XDG_CACHE_HOME",
                "XDG_STATE_HOME",
            ],
            Client::Cursor | Client::Acp | Client::Aider => &[],
        };
        let quiet = [
            ("NO_COLOR", "1"),
            ("TERM", "dumb"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ];
        let settled = subject.env.iter();
        let settled = settled.map(|(name, value)| (name.clone(), OsString::from(value)));
        let quiet = quiet.map(|(name, value)| (name.to_owned(), OsString::from(value)));
        let own = own
            .iter()
            .map(|name| ((*name).to_owned(), self.0.clone().into()));
        settled.chain(quiet).chain(own).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What a client still writes there after its end is the system's to clear away.
        let _ = fsx::remove_tree(&self.0);
    }
}
