//! Where envelopes lie: each direction of each worker, live and archived.
//!
//! Owns finding those directories, whether anybody registered the worker or not. What lies in them is
//! for others to look at.

use std::path::PathBuf;

use flagpost_model::{WorkerId, envelope::Direction};

use super::Fleet;
use crate::error::Result;

/// A directory of envelopes.
#[derive(Debug)]
pub(crate) struct MailDir {
    /// Whose mail.
    pub(crate) worker: WorkerId,
    /// Which direction.
    pub(crate) direction: Direction,
    /// The month of the archive; none where it is live.
    pub(crate) month: Option<String>,
    /// The directory, which need not be there.
    pub(crate) dir: PathBuf,
}

impl Fleet<'_> {
    /// Where a worker's live envelopes of a direction are.
    pub(crate) fn live(&self, worker: &WorkerId, direction: Direction) -> PathBuf {
        self.directory(worker).dir(direction)
    }

    /// Every directory of envelopes: the live ones first, then the archive's by month.
    pub(crate) fn mail_dirs(&self) -> Result<Vec<MailDir>> {
        let mut drawers = Vec::new();
        for worker in self.ids()? {
            let mail = self.directory(&worker);
            let archived = mail.months()?.into_iter().map(Some);
            for month in std::iter::once(None).chain(archived) {
                for direction in Direction::ALL {
                    let dir = match &month {
                        None => mail.dir(*direction),
                        Some(month) => mail.archive_of(month, *direction),
                    };
                    drawers.push(MailDir {
                        worker: worker.clone(),
                        direction: *direction,
                        month: month.clone(),
                        dir,
                    });
                }
            }
        }
        Ok(drawers)
    }
}
