//! Numbers of messages: given out once, whatever was archived, removed or restored.
//!
//! Owns what counts as taken: the counter, every name in the direction, every name in the archive, and
//! what the history tells of an inbox: its end, and all of it where the counter is behind the rest. The
//! archive keeps a note of its highest number; it is looked through only where that note or the counter
//! is missing.

use std::path::{Path, PathBuf};

use flagpost_disk::{
    self as disk,
    dialects::relay as layout,
    fsx::{self, Batch},
};
use flagpost_model::{Seq, WorkerId, envelope::Direction, id::MAX_NUMBER};

use super::{Fleet, Locked, Mail, envelope_files, record::Certainty};
use crate::{
    error::{Error, Result},
    history::Kind,
};

impl Fleet<'_> {
    /// Gives out the next number of a direction, for a writer who puts the message there by hand.
    pub fn allocate(&self, worker: &WorkerId, direction: Direction) -> Result<Seq> {
        self.mail(worker)?.lock(direction)?.numbers(1)
    }

    /// Finds the highest number of a direction anew where its counter is wrong; whether it was.
    pub(crate) fn recount(&self, worker: &WorkerId, direction: Direction) -> Result<bool> {
        let mail = self.mail(worker)?;
        let (fs, locked) = (self.home.fs(), mail.lock(direction)?);
        let counter = locked.path(layout::COUNTER);
        let highest = locked.highest_in(&locked.dir)?;
        let highest = highest
            .max(locked.highest_in_archive()?)
            .max(locked.on_record(Certainty::Sure)?);
        match fsx::peek(fs, &counter) {
            Ok(counted) if (highest..MAX_NUMBER).contains(&counted) => return Ok(false),
            Ok(_) | Err(disk::Error::Malformed { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(content) = fsx::read(fs, &counter)? {
            fsx::store(fs, &counter, &content, "it was not the highest number")?;
        }
        fsx::replace(fs, &counter, format!("{highest}\n").as_bytes())?;
        Ok(true)
    }
}

impl Mail<'_> {
    /// The counter of a direction, and the highest number that the history knows it gave out.
    pub(crate) fn counter(&self, direction: Direction) -> Result<(PathBuf, u64)> {
        let given_out = match direction {
            Direction::Inbox => self.highest_given_out()?,
            Direction::Outbox => 0,
        };
        Ok((self.dir(direction).join(layout::COUNTER), given_out))
    }
}

/// So often somebody may take a number from under our hands before we give up.
const TRIES: usize = 8;

impl Locked<'_> {
    /// Publishes something under the next number, in a batch that takes the number when it is sealed;
    /// under the one after where somebody who had not asked for a number took it meanwhile.
    pub(super) fn under_a_new_number(
        &self,
        mut publish: impl FnMut(Seq, Batch) -> Result<()>,
    ) -> Result<()> {
        let mut publish = || {
            let (seq, batch) = self.number()?;
            publish(seq, batch)
        };
        let mut published = publish();
        for _ in 1..TRIES {
            if !matches!(published, Err(Error::Disk(disk::Error::Conflict { .. }))) {
                break;
            }
            published = publish();
        }
        published
    }

    /// Leaves a number to whoever took it without asking: what they wrote stays, and the history says
    /// so. `ours` is what was to appear, in its order.
    pub(super) fn yield_number(
        &self,
        actor: &WorkerId,
        seq: Seq,
        taken: &Path,
        ours: &[PathBuf],
    ) -> Result<()> {
        // What had appeared before must not speak for somebody else's.
        for path in ours.iter().take_while(|it| *it != taken) {
            fsx::remove(self.mail.home.fs(), path)?;
        }
        let file = taken.file_name();
        let file = file.map(|it| it.to_string_lossy().into_owned());
        let entry = self.mail.entry(Kind::ContractViolated, Some(seq));
        self.record(actor, vec![entry.detail("file", file)])
    }

    /// So many numbers in a row, durable before they are given out: the first.
    pub(super) fn numbers(&self, count: u64) -> Result<Seq> {
        let (counter, highest) = self.taken()?;
        let first = fsx::allocate(self.mail.home.fs(), &counter, highest, count)?;
        seq(&counter, first)
    }

    /// The next number, and a batch that takes it.
    fn number(&self) -> Result<(Seq, Batch)> {
        let (counter, highest) = self.taken()?;
        let mut batch = Batch::new();
        let number = fsx::allocate_in(&mut batch, self.mail.home.fs(), &counter, highest)?;
        Ok((seq(&counter, number)?, batch))
    }

    /// The counter, and the highest number that it may lag behind.
    fn taken(&self) -> Result<(PathBuf, u64)> {
        let counter = self.path(layout::COUNTER);
        let archived = match fsx::stat(self.mail.home.fs(), &counter)? {
            Some(_) => self.archived()?,
            // Whoever removed it may have removed more.
            None => self.highest_in_archive()?,
        };
        let highest = self.highest_in(&self.dir)?.max(archived);
        let highest = highest.max(self.on_record(Certainty::Near)?);
        // Whoever put the counter back may have removed what lay there, and has not put the history back.
        let is_behind = fsx::peek(self.mail.home.fs(), &counter)? < highest;
        let on_record = match is_behind {
            true => self.on_record(Certainty::Sure)?,
            false => 0,
        };
        Ok((counter, highest.max(on_record)))
    }

    /// The highest number that the history tells of; of reports it tells none.
    fn on_record(&self, look: Certainty) -> Result<u64> {
        match self.direction {
            Direction::Inbox => self.mail.highest_on_record(look),
            Direction::Outbox => Ok(0),
        }
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

    /// Notes that these numbers are in the archive, or will be.
    pub(super) fn note_archived(&self, seqs: &[Seq]) -> Result<()> {
        let going = seqs.iter().map(|seq| seq.get()).max().unwrap_or_default();
        self.write_note(self.archived()?.max(going))
    }

    /// The highest number in the archive, which holds too much to be looked through each time.
    fn archived(&self) -> Result<u64> {
        match fsx::peek(self.mail.home.fs(), &self.archive_note()) {
            Ok(noted @ 1..) => return Ok(noted),
            // The note can be made again.
            Ok(0) | Err(disk::Error::Malformed { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let highest = self.highest_in_archive()?;
        if highest > 0 {
            self.write_note(highest)?;
        }
        Ok(highest)
    }

    fn write_note(&self, highest: u64) -> Result<()> {
        let note = format!("{highest}\n");
        Ok(fsx::replace(
            self.mail.home.fs(),
            &self.archive_note(),
            note.as_bytes(),
        )?)
    }

    fn archive_note(&self) -> PathBuf {
        self.mail.archive().join(layout::archived(self.direction))
    }

    fn highest_in_archive(&self) -> Result<u64> {
        let mut highest = 0;
        for month in self.mail.months()? {
            let dir = self.mail.archive_of(&month, self.direction);
            highest = highest.max(self.highest_in(&dir)?);
        }
        Ok(highest)
    }

    fn highest_in(&self, dir: &Path) -> Result<u64> {
        let names = envelope_files::names(self.mail.home.fs(), dir)?;
        let numbers = names
            .iter()
            .filter_map(|name| layout::parse(self.direction, name));
        Ok(numbers.map(|(seq, _)| seq.get()).max().unwrap_or_default())
    }
}

fn seq(counter: &Path, number: u64) -> Result<Seq> {
    Seq::try_from(number).map_err(|error| Error::Invalid {
        what: counter.display().to_string(),
        reason: error.to_string(),
    })
}
