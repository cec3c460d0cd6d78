//! What lies in a list's directory and is no task.
//!
//! Owns that each such file is copied to quarantine once and the history told, as soon as its writer is
//! surely done with it. That is for writers and for `doctor --fix`: whoever reads copies nothing. The file itself stays as it is.

use flagpost_disk::fsx;
use flagpost_model::{RepoId, WorkerId};

use super::{List, vanished::is_nothing};
use crate::{
    error::{Error, Result},
    history::{Entry, History, Kind},
    skipped::Skipped,
};

/// Who last wrote less than this ago, in nanoseconds, may be in the middle of it.
const WRITTEN: i128 = 100_000_000;

/// So many new cases a writer takes up at most, here and in the mail; the rest is for those after it.
pub(crate) const FEW: usize = 64;

impl List<'_> {
    /// Keeps aside all that is no task, as far as that is possible. How many cases were new.
    pub(crate) fn quarantine_all(&self) -> Result<usize> {
        match self.table() {
            Some(_) => Ok(0),
            None if !self.is_writable() => Ok(0),
            None => self.quarantine(&self.load()?.skipped, usize::MAX),
        }
    }

    /// Records skipped files that are new, at most so many, then copies them to quarantine. One that
    /// cannot be kept costs no other its line or its copy. How many were new.
    pub(super) fn quarantine(&self, skipped: &[Skipped], most: usize) -> Result<usize> {
        let repository = match self.repository() {
            Ok(repository) => Some(repository),
            // Nothing records a list that is nobody's.
            Err(Error::NoRepository { .. }) => None,
            Err(error) => return Err(error),
        };
        let (mut failed, mut new) = (None, 0);
        for skipped in skipped {
            if new == most {
                break;
            }
            match self.quarantine_one(repository.as_ref(), skipped) {
                Ok(is_new) => new += usize::from(is_new),
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(new), Err)
    }

    /// Whether it was new.
    fn quarantine_one(&self, repository: Option<&RepoId>, skipped: &Skipped) -> Result<bool> {
        let Skipped { name, file, reason } = skipped;
        let home = self.home;
        let (fs, now) = (home.fs(), home.now());
        let path = self.dir.join(file);
        let settled = fsx::stat(fs, &path)?
            .is_some_and(|stat| now.as_nanosecond() - i128::from(stat.modified) > WRITTEN);
        if !settled {
            return Ok(false);
        }
        // What is too large to read is too large to copy: the reason stands in for it.
        let content = match fsx::read(fs, &path) {
            Ok(content) => content.unwrap_or_default(),
            Err(_) => reason.clone().into_bytes(),
        };
        if is_nothing(&content) {
            return Ok(false);
        }
        let Some(case) = fsx::quarantine(fs, &path, &content, reason)? else {
            return Ok(false);
        };
        if let Some(repository) = repository {
            let mut entry = Entry::new(Kind::TaskQuarantined)
                .detail("file", name.as_str())
                .detail("reason", reason.as_str());
            self.sign(&mut entry);
            let history = History::of(home, repository);
            history.record(&WorkerId::operator(), now, vec![entry])?;
        }
        case.store(fs)?;
        Ok(true)
    }
}
