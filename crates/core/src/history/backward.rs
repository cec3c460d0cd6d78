//! Reading a history from its end.
//!
//! Owns that it costs as much as is read: a history is long, and what is looked for mostly lies near
//! its end.

use std::ops::ControlFlow;

use flagpost_disk::{self as disk, fsx};

use super::{History, Line};
use crate::error::Result;

/// So much is read at once.
const CHUNK: u64 = 256 << 10;

impl History<'_> {
    /// Tells each readable line, newest first, until whoever is told has enough; nothing before the
    /// last `within` bytes. One that lacks only its newline is among them: the next append ends it.
    pub(crate) fn backward(
        &self,
        within: u64,
        told: &mut dyn FnMut(&Line) -> ControlFlow<()>,
    ) -> Result<()> {
        self.must_end()?;
        let fs = self.home.fs();
        let mut end = fsx::stat(fs, &self.path)?.map_or(0, |stat| stat.len);
        let stop = end.saturating_sub(within);
        let mut later = Vec::new();
        while end > stop {
            // A long line takes as many bytes again, so that none is read more than twice.
            let len = CHUNK.max(later.len() as u64);
            let begin = end.saturating_sub(len).max(stop);
            let read = fs.read_part(&self.path, begin, end - begin);
            let mut bytes = read.map_err(disk::Error::io("read", &self.path))?;
            bytes.append(&mut later);
            // What stands before the first line break may have begun earlier.
            let whole = match begin {
                0 => 0,
                _ => bytes
                    .iter()
                    .position(|byte| *byte == b'\n')
                    .map_or(bytes.len(), |at| at + 1),
            };
            let lines = bytes[whole..].rsplit(|byte| *byte == b'\n');
            for line in lines.filter_map(Line::parse) {
                if told(&line).is_break() {
                    return Ok(());
                }
            }
            bytes.truncate(whole);
            later = bytes;
            end = begin;
        }
        Ok(())
    }
}
