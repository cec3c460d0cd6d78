//! Numbers of messages: given out once, whatever was archived, removed or restored.
//!
//! Owns what counts as taken: the counter, every name in the direction, and every name in the
//! archive.

use std::path::Path;

use flagpost_disk::{self as disk, dialects::relay as layout, fsx};
use flagpost_model::{Seq, WorkerId, envelope::Direction};

use super::{Fleet, Locked};
use crate::error::{Error, Result};

impl Fleet<'_> {
    /// Gives out the next number of a direction, for a writer who puts the message there by hand.
    pub fn allocate(&self, worker: &WorkerId, direction: Direction) -> Result<Seq> {
        self.mail(worker)?.lock(direction)?.number()
    }
}

/// So often somebody may take a number from under our hands before we give up.
const TRIES: usize = 8;

impl Locked<'_> {
    /// Publishes something under the next number; under the one after where somebody who had not
    /// asked for a number took it meanwhile.
    pub(super) fn under_a_new_number(
        &self,
        mut publish: impl FnMut(Seq) -> Result<()>,
    ) -> Result<()> {
        let mut published = publish(self.number()?);
        for _ in 1..TRIES {
            if !matches!(published, Err(Error::Disk(disk::Error::Conflict { .. }))) {
                break;
            }
            published = publish(self.number()?);
        }
        published
    }

    /// The next number, durable before it is given out.
    pub(super) fn number(&self) -> Result<Seq> {
        let counter = self.path(layout::COUNTER);
        let number = fsx::allocate(self.mail.home.fs(), &counter, self.highest()?, 1)?;
        Seq::try_from(number).map_err(|error| Error::Invalid {
            what: counter.display().to_string(),
            reason: error.to_string(),
        })
    }

    /// Sees to it that a number that somebody took by hand is never given out.
    pub(super) fn retire(&self, seq: Seq) -> Result<()> {
        let counter = self.path(layout::COUNTER);
        let fs = self.mail.home.fs();
        if fsx::peek(fs, &counter)? < seq.get() {
            fsx::allocate(fs, &counter, seq.get(), 0)?;
        }
        Ok(())
    }

    fn highest(&self) -> Result<u64> {
        let archive = self.mail.dir.join(layout::ARCHIVE);
        let mut highest = self.highest_in(&self.dir)?;
        for month in self.names(&archive)? {
            let dir = archive.join(month).join(self.direction.as_str());
            highest = highest.max(self.highest_in(&dir)?);
        }
        Ok(highest)
    }

    fn highest_in(&self, dir: &Path) -> Result<u64> {
        let names = self.names(dir)?;
        let numbers = names
            .iter()
            .filter_map(|name| layout::parse(self.direction, name));
        Ok(numbers.map(|(seq, _)| seq.get()).max().unwrap_or_default())
    }

    fn names(&self, dir: &Path) -> Result<Vec<String>> {
        super::slots::names(self.mail.home.fs(), dir)
    }
}
