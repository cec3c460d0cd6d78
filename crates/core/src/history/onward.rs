//! Reading on in a history from where somebody stopped.
//!
//! Owns knowing that place again: its offset, and the bytes that end there. A history that does not
//! have them any more was replaced, and is read from its beginning.

use flagpost_disk as disk;

use super::{History, LIMIT, Line};
use crate::error::Result;

/// So many bytes know a place again: they hold the end of a line, and mostly its number and time.
const TAIL: usize = 256;

/// Where somebody stopped reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place {
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
        place: &Place,
        told: &mut dyn FnMut(Line) -> Result<()>,
    ) -> Result<Option<Place>> {
        let from = place.offset.saturating_sub(place.tail.len() as u64);
        let bytes = match self.home.fs().read(&self.path, from, LIMIT) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(disk::Error::io("read", &self.path)(error).into()),
        };
        let Some(rest) = bytes.strip_prefix(&*place.tail) else {
            return Ok(None);
        };
        // A last line without its newline was not acknowledged, even where it happens to parse.
        let end = rest.iter().rposition(|byte| *byte == b'\n');
        let whole = rest.get(..end.map_or(0, |at| at + 1)).unwrap_or_default();
        for line in super::lines(whole) {
            told(line)?;
        }
        let read = &bytes[..place.tail.len() + whole.len()];
        Ok(Some(Place {
            offset: place.offset + whole.len() as u64,
            tail: read[read.len().saturating_sub(TAIL)..].to_vec(),
        }))
    }
}
