//! Worktrees that runs left.
//!
//! Owns telling them from those of a run that goes on, what each still holds, and taking those away that hold
//! nothing that would be lost with them. Which of the others may go is a person's to decide (trap 41).

use std::path::{Path, PathBuf};

use flagpost_core::{
    Home, Repository,
    doctor::Finding,
    git::{
        branch,
        worktrees::{self, WorktreeEntry},
    },
    landing::LandingActivity,
    sessions::{SessionStatus, Sessions},
};
use flagpost_model::{TaskId, finding::Code};

use super::{
    Branch, Closed, LANDING, Provision, Worktree, WorktreeResult, Worktrees,
    close::{Because, nothing_to_lose, put_away},
    provision::is_unfinished,
    root, status,
};

/// A worktree that no running session works in.
#[derive(Debug)]
pub struct LeftWorktree {
    /// Where it lies.
    pub path: PathBuf,
    /// The branch that it stands on; none off any branch.
    pub branch: Option<String>,
    /// The task and the session that it was made for, as its branch; none where somebody else made it.
    pub made_for: Option<Branch>,
    /// What would be lost with it; nothing where all that it holds is elsewhere.
    pub holds: Option<Because>,
}

impl LeftWorktree {
    /// The task that it was made for.
    pub fn task(&self) -> Option<TaskId> {
        let name = self.path.file_name()?.to_str()?;
        name.split('+').next()?.parse().ok()
    }

    /// Whether it may go while its branch stays; files that the repository ignores are looked at apart.
    fn may_go(&self) -> bool {
        match &self.holds {
            None | Some(Because::Ignored { .. }) => true,
            Some(because) => because.is_on_its_branch() && self.branch.is_some(),
        }
    }
}

/// The worktrees of a repository that no running session works in.
pub fn left(home: &Home, repository: &Repository) -> WorktreeResult<Vec<LeftWorktree>> {
    let Ok(all) = home.root().join("worktrees").canonicalize() else {
        // No run ever made one.
        return Ok(Vec::new());
    };
    let root = all.join(repository.name.as_str());
    let entries = worktrees::entries(&repository.top)?;
    let current = Sessions::of(home, repository).status().ok().flatten();
    let live = current
        .filter(|(stage, _)| *stage == SessionStatus::Live)
        .and_then(|(_, lock)| lock.session);
    let live = live.map(|session| root.join(session.as_str()));
    // A landing that is under way has a tree of its own.
    let lands = LandingActivity::read(home, repository).is_ok_and(|it| it.is_some());
    let is_left = |entry: &WorktreeEntry| {
        let ours = entry.path.starts_with(&all);
        let is_landing = lands && entry.path.ends_with(LANDING);
        ours && !is_landing
            && !live
                .as_ref()
                .is_some_and(|live| entry.path.starts_with(live))
    };
    let entries = entries.into_iter().filter(is_left);
    let looked_at = entries.map(|entry| LeftWorktree {
        holds: match is_unfinished(&entry) {
            true => None,
            false => nothing_to_lose(&repository.top, &entry.path, entry.branch.as_deref()).err(),
        },
        made_for: Worktrees::made_for(&root, &entry),
        path: entry.path,
        branch: entry.branch,
    });
    Ok(looked_at.collect())
}

/// Takes away those that hold nothing that would be lost with them: why one was kept, by each. Their branches
/// stay, unless all that these hold is elsewhere; `ignored` says that files which the repository ignores may go.
pub fn clean(
    (home, repository): (&Home, &Repository),
    provision: &Provision,
    all: Vec<LeftWorktree>,
    ignored: bool,
) -> Vec<(LeftWorktree, Option<Because>)> {
    let top = &repository.top;
    let take_away = |it: &LeftWorktree| {
        if !it.may_go() {
            return it.holds.clone();
        }
        if let (None, Some(branch), Some(task), Some(session)) =
            (&it.holds, &it.made_for, it.task(), session_of(&it.path))
        {
            let (path, branch) = (it.path.clone(), branch.clone());
            let root = root(home, repository);
            let worktrees = Worktrees::new(top.clone(), root, session, provision.clone());
            return match worktrees.close(&Worktree { task, path, branch }) {
                Closed::Removed | Closed::Kept { path: None, .. } => None,
                Closed::Kept { because, .. } => Some(because),
            };
        }
        put_away(top, provision, &it.path, ignored).err()
    };
    all.into_iter()
        .map(|it| {
            let kept = take_away(&it);
            (it, kept)
        })
        .collect()
}

fn session_of(path: &Path) -> Option<flagpost_model::SessionId> {
    path.parent()?.file_name()?.to_str()?.parse().ok()
}

/// The same for `doctor`.
pub fn findings(home: &Home, repository: &Repository) -> Vec<Finding> {
    match left(home, repository) {
        Ok(left) => left.iter().map(finding).collect(),
        Err(error) => {
            let what = format!("worktrees could not be listed: {error}");
            let hint = "'git worktree list' tells what git makes of it";
            let finding = Finding::new(Code::CheckFailed, what);
            vec![finding.at(&repository.top).by_hand(hint)]
        }
    }
}

fn finding(left: &LeftWorktree) -> Finding {
    let stands = match left.branch.as_deref().map(branch::short) {
        Some(name) if name.starts_with(branch::PREFIX) => format!("on branch {name}"),
        Some(name) => format!("on foreign branch {name}"),
        None => "on no branch".to_owned(),
    };
    let path = left.path.display();
    let (holds, next) = match &left.holds {
        None => (
            "all that it holds is elsewhere".to_owned(),
            format!("'git worktree remove {path}' removes it, 'flagpost worktree clean' all such"),
        ),
        Some(because) => (
            because.to_string(),
            next(because, &left.path, left.branch.is_some()),
        ),
    };
    let what = format!("a run left a worktree {stands}; {holds}");
    Finding::new(Code::WorktreeLeft, what)
        .at(&left.path)
        .by_hand(next)
}

/// What a person does where this would be lost. Git itself removes a worktree with ignored files, and
/// one whose commits are on no branch.
fn next(because: &Because, path: &Path, has_branch: bool) -> String {
    let also = || match status::uncommitted(path) {
        Ok(found) if found.ignored.is_empty() => String::new(),
        Ok(found) => format!("; it would take ignored files along: {}", found.ignored),
        Err(error) => {
            format!("; whether it would take ignored files along cannot be told: {error}")
        }
    };
    let path = path.display();
    match because {
        Because::Dirty { .. } => {
            format!("'git -C {path} status' shows it; commit or copy what is wanted first")
        }
        Because::Ignored { .. } => {
            format!("copy what is wanted; 'git worktree remove {path}' takes them along")
        }
        Because::Unmerged { .. } if has_branch => format!(
            "merge the branch if its work is wanted; 'git worktree remove {path}' leaves the branch{}",
            also()
        ),
        Because::Unmerged { .. } => format!(
            "give them a branch, or they are lost: 'git -C {path} switch --create NAME'; then 'git worktree remove {path}'{}",
            also()
        ),
        Because::Left { .. } => format!(
            "'git -C {path} reflog' shows them: give what is wanted a branch, 'git branch NAME COMMIT'"
        ),
        Because::Submodules(_) => format!(
            "'flagpost land' takes what its branch points to into the repository; push or fetch the rest from {path}"
        ),
        Because::OnTasks => "'flagpost land' brings its work onto your branch".to_owned(),
        Because::Locked { .. } => format!("'git worktree unlock {path}' unlocks it"),
        Because::Teardown(_) => "'flagpost worktree clean' tries it again".to_owned(),
        Because::Settled => "'flagpost worktree clean' removes it".to_owned(),
        Because::Underway { what } => format!("end the {what} in {path} first, or abort it"),
        Because::Untellable(_) => format!("look into {path}"),
    }
}
