//! The worktree and branch of work that has landed.
//!
//! Owns when they go: nothing in them would be lost, no run works there, and nobody is to build on the
//! branch who would not find its work on the branch that the repository stands on.

use flagpost_core::landing::{QueuedBranch, Target};
use flagpost_model::plan::Graph;

use super::Landing;
use crate::{
    error::Result,
    events::RunEvent,
    worktree::{Closed, Worktrees},
};

impl Landing<'_> {
    /// Removes them, where that loses nothing.
    pub(super) fn close(&mut self, target: &Target, branch: &QueuedBranch) -> Result<()> {
        let Some(session) = branch.session.clone().filter(|_| !self.terms.keep) else {
            return Ok(());
        };
        let live = self.sessions.status()?.and_then(|(_, lock)| lock.session);
        if live.as_ref() == Some(&session) || self.is_needed(target, branch)? {
            return Ok(());
        }
        let (home, repository) = (self.stage.home, self.stage.repository);
        let root = crate::worktree::root(home, repository);
        let provision = self.tree.provision().clone();
        let worktrees = Worktrees::new(repository.top.clone(), root, session, provision);
        let Some(worktree) = worktrees.find(&branch.task)? else {
            return Ok(worktrees.close_branch(&branch.task)?);
        };
        let (said, kept) = match worktrees.close(&worktree) {
            Closed::Removed => return Ok(()),
            closed => (closed.to_string(), closed.is_kept()),
        };
        let task = branch.task.clone();
        (self.tell)(RunEvent::Worktree { task, said, kept })
    }

    /// Whether a task that is still to be done begins with this branch.
    fn is_needed(&self, target: &Target, branch: &QueuedBranch) -> Result<bool> {
        let outlines = self.stage.list.load()?.outlines;
        let graph = Graph::new(&outlines);
        let mut dependants = graph.dependants(&branch.task);
        if !dependants.any(|it| !it.state.is_over()) {
            return Ok(false);
        }
        let current = Target::of(self.stage.repository, None).ok();
        Ok(current.is_none_or(|it| it.branch != target.branch))
    }
}
