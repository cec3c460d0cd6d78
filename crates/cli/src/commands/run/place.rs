//! The options of `run` that say where its agents work.
//!
//! Owns when each task gets a worktree of its own: on demand, or as the setting `run.worktrees` says. What a worktree
//! is, the run knows.

use std::num::NonZeroUsize;

use flagpost_core::{Config, Repository, config::keys::RUN_WORKTREES};
use flagpost_model::task::WorktreeUse;
use flagpost_run::worktree::can_have_worktrees;

/// Where the agents of a run work.
#[derive(Debug, clap::Args)]
pub struct AgentPlace {
    /// Give each task a git worktree and branch of its own [default: the setting run.worktrees,
    /// else where several agents may work side by side]
    #[arg(long)]
    worktrees: bool,
    /// Let all agents work in your working tree
    #[arg(long, conflicts_with_all = ["worktrees", "land"])]
    shared: bool,
    /// Land work as it passes, as 'flagpost land' does
    #[arg(long)]
    pub land: bool,
}

impl AgentPlace {
    /// Whether an option asks for worktrees: only work on branches lands.
    pub fn asks_for_worktrees(&self) -> bool {
        self.worktrees || self.land
    }

    /// Whether each task of a run with so many agents side by side gets a worktree. Resident workers have a place of
    /// their own.
    pub fn has_worktrees(
        &self,
        repository: &Repository,
        settings: &Config<'_>,
        (max_parallel, has_workers): (NonZeroUsize, bool),
    ) -> anyhow::Result<bool> {
        Ok(match settings.need(&RUN_WORKTREES)? {
            _ if self.asks_for_worktrees() => true,
            _ if self.shared || has_workers => false,
            WorktreeUse::Never => false,
            WorktreeUse::Always => true,
            WorktreeUse::Auto => max_parallel.get() > 1 && can_have_worktrees(repository),
        })
    }
}
