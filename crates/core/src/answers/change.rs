//! What a task changes, as every face answers it.

use flagpost_model::{TaskId, task::Approval, view};

use super::each;
use crate::landing::{BranchAction, ChangedFile, QueuedBranch, TaskChange};

view! {
    /// What a task changes.
    ///
    /// After 'flagpost diff'.
    pub struct ChangeAnswer<'a> from it: &'a (TaskChange, Vec<ChangedFile>) {
        /// Whose.
        task: &'a TaskId = &it.0.task,
        /// How far its work is: underway, to_land, conflicts or landed. What is to land is compared as a landing would
        /// bring it.
        stage: &'static str = it.0.stage.name(),
        /// Its branch; null where it has landed.
        branch: Option<&'a str> = it.0.stage.branch().map(|it| it.as_str()),
        /// The target branch.
        onto: &'a str = &it.0.onto,
        /// The commit that it is compared with.
        before: &'a str = &it.0.before,
        /// The commit or tree that is compared; null where that is what lies in its worktree.
        after: Option<&'a str> = it.0.after.as_deref(),
        /// The commit of its branch, where that waits to land: what a person approves; null elsewhere.
        commit: Option<&'a str> = it.0.tip(),
        /// The approval of that commit; null where a person gave none.
        approved: Option<&'a Approval> = it.0.queued.as_ref().and_then(|it| it.approval.as_ref()),
        /// What can be done about that branch.
        actions: Vec<BranchAction> = it.0.queued.as_ref().map(QueuedBranch::actions).unwrap_or_default(),
        /// The files in which it meets conflicts with the target.
        conflicts: &'a [String] = it.0.stage.conflicts(),
        /// The files that it changes; the one that was asked for.
        files: Vec<FileDiff<'a>> = each(&it.1),
        /// New files in its worktree that git does not know yet, which the comparison leaves out.
        unknown: &'a [String] = &it.0.unknown,
    }

    /// A file that a task changes.
    pub struct FileDiff<'a> from it: &'a ChangedFile {
        /// Its path, from the top.
        path: &'a str = &it.path,
        /// Lines that are added; null where it is no text.
        added: Option<u64> = it.lines.map(|(added, _)| added),
        /// Lines that are removed; null where it is no text.
        removed: Option<u64> = it.lines.map(|(_, removed)| removed),
        /// Git's patch of it, where this file alone was asked for; null elsewhere.
        patch: Option<&'a str> = it.patch.as_deref(),
    }
}
