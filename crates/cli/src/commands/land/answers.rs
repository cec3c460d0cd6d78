//! What `land` answers.

use flagpost_core::landing::LandingView;
use flagpost_model::{TaskId, view};
use flagpost_run::landing::{LandingReport, Rehearsed};

view! {
    /// How a landing ended.
    ///
    /// The last line of 'flagpost land --json'; the lines before it are flagpost.landing_event/1. Exit code 1
    /// where something did not land.
    pub struct LandedAnswer<'a> from it: &'a LandingReport {
        /// The target branch.
        onto: &'a str = &it.onto,
        /// The commit that it stands on.
        commit: &'a str = &it.commit,
        /// The tasks whose work landed, in order.
        landed: &'a [TaskId] = &it.landed,
        /// The tasks whose work was refused, and is done again or asked about.
        refused: &'a [TaskId] = &it.refused,
        /// The tasks whose branches git did not bring in.
        left: Vec<LeftBranch<'a>> = it.left.iter().map(LeftBranch::from).collect(),
        /// The tasks that build on work which did not land.
        waits: &'a [TaskId] = &it.waits,
        /// The tasks whose work waits for your approval.
        to_review: &'a [TaskId] = &it.to_review,
        /// The pull requests that are open for tasks' branches, in order; empty without --pr.
        requests: Vec<BranchRequest<'a>> = it.requests.iter().map(BranchRequest::from).collect(),
        /// The command that takes what passed into a working tree with changes; null where none waits.
        take: Option<&'a str> = it.take.as_deref(),
    }

    /// A branch that git did not bring in.
    struct LeftBranch<'a> from (task, why): (&'a TaskId, &'a String) {
        task: &'a TaskId = task,
        /// What git said.
        why: &'a str = why,
    }

    /// A pull request that is open for a branch.
    struct BranchRequest<'a> from it: &'a (TaskId, String) {
        task: &'a TaskId = &it.0,
        /// Its address.
        url: &'a str = &it.1,
    }

    /// What a landing would do.
    ///
    /// After 'flagpost land --dry-run'. Whether the check would succeed nobody knows before.
    pub struct LandingRehearsal<'a> from (view, all): (&'a LandingView, &'a [Rehearsed]) {
        #[schemars(extend("const" = true))]
        dry_run: bool = true,
        /// The target branch.
        onto: &'a str = &view.queue.target.branch,
        /// The branches that would be tried, in order.
        branches: Vec<RehearsedBranch<'a>> = all.iter().map(RehearsedBranch::from).collect(),
    }

    /// A branch that would be tried.
    struct RehearsedBranch<'a> from it: &'a Rehearsed {
        task: &'a TaskId = &it.branch.task,
        subject: &'a str = &it.branch.subject,
        branch: &'a str = it.branch.branch.as_str(),
        /// How many commits the target lacks.
        ahead: u64 = it.ahead,
        /// The files in which it would meet conflicts, with the target or with a branch before it; the first
        /// twenty.
        conflicts: Vec<String> = it.conflicts.named.iter().map(|it| it.display().to_string()).collect(),
    }
}
