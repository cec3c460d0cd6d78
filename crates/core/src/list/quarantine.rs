//! What lies in a list's directory and is no task.
//!
//! Owns that each such file is copied to quarantine once and the history told, as soon as its writer is
//! surely done with it. The file itself stays as it is.

use flagpost_disk::fsx;
use flagpost_model::{RepoId, WorkerId};

use super::{List, Skipped};
use crate::{
    error::{Error, Result},
    history::{Entry, History, Kind},
};

/// Who last wrote less than this ago, in nanoseconds, may be in the middle of it.
const WRITTEN: i128 = 100_000_000;

impl List<'_> {
    /// Records skipped files that are new, then copies them to quarantine. One that cannot be kept
    /// costs no other its line or its copy.
    pub(super) fn keep_aside(&self, skipped: &[Skipped]) -> Result<()> {
        let repository = match self.repository() {
            Ok(repository) => Some(repository),
            // Nothing records a list that is nobody's.
            Err(Error::NoRepository { .. }) => None,
            Err(error) => return Err(error),
        };
        let mut failed = None;
        for skipped in skipped {
            if let Err(error) = self.keep_one_aside(repository.as_ref(), skipped) {
                failed = Some(error);
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn keep_one_aside(&self, repository: Option<&RepoId>, skipped: &Skipped) -> Result<()> {
        let Skipped { name, file, reason } = skipped;
        let home = self.home;
        let (fs, now) = (home.fs(), home.now());
        let path = self.dir.join(file);
        let settled = fsx::stat(fs, &path)?
            .is_some_and(|stat| now.as_nanosecond() - i128::from(stat.modified) > WRITTEN);
        if !settled {
            return Ok(());
        }
        // What is too large to read is too large to copy: the reason stands in for it.
        let content = match fsx::read(fs, &path) {
            Ok(content) => content.unwrap_or_default(),
            Err(_) => reason.clone().into_bytes(),
        };
        let Some(case) = fsx::quarantine(fs, &path, &content, reason)? else {
            return Ok(());
        };
        if let Some(repository) = repository {
            let mut entry = Entry::new(Kind::TaskQuarantined)
                .detail("file", name.as_str())
                .detail("reason", reason.as_str());
            self.sign(&mut entry);
            let history = History::of(home, repository);
            history.record(&WorkerId::operator(), now, vec![entry])?;
        }
        Ok(case.keep(fs)?)
    }
}
