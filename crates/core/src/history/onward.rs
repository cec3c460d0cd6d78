//! Reading on in a history from where somebody stopped.
//!
//! Owns knowing that place again: its offset, and the bytes that end there. A history that does not
//! have them any more was replaced, and is read from its beginning.

use flagpost_disk as disk;
use serde::{Deserialize, Serialize};

use super::{History, LIMIT, Line};
use crate::error::Result;

/// So many bytes know a place again: they hold the end of a line, and mostly its number and time.
const TAIL: usize = 256;

/// Where somebody stopped reading.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadPosition {
    /// Behind the last whole line.
    pub(crate) offset: u64,
    /// The bytes before it.
    pub(crate) tail: Vec<u8>,
}

impl History<'_> {
    /// Tells each readable whole line after a place, and answers with the next place; `None` where
    /// this is another history than the one the place was in.
    pub(crate) fn onward(
        &self,
        place: &ReadPosition,
        told: &mut dyn FnMut(Line) -> Result<()>,
    ) -> Result<Option<ReadPosition>> {
        self.must_end()?;
        let from = place.offset.saturating_sub(place.tail.len() as u64);
        let bytes = match self.home.fs().read(&self.path, from, LIMIT) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(disk::Error::io("read", &self.path)(error).into()),
        };
        let Some(rest) = bytes.strip_prefix(&*place.tail) else {
            return Ok(None);
        };
        let whole = rest.get(..end_of(rest)).unwrap_or_default();
        for line in super::lines(whole) {
            told(line)?;
        }
        let read = &bytes[..place.tail.len() + whole.len()];
        Ok(Some(ReadPosition::behind(from, read)))
    }

    /// Whether this is the history that a place is in.
    pub(crate) fn has(&self, place: &ReadPosition) -> Result<bool> {
        let len = place.tail.len() as u64;
        let from = place.offset.saturating_sub(len);
        match self.home.fs().read_part(&self.path, from, len) {
            Ok(bytes) => Ok(bytes == place.tail),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(len == 0),
            Err(error) => Err(disk::Error::io("read", &self.path)(error).into()),
        }
    }
}

/// Behind the last whole line. One without its newline was not acknowledged, even where it happens to
/// parse.
pub(super) fn end_of(bytes: &[u8]) -> usize {
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    end.map_or(0, |at| at + 1)
}

impl ReadPosition {
    /// Behind these bytes, which begin at `offset`.
    pub(super) fn behind(offset: u64, bytes: &[u8]) -> Self {
        Self {
            offset: offset + bytes.len() as u64,
            tail: bytes[bytes.len().saturating_sub(TAIL)..].to_vec(),
        }
    }
}
