//! The worktree in which branches are merged and checked.
//!
//! Owns its place, below the home and beside the worktrees of runs, and that it stands on a commit with
//! nothing of an earlier try in it, save the files that the repository ignores: a check that builds is
//! faster with them. Nobody works in it but the landing that holds the lock, so all that is in it may go,
//! and what a dead landing or a check broke of it is mended.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use flagpost_core::{
    self as core,
    git::{
        self, Git, with_hooks,
        worktrees::{self, WorktreeEntry},
    },
};
use flagpost_disk::fsx;
use jiff::SignedDuration;

use crate::worktree::{FileList, Provision, WorktreeResult, status};
use crate::{run_context::RunContext, worktree::LANDING};

/// The tree of the landings of a repository.
#[derive(Debug)]
pub(super) struct LandingTree {
    top: PathBuf,
    path: PathBuf,
    /// The setting for the operator's hooks ([`git::own_hooks`]): what is merged brings none of its own.
    hooks: Option<String>,
    /// How long a call of git may take.
    limit: Duration,
    /// The commit that it stands on with nothing else in it, where that is known.
    stands: Option<String>,
    /// What a new one gets.
    provision: Provision,
    /// Whether it got that.
    is_set_up: bool,
}

impl LandingTree {
    pub(super) fn of(stage: RunContext<'_>, limit: SignedDuration) -> core::Result<Self> {
        let repository = stage.repository;
        let root = crate::worktree::root(stage.home, repository);
        Ok(Self {
            top: repository.top.clone(),
            path: root.join(LANDING),
            hooks: git::own_hooks(&repository.top)?,
            limit: limit.unsigned_abs(),
            stands: None,
            provision: Provision::of(stage.home, stage.settings, repository)?,
            is_set_up: false,
        })
    }

    /// What a new one gets.
    pub(super) fn provision(&self) -> &Provision {
        &self.provision
    }

    /// Gives it all that a new worktree gets, and the submodules of the commit that it stands on. The command that is
    /// still to be run there, the first time, and what was left out.
    pub(super) fn provide(&mut self) -> WorktreeResult<(Option<String>, Vec<String>)> {
        if self.is_set_up {
            let left_out = self.provision.fill_submodules(&self.top, &self.path)?;
            return Ok((None, left_out));
        }
        let left_out = self.provision.fill(&self.top, &self.path)?;
        self.is_set_up = true;
        Ok((self.provision.setup.clone(), left_out))
    }

    /// Git in it.
    pub(super) fn git(&self) -> Git {
        self.git_at(&self.path)
    }

    fn git_at(&self, dir: &Path) -> Git {
        let mut git = with_hooks(Git::at(dir), self.hooks.as_deref());
        git.end_after(self.limit);
        git
    }

    /// Where it lies.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it stand on a commit, with nothing in it that the commit does not have.
    pub(super) fn stand_on(&mut self, commit: &str) -> WorktreeResult<()> {
        if self.stands.as_deref() == Some(commit) {
            return Ok(());
        }
        self.make(commit)?;
        self.stands = Some(commit.to_owned());
        Ok(())
    }

    /// It stands on another commit by now; with something else in it where there is none.
    pub(super) fn went_to(&mut self, commit: Option<&str>) {
        self.stands = commit.map(str::to_owned);
    }

    fn make(&mut self, commit: &str) -> WorktreeResult<()> {
        if self.is_known()? && self.mend()? {
            if status::underway(&self.path)? == Some("rebase") {
                self.run(&["rebase", "--quit"])?;
            }
            self.run(&["reset", "--quiet", "--hard"])?;
            self.stand(commit)?;
            // What cannot be cleaned away goes with the tree.
            if self.run(&["clean", "--quiet", "-fd"]).is_ok() {
                return Ok(());
            }
        }
        self.remove()?;
        self.is_set_up = false;
        let root = self.path.parent().unwrap_or(&self.path);
        fsx::make_dirs(&fsx::RealFs, root)?;
        let mut add = self
            .git_at(&self.top)
            .args(&["worktree", "add", "--quiet", "--detach"])
            .arg(&self.path)
            .arg(commit);
        let answer = add.ask_patiently()?;
        match answer.code() == Some(0) || self.is_whole(commit)? {
            true => Ok(()),
            false => Err(add.refused(&answer).into()),
        }
    }

    /// Checks a commit out.
    pub(super) fn stand(&self, commit: &str) -> WorktreeResult<()> {
        let mut git = self
            .git()
            .args(&["checkout", "--quiet", "--detach", commit]);
        let answer = git.ask_patiently()?;
        match answer.code() == Some(0) || self.is_whole(commit)? {
            true => Ok(()),
            false => Err(git.refused(&answer).into()),
        }
    }

    /// The tracked files that differ from the commit that it stands on.
    pub(super) fn changed(&self) -> WorktreeResult<FileList> {
        Ok(status::uncommitted(&self.path)?.tracked)
    }

    /// Removes it, where it is there.
    pub(super) fn remove(&self) -> WorktreeResult<()> {
        let Some(entry) = self.entry()? else {
            return Ok(());
        };
        if self.is_set_up {
            let _ = self.provision.tear_down(&self.path);
        }
        // Git removes none that has submodules, or directories that cannot be written.
        if fsx::stat(&fsx::RealFs, &self.path)?.is_some() {
            fsx::remove_tree(&self.path)?;
        }
        if entry.half_made() {
            Git::at(&self.top)
                .args(&["worktree", "unlock"])
                .arg(&self.path)
                .run()?;
        }
        Git::at(&self.top)
            .args(&["worktree", "remove"])
            .arg(&self.path)
            .run_patiently()?;
        Ok(())
    }

    /// Lets go of what a dead git held; a tree that git can do nothing with goes. Whether it is still there.
    fn mend(&self) -> WorktreeResult<bool> {
        if fsx::stat(&fsx::RealFs, &self.path)?.is_none() {
            return Ok(false);
        }
        if status::stands_alone(&self.path).is_err() {
            fsx::remove_tree(&self.path)?;
            return Ok(false);
        }
        let dir = Git::at(&self.path)
            .args(&["rev-parse", "--absolute-git-dir"])
            .run()?;
        let lock = Path::new(&git::text(&dir)).join("index.lock");
        fsx::remove(&fsx::RealFs, &lock)?;
        Ok(true)
    }

    /// Whether it stands on a commit with nothing else in it: a hook that fails once git has checked all out
    /// makes a failure of a whole tree.
    fn is_whole(&self, commit: &str) -> WorktreeResult<bool> {
        let known = self.entry()?.is_some_and(|it| !it.half_made());
        Ok(known
            && git::commit(&self.path, "HEAD")?.as_deref() == Some(commit)
            && status::changed(&self.path)?.is_empty())
    }

    fn is_known(&self) -> WorktreeResult<bool> {
        Ok(self.entry()?.is_some())
    }

    /// What git knows of it. A directory that was made by somebody else is not touched.
    fn entry(&self) -> WorktreeResult<Option<WorktreeEntry>> {
        let real = self.path.canonicalize();
        let real = real.unwrap_or_else(|_| self.path.clone());
        let mut entries = worktrees::entries(&self.top)?.into_iter();
        Ok(entries.find(|it| it.path == real || it.path == self.path))
    }

    fn run(&self, args: &[&str]) -> WorktreeResult<()> {
        self.git().args(args).run_patiently()?;
        Ok(())
    }
}
