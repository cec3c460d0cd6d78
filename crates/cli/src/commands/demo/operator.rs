//! The demonstration's operator: a script that answers as a person would, from another terminal.
//!
//! Owns that its environment is a person's, whatever the demonstration was started from, and that it
//! never outlives the demonstration.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
};

use anyhow::Context as _;
use flagpost_core::{Home, Settings};
use flagpost_run::OF_AGENTS;

/// The script while it runs.
pub struct Operator(Child);

impl Operator {
    /// Starts the script in the project; it finds the program that this is.
    pub fn start(
        script: &Path,
        project: &Path,
        home: &Home,
        settings: &Settings,
    ) -> anyhow::Result<Self> {
        let own = std::env::current_exe().context("this program cannot find itself")?;
        let mut command = Command::new("sh");
        for name in OF_AGENTS.iter().chain(&["FLAGPOST_LIST"]) {
            command.env_remove(name);
        }
        for name in &settings.parent_agent {
            command.env_remove(name);
        }
        let child = command
            .arg(script)
            .current_dir(project)
            .env("FLAGPOST_HOME", home.root())
            .env("FLAGPOST_BIN", own)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("sh cannot be run")?;
        Ok(Self(child))
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        // One that has ended needs neither.
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}
