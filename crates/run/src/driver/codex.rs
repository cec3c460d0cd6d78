//! What Codex keeps of its threads and does not print.
//!
//! Owns where that is: `$CODEX_HOME`, as the agent's own environment or ours says. It is only read: how
//! its account stands with its limits, and what a thread used: before it is resumed, and where its process was
//! ended before it told.

use std::path::PathBuf;

use flagpost_model::{TaskId, session::Usage};

use super::Driver;
use crate::{
    agent::Agent,
    client::{Client, Limit, codex_rollout_limits, codex_rollout_usage},
    error::Result,
};

impl Driver<'_> {
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
        let agent = self.room.agent(at);
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
