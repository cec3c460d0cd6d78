//! The worktree in which branches are merged and checked.
//!
//! Owns its place, below the home and beside the worktrees of runs, and that it stands on a commit with
//! nothing of an earlier try in it, save the files that the repository ignores: a check that builds is
//! faster with them. Nobody works in it, so all that is in it may go.

use std::path::{Path, PathBuf};

use flagpost_core::{Home, Repository, git::Git};
use flagpost_disk::fsx;

use crate::worktree::{FileList, WorktreeResult, listing, status};

/// Its directory's name. No session is called so: their names end in a time.
pub(crate) const NAME: &str = "landing";

/// The tree of the landings of a repository.
#[derive(Debug)]
pub(super) struct LandingTree {
    top: PathBuf,
    path: PathBuf,
}

impl LandingTree {
    pub(super) fn of(home: &Home, repository: &Repository) -> Self {
        let root = crate::worktree::root(home, repository);
        Self {
            top: repository.top.clone(),
            path: root.join(NAME),
        }
    }

    /// Where it lies.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it stand on a commit, with nothing in it that the commit does not have.
    pub(super) fn stand_on(&self, commit: &str) -> WorktreeResult<()> {
        if self.is_known()? && fsx::stat(&fsx::RealFs, &self.path)?.is_some() {
            status::stands_alone(&self.path)?;
            if status::underway(&self.path)? == Some("rebase") {
                self.git(&["rebase", "--quit"])?;
            }
            self.git(&["reset", "--quiet", "--hard"])?;
            self.git(&["checkout", "--quiet", "--detach", commit])?;
            self.git(&["clean", "--quiet", "-fd"])?;
            return Ok(());
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
        if !self.is_known()? {
            return Ok(());
        }
        if fsx::stat(&fsx::RealFs, &self.path)?.is_some() {
            status::stands_alone(&self.path)?;
            self.git(&["reset", "--quiet", "--hard"])?;
            self.git(&["clean", "--quiet", "-fd"])?;
        }
        Git::at(&self.top)
            .args(&["worktree", "remove"])
            .arg(&self.path)
            .run_patiently()?;
        Ok(())
    }

    /// Whether git knows it. A directory that was made by somebody else is not touched.
    fn is_known(&self) -> WorktreeResult<bool> {
        let real = self
            .path
            .canonicalize()
            .unwrap_or_else(|_| self.path.clone());
        let entries = listing::entries(&self.top)?;
        Ok(entries
            .iter()
            .any(|it| it.path == real || it.path == self.path))
    }

    fn git(&self, args: &[&str]) -> WorktreeResult<()> {
        Git::at(&self.path).args(args).run_patiently()?;
        Ok(())
    }
}
