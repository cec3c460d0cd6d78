//! What Codex keeps of its threads and does not print, and what its sandbox leaves.
//!
//! Owns where the first is: `$CODEX_HOME`, as the agent's own environment or ours says. It is only read: how
//! its account stands with its limits, and what a thread used: before it is resumed, and where its process was
//! ended before it told.
//!
//! Its sandbox makes a directory for each place that it mounts over, and removes it when its command ends. Two
//! commands at once may take the other's for the user's, and leave it (openai/codex#31599 tells of a like
//! case). A run opens the directories of git to it, and sees to it that none stays there.

use std::path::PathBuf;

use flagpost_disk::fsx;
use flagpost_model::{TaskId, session::Usage};

use super::Driver;
use crate::{
    agent::Agent,
    client::{Client, Limit, codex_rollout_limits, codex_rollout_usage},
    error::Result,
};

/// Where its sandbox mounts over, in each directory that it opens.
const MOUNT_POINTS: [&str; 4] = [".agents", ".aws", ".codex", ".git"];

impl Driver<'_> {
    /// These directories are about to be open to its sandbox: what is not there now is not the user's.
    pub(super) fn note_mount_points(&mut self, open: &[PathBuf]) {
        let all = open
            .iter()
            .flat_map(|dir| MOUNT_POINTS.map(|name| dir.join(name)));
        let missing = all.filter(|path| matches!(fsx::stat(&fsx::RealFs, path), Ok(None)));
        self.mount_points.extend(missing);
    }

    /// Removes what the sandboxes left, once no Codex of this run is at work.
    pub(super) fn clear_mount_points(&mut self) {
        let agents = self.agents.processes().map(|desk| desk.agent);
        let mut clients = agents.map(|at| self.capacity.agent(at).client);
        if clients.any(|it| it == Some(Client::Codex)) {
            return;
        }
        // Codex tidies up by itself most of the time: most are gone.
        for path in std::mem::take(&mut self.mount_points) {
            fsx::remove_empty_dir(&path);
        }
    }

    fn codex_home(&self, agent: &Agent) -> Option<PathBuf> {
        let own = agent.env.iter().find(|(name, _)| name == "CODEX_HOME");
        let own = own.map(|(_, value)| PathBuf::from(value));
        let home = self.stage.home.environment().user_home.as_ref();
        own.or_else(|| self.stage.settings.codex_home.clone())
            .or_else(|| Some(home?.join(".codex")))
    }

    /// What a thread used before this run takes it up: its counts go on from there.
    pub(super) fn used_before(&self, agent: &Agent, thread: &str) -> Usage {
        let home = self
            .codex_home(agent)
            .filter(|_| agent.client == Some(Client::Codex));
        let used = home.and_then(|home| codex_rollout_usage(&home, thread));
        used.unwrap_or_default()
    }

    /// Takes in what a Codex that has ended used, where it did not tell, and how its account stands with its
    /// limits.
    pub(super) fn look_at_rollout(&mut self, id: &TaskId) -> Result<()> {
        let Some(desk) = self.agents.process_mut(id) else {
            return Ok(());
        };
        let (at, talk) = (desk.agent, desk.talk.as_ref());
        let (thread, told) = (
            talk.and_then(|it| it.session()),
            talk.and_then(|it| it.limit.clone()),
        );
        let agent = self.capacity.agent(at);
        let home = self
            .codex_home(agent)
            .filter(|_| agent.client == Some(Client::Codex));
        let Some((home, thread)) = home.zip(thread) else {
            return Ok(());
        };
        let used = codex_rollout_usage(&home, &thread);
        let talk = self.agents.process_mut(id).and_then(|it| it.talk.as_mut());
        if let Some((talk, used)) = talk.zip(used) {
            talk.counted(used);
        }
        let kept = codex_rollout_limits(&home, &thread);
        let now = self.stage.home.now();
        match (kept, told) {
            // A window that has begun anew since says nothing.
            (
                Some(Limit::Reached {
                    until: Some(until), ..
                }),
                _,
            ) if until <= now => Ok(()),
            // Its words have the time to the minute only.
            (Some(limit), Some(Limit::Reached { .. }) | None) => self.take_in_limit(id, limit),
            _ => Ok(()),
        }
    }
}
