//! What is to land, and what has landed.

use flagpost_model::{
    SessionId, TaskId, names,
    task::{Approval, NotLanded},
    view,
};
use jiff::Timestamp;

use super::each;
use crate::{
    history::Line,
    landing::{
        BranchAction, BranchState, LandingActivity, LandingFailure, LandingView, QueuedBranch,
    },
};

names! {
    /// Where a branch stands on its way.
    ShownState {
        /// It can land.
        Queued = "queued",
        /// It is not what it was when its task passed.
        Changed = "changed",
        /// It waits for a person's approval.
        Unapproved = "unapproved",
        /// It builds on work that is being done again, or waits for an approval.
        Waits = "waits",
        /// It did not land.
        Refused = "refused",
        /// It passed, and waits to be taken into the target.
        Staged = "staged",
    }
}

view! {
    /// What is to land, and what has landed.
    ///
    /// After 'flagpost land --status'.
    pub struct LandingAnswer<'a> from it: &'a LandingView {
        /// The target branch.
        onto: &'a str = &it.queue.target.branch,
        /// The commit that it stands on.
        commit: &'a str = &it.queue.target.tip,
        /// What a landing does at the moment; null where none is under way.
        doing: Option<&'a LandingActivity> = it.activity.as_ref(),
        /// Why the last landing ended before its time; null where it did not.
        failed: Option<&'a LandingFailure> = it.failure.as_ref(),
        /// A commit that passed and waits to be taken into the target; null where none does.
        staged: Option<&'a str> = it.queue.staged.as_deref(),
        /// The branches that hold work which the target lacks, those that land next first.
        branches: Vec<LandingBranch<'a>> = it.branches().map(LandingBranch::from).collect(),
        /// What landed, the newest first; twenty at most.
        landed: Vec<LandedWork<'a>> = each(&it.landed),
        /// The tasks that passed lately without a commit, so that nothing of them lands, the newest first.
        no_commit: Vec<WithoutCommit<'a>> = each(&it.no_commit),
    }

    /// A task that passed without a commit.
    pub struct WithoutCommit<'a> from it: &'a (TaskId, Timestamp) {
        task: &'a TaskId = &it.0,
        at: Timestamp = it.1,
    }

    /// A branch with work that the target lacks.
    pub struct LandingBranch<'a> from (it, ahead): (&'a QueuedBranch, u64) {
        task: &'a TaskId = &it.task,
        subject: &'a str = &it.subject,
        branch: &'a str = it.branch.as_str(),
        /// The session that began it; null where its files are gone.
        session: Option<&'a SessionId> = it.session.as_ref(),
        /// The commit that it stands on.
        commit: &'a str = &it.tip,
        /// The approval of that commit; null where a person gave none.
        approved: Option<&'a Approval> = it.approval.as_ref(),
        /// What can be done about it.
        actions: Vec<BranchAction> = it.actions(),
        /// How many commits the target lacks.
        ahead: u64 = ahead,
        state: ShownState = match &it.state {
            BranchState::Queued => ShownState::Queued,
            BranchState::Changed { .. } => ShownState::Changed,
            BranchState::Unapproved => ShownState::Unapproved,
            BranchState::Waits { .. } => ShownState::Waits,
            BranchState::Refused(_) => ShownState::Refused,
            BranchState::Staged => ShownState::Staged,
        },
        /// The tasks that it waits for.
        waits_for: &'a [TaskId] = match &it.state {
            BranchState::Waits { on } => on,
            _ => &[],
        },
        /// Why it did not land; null where it was not refused.
        refused: Option<&'a NotLanded> = match &it.state {
            BranchState::Refused(refused) => Some(refused),
            _ => None,
        },
    }

    /// Work that landed.
    struct LandedWork<'a> from it: &'a Line {
        task: Option<&'a TaskId> = it.entry.task.as_ref(),
        /// The commit of the target that brought it; null where another program wrote the line.
        commit: Option<&'a str> = detail(it, "commit"),
        /// The target branch; null likewise.
        onto: Option<&'a str> = detail(it, "onto"),
        at: Timestamp = it.at,
    }
}

fn detail<'a>(line: &'a Line, key: &str) -> Option<&'a str> {
    line.entry.detail.get(key)?.as_str()
}
