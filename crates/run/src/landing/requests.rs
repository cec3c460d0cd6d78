//! Pull requests in place of a landing.
//!
//! Owns the order: what GitHub has of each branch is asked first, and only then is anything pushed. A branch that
//! cannot be pushed, or whose request cannot be opened, is left with the reason; the others go on. Nothing is
//! forced, merged or checked. The target stays where it is: a request that was merged there is recorded when the
//! target has its commit.

use std::{slice, sync::atomic::Ordering};

use flagpost_core::{
    git::{self, Git, without_hooks},
    landing::{
        self, BranchState, LandedTag, LandingQueue, LandingStep, QueuedBranch, Target, landed_ref,
    },
};
use flagpost_model::{TaskId, plain::plain};

use super::{
    Landing, LandingTerms,
    github::{GitHub, PullRequest},
};
use crate::{error::Result, events::RunEvent, prompt::clipped};

/// Where branches are pushed to unless another remote is named.
const ORIGIN: &str = "origin";
/// Most characters of a title at GitHub.
const TITLE: usize = 256;
/// So many bytes of a description or a result at most: a request holds 65,536 characters.
const WORDS: usize = 30 << 10;

impl LandingTerms {
    /// The remote at which pull requests are opened.
    pub fn requested_at(&self) -> &str {
        self.push.as_deref().unwrap_or(ORIGIN)
    }
}

impl Landing<'_> {
    /// Pushes the branches, and opens a request for each that has none.
    pub(super) fn request(&mut self) -> Result<()> {
        let target = self.target()?;
        let mut queue = self.queued(&target)?;
        self.report.commit.clone_from(&target.tip);
        if queue.branches.is_empty() {
            return Ok(());
        }
        let github = GitHub::of(&self.stage.repository.top, self.terms.requested_at())?;
        let mut found = Vec::new();
        for branch in queue.branches.drain(..) {
            match branch.state {
                BranchState::Queued | BranchState::Changed { .. } | BranchState::Staged => {
                    let requests = github.requests(branch.branch.as_str(), &target.branch)?;
                    found.push((branch, requests));
                }
                BranchState::Unapproved => self.report.to_review.push(branch.task),
                BranchState::Waits { .. } => self.report.waits.push(branch.task),
                BranchState::Refused(_) => {}
            }
        }
        for (branch, requests) in &found {
            if let Some(why) = self.unrequested(&github, &target, branch, requests)? {
                self.leave(branch, why)?;
            }
        }
        self.recall(&target)
    }

    /// The branches that are asked for.
    fn queued(&self, target: &Target) -> Result<LandingQueue> {
        let (list, repository) = (self.stage.list, self.stage.repository);
        let wanted = (target.clone(), self.terms.review);
        let mut queue = landing::queue(&self.sessions, repository, list, wanted)?;
        let only = &self.terms.only;
        queue
            .branches
            .retain(|it| only.is_empty() || only.contains(&it.task));
        Ok(queue)
    }

    /// Sees to it that a request is open for the branch's commit; why not, where that cannot be.
    fn unrequested(
        &mut self,
        github: &GitHub,
        target: &Target,
        branch: &QueuedBranch,
        requests: &[PullRequest],
    ) -> Result<Option<String>> {
        if self.stop.load(Ordering::Relaxed) {
            return Ok(Some("it was interrupted before".to_owned()));
        }
        for request in requests {
            if let PullRequest::Merged { tip, commit, url } = request
                && *tip == branch.tip
            {
                return self.merged_there(target, branch, (commit, url));
            }
        }
        self.show(LandingStep::Pushing, target, slice::from_ref(branch))?;
        let mut push = Git::at(&self.stage.repository.top)
            .args(&["push", "--quiet", "--", self.terms.requested_at()])
            .arg(format!("{}:{}", branch.tip, branch.branch.full()));
        let pushed = self.calls().ask(&mut push)?;
        if pushed.code() != Some(0) {
            return Ok(Some(push.refused(&pushed).message));
        }
        let open = requests.iter().find_map(|it| match it {
            PullRequest::Open { url } => Some(url.clone()),
            PullRequest::Merged { .. } => None,
        });
        let existed = open.is_some();
        let url = match open {
            Some(url) => url,
            None => {
                let (title, body) = (title(branch), self.body(branch)?);
                let between = (branch.branch.as_str(), &*target.branch);
                match github.open(between, &title, &body) {
                    Ok(url) => url,
                    Err(refusal) => return Ok(Some(refusal.to_string())),
                }
            }
        };
        let task = branch.task.clone();
        self.report.requests.push((task.clone(), url.clone()));
        (self.tell)(RunEvent::LandRequested {
            task,
            subject: branch.subject.clone(),
            url,
            existed,
        })?;
        Ok(None)
    }

    /// Notes which commit brought a branch that was merged there, so that a squash is known by it; what is still
    /// to be done where the target lacks it.
    fn merged_there(
        &self,
        target: &Target,
        branch: &QueuedBranch,
        (commit, url): (&str, &str),
    ) -> Result<Option<String>> {
        let top = &self.stage.repository.top;
        let is_here = git::commit(top, commit)?.is_some();
        if !is_here || !git::is_ancestor(top, commit, &target.tip)? {
            let (onto, remote) = (&target.branch, self.terms.requested_at());
            return Ok(Some(format!(
                "{url} is merged, and {onto} lacks its commit: pull {onto} from {remote}, and try again"
            )));
        }
        let tag = LandedTag {
            branch: branch.branch.clone(),
            tip: branch.tip.clone(),
            commit: commit.to_owned(),
            onto: target.branch.clone(),
            at: self.stage.home.now().as_second(),
        };
        let object = tag.write(top)?;
        without_hooks(top)
            .args(&["update-ref", &landed_ref(&branch.branch), &object])
            .run_patiently()?;
        Ok(None)
    }

    /// What a request says of its branch.
    fn body(&self, branch: &QueuedBranch) -> Result<String> {
        let task = self.stage.list.task(&branch.task)?.task;
        let mut body = format!("Task {} of {}", task.id, self.stage.list.id());
        let on: Vec<&str> = branch.builds_on.iter().map(TaskId::as_str).collect();
        if !on.is_empty() {
            body += &format!(", with the work of {}", on.join(", "));
        }
        let result = task.result.as_ref().map_or("", |it| &it.text);
        for (heading, words) in [("", &*task.description), ("\n\n## Result", result)] {
            let (kept, is_cut) = clipped(words.trim(), WORDS);
            if !kept.is_empty() {
                let rest = if is_cut { "\n…" } else { "" };
                body += &format!("{heading}\n\n{kept}{rest}");
            }
        }
        body += &format!(
            "\n\nBranch: `{}`\n\nOpened by `flagpost land --pr`.",
            branch.branch
        );
        Ok(plain(&body).into_owned())
    }
}

/// The task's subject on one line.
fn title(branch: &QueuedBranch) -> String {
    let words: Vec<&str> = branch.subject.split_whitespace().collect();
    plain(&words.join(" ")).chars().take(TITLE).collect()
}
