//! Listening to a history: what came to it since, told once it has happened.
//!
//! Owns when a line may be told: once what it tells of has appeared, or another change came after
//! it. The line of a change is durable before the change appears, and whoever is told of a brief must
//! find it. What the next writer takes back is never told. Nothing is locked, so that those who
//! listen hold nobody up who writes.

use std::io;

use flagpost_disk as disk;

use super::{Fate, History, LONGEST_TAIL, Line, ReadPosition, TAIL, last_change, onward::end_of};
use crate::error::Result;

/// A place in a history, from which it is listened to.
#[derive(Debug, Default)]
pub struct Tail {
    place: ReadPosition,
    /// The number of the last line that was read.
    read: u64,
    /// Read and not told yet.
    held: Vec<Line>,
}

/// What came since.
#[derive(Debug)]
pub enum NewLines {
    /// These lines, oldest first.
    Lines(Vec<Line>),
    /// This is another history than before: what was known of it counts no more.
    Rewritten,
}

impl Tail {
    /// A place after the line of this number.
    pub fn since(n: u64) -> Self {
        Self {
            read: n,
            ..Self::default()
        }
    }

    /// The end of a history, before its last change: that one may not have appeared yet.
    pub fn at_end(history: &History<'_>) -> Result<Self> {
        history.must_end()?;
        let fs = history.home.fs();
        let mut size = TAIL;
        loop {
            let len = disk::fsx::stat(fs, &history.path)?.map_or(0, |stat| stat.len);
            let offset = len.saturating_sub(size);
            let bytes = match fs.read(&history.path, offset, u64::MAX) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
                Err(error) => return Err(disk::Error::io("read", &history.path)(error).into()),
            };
            let whole = bytes.get(..end_of(&bytes)).unwrap_or_default();
            let last = last_change(whole);
            let read = last.lines.last().map_or(0, |line| line.n);
            let held = match last.is_whole || offset == 0 || size >= LONGEST_TAIL {
                true => last.lines,
                // A long one that is known to have appeared is over.
                false if read > 0 && history.has_all_to(read)? => Vec::new(),
                false => {
                    size = size.saturating_mul(8);
                    continue;
                }
            };
            return Ok(Self {
                place: ReadPosition::behind(offset, whole),
                read,
                held,
            });
        }
    }

    /// The same where all up to a number is known to have happened, which need not be looked at again.
    pub(crate) fn at_end_after(history: &History<'_>, n: u64) -> Result<Self> {
        let mut tail = Self::at_end(history)?;
        tail.held.retain(|line| line.n > n);
        Ok(tail)
    }

    /// All up to this number was told.
    pub fn read_up_to(&self) -> u64 {
        let open = self.held.first().map(|line| line.n.saturating_sub(1));
        open.unwrap_or(self.read)
    }

    /// The number of the last line that was read, whether it may be told or not.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// Those that were read and may not be told yet.
    pub(crate) fn held(&self) -> &[Line] {
        &self.held
    }

    /// Where it is.
    pub(crate) fn place(&self) -> &ReadPosition {
        &self.place
    }

    /// Whether there are lines that may not be told yet.
    pub fn is_waiting(&self) -> bool {
        !self.held.is_empty()
    }

    /// What happened since this was asked last.
    pub fn read_on(&mut self, history: &History<'_>) -> Result<NewLines> {
        let (held, read) = (&mut self.held, &mut self.read);
        let next = history.onward(&self.place, &mut |line| {
            if line.n > *read {
                *read = line.n;
                held.push(line);
            }
            Ok(())
        })?;
        match next {
            Some(place) => self.place = place,
            None => {
                *self = Self::at_end(history)?;
                return Ok(NewLines::Rewritten);
            }
        }
        Ok(NewLines::Lines(self.take_applied(history)?))
    }

    /// Takes the held lines out that are known to have happened.
    fn take_applied(&mut self, history: &History<'_>) -> Result<Vec<Line>> {
        let Some(open_from) = self.held.last().map(Line::first) else {
            return Ok(Vec::new());
        };
        let open = self.held.iter().position(|line| line.n >= open_from);
        let open = open.unwrap_or_default();
        let last = self.held[open..].to_vec();
        let is_over = history.unsettled(last, Fate::Failed)?.is_empty();
        let told = if is_over { self.held.len() } else { open };
        let voided = self.held.iter().filter_map(|line| line.entry.voids());
        let voided: Vec<u64> = voided.collect();
        let stands = |line: &Line| !voided.contains(&line.n) && line.entry.voids().is_none();
        Ok(self.held.drain(..told).filter(stands).collect())
    }
}
