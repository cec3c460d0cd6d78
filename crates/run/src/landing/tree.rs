//! The worktree in which branches are merged and checked.
//!
//! Owns its place, below the home and beside the worktrees of runs, and that it stands on a commit with
//! nothing of an earlier try in it, save the files that the repository ignores: a check that builds is
//! faster with them. Nobody works in it but the landing that holds the lock, so all that is in it may go,
//! and what a dead landing or a check broke of it is mended.

use std::path::{Path, PathBuf};

use flagpost_core::{
    Home, Repository,
    git::{self, Git},
};
use flagpost_disk::fsx;

use crate::worktree::{
    FileList, WorktreeResult,
    listing::{self, WorktreeEntry},
    status,
};

/// Its directory's name. No session is called so: their names end in a time.
pub(crate) const NAME: &str = "landing";

/// The tree of the landings of a repository.
#[derive(Debug)]
pub(super) struct LandingTree {
    top: PathBuf,
    path: PathBuf,
    /// The commit that it stands on with nothing else in it, where that is known.
    stands: Option<String>,
}

impl LandingTree {
    pub(super) fn of(home: &Home, repository: &Repository) -> Self {
        let root = crate::worktree::root(home, repository);
        Self {
            top: repository.top.clone(),
            path: root.join(NAME),
            stands: None,
        }
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

    fn make(&self, commit: &str) -> WorktreeResult<()> {
        if self.is_known()? && self.mend()? {
            if status::underway(&self.path)? == Some("rebase") {
                self.git(&["rebase", "--quit"])?;
            }
            self.git(&["reset", "--quiet", "--hard"])?;
            self.git(&["checkout", "--quiet", "--detach", commit])?;
            // What cannot be cleaned away goes with the tree.
            if self.git(&["clean", "--quiet", "-fd"]).is_ok() {
                return Ok(());
            }
        }
        self.remove()?;
        let root = self.path.parent().unwrap_or(&self.path);
        fsx::make_dirs(&fsx::RealFs, root)?;
        Git::at(&self.top)
            .args(&["worktree", "add", "--quiet", "--detach"])
            .arg(&self.path)
            .arg(commit)
            .run_patiently()?;
        Ok(())
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

    fn is_known(&self) -> WorktreeResult<bool> {
        Ok(self.entry()?.is_some())
    }

    /// What git knows of it. A directory that was made by somebody else is not touched.
    fn entry(&self) -> WorktreeResult<Option<WorktreeEntry>> {
        let real = self.path.canonicalize();
        let real = real.unwrap_or_else(|_| self.path.clone());
        let mut entries = listing::entries(&self.top)?.into_iter();
        Ok(entries.find(|it| it.path == real || it.path == self.path))
    }

    fn git(&self, args: &[&str]) -> WorktreeResult<()> {
        Git::at(&self.path).args(args).run_patiently()?;
        Ok(())
    }
}
